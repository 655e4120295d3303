"""Orders of candidates, by hand."""

import numpy as np

from modeling.bipolar.baselines.ranking import best, reranked, shortlist

SCORES = np.array([[0.1, 0.9, 0.5, 0.9, 0.2], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
POOLS = [np.array([0, 1, 2, 3]), np.array([1, 2, 4]), np.array([], dtype=int)]


def test_shortlists_by_hand():
    found, values = shortlist(SCORES, POOLS, 3)
    # of equal scores the first text, and nothing from outside a pool
    assert found.tolist() == [[1, 3, 2], [1, 2, 4], [-1, -1, -1]]
    assert values[0].tolist() == np.float32([0.9, 0.9, 0.5]).tolist() and values[2].tolist() == [-np.inf] * 3
    assert best(SCORES, POOLS).tolist() == [1, 1, -1]


def test_a_short_shortlist_begins_a_long_one():
    scores = np.random.default_rng(0).integers(0, 5, (20, 40)).astype(float)  # with many ties
    pools = [np.arange(40)] * 20
    long, _ = shortlist(scores, pools, 40)
    for size in (1, 7, 39):
        assert (shortlist(scores, pools, size)[0] == long[:, :size]).all()


def test_reranked_by_hand():
    listed = np.array([[4, 2, 7], [3, 1, -1], [-1, -1, -1]])
    scores = np.array([[0.1, 0.8, 0.8], [0.2, 0.3, 0.9], [0.5, 0.5, 0.5]])
    # the one retrieved first among equals, never an absent one
    assert reranked(listed, scores).tolist() == [2, 1, -1]
