"""Where texts lie between two opposite statements, and how far groups come apart on that axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from modeling.search.index import Index

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
LEAST = 1e-3  # sides closer than this cannot be told apart in float32


@dataclass
class Axis:
    """Texts on the axis between two opposite sides.

    Attributes:
        positive: Wordings of the positive side.
        negative: Wordings of the negative side.
        texts: One row per kept row of the index: `row`, `id`, `group`, `text`, `positive` and `negative` (mean cosine
            to the wordings of a side), `score`, `relevance`; see `score_axis`.
        groups: One row per group, the largest first, then `(all)`: `rows`, `share` (of the group's rows that are kept),
            `mean`, `sd` (with n - 1) and quantiles of the score.
        facts: Rows, kept rows, `side_cosine` (cosine between the means of both sides), and for the two largest groups
            `auroc`, `first` and `second`; see `score_axis`.
    """

    positive: list[str]
    negative: list[str]
    texts: pd.DataFrame
    groups: pd.DataFrame
    facts: dict[str, Any]


def score_axis(
    index: Index, positive: Sequence[str], negative: Sequence[str], min_similarity: float | None = None
) -> Axis:
    """Scores every text between two opposite sides.

    With unit vectors t of a text, p_i of the positive and n_j of the negative wordings, and P = mean(p_i),
    N = mean(n_j):

    - `positive` = t . P and `negative` = t . N, the mean cosines to the wordings of a side, each in [-1, 1];
    - `score` = t . (P - N) / |P - N|, the projection on the axis, in [-1, 1]: above 0 nearer to the positive side, 0
      where `positive` equals `negative`. The division makes axes comparable whose sides lie closer or less close
      together; the order of texts is that of `positive - negative`;
    - `relevance` = the larger of `positive` and `negative`: low for a text on something else, whose score is noise.

    A score of 0 is no neutral stance: wordings differ in more than their view, so that a whole collection may lie on
    one side of it. Compare groups, or texts, with each other. Several wordings a side are averaged, since the score
    of a single one depends on its words as much as on its view.

    AUROC is the probability that a random row of the `first` group (the largest of the index) scores above a random
    one of the `second` largest, ties counting half: 0.5 where the groups do not differ, above where the first is nearer
    to the positive side. Rows without a group have a score, and are left out of it.

    Args:
        index: The texts.
        positive: Wordings of one side.
        negative: Wordings of the other.
        min_similarity: Keep the texts whose relevance is at least this, in [-1, 1]; all if None.

    Raises:
        ValueError: If a side is empty, both sides are the same to the model, or no text is relevant enough.
    """
    if min_similarity is not None and not -1 <= min_similarity <= 1:
        raise ValueError(f"--min_similarity must be a cosine in [-1, 1], got {min_similarity}")
    if not positive or not negative:
        raise ValueError("an axis needs a statement on either side: --positive and --negative")
    sides = np.stack([index.encode(list(side)).mean(axis=0) for side in (positive, negative)])
    length = float(np.linalg.norm(sides[0] - sides[1]))
    if length < LEAST:
        raise ValueError("the two sides are the same to the model: word them as opposites")
    cosines = index.dots(sides)
    scores, relevance = np.clip((cosines[0] - cosines[1]) / length, -1, 1), cosines.max(axis=0)
    vectors = index.rows["vector"].to_numpy()
    kept = np.flatnonzero(relevance[vectors] >= (-1 if min_similarity is None else min_similarity))
    if not len(kept):
        raise ValueError(
            f"no text is as similar as --min_similarity {min_similarity} to either side; the most similar one has "
            f"{relevance.max():.2f}"
        )
    vectors = vectors[kept]
    texts = index.rows.iloc[kept][["row", "id", "group"]].reset_index(drop=True)
    texts["text"] = index.texts.take(vectors).to_pylist()
    for name, values in (("positive", cosines[0]), ("negative", cosines[1]), ("score", scores)):
        texts[name] = values[vectors]
    texts["relevance"] = relevance[vectors]
    facts = {
        "rows": len(index.rows),
        "kept": len(texts),
        "min_similarity": min_similarity,
        "side_cosine": float(sides[0] @ sides[1] / np.prod(np.linalg.norm(sides, axis=1))),
        **_separation(texts, index.groups),
    }
    return Axis(list(positive), list(negative), texts, _group_table(texts, index.groups, len(index.rows)), facts)


def _group_table(texts: pd.DataFrame, sizes: dict[str, int], total: int) -> pd.DataFrame:
    import pandas as pd

    parts = [(group, texts.loc[texts["group"] == group, "score"], size) for group, size in sizes.items()]
    rows = []
    for group, scores, size in [*parts, ("(all)", texts["score"], total)]:
        scores = scores.astype(float)
        rows.append(
            {
                "group": group,
                "rows": len(scores),
                "share": len(scores) / size,
                "mean": scores.mean(),
                "sd": scores.std(),
            }
            | {f"q{round(100 * q):02d}": scores.quantile(q) for q in QUANTILES}
        )
    return pd.DataFrame(rows)


def _separation(texts: pd.DataFrame, sizes: dict[str, int]) -> dict[str, Any]:
    """AUROC of the two largest groups of the index; nothing where there are not two with a kept text."""
    from sklearn.metrics import roc_auc_score

    first, second = (*sizes, None, None)[:2]
    pair = texts[texts["group"].isin([first, second])]
    if pair["group"].nunique() < 2:
        return {}
    return {"auroc": float(roc_auc_score(pair["group"] == first, pair["score"])), "first": first, "second": second}
