"""Pruning finds what brute force finds, with few exact distances; for Simple-SD and for any weights."""

import numpy as np
import pytest

from modeling.bipolar.baselines.features import FULL, FeatureTable, FeatureTables, aggregate
from modeling.bipolar.baselines.linear_ranking import best_first, highest, rank_linear
from modeling.bipolar.baselines.simple_sd import WEIGHTS, SimpleSD
from modeling.bipolar.candidates import SETTINGS
from tests.modeling.bipolar.baselines.invented import debates, embed, vectors


def brute_force(table, weights, setting):
    return [
        pool[(table.features(row, pool, len(weights)) @ weights).argmax()]
        for row, pool in enumerate(table.candidates.of(setting))
    ]


@pytest.mark.parametrize("setting", SETTINGS)
def test_simple_sd_is_exact_with_few_distances(setting):
    candidates = debates(seed=1, number=6)
    tables = FeatureTables(vectors=vectors)
    found = SimpleSD(tables).best(candidates, setting)
    needed = tables.of(candidates).movers.computed
    assert found.best.tolist() == brute_force(FeatureTable(candidates, vectors=vectors), WEIGHTS, setting)
    assert found.counts["pairs"] == 2 * sum(len(pool) for pool in candidates.of(setting))
    assert found.counts["distances computed"] == needed == found.counts["distances needed"]
    if setting in ("epc", "epa"):
        assert needed < found.counts["pairs"] / 5
        assert SimpleSD(tables).best(candidates, setting).counts["distances computed"] == 0


@pytest.mark.parametrize("seed", range(6))
def test_any_linear_score_is_exact(seed):
    """Whatever the signs of the weights, of 8 features and of 20."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(8, FULL)[seed % 2]) * rng.choice([0.1, 1, 10])
    table = FeatureTable(debates(seed=seed, number=4), embed, vectors=vectors)
    found = rank_linear(table, weights, "epa", "any")
    assert found.best.tolist() == brute_force(table, weights, "epa")


def test_of_equal_candidates_the_first_is_found():
    bounds = np.zeros((2, 3)), np.ones((2, 3))
    assert best_first(np.zeros(3), *bounds, WEIGHTS[4:], lambda side, candidate: 0.5) == (0, 6)


def test_one_that_cannot_be_the_best_costs_nothing():
    lower, upper = np.array([[0.4, 0.1], [0.4, 0.1]]), np.array([[0.6, 0.3], [0.6, 0.3]])
    asked = []
    found = best_first(np.zeros(2), lower, upper, WEIGHTS[4:], lambda *which: asked.append(which) or 0.5)
    assert found == (0, 2)
    assert asked == [(0, 0), (1, 0)]


def test_highest_by_hand():
    square = np.array([[0.0], [0.0]]), np.array([[1.0], [1.0]])
    assert highest(*square, np.array([0, 0, 0, 1.0])) == [2]
    assert highest(*square, np.array([0, 1.0, 0, -1])) == [0]  # maximum - sum = - minimum
    # minimum - product is a (1 - b) for a < b, largest where b is a = 1/2
    assert highest(*square, np.array([1.0, 0, -1, 0])) == [0.25]


def test_highest_is_that_of_a_grid():
    rng = np.random.default_rng(0)
    steps = np.linspace(0, 1, 101)
    for _ in range(50):
        ends, weights = np.sort(rng.random((2, 2, 1)), axis=0), rng.normal(size=4)
        first, second = (ends[0, side] + steps * (ends[1, side] - ends[0, side]) for side in (0, 1))
        grid = (aggregate(*np.meshgrid(first, second)) @ weights).max()
        found = highest(ends[0], ends[1], weights)[0]
        assert grid - 1e-12 <= found <= grid + 0.05
