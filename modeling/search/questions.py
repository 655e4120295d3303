"""What groups say: whose texts a statement finds, and where texts lie between two opposite statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

from metrics.alignment_precision.alignment_precision import alignment_precision
from modeling.base.evaluation import auroc_interval
from modeling.search import validation
from modeling.search.coded import Coded

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
FEW, FEW_SHARE = 10, 0.1  # kept rows of a group, and share of its rows, below which it is warned of
LEAST = 1e-3  # sides closer than this cannot be told apart in float32


def align(index: Any, queries: Sequence[tuple[str, str]], thresholds: Sequence[float]) -> pd.DataFrame:
    """Alignment precision of (statement, group whose view it states) (Ghafouri et al., 2024, section 5.3, table 4).

    A row of the source counts as one, so a text that ten accounts post counts ten times; rows without a group are left
    out. The interval takes rows for independent draws: read it as the least uncertainty there is.

    Returns:
        One row per statement and threshold, in [-1, 1]: `statement`, `target`, `threshold`, `retrieved` (rows at or
        above it), `precision` (share of the target among them; missing if there are none), `low` and `high` (its 95 %
        interval, Wilson), `base_rate` (of the target among all rows with a group), and per group `retrieved_GROUP`.
    """
    thresholds = sorted(set(map(float, thresholds)))
    groups = index.groups
    rows = index.rows[index.rows["group"].notna()]
    labels, vectors = rows["group"].astype(str).tolist(), rows["vector"].to_numpy()
    table = []
    # one statement after the other: the cosines of a hundred with millions of texts would not fit into memory
    for (statement, target), query in zip(queries, index.encode([text for text, _ in queries]), strict=True):
        cosines = index.dots(query[None])[0][vectors].astype(np.float64)
        for threshold in thresholds:
            result = alignment_precision(cosines, labels, target=target, threshold=threshold)
            ends = (np.nan, np.nan)
            if result["retrieved"]:
                ends = binomtest(result["counts"][target], result["retrieved"]).proportion_ci(method="wilson")
            row = {"statement": statement, "target": target, "threshold": threshold, "retrieved": result["retrieved"]}
            row |= {"precision": result["precision"], "low": ends[0], "high": ends[1]}
            row |= {"base_rate": result["base_rate"]}
            table.append(row | {f"retrieved_{group}": result["counts"][group] for group in groups})
    return pd.DataFrame(table).astype({"precision": float})


@dataclass
class Axis:
    """Texts on the axis between two opposite sides, `positive` (for) and `negative` (against)."""

    positive: list[str]  # wordings of a side
    negative: list[str]
    # per kept row of the index: row, id, group, text; positive and negative (mean cosine to the wordings of a side),
    # score and relevance, see `axis`
    texts: pd.DataFrame
    # per group, the largest first, then (all): rows, share (of the group's rows that are kept), mean, sd (with n - 1)
    # and quantiles of the score
    groups: pd.DataFrame
    # rows, kept, min_similarity, side_cosine (between the means of both sides); for the two largest groups first,
    # second, auroc, low and high (its 95 % interval), see `axis`; with coded texts `coded_texts`: source, left_out,
    # learned, what `validation.Errors` says, and of a learned axis `stated` (as (all) of `measured`) and `advantage`
    facts: dict[str, Any]
    difference: pd.DataFrame | None = None  # of two groups, see `validation.difference`
    measured: pd.DataFrame | None = None  # by texts coded by hand, see `validation.measure`
    # where a side has several wordings, the axis of each pair alone: for, against, auroc_groups (of first above second)
    # and auroc_coded (of the coded texts for above those against), each where there is what it is of
    wordings: pd.DataFrame | None = None

    @property
    def separation(self) -> str:
        """Which of the two largest groups is nearer to the side for, and how far they come apart; empty without two."""
        if "auroc" not in self.facts:
            return ""
        first, second, auroc, low, high = (self.facts[name] for name in ("first", "second", "auroc", "low", "high"))
        if auroc < 0.5:
            first, second, auroc, low, high = second, first, 1 - auroc, 1 - high, 1 - low
        interval = f"[{low:.2f}, {high:.2f}] (95\u00a0% interval; 0.5: no difference)"
        return f"{first} nearer to the side for than {second}: AUROC {auroc:.2f} {interval}"

    @property
    def verdict(self) -> str:
        """Whether the axis may be used, by the texts coded by hand, and why."""
        if self.measured is None:
            return "not measured: only texts coded by hand can tell whether the axis lies the right way (--coded)"
        _, texts, ones, zeros, auroc, low, high = next(self.measured.itertuples(index=False))
        found = f"AUROC {auroc:.2f} [{low:.2f}, {high:.2f}] on {texts} coded texts ({ones} for, {zeros} against)"
        if self.usable:
            return f"usable: {found}"
        cure = "code more texts" if auroc >= validation.USABLE else "word the sides otherwise, or learn it with --learn"
        turned = "; it lies the wrong way round" if high < 0.5 else ""
        return f"DO NOT USE THIS AXIS: {found}, which does not show {validation.USABLE:g} or more{turned}; {cure}"

    @property
    def usable(self) -> bool:
        """Whether the interval of its AUROC on texts coded by hand begins at `validation.USABLE` or above."""
        return self.measured is not None and bool(self.measured["low"].iloc[0] >= validation.USABLE)

    @property
    def warnings(self) -> list[str]:
        """What is to be known of groups of which few rows are kept."""
        few = self.groups[(self.groups["rows"] < FEW) | (self.groups["share"] < FEW_SHARE)]
        return [
            f"few rows of {group}: {rows:,}, {share:.1%} of those it has; they may not stand for the others"
            for group, rows, share in few[["group", "rows", "share"]].itertuples(index=False)
        ]


def axis(
    index: Any,
    positive: Sequence[str],
    negative: Sequence[str],
    min_similarity: float | None = None,
    coded: Coded | None = None,
    learn: bool = False,
) -> Axis:
    """Scores every text between two opposite sides.

    With unit vectors t of a text, p_i of the positive and n_j of the negative wordings, and P = mean(p_i),
    N = mean(n_j):

    - `positive` = t . P and `negative` = t . N, the mean cosines to the wordings of a side, each in [-1, 1];
    - `score` = t . (P - N) / |P - N|, the projection on the axis, in [-1, 1]: above 0 nearer to the side for, 0 where
      `positive` equals `negative`; the division makes axes comparable whose sides lie more or less close together;
    - `relevance` = the larger of `positive` and `negative`: low for a text on something else, whose score is noise.

    A score of 0 is no neutral stance, since wordings differ in more than their view: compare groups with each other.

    AUROC is the probability that a random row of the `first` group (the largest of the index) scores above a random
    one of the `second` largest, ties counting half: 0.5 where the groups do not differ, above where the first is nearer
    to the side for. Rows without a group have a score, and are left out of it.

    Args:
        index: An `Index`.
        positive, negative: Wordings of the side for, and of the side against.
        min_similarity: Keep the texts whose relevance is at least this, in [-1, 1]; all if None.
        coded: Texts coded by hand, on which the axis is measured, and by which the groups' difference is corrected.
        learn: The score is the distance from the boundary that is learned from the coded texts, see `validation.learn`.
            These texts themselves are placed, and it is measured, by axes that were learned without them.
    """
    if not positive or not negative:
        raise ValueError("an axis needs a statement on either side: --for and --against")
    if learn and coded is None:
        raise ValueError("--learn needs texts coded by hand to learn from: name them with --coded")
    wordings = [index.encode(list(side)) for side in (positive, negative)]
    sides = np.stack([side.mean(axis=0) for side in wordings])
    length = float(np.linalg.norm(sides[0] - sides[1]))
    if length < LEAST:
        raise ValueError("the two sides are the same to the model: word them as opposites")
    least = -1 if min_similarity is None else min_similarity
    cosines = index.dots(sides)
    columns = {"positive": cosines[0], "negative": cosines[1]}
    columns |= {"score": _stated(cosines, length), "relevance": cosines.max(axis=0)}
    relevance = columns["relevance"][index.rows["vector"]]
    texts = index.rows[relevance >= least].reset_index(drop=True)
    if texts.empty:
        raise ValueError(
            f"no text is as similar as --min-similarity {min_similarity} to either side; the most similar one has "
            f"{relevance.max():.2f}"
        )
    measured, errors, facts, vectors = None, None, {}, None
    if coded is not None:
        vectors, numbers = validation.embed(index, coded.texts)
        of_sides = sides @ vectors.T
        kept = of_sides.max(axis=0) >= least
        coded = coded.keep(kept, "less similar than --min-similarity")
        coded.check()
        vectors, numbers, scores = vectors[kept], numbers[kept], _stated(of_sides[:, kept], length)
        groups, known = validation.groups_of(index, numbers), numbers >= 0
        facts = {"source": coded.source, "left_out": coded.left_out, "learned": learn}
        if learn:
            direction, offset, held_out = validation.learn(vectors, coded.labels)
            columns["score"] = index.dots(direction[None])[0] + offset
            columns["score"][numbers[known]] = held_out[known]
            facts["stated"] = validation.measure(scores, coded.labels, groups).iloc[0].to_dict()
            facts["advantage"] = validation.advantage(held_out, scores, coded.labels)
            scores = held_out
        measured, errors = validation.measure(scores, coded.labels, groups), validation.Errors.of(scores, coded.labels)
        facts = {"coded_texts": facts | asdict(errors)}
    numbers = texts.pop("vector").to_numpy()
    texts = texts.assign(text=index.texts.take(numbers).to_pylist())
    texts = texts.assign(**{name: values[numbers] for name, values in columns.items()})
    facts |= {
        "rows": len(index.rows),
        "kept": len(texts),
        "min_similarity": min_similarity,
        "side_cosine": float(sides[0] @ sides[1] / np.prod(np.linalg.norm(sides, axis=1))),
        **_separation(texts, list(index.groups)[:2]),
    }
    result = Axis(list(positive), list(negative), texts, _by_group(texts, index.groups, len(index.rows)), facts)
    result.measured = measured
    if "auroc" in facts:
        pair = [texts[texts["group"] == facts[name]] for name in ("first", "second")]
        result.difference = validation.difference(*pair, errors)
    if len(positive) + len(negative) > 2:
        result.wordings = _wordings(index, result, wordings, numbers, vectors, coded)
    return result


def _wordings(
    index: Any,
    result: Axis,
    wordings: list[np.ndarray],
    numbers: np.ndarray,
    vectors: np.ndarray | None,
    coded: Coded | None,
) -> pd.DataFrame:
    """The axes of single wordings, see `Axis`, by the numbers of the kept rows' texts and the coded texts' vectors."""
    facts, groups, table = result.facts, result.texts["group"], []
    cosines = [index.dots(side)[:, numbers] for side in wordings]
    compared = groups.isin([facts["first"], facts["second"]]).to_numpy() if "auroc" in facts else None
    for (i, one), (j, other) in product(enumerate(result.positive), enumerate(result.negative)):
        row = {"for": one, "against": other}
        if compared is not None:
            first = (groups[compared] == facts["first"]).to_numpy()
            row["auroc_groups"] = roc_auc_score(first, (cosines[0][i] - cosines[1][j])[compared])
        if vectors is not None:
            row["auroc_coded"] = roc_auc_score(coded.labels, vectors @ (wordings[0][i] - wordings[1][j]))
        table.append(row)
    return pd.DataFrame(table)


def _stated(cosines: np.ndarray, length: float) -> np.ndarray:
    """Projections of texts on the axis by their cosines to both sides, shape (2, n), which are `length` apart."""
    return np.clip((cosines[0] - cosines[1]) / length, -1, 1)


def _by_group(texts: pd.DataFrame, sizes: dict[str, int], total: int) -> pd.DataFrame:
    scores = texts["score"].astype(float)
    parts = {group: scores[texts["group"] == group] for group in sizes} | {"(all)": scores}
    table = pd.DataFrame({group: part.describe(QUANTILES) for group, part in parts.items()}).T
    table = table.drop(columns=["min", "max"]).rename(columns={"count": "rows", "std": "sd"})
    table = table.rename(columns={f"{100 * share:.0f}%": f"q{round(100 * share):02d}" for share in QUANTILES})
    table.insert(1, "share", table["rows"] / np.array([*sizes.values(), total]))
    return table.astype({"rows": int}).rename_axis("group").reset_index()


def _separation(texts: pd.DataFrame, largest: list[str]) -> dict[str, Any]:
    """AUROC of the two largest groups of the index; nothing where there are not two with a kept text."""
    pair = texts[texts["group"].isin(largest)]
    if pair["group"].nunique() < 2:
        return {}
    first, second = largest
    auroc, low, high = auroc_interval(pair["score"].to_numpy(float), (pair["group"] == first).to_numpy())
    return {"auroc": auroc, "low": low, "high": high, "first": first, "second": second}
