"""Simple-SD: distances by hand arithmetic, and the best candidate found as brute force finds it."""

import math

import numpy as np
import pytest

from modeling.bipolar.baselines.words import SimpleSD, WordMovers, Words
from modeling.bipolar.candidates import SETTINGS, Candidates
from tests.modeling.bipolar.baselines.invented import columns_of, debates, row, vectors

COMPASS = {"good": (1.0, 0.0), "bad": (-1.0, 0.0), "great": (0.0, 1.0), "awful": (0.0, -1.0)}


def compass(words):
    return {word: np.array(COMPASS[word]) for word in words if word in COMPASS}


def test_distances_by_hand():
    words = Words(["Good great", "the good good great", "trams", ""], ["bad awful", "good bad", "great: good", "the"])
    movers = WordMovers(words, compass)
    exact = [[movers.distance(query, text) for text in range(3)] for query in range(2)]
    root = math.sqrt(2)
    # "good great" to "bad awful": good goes to awful and great to bad, each sqrt 2. To "good bad": good stays, great
    # goes to bad. "good good great" to "bad awful": a half goes from good to awful, a sixth from good to bad, 2 away, a
    # third from great to bad; to "good bad": a sixth from good to bad; a third from great.
    expected = [[root, root / 2, 0], [root * 5 / 6 + 2 / 6, (2 + 2 * root) / 6, root / 6]]
    np.testing.assert_allclose(exact, expected, atol=1e-12)
    # halves of good and great with a half of good and of bad; thirds with them
    assert words.manhattan(0).tolist() == pytest.approx([2, 1, 0, math.inf])
    assert words.manhattan(1).tolist() == pytest.approx([2, 1, 1 / 3, math.inf])
    assert words.manhattan(2).tolist() == [2, 2, 2, math.inf] and np.isinf(words.manhattan(3)).all()
    for wordless in (2, 3):  # without a vector, without a word
        assert np.isinf([*movers.lower(wordless), movers.distance(wordless, 0)]).all()
    assert np.isinf(movers.lower(0)).tolist() == [False, False, False, True]


def test_of_equals_the_first_is_the_best():
    equal = SimpleSD(Candidates(columns_of([row("good", "good", counter) for counter in ("bad bad", "bad")])), compass)
    assert equal.best(0)[2] == equal.texts.index("bad bad")


def test_simple_sd_is_exact_with_few_distances():
    candidates = debates(seed=1, number=6)
    ranker, plain = (SimpleSD(candidates, vectors) for _ in range(2))
    best = np.array([ranker.best(point) for point in range(len(candidates))])
    assert ranker.movers.distance.cache_info().currsize < 2 * sum(map(len, candidates.of("epa"))) / 5
    for point, parts in enumerate(plain.parts):
        distances = [[plain.movers.distance(query, text) for text in range(len(plain.texts))] for query in parts]
        words = sum(1 / (1 + plain.words.manhattan(query)) for query in parts)
        scores = 0.8 * words + 0.9 * (1 / (1 + np.array(distances))).sum(axis=0)
        for number, setting in enumerate(SETTINGS):
            pool = candidates.of(setting)[point]
            assert best[point, number] == pool[scores[pool].argmax()]
