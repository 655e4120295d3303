"""Stance KL divergence: the sound default, the published computation and its flaws, and every wrong input."""

import math

import numpy as np
import pytest

from metrics.stance_kl_divergence.stance_kl_divergence import kl_own_ranges, kl_shared_bins, stance_kl_divergence


def pairs(agree, oppose):
    return np.concatenate([agree, oppose]), np.array([1] * len(agree) + [0] * len(oppose))


def test_scores_by_hand():
    # Two bins, [-1, 0) and [0, 1]. Agree falls 0 + 3, oppose 1 + 2; half a pair more in each: (.5, 3.5) / 4 and
    # (1.5, 2.5) / 4. KL = 1/8 ln(1/3) + 7/8 ln(7/5). AUROC: .9 wins 3, .8 wins 2 and ties 1, .7 wins 2: 7.5 of 9.
    scores = stance_kl_divergence([0.8, 0.9, 0.7, -0.2, 0.1, 0.8], [1, 1, 1, 0, 0, 0], bins=2)
    assert scores == {
        "kl": pytest.approx(math.log(1 / 3) / 8 + 7 / 8 * math.log(7 / 5)),
        "auroc": pytest.approx(7.5 / 9),
        "n_agree": 3,
        "n_oppose": 3,
        "mean_agree": pytest.approx(0.8),
        "mean_oppose": pytest.approx(0.7 / 3),
    }


def test_one_outlier_decides_the_published_figure_and_hardly_moves_ours():
    # 1,000 cosines spread evenly over [.55, 1]: 2 % in each bin of their own range. The outlier at -1 stretches the
    # other group's bins over [-1, 1], where some 38 of 50 are empty: .76 * ln(.02 / 1e-10) = 14.5, and the 11 bins with
    # nearly all of that group give about .22 * ln(.22) = -.3.
    agree = np.linspace(0.55, 1, 1000)
    oppose = np.append(agree, -1.0)
    assert kl_own_ranges(agree, oppose, 50) == pytest.approx(14, abs=0.3)
    assert kl_shared_bins(agree, oppose, 50) < 0.001
    assert stance_kl_divergence(*pairs(agree, oppose))["auroc"] == pytest.approx(0.5, abs=0.001)


def test_separated_groups_score_low_as_published_and_high_here():
    # Agree rises linearly over [.5, 1], oppose falls linearly over [-.5, 0]: no overlap, AUROC 1.
    quantiles = (np.arange(1000) + 0.5) / 1000
    agree, oppose = 0.5 + 0.5 * np.sqrt(quantiles), -0.5 * np.sqrt(1 - quantiles)
    assert kl_own_ranges(agree, oppose, 50) == pytest.approx(0.8, abs=0.05)
    assert kl_shared_bins(agree, oppose, 50) > 5
    assert stance_kl_divergence(*pairs(agree, oppose))["auroc"] == 1
    # Of equal shape, however far apart, they count as equal.
    assert kl_own_ranges(agree, agree - 1, 50) == pytest.approx(0, abs=1e-6)
    assert kl_shared_bins(agree, agree - 1, 50) > 5


@pytest.mark.parametrize(
    ("predictions", "references", "options", "message"),
    [
        ([0.1, 0.2], [0, 0], {}, "All 2 references are 0: add pairs of the other class"),
        ([0.1, 0.2], [1, 0], {"mode": "papr"}, "Unknown mode 'papr': choose one of 'shared', 'paper'"),
        ([0.1, 0.2], [1, 0], {"bins": 1}, "bins is 1: pass a whole number of at least 2"),
    ],
)
def test_bad_input_is_named(predictions, references, options, message):
    with pytest.raises(ValueError, match=message):
        stance_kl_divergence(predictions, references, **options)
