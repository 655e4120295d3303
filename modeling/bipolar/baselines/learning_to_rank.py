"""Pointwise learning to rank: logistic regression and gradient-boosted trees on 8 or 20 features."""

from __future__ import annotations

from typing import Any

import numpy as np
from tqdm.auto import tqdm

from modeling.bipolar.baselines.features import (
    AGGREGATES,
    FULL,
    METRICS,
    MOVERS,
    PART,
    FeatureTable,
    FeatureTables,
    aggregate,
)
from modeling.bipolar.baselines.linear_ranking import cheap_scores, rank_linear
from modeling.bipolar.baselines.ranking import NONE, Ranking
from modeling.bipolar.candidates import Candidates

SETS = {PART: "part", FULL: "full"}
FEW = 64  # candidates of which all features are computed
LOGISTIC = {"class_weight": "balanced", "max_iter": 1000, "C": 50}
XGBOOST = {
    "max_depth": 8, "learning_rate": 0.01, "n_estimators": 1000, "min_child_weight": 5, "subsample": 0.8,
    "colsample_bytree": 0.7, "reg_lambda": 0.4, "scale_pos_weight": 0.8, "objective": "binary:logistic",
}  # fmt: skip


class Examples:
    """Points with their counters and with sampled other arguments, drawn once for all models.

    Args:
        tables: The features of splits.
        negatives: Other arguments of each point, n.
        same_debate: Share of them from the point's debate, as far as it has so many; the others are from anywhere.
        seed: Of the draws.
    """

    def __init__(self, tables: FeatureTables, negatives: int = 10, same_debate: float = 0.5, seed: int = 0) -> None:
        if negatives < 1 or not 0 <= same_debate <= 1:
            raise ValueError(f"negatives ({negatives}) must be 1 or more, same_debate ({same_debate}) from 0 to 1")
        self.tables = tables
        self._negatives, self._same_debate, self._seed = negatives, same_debate, seed
        self._found: dict[Candidates, tuple[np.ndarray, np.ndarray]] = {}

    def of(self, candidates: Candidates, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Features, shape (examples, size), and whether the argument is the point's counter, shape (examples,)."""
        if candidates not in self._found:
            self._found[candidates] = self._compute(candidates)
        features, labels = self._found[candidates]
        return features[:, :size], labels

    def _compute(self, candidates: Candidates) -> tuple[np.ndarray, np.ndarray]:
        table, rng = self.tables.of(candidates), np.random.default_rng(self._seed)
        debates, everything = candidates.of("sda"), candidates.of("epa")
        rows = np.unique(candidates.points, return_index=True)[1]  # a point that occurs twice is learnt from once
        features, labels = [], []
        try:
            for row in tqdm(np.sort(rows), "features of examples", unit="point"):
                answers = sorted(candidates.answers[row])
                drawn = self._draw(rng, debates[row], everything[row], answers)
                features.append(table.features(row, [*answers, *drawn], table.size))
                labels += [1] * len(answers) + [0] * len(drawn)
        finally:
            table.movers.save()
        return np.concatenate(features), np.array(labels)

    def _draw(self, rng: np.random.Generator, debate: np.ndarray, everything: np.ndarray, answers: list[int]):
        near = np.setdiff1d(debate, answers)
        near = rng.permutation(near)[: round(self._negatives * self._same_debate)]
        far = np.setdiff1d(everything, [*answers, *near])
        return [*near, *rng.choice(far, min(self._negatives - len(near), len(far)), replace=False)]


class LogisticRanker:
    """Ranks by logistic regression on standardised features; exact in all settings, being linear.

    Args:
        examples: What it learns from.
        size: `PART` or `FULL` features.

    Source: Shi et al. (2023), section 3.2 and appendix B.1.
    """

    def __init__(self, examples: Examples, size: int = FULL) -> None:
        self.name = f"Logit-{SETS[size]}"
        self._examples, self._size = examples, size
        self.weights: np.ndarray | None = None

    def fit(self, train_candidates: Candidates) -> None:
        """Learns the weights of the features, shape (size,); a constant does not matter to a ranking."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        features, labels = _examples(self._examples, train_candidates, self._size)
        model = make_pipeline(StandardScaler(), LogisticRegression(**LOGISTIC)).fit(features, labels)
        self.weights = model[1].coef_[0] / model[0].scale_

    def best(self, candidates: Candidates, setting: str) -> Ranking:
        """The best candidate of each point."""
        return rank_linear(self._examples.tables.of(candidates), _fitted(self.weights, self.name), setting, self.name)


class XGBoostRanker:
    """Ranks by gradient-boosted trees; of many candidates only those that logistic regression finds the best.

    Where a point has more than 64 candidates, the trees rank the `shortlist` with the highest score of logistic
    regression on the same features, in which the lower bound stands for Word Mover's distance.

    Args:
        examples: What it learns from.
        size: `PART` or `FULL` features.
        shortlist: How many candidates are ranked.
        seed: Of the samples of rows and columns.

    Source: Shi et al. (2023), section 3.2 and appendix B.1; the shortlist is ours.
    """

    def __init__(self, examples: Examples, size: int = FULL, shortlist: int = 50, seed: int = 0) -> None:
        self.name = f"XGBoost-{SETS[size]}"
        self._examples, self._size, self._shortlist, self._seed = examples, size, shortlist, seed
        self._first = LogisticRanker(examples, size)
        self._model: Any = None

    def fit(self, train_candidates: Candidates) -> None:
        """Learns the trees, and the regression that makes the shortlist."""
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from xgboost import XGBClassifier

        features, labels = _examples(self._examples, train_candidates, self._size)
        model = XGBClassifier(**XGBOOST, n_jobs=1, random_state=self._seed)
        self._model = make_pipeline(StandardScaler(), model).fit(features, labels)
        self._first.fit(train_candidates)

    def best(self, candidates: Candidates, setting: str) -> Ranking:
        """The best candidate of each point; the note says how often the shortlist had an answer."""
        model, table = _fitted(self._model, self.name), self._examples.tables.of(candidates)
        pools = candidates.of(setting)
        best, found, before = np.full(len(pools), NONE), 0, table.movers.computed
        try:
            for row, pool in enumerate(tqdm(pools, f"{self.name}, {setting}", unit="point")):
                listed = pool if len(pool) <= FEW else self._listed(table, row, pool)
                found += bool(candidates.answers[row] & set(listed.tolist()))
                if len(listed):
                    scores = model.predict_proba(table.features(row, listed, self._size))[:, 1]
                    best[row] = listed[scores.argmax()]
        finally:
            table.movers.save()
        note, counts = "", {"distances computed": table.movers.computed - before}
        if any(len(pool) > FEW for pool in pools):
            counts["points with an answer in the shortlist"] = found
            note = (
                f"ranks the {self._shortlist} candidates that logistic regression finds best; "
                f"they have an answer of {found / len(pools):.1%} of the points"
            )
        return Ranking(best, note, counts)

    def _listed(self, table: FeatureTable, row: int, pool: np.ndarray) -> np.ndarray:
        weights = np.concatenate([self._first.weights, np.zeros(FULL - self._size)])
        weights = weights.reshape(len(METRICS), len(AGGREGATES))
        movers = aggregate(*table.movers_bounds(row)[1]) @ weights[MOVERS]
        scores = (cheap_scores(table, weights, row) + movers)[pool]
        return np.sort(pool[np.argsort(-scores, kind="stable")[: self._shortlist]])


def _examples(examples: Examples, candidates: Candidates, size: int) -> tuple[np.ndarray, np.ndarray]:
    if size > examples.tables.of(candidates).size:
        raise ValueError("all 20 features take an encoder: name one, or learn from the first 8")
    return examples.of(candidates, size)


def _fitted(found: Any, name: str) -> Any:
    if found is None:
        raise ValueError(f"{name} has not been trained: call fit first")
    return found
