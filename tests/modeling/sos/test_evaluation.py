"""Opinion similarity and triplet accuracy, from cosines set by hand."""

import numpy as np
import pytest

from modeling.sos.evaluation import OpinionEvaluator, TripletAccuracyEvaluator
from tests.modeling.base.test_evaluation import FACTS, Chosen

TEXTS = list("abcdefgh")
# four broadly different pairs, the last of them at the boundary, and four broadly similar ones
SCORES = [0, 0.5, 1, 1.5, 2, 3, 3.5, 4]
COSINES = np.array([0.9, 0.2, 0.1, 0.6, 0.3, 0.8, 0.4, 0.5])


def opinion_evaluator(scores=SCORES):
    return OpinionEvaluator({"sentence1": ["x"] * 8, "sentence2": TEXTS, "score": scores}, **FACTS)


def test_opinion_metrics():
    evaluator = opinion_evaluator()
    groups = evaluator.by_group(COSINES)
    assert groups["broadly different"].tolist() == [0.9, 0.2, 0.1, 0.6]  # up to one and a half
    assert groups["broadly similar"].tolist() == [0.3, 0.8, 0.4, 0.5]
    figures = evaluator.metrics(COSINES)
    assert (figures["n_different"], figures["n_similar"]) == (4, 4)
    # the cosines' ranks are 8 2 1 6 3 7 4 5: behind them 0, 5, 5, 1, 3, 0 and 1 higher ones, 15 of 28 rise
    assert figures["kendall"] == pytest.approx((15 - 13) / 28)
    assert all(key in figures for key in OpinionEvaluator.headline)


@pytest.mark.parametrize("score", [4.5, float("nan")])
def test_a_score_outside_of_the_scale_is_refused(score):
    with pytest.raises(ValueError, match=rf"there is {score}"):
        opinion_evaluator([*SCORES[:7], score])


def test_triplet_accuracy():
    texts = {"positive": ["0.9", "0.5", "0.3", "0.7"], "negative": ["0.1", "0.6", "0.3", "0.2"]}
    evaluator = TripletAccuracyEvaluator({"anchor": ["x"] * 4} | texts, **FACTS)
    # the first and the last are nearer to their own; the third is as near to the other, which does not count
    figures = evaluator(Chosen())
    assert figures == pytest.approx({"triplets_accuracy": 0.5, "triplets_mean_same": 0.6, "triplets_mean_other": 0.3})
    assert evaluator.rows == 4
