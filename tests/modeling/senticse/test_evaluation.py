"""SgTS of an encoder, on cosines chosen by hand."""

from math import sqrt

import pytest

from modeling.senticse.evaluation import SgtsEvaluator
from tests.modeling.base.test_evaluation import FACTS, Chosen, pairs


def test_by_hand():
    # ranks 1 to 4 of .1 .3 .5 .7; same polarity has the ranks 2 and 4, whose mean exceeds that of the others by 1.
    # Covariance 1/4 * 1, variances 1/4 of the labels and 5/4 of the ranks: 0.25 / sqrt(5/16) = 0.447; at best, with
    # the ranks 3 and 4, it is twice that
    evaluator = SgtsEvaluator(pairs([0, 1, 0, 1], [0.1, 0.3, 0.5, 0.7]), **FACTS)
    scores = evaluator(Chosen())
    assert scores["sgts_spearman"] == pytest.approx(1 / sqrt(5))
    assert scores["sgts_ceiling"] == pytest.approx(2 / sqrt(5))
    assert scores["sgts_normalized"] == pytest.approx(0.5)
    assert scores["sgts_auroc"] == pytest.approx(3 / 4)  # of four comparisons only .3 and .5 go the wrong way
    assert scores["sgts_mean_same"] == pytest.approx(0.5)
    assert scores["sgts_mean_different"] == pytest.approx(0.3)
    assert (scores["sgts_n_same"], scores["sgts_n_different"]) == (2, 2)
    assert set(evaluator.measures) == {name.removeprefix("sgts_") for name in scores}
