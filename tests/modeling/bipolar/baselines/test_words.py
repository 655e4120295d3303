"""The 20 features of a pair by hand arithmetic; the best by any linear score of them, found as brute force finds it."""

import math
from collections import Counter

import numpy as np
import pytest

from modeling.base.words import movers_distance, unit_vectors
from modeling.bipolar.baselines import words as module
from modeling.bipolar.baselines.learned import SIMPLE_SD
from modeling.bipolar.baselines.words import (
    FULL,
    FeatureTable,
    WordMovers,
    Words,
    aggregate,
    best_first,
    highest,
    rank_linear,
)
from modeling.bipolar.candidates import SETTINGS, Candidates
from tests.modeling.bipolar.baselines.invented import columns_of, debates, embed, row, vectors

VECTORS = {"good": (1.0, 0.0), "bad": (0.0, 1.0)}
EMBEDDINGS = {"good": (1.0, 0.0), "bad good": (0.6, 0.8), "good bad bad bad": (0.8, 0.6)}


def two(words):
    return {word: np.array(VECTORS[word]) for word in words if word in VECTORS}


def pictured(texts):
    return np.array([EMBEDDINGS.get(text, (0.0, 1.0)) for text in texts])


def pair(conclusion="good", premises="bad good", counter="good bad bad bad"):
    return Candidates(columns_of([row(conclusion, premises, counter)]))


def test_all_features_of_a_pair_by_hand():
    """Conclusion "good", premises "bad good", candidate "good bad bad bad"; the other text is the point itself."""
    x = FeatureTable(pair(), pictured, vectors=two).features(0, [1])
    # frequencies: conclusion (1, 0), premises (1/2, 1/2), candidate (1/4, 3/4) of good and bad
    manhattan = 1 / (1 + 3 / 4 + 3 / 4), 1 / (1 + 1 / 4 + 1 / 4)
    # 3/4 and 1/4 of the mass go from good to bad, sqrt 2 away
    movers = 1 / (1 + 3 / 4 * math.sqrt(2)), 1 / (1 + 1 / 4 * math.sqrt(2))
    # counts (1, 0), (1, 1) and (1, 3)
    cosine = 1 / math.sqrt(10), 4 / math.sqrt(20)
    # both words are in both texts, of 3 and 4 words: idf = ln(1 + 0.5 / 2.5); tf / (tf + 1.5 (0.25 + 0.75 * 4 / 3.5))
    idf, length = math.log(1.2), 1.5 * (0.25 + 0.75 * 4 / 3.5)
    good, bad = idf * 1 / (1 + length), idf * 3 / (3 + length)
    bm25 = good, good + bad
    # (1, 0) and (0.6, 0.8) with (0.8, 0.6)
    embeddings = 0.8, 0.96
    pairs = manhattan, movers, cosine, bm25, embeddings
    np.testing.assert_allclose(
        x, [[each for a, b in pairs for each in (min(a, b), max(a, b), a * b, a + b)]], rtol=1e-6
    )
    np.testing.assert_allclose(x[0, :4], [0.4, 2 / 3, 4 / 15, 16 / 15], rtol=1e-9)


def test_simple_sd_of_the_pair_by_hand():
    x = FeatureTable(pair(), vectors=two).features(0, [1], size=8)
    movers = 1 / (1 + 0.75 * math.sqrt(2)) + 1 / (1 + 0.25 * math.sqrt(2))
    assert x @ SIMPLE_SD == pytest.approx([0.9 * 16 / 15 + 0.9 * movers - 0.1 * 0.4 - 0.1 * 2 / 3])
    assert x @ SIMPLE_SD == pytest.approx([1.95500], abs=1e-5)


def test_a_part_without_words_is_similar_to_nothing():
    def flat(texts):
        return np.ones((len(texts), 2)) / math.sqrt(2)

    x = FeatureTable(pair(conclusion=""), flat, vectors=two).features(0, [1])[0].reshape(5, 4)
    assert (x[:, [0, 2]] == 0).all()  # minimum and product
    assert (x[:, 1] > 0).all() and (x[:, 1] == x[:, 3]).all()
    assert (FeatureTable(pair(counter="the?"), flat, vectors=two).features(0, [1])[0, :16] == 0).all()


# unit vectors at right angles
COMPASS = {"good": (1.0, 0.0), "great": (0.0, 1.0), "bad": (-1.0, 0.0), "awful": (0.0, -1.0)}


def compass(words):
    return {word: np.array(COMPASS[word]) for word in words if word in COMPASS}


def plain(query, text):
    """The distance of two texts by the transport of all of their words."""
    bags = [Counter(side.split()) for side in (query, text)]
    known = [unit_vectors(set(bag), vectors) for bag in bags]
    left, right = ([one[word] for word in bag] for one, bag in zip(known, bags, strict=True))
    return movers_distance(left, list(bags[0].values()), right, list(bags[1].values()))


