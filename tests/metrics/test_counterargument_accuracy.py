"""Counter-argument accuracy: ranks, cut-offs and intervals by hand, debates as units, and every kind of bad input."""

import numpy as np
import pytest

from metrics.counterargument_accuracy.counterargument_accuracy import accuracy_interval, counterargument_accuracy

# First right ones at ranks 1, 3, 2, none, 1; the second point has two right ones, the last point one candidate.
RANKINGS = [[4, 7, 2], [5, 6, 1, 3], [6, 0, 2], [3, 1, 4], [8]]
RIGHT = [[4], [3, 1], [0], [9], [8, 2]]


def test_scores_by_hand():
    scores = counterargument_accuracy(RANKINGS, RIGHT, k={1, 2, 3, 50}, n_bootstrap=0)
    assert scores == {
        "accuracy_at_1": 2 / 5,
        "accuracy_at_1_low": None,
        "accuracy_at_1_high": None,
        "accuracy_at_k": {1: 2 / 5, 2: 3 / 5, 3: 4 / 5, 50: 4 / 5},
        "mean_reciprocal_rank": pytest.approx((1 + 1 / 3 + 1 / 2 + 0 + 1) / 5),
        "n": 5,
    }


def accuracy(right, **options):
    """Scores of points of which the given ones have the right candidate in the first place."""
    return counterargument_accuracy([[0] if hit else [1] for hit in right], [[0]] * len(right), **options)


def test_interval_by_hand():
    # Resampled accuracy of 100 points of which 40 are right: Binomial(100, .4) / 100. Its 2.5 % and 97.5 % quantiles
    # are 31 and 50 right ones: P(X <= 30) = .0248, P(X <= 31) = .0398; P(X <= 49) = .9729, P(X <= 50) = .9832.
    scores = accuracy([True] * 40 + [False] * 60, n_bootstrap=50_000)
    assert (scores["accuracy_at_1_low"], scores["accuracy_at_1_high"]) == (0.31, 0.5)


def test_debates_are_resampled_as_a_whole():
    # Two debates, all points of one right: a draw holds one of them twice (1/4 each) or both, so the bounds are 0 and
    # 1. Over 40 single points no draw in a thousand is below .2.
    right, debates = [True] * 20 + [False] * 20, ["a"] * 20 + ["b"] * 20
    by_debate, by_point = accuracy(right, groups=debates), accuracy(right)
    assert (by_debate["accuracy_at_1_low"], by_debate["accuracy_at_1_high"]) == (0, 1)
    assert accuracy(right, groups=["a"] * 40)["accuracy_at_1_low"] is None  # of one debate there is no interval
    assert 0.2 < by_point["accuracy_at_1_low"] < 0.5 < by_point["accuracy_at_1_high"] < 0.8
    assert by_debate["accuracy_at_1"] == by_point["accuracy_at_1"] == 0.5


def test_a_draw_is_scored_over_its_points_not_over_its_debates():
    # Debate 0: one point, right. Debates 1, 2, 3: three points each, one right. Of draws of four debates 1/256 hold
    # debate 0 four times, 12/256 three times: the 97.5 % quantile is one of these, (3 + 1) / (3 + 3), where the mean
    # over debates would be 5/6. Draws without it (81/256) have 4 of 12 right.
    right, debates = [True] + [True, False, False] * 3, [0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    low, high = accuracy_interval(np.array(right), np.array(debates), 2000, 0)
    assert (low, high) == (pytest.approx(1 / 3), pytest.approx(4 / 6))
    # Right points and all points are those of the same draw: where all are right, every draw is.
    assert accuracy_interval(np.array([True] * 10), np.array(debates), 200, 0) == (1, 1)


@pytest.mark.parametrize(
    ("predictions", "references", "options", "message"),
    [
        ([[1], [2]], [[1]], {}, r"inconsistent numbers of samples: \[2, 1\]"),
        ([[1], [2, 5, 2]], [[1], [2]], {}, r"predictions\[1\] ranks candidate 2 twice"),
        ([[1], [4, -1]], [[1], [2]], {}, r"predictions\[1\] is \[4, -1\]: .* drop the -1"),
        ([[1]], [[1]], {"n_bootstrap": -1}, "n_bootstrap is -1: pass a whole number of at least 0"),
        ([[1], [2]], [[1], [2]], {"groups": ["a"]}, "1 groups but 2 points: pass a list with the debate of each point"),
    ],
)
def test_bad_input_is_named(predictions, references, options, message):
    with pytest.raises(ValueError, match=message):
        counterargument_accuracy(predictions, references, **options)
