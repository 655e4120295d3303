"""How far an axis may be trusted, by texts coded by hand: its errors, groups corrected by them, an axis learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold

from modeling.base.evaluation import auroc_interval

USABLE = 0.7  # the least that the lower end of an AUROC's interval has to be
FOLDS, REPEATS = 4, 10
DRAWS, SEED = 1000, 0


def embed(index: Any, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of cleaned texts, shape (n, d), and their numbers in the index, -1 for those that it lacks."""
    numbers = pc.fill_null(pc.index_in(pa.array(texts, pa.large_string()), value_set=index.texts), -1).to_numpy()
    vectors = np.empty((len(texts), index.vectors.shape[1]), np.float32)
    vectors[numbers >= 0] = index.embeddings(numbers[numbers >= 0])
    if new := [text for text, number in zip(texts, numbers, strict=True) if number < 0]:
        vectors[numbers < 0] = index.encode_texts(new)
    return vectors, numbers


def groups_of(index: Any, numbers: np.ndarray) -> list[set[str]]:
    """The groups whose rows carry texts, by their numbers; none of a text that the index lacks."""
    carriers = index.rows[index.rows["vector"].isin(numbers) & index.rows["group"].notna()]
    groups = carriers.groupby("vector")["group"].agg(lambda each: set(map(str, each))).to_dict()
    return [groups.get(number, set()) for number in numbers]


def learn(vectors: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """Learns an axis: the direction across the boundary of a logistic regression, both sides weighted alike.

    The strength of its regularisation is scikit-learn's, C = 1. Chosen by cross-validation among .1 to 100 instead, the
    axis is no better from 8, 16 or 32 texts a side of six targets of tweets (tests/benchmarks/coded.py).

    Returns:
        Unit direction w (d,) and offset b: t . w + b is the distance of a text's vector t from the boundary, above 0 on
        the side for; and these distances of the n texts by axes that were learned without them, the mean over
        `REPEATS` stratified divisions into `FOLDS`, shape (n,).
    """
    held_out = np.zeros(len(labels))
    folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=SEED)
    for train, test in folds.split(vectors, labels):
        direction, offset = _boundary(vectors[train], labels[train])
        held_out[test] += (vectors[test] @ direction + offset) / REPEATS
    return *_boundary(vectors, labels), held_out


def _boundary(vectors: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, float]:
    fitted = LogisticRegression(class_weight="balanced", max_iter=1000).fit(vectors, labels)
    length = np.linalg.norm(fitted.coef_)
    return (fitted.coef_[0] / length).astype(np.float32), float(fitted.intercept_[0] / length)


def measure(scores: np.ndarray, labels: np.ndarray, groups: Sequence[set[str]]) -> pd.DataFrame:
    """How well scores put the coded texts of the side for above those against: a row for (all), then one a group.

    `auroc` and its 95 % interval are missing where a side has no text; a text may be of several groups, or of none.
    """
    table = []
    for group in ("(all)", *sorted(set().union(*groups))):
        own = np.array([group == "(all)" or group in each for each in groups])
        ones, zeros = int(labels[own].sum()), int((~labels[own]).sum())
        figures = auroc_interval(scores[own], labels[own]) if ones and zeros else (np.nan,) * 3
        table.append((group, ones + zeros, ones, zeros, *figures))
    return pd.DataFrame(table, columns=["group", "texts", "for", "against", "auroc", "low", "high"])


def advantage(scores: np.ndarray, others: np.ndarray, labels: np.ndarray) -> tuple[float, float, float]:
    """By how much the AUROC of scores exceeds that of others on the same texts, and its 95 % interval (bootstrap)."""
    wins = [np.sign(each[labels][:, None] - each[~labels]) / 2 for each in (scores, others)]
    pairs, random = wins[0] - wins[1], np.random.default_rng(SEED)
    draws = [pairs[np.ix_(*(random.integers(size, size=size) for size in pairs.shape))].mean() for _ in range(DRAWS)]
    return float(pairs.mean()), *map(float, np.quantile(draws, [0.025, 0.975]))