def draw(rng, texts, longest):
    return [" ".join(map(str, rng.integers(0, 60, rng.integers(1, longest)))) for _ in range(texts)]


def test_distances_by_hand():
    words = Words(["Good great", "the good good great"], ["bad awful", "good bad", "great: good"])
    movers = WordMovers(words, compass)
    exact = [[movers.distance(query, text) for text in range(3)] for query in range(2)]
    root = math.sqrt(2)
    # "good great" to "bad awful": good goes to awful and great to bad, each sqrt 2. To "good bad": good stays, great
    # goes to bad. "good good great" to "bad awful": a half goes from good to awful, a sixth from good to bad, 2 away, a
    # third from great to bad; to "good bad": a sixth from good to bad; a third from great.
    expected = [[root, root / 2, 0], [root * 5 / 6 + 2 / 6, (2 + 2 * root) / 6, root / 6]]
    np.testing.assert_allclose(exact, expected, atol=1e-12)
    assert len(movers.distances) == 6


@pytest.mark.parametrize("block", [2, 64])
def test_exact_distances_are_the_plain_ones_and_lie_between_the_bounds(monkeypatch, block):
    monkeypatch.setattr(module, "BLOCK", block)
    rng = np.random.default_rng(0)
    queries, texts = draw(rng, 6, 9), draw(rng, 20, 30)
    movers = WordMovers(Words(queries, texts), vectors)
    for number, query in enumerate(queries):
        exact = np.array([movers.distance(number, text) for text in range(len(texts))])
        np.testing.assert_allclose(exact, [plain(query, text) for text in texts], rtol=1e-9)
        lower, upper = movers.bounds(number)
        assert (lower <= exact).all() and (exact <= upper).all()
        assert (lower > exact / 2).all()


def test_without_words_all_is_infinitely_far():
    movers = WordMovers(Words(["", "trams", "good"], ["good", "the", "trams"]), compass)
    assert [movers.distance(0, 0), movers.distance(1, 0), movers.distance(2, 1)] == [math.inf] * 3
    assert np.isinf(movers.bounds(1)).all()
    assert np.isinf(movers.bounds(2)).tolist() == [[False, True, True]] * 2
    nothing = WordMovers(Words(["", "?"], ["..."]), compass)
    assert np.isinf([*nothing.bounds(0), [nothing.distance(1, 0)]]).all()


def brute_force(table, weights, setting):
    return [
        pool[(table.features(row, pool, len(weights)) @ weights).argmax()]
        for row, pool in enumerate(table.candidates.of(setting))
    ]


@pytest.mark.parametrize("setting", SETTINGS)
def test_simple_sd_is_exact_with_few_distances(setting):
    candidates = debates(seed=1, number=6)
    table, pairs = FeatureTable(candidates, vectors=vectors), 2 * sum(map(len, candidates.of(setting)))
    best = rank_linear(table, SIMPLE_SD, setting, range(len(candidates)))
    assert len(table.movers.distances) < pairs / (5 if setting in ("epc", "epa") else 1)
    assert best.tolist() == brute_force(FeatureTable(candidates, vectors=vectors), SIMPLE_SD, setting)
    assert rank_linear(table, SIMPLE_SD, setting, [7, 3]).tolist() == best[[7, 3]].tolist()


@pytest.mark.parametrize("seed", range(6))
def test_any_linear_score_is_exact(seed):
    """Whatever the signs of the weights, of 8 features and of 20."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(8, FULL)[seed % 2]) * rng.choice([0.1, 1, 10])
    table = FeatureTable(debates(seed=seed, number=4), embed, vectors=vectors)
    best = rank_linear(table, weights, "epa", range(len(table.candidates)))
    assert best.tolist() == brute_force(table, weights, "epa")


def test_of_equal_candidates_the_first_is_found():
    bounds = np.zeros((2, 3)), np.ones((2, 3))
    assert best_first(np.zeros(3), *bounds, SIMPLE_SD[4:], lambda side, candidate: 0.5) == 0


def test_one_that_cannot_be_the_best_costs_nothing():
    lower, upper = np.array([[0.4, 0.1], [0.4, 0.1]]), np.array([[0.6, 0.3], [0.6, 0.3]])
    asked = []
    assert best_first(np.zeros(2), lower, upper, SIMPLE_SD[4:], lambda *which: asked.append(which) or 0.5) == 0
    assert asked == [(0, 0), (1, 0)]


def test_highest_is_that_of_a_grid():
    rng = np.random.default_rng(0)
    steps = np.linspace(0, 1, 101)
    for _ in range(50):
        ends, weights = np.sort(rng.random((2, 2, 1)), axis=0), rng.normal(size=4)
        first, second = (ends[0, side] + steps * (ends[1, side] - ends[0, side]) for side in (0, 1))
        grid = (aggregate(*np.meshgrid(first, second)) @ weights).max()
        assert grid - 1e-12 <= highest(ends[0], ends[1], weights)[0] <= grid + 0.05
