"""All 20 features of one pair by hand arithmetic."""

import math

import numpy as np
import pytest

from modeling.bipolar.baselines import features
from modeling.bipolar.baselines.features import FeatureTable, FeatureTables, aggregate, check_libraries
from modeling.bipolar.baselines.simple_sd import WEIGHTS, SimpleSD
from modeling.bipolar.candidates import Candidates

VECTORS = {"good": (1.0, 0.0), "bad": (0.0, 1.0)}
EMBEDDINGS = {"good": (1.0, 0.0), "bad good": (0.6, 0.8), "good bad bad bad": (0.8, 0.6)}


def vectors(words):
    return {word: np.array(VECTORS[word]) for word in words if word in VECTORS}


def embed(texts):
    return np.array([EMBEDDINGS.get(text, (0.0, 1.0)) for text in texts])


def pair(conclusion="good", premises="bad good", counter="good bad bad bad"):
    row = {
        "conclusion": conclusion,
        "premises": premises,
        "point": f"{conclusion}\n\n{premises}",
        "counter": counter,
        "stance": "pro",
        "theme": "town",
        "debate": "trams",
        "seen_in": "",
    }
    return Candidates({column: [value] for column, value in row.items()})


def test_all_features_of_a_pair_by_hand():
    """Conclusion "good", premises "bad good", candidate "good bad bad bad"; the other text is the point itself."""
    found = FeatureTable(pair(), embed, vectors=vectors).features(0, [1])
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
    expected = [
        value
        for a, b in (manhattan, movers, cosine, bm25, embeddings)
        for value in (min(a, b), max(a, b), a * b, a + b)
    ]
    np.testing.assert_allclose(found, [expected], rtol=1e-6)
    np.testing.assert_allclose(found[0, :4], [0.4, 2 / 3, 4 / 15, 16 / 15], rtol=1e-9)


def test_simple_sd_of_the_pair_by_hand():
    found = FeatureTable(pair(), vectors=vectors).features(0, [1], size=8)
    movers = 1 / (1 + 0.75 * math.sqrt(2)) + 1 / (1 + 0.25 * math.sqrt(2))
    assert found @ WEIGHTS == pytest.approx([0.9 * 16 / 15 + 0.9 * movers - 0.1 * 0.4 - 0.1 * 2 / 3])
    assert found @ WEIGHTS == pytest.approx([1.95500], abs=1e-5)


def test_a_part_without_words_is_similar_to_nothing():
    def flat(texts):
        return np.ones((len(texts), 2)) / math.sqrt(2)

    found = FeatureTable(pair(conclusion=""), flat, vectors=vectors).features(0, [1])[0].reshape(5, 4)
    assert (found[:, [0, 2]] == 0).all()  # minimum and product
    assert (found[:, 1] > 0).all() and (found[:, 1] == found[:, 3]).all()
    assert (FeatureTable(pair(counter="the?"), flat, vectors=vectors).features(0, [1])[0, :16] == 0).all()


def test_aggregates_and_their_order():
    assert aggregate(np.array([2.0, -1.0]), np.array([3.0, 4.0])).tolist() == [[2, 3, 6, 5], [-1, 4, -4, 3]]


def test_bounds_hold_and_are_kept(tmp_path, monkeypatch):
    table = FeatureTable(pair(), folder=tmp_path, vectors=vectors)
    lower, upper = table.movers_bounds(0)
    exact = [[table.movers_similarity(0, side, text) for text in (0, 1)] for side in (0, 1)]
    assert (lower <= exact).all() and (exact <= upper).all()
    again = FeatureTable(pair(), folder=tmp_path, vectors=vectors)
    monkeypatch.setattr(again.movers, "bounds", None)  # not computed again
    assert np.array_equal(again.movers_bounds(0), (lower, upper))


def test_rankers_share_the_table_of_candidates():
    tables, candidates = FeatureTables(vectors=vectors), pair()
    assert tables.of(candidates) is tables.of(candidates)
    assert tables.of(candidates) is not tables.of(pair())
    assert tables.of(candidates).size == 8
    with pytest.raises(ValueError, match="x17-x20 take an encoder"):
        tables.of(candidates).features(0, [1])
    ranker = SimpleSD(tables)
    ranker.fit(candidates)
    assert ranker.best(candidates, "epa").best.tolist() == [1]


def test_missing_libraries_are_named_with_their_extras(monkeypatch):
    monkeypatch.setattr(features, "find_spec", lambda name: None if name in ("ot", "bm25s") else name)
    with pytest.raises(
        ValueError, match=r"^ot, bm25s not installed: pip install 'opinion-transformers\[baselines,retr"
    ):
        check_libraries()