def rogan_gladen(share: Any, sensitivity: Any, specificity: Any) -> Any:
    """The share of texts that are for, from the share that is classified so by a classifier that errs.

    p = (share + specificity - 1) / (sensitivity + specificity - 1), cut to [0, 1]; missing where a classifier is no
    better than chance (Rogan and Gladen, 1978, "Estimating prevalence from the results of a screening test", eq. 1).
    """
    better = np.asarray(sensitivity) + specificity - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.where(better > 0, (np.asarray(share) + specificity - 1) / better, np.nan), 0, 1)[()]


@dataclass(frozen=True)
class Errors:
    """How an axis errs where it is read as two sides, by texts coded by hand.

    A text is classified as for if its score lies above `cut`, the middle between the mean scores of both sides. The
    counts of those that are right are of texts that had no part in their cut.
    """

    cut: float
    right_for: int
    texts_for: int
    right_against: int
    texts_against: int

    @classmethod
    def of(cls, scores: np.ndarray, labels: np.ndarray) -> Errors:
        """Those of the coded texts, by scores and labels of shape (n,), two of either side at least."""
        cut, others = 0.0, np.zeros(len(labels))
        for side in (labels, ~labels):
            total, size = scores[side].sum(), side.sum()
            cut += total / size / 2
            others += (total - scores * side) / (size - side) / 2  # without the text itself
        right = (scores > others) == labels
        counts = (right[labels].sum(), labels.sum(), right[~labels].sum(), (~labels).sum())
        return cls(float(cut), *map(int, counts))

    def draws(self, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Sensitivities and specificities that fit the counts, two of shape (DRAWS,).

        Drawn from Beta(right + 1/2, wrong + 1/2): a bootstrap of eight texts that are all right would know no doubt.
        """
        counts = ((self.right_for, self.texts_for), (self.right_against, self.texts_against))
        return tuple(random.beta(right + 0.5, size - right + 0.5, DRAWS) for right, size in counts)


def difference(one: pd.DataFrame, other: pd.DataFrame, errors: Errors | None = None) -> pd.DataFrame:
    """By how much a group lies nearer to the side for than another one, with bootstrap intervals.

    Distinct texts are drawn with all rows that carry them, since copies are no independent opinions. Columns are
    `difference` (what of), the groups' values `first` and `second`, `estimate` (first - second), `low`, `high` (95 %).

    With `errors` come the shares of rows that are for, as classified and corrected by `rogan_gladen`. Corrected
    intervals are of the bootstrap over both samples, the groups' texts and the coded ones. They take every text to be
    for or against, and the axis to err alike in both groups, which the AUROC within groups may contradict. A draw where
    the axis is no better than chance says nothing: one half of them count as -1, the others as 1.
    """
    random, cut = np.random.default_rng(SEED), np.inf if errors is None else errors.cut
    found, drawn = zip(*(_mean_and_share(each, cut, random) for each in (one, other)), strict=True)
    rows = [("mean score", found[0][0], found[1][0], drawn[0][0] - drawn[1][0])]
    if errors is not None:
        rows.append(("share for, as scored", found[0][1], found[1][1], drawn[0][1] - drawn[1][1]))
        rates = errors.right_for / errors.texts_for, errors.right_against / errors.texts_against
        shares = [rogan_gladen(each[1], *rates) for each in found]
        rates = errors.draws(random)
        draws = rogan_gladen(drawn[0][1], *rates) - rogan_gladen(drawn[1][1], *rates)
        unknown = np.isnan(draws)
        draws[unknown] = np.resize([-1.0, 1.0], unknown.sum())
        rows.append(("share for, corrected", *shares, draws))
    table = [(what, a, b, a - b, *np.quantile(draws, [0.025, 0.975])) for what, a, b, draws in rows]
    return pd.DataFrame(table, columns=["difference", "first", "second", "estimate", "low", "high"])


def _mean_and_share(rows: pd.DataFrame, cut: float, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Mean score and share above the cut of a group's rows, shape (2,), and those of draws, shape (2, DRAWS)."""
    texts = rows.groupby("text", observed=True)["score"].agg(["first", "size"])
    scores, sizes = texts["first"].to_numpy(float), texts["size"].to_numpy(float)
    values = np.stack([scores * sizes, (scores > cut) * sizes, sizes])
    sums = np.stack([values[:, random.integers(len(sizes), size=len(sizes))].sum(axis=1) for _ in range(DRAWS)], axis=1)
    return values[:2].sum(axis=1) / sizes.sum(), sums[:2] / sums[2]
