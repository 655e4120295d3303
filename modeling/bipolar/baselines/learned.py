"""Rankers by the features of words: Simple-SD, which learns nothing, logistic regression and gradient-boosted trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from modeling.bipolar.baselines.words import MOVERS, PART, FeatureTable, aggregate, by_metric
from modeling.bipolar.candidates import NONE, Candidates

# Simple-SD: 0.9 x4 + 0.9 x8 - 0.1 x1 - 0.1 x2, as printed; the sum of x1 and x2 is x4, so that it is 0.8 x4 + 0.9 x8
# (Wachsmuth et al., 2018; weights as in Shi et al., 2023, section 3.1)
SIMPLE_SD = np.zeros(PART)
SIMPLE_SD[[3, 7]], SIMPLE_SD[[0, 1]] = 0.9, -0.1
FEW = 64  # candidates of which all features are computed
SHORTLIST = 50  # of more of them, those that the trees rank
# Shi et al. (2023), section 3.2 and appendix B.1; the shortlist is ours
LOGISTIC = {"class_weight": "balanced", "max_iter": 1000, "C": 50}
_TREES = {"max_depth": 8, "learning_rate": 0.01, "n_estimators": 1000, "min_child_weight": 5, "scale_pos_weight": 0.8}
XGBOOST: dict[str, Any] = {**_TREES, "subsample": 0.8, "colsample_bytree": 0.7, "reg_lambda": 0.4}


def draw_examples(
    candidates: Candidates, negatives: int = 10, same_debate: float = 0.5, seed: int = 0
) -> list[tuple[int, list[int], int]]:
    """Points with their counters and with sampled other arguments.

    Of so many `negatives` a share is from the `same_debate`, as far as it has them; the others are from anywhere.

    Returns:
        (Row, texts, how many of these come first that are its counters); a point that occurs twice is learnt from once.
    """
    rng = np.random.default_rng(seed)
    debates, everything = candidates.of("sda"), candidates.of("epa")
    examples = []
    for row in np.sort(np.unique(candidates.points, return_index=True)[1]):
        answers = sorted(candidates.answers[row])
        near = rng.permutation(np.setdiff1d(debates[row], answers))[: round(negatives * same_debate)]
        far = np.setdiff1d(everything[row], [*answers, *near])
        others = rng.choice(far, min(negatives - len(near), len(far)), replace=False)
        examples.append((int(row), [*answers, *near.tolist(), *others.tolist()], len(answers)))
    return examples


def fit_logistic(features: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Weights of the features, shape (size,), by logistic regression; a constant does not matter to a ranking."""
    model = make_pipeline(StandardScaler(), LogisticRegression(**LOGISTIC)).fit(features, labels)
    return model[1].coef_[0] / model[0].scale_


def fit_trees(features: np.ndarray, labels: np.ndarray, seed: int = 0) -> Pipeline:
    """Gradient-boosted trees on standardised features; the seed is that of the samples of rows and columns."""
    from xgboost import XGBClassifier  # an optional library

    return make_pipeline(StandardScaler(), XGBClassifier(**XGBOOST, n_jobs=1, random_state=seed)).fit(features, labels)


def rank_trees(
    table: FeatureTable, model: Pipeline, weights: np.ndarray, setting: str, rows: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """The best candidate of r points by boosted trees; of many candidates only the best by logistic regression.

    Where a point has more than `FEW` candidates, the trees rank the `SHORTLIST` with the highest score by the weights
    of the same features, in which the lower bound stands for Word Mover's distance.

    Returns:
        Indices of texts, `NONE` without candidates, and whether an answer was among those that were ranked; (r,) each.
    """
    pools, best, possible = table.candidates.of(setting), np.full(len(rows), NONE), np.zeros(len(rows), bool)
    by_weight = by_metric(weights)
    for place, row in enumerate(rows):
        texts = pools[row]
        if len(texts) > FEW:
            movers = aggregate(*table.movers_bounds(row)[1]) @ by_weight[MOVERS]
            scores = (table.cheap_scores(row, by_weight) + movers)[texts]
            texts = np.sort(texts[np.argsort(-scores, kind="stable")[:SHORTLIST]])
        if len(texts):
            scores = model.predict_proba(table.features(row, texts, len(weights)))[:, 1]
            best[place] = texts[scores.argmax()]
        possible[place] = bool(table.candidates.answers[row] & set(texts.tolist()))
    return best, possible
