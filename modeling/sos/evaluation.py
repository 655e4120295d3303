"""Evaluators of opinion similarity: do cosines agree with people, and do reviews lie by their polarity?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from metrics.opinion_similarity.opinion_similarity import opinion_similarity
from modeling.base.evaluation import PairEvaluator, texts

BROADLY_DIFFERENT = 1.5  # the highest mean score, of 0 to 4, of pairs that people find rather different (Table 9)


def agreement(similarities: np.ndarray, judgements: np.ndarray) -> dict[str, float | int | None] | None:
    """The metric `opinion_similarity`, or None where either side has one value only: nothing is to be correlated."""
    if len(judgements) < 2 or not np.ptp(similarities) or not np.ptp(judgements):
        return None
    return opinion_similarity(similarities, judgements, boundary=BROADLY_DIFFERENT)


class OpinionEvaluator(PairEvaluator):
    """Correlation of cosines with people's scores of opinion similarity (Tay et al., 2021, sections 4 and 6).

    Over all pairs and within the broadly different and the broadly similar ones, with the share of different pairs
    among the highest quarter of cosines and of similar ones among the lowest (Table 9). Rows have the columns
    `sentence1`, `sentence2` and `score`, people's mean in [0, 4], and are of one domain.
    """

    headline = (
        "pearson",
        "kendall",
        "pearson_different",
        "pearson_similar",
        "wrong_quartile_different",
        "wrong_quartile_similar",
    )
    measures = {
        "pearson": "agreement with people's judgement, linear in their score",
        "kendall": "agreement with people's judgement, by the order of any two pairs",
        "pearson_different": "pearson among the pairs that people find broadly different",
        "kendall_different": "kendall among the same",
        "pearson_similar": "pearson among those that they find broadly similar",
        "kendall_similar": "kendall among the same",
        "wrong_quartile_different": "share of the different pairs in people's lowest quarter with a cosine in the "
        "highest",
        "wrong_quartile_similar": "share of the similar pairs in people's highest quarter with a cosine in the lowest",
        "n_different": "broadly different pairs",
        "n_similar": "broadly similar pairs",
    }
    groups = ("broadly different", "broadly similar")
    prefix = "opinions"

    def __init__(self, rows: Mapping[str, Sequence], name: str | None = None, **facts: Any) -> None:
        self.judgements = np.asarray(rows["score"], dtype=float)
        if strange := [float(score) for score in self.judgements if not 0 <= score <= 4]:
            raise ValueError(f"{facts['dataset']}: score must be people's mean in [0, 4]; there is {strange[0]}")
        similar = (self.judgements > BROADLY_DIFFERENT).astype(int)
        columns = {"sentence1": rows["sentence1"], "sentence2": rows["sentence2"], "label": similar}
        super().__init__(columns, name, **facts)

    def metrics(self, scores: np.ndarray) -> dict[str, float | int | None]:
        return agreement(scores, self.judgements) or dict.fromkeys(self.measures)


class TripletAccuracyEvaluator(PairEvaluator):
    """How often a review lies nearer to one of its own polarity than to one of the other, all of one product.

    The accuracy on development data by which the paper chooses its models (Tay et al., 2021, section 6): the share of
    triplets with cos(anchor, positive) > cos(anchor, negative), as in sentence-transformers' `TripletEvaluator`, from
    vectors that the evaluators of a model share. Rows have the columns `anchor`, `positive` and `negative`.
    """

    headline = ("accuracy",)
    measures = {
        "accuracy": "share of texts nearer to one of their own polarity than to one of the other; 0.5 is chance",
        "mean_same": "mean cosine within a polarity",
        "mean_other": "mean cosine across polarities",
    }
    groups = ("other polarity", "same polarity")
    prefix = "triplets"

    def __init__(self, rows: Mapping[str, Sequence], **facts: Any) -> None:
        names = ("anchor", "positive", "negative")
        anchors, positives, negatives = (texts(rows, column, facts["dataset"]) for column in names)
        labels = np.repeat([0, 1], len(anchors))
        super().__init__({"sentence1": anchors * 2, "sentence2": negatives + positives, "label": labels}, **facts)
        self.rows = len(anchors)

    def metrics(self, scores: np.ndarray) -> dict[str, float]:
        other, same = scores.astype(float).reshape(2, -1)
        means = {"mean_same": float(same.mean()), "mean_other": float(other.mean())}
        return {"accuracy": float((same > other).mean())} | means
