"""SgTS: Spearman correlation with a 0/1 gold, its ceiling and AUROC; wrong input."""

import math

import numpy as np
import pytest

from metrics.sgts.sgts import sgts


def test_scores_by_hand():
    # Cosines .9 .2 .6 .7 have ranks 4 1 2 3; gold 1 0 1 0 has ranks 3.5 1.5 3.5 1.5. Deviations from the mean 2.5:
    # (1.5 -1.5 -.5 .5) and (1 -1 1 -1); products sum to 1.5 + 1.5 - .5 - .5 = 2; squares to 5 and 4; 2 / sqrt(20).
    # Ceiling sqrt(3 * 2 * 2 / 15) = sqrt(.8). AUROC: .9 beats .2 and .7, .6 beats .2 only: 3 of 4.
    scores = sgts([0.9, 0.2, 0.6, 0.7], [1, 0, 1, 0])
    assert scores == {
        "spearman": pytest.approx(2 / math.sqrt(20)),
        "ceiling": pytest.approx(math.sqrt(0.8)),
        "normalized": pytest.approx(0.5),
        "auroc": pytest.approx(0.75),
        "n_same": 2,
        "n_different": 2,
    }


def test_a_perfect_ranking_reaches_the_ceiling_and_rounding_beyond_one_is_clipped():
    assert sgts(np.linspace(-1, 1, 100), [0] * 60 + [1] * 40)["normalized"] == pytest.approx(1)
    # Clipped, the first two tie: the same pair wins one comparison and ties the other.
    assert sgts([1.00005, 1.00009, 0.5], [1, 0, 0])["auroc"] == 0.75


@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        ([], [], "predictions is empty"),
        ([0.1, 0.2], [1], r"inconsistent numbers of samples: \[2, 1\]"),
        ([0.1, 0.2, -1.2], [1, 0, 0], r"predictions\[2\] is -1.2: pass cosines in \[-1, 1\]"),
        ([0.1, float("nan")], [1, 0], r"predictions\[1\] is nan: pass cosines"),
        ([0.1, 0.2], [0.5, 1], r"references\[0\] is 0.5: labels must be 0 or 1"),
        ([0.1, 0.2], ["same", "different"], "references must be a flat list or array of numbers: .*'same'"),
        ([0.1, 0.2], [1, 1], "All 2 references equal 1, .* pairs of both classes"),
    ],
)
def test_bad_input_is_named(predictions, references, message):
    with pytest.raises(ValueError, match=message):
        sgts(predictions, references)
