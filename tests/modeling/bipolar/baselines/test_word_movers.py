"""Word Mover's distances and their bounds by hand, against the plain ones, and from disk."""

import math

import numpy as np
import pytest

from modeling.base.words import word_movers as plain
from modeling.bipolar.baselines import word_movers
from modeling.bipolar.baselines.word_counts import WordCounts
from modeling.bipolar.baselines.word_movers import WordMovers

# unit vectors at right angles
COMPASS = {"good": (1.0, 0.0), "great": (0.0, 1.0), "bad": (-1.0, 0.0), "awful": (0.0, -1.0)}


def compass(words):
    return {word: np.array(COMPASS[word]) for word in words if word in COMPASS}


def scattered(words):
    """A vector for each word that is a number, the same in every call."""
    return {word: np.random.default_rng(int(word)).normal(size=5) for word in words if word.isdigit()}


def draw(rng, texts, longest):
    return [" ".join(map(str, rng.integers(0, 60, rng.integers(1, longest)))) for _ in range(texts)]


def test_distances_by_hand():
    counts = WordCounts(["Good great", "the good good great"], ["bad awful", "good bad", "great: good"])
    movers = WordMovers(counts, compass)
    found = [[movers.distance(query, text) for text in range(3)] for query in range(2)]
    root = math.sqrt(2)
    # "good great" to "bad awful": good goes to awful and great to bad, each sqrt 2. To "good bad": good stays, great
    # goes to bad. "good good great" to "bad awful": a half goes from good to awful, a sixth from good to bad, 2 away, a
    # third from great to bad; to "good bad": a sixth from good to bad; a third from great.
    expected = [[root, root / 2, 0], [root * 5 / 6 + 2 / 6, (2 + 2 * root) / 6, root / 6]]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert movers.computed == 6


def test_bounds_by_hand():
    movers = WordMovers(WordCounts(["good great"], ["bad awful", "good"]), compass)
    lower, upper = movers.bounds(0)
    # good to bad is 2, to awful sqrt 2; each word's nearest is sqrt 2 away, as are the centroids. To "good", half of
    # the mass goes sqrt 2 from great, and nothing in the other direction; the centroids are sqrt 1/2 apart.
    np.testing.assert_allclose(lower, [math.sqrt(2), math.sqrt(0.5)], atol=2e-6)
    np.testing.assert_allclose(upper, [1 + math.sqrt(0.5), math.sqrt(0.5)], atol=2e-6)


@pytest.mark.parametrize("block", [2, 64])
def test_exact_distances_are_the_plain_ones_and_lie_between_the_bounds(monkeypatch, block):
    monkeypatch.setattr(word_movers, "BLOCK", block)
    rng = np.random.default_rng(0)
    queries, texts = draw(rng, 6, 9), draw(rng, 20, 30)
    movers = WordMovers(WordCounts(queries, texts), scattered)
    for number, query in enumerate(queries):
        exact = np.array([movers.distance(number, text) for text in range(len(texts))])
        np.testing.assert_allclose(np.exp(-exact), plain([query] * 20, texts, scattered).values, atol=1e-9)
        lower, upper = movers.bounds(number)
        assert (lower <= exact).all() and (exact <= upper).all()
        assert (lower > exact / 2).all()


def test_without_words_all_is_infinitely_far():
    movers = WordMovers(WordCounts(["", "trams", "good"], ["good", "the", "trams"]), compass)
    assert [movers.distance(0, 0), movers.distance(1, 0), movers.distance(2, 1)] == [math.inf] * 3
    assert np.isinf(movers.bounds(1)).all()
    assert np.isinf(movers.bounds(2)).tolist() == [[False, True, True]] * 2
    assert movers.words_without_vector == 1
    nothing = WordMovers(WordCounts(["", "?"], ["..."]), compass)
    assert np.isinf([*nothing.bounds(0), [nothing.distance(1, 0)]]).all()


def test_distances_are_kept_for_the_same_words_only(tmp_path):
    counts = WordCounts(["good"], ["bad", "awful"])
    first = WordMovers(counts, compass, tmp_path)
    first.distance(0, 1)
    first.save()
    again = WordMovers(WordCounts(["Good!"], ["bad", "awful"]), compass, tmp_path)
    assert again.distance(0, 1) == pytest.approx(math.sqrt(2))
    assert again.computed == 0
    again.distance(0, 0)
    again.save()
    assert again.computed == 1
    (file,) = tmp_path.iterdir()
    assert len(np.load(file)) == 2
    other = WordMovers(WordCounts(["good"], ["bad", "great"]), compass, tmp_path)
    other.distance(0, 1)
    assert other.computed == 1
    assert other.key != first.key


def test_distances_are_saved_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr(word_movers, "SAVE_EVERY", -1)
    WordMovers(WordCounts(["good"], ["bad"]), compass, tmp_path).distance(0, 0)
    assert len(list(tmp_path.iterdir())) == 1
