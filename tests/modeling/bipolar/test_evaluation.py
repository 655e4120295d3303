"""Ranking of counter-arguments, worked out on seven texts in the plane."""

import numpy as np
import pytest

from modeling.base.models import load_backbone, resolve
from modeling.bipolar.candidates import NONE, Candidates, Opinions, reranked, shortlist
from modeling.bipolar.evaluation import LEARNED, SidesEvaluator, rank_all
from tests.modeling.base.test_evaluation import FACTS

# debate, stance, point, counter, seen_in
ROWS = [
    ("one", "pro", "p0", "c0", ""),
    ("one", "pro", "p1", "c1", "train"),
    ("one", "con", "p2", "c2", ""),
    ("two", "pro", "p3", "c3", ""),
]


COLUMNS = dict(zip(("debate", "stance", "point", "counter", "seen_in"), zip(*ROWS, strict=True), strict=True))
COLUMNS |= {"theme": ["town"] * 4, "conclusion": COLUMNS["point"], "premises": [""] * 4, "group": ["g"] * 4}
CANDIDATES = Candidates(COLUMNS)


def similarities(**degrees):
    """Cosines of points and texts at these angles, shape (4, 8)."""
    angles = np.deg2rad([degrees[text] for text in CANDIDATES.texts])
    return np.cos(angles[CANDIDATES.points][:, None] - angles[None, :])


def odds_of(**values):
    """Log-odds that depend on the candidate alone; 0 for texts that are not named."""
    return lambda point, listed: np.array([values.get(CANDIDATES.texts[text], 0.0) for text in listed])


# p0 is nearest to p1, then c2, then c1, then c0; p1 to p0; p2 to its counter; p3 to c3
NEAR = similarities(p0=0, p1=9, c2=-10, c1=20, c0=-30, p2=-14, p3=90, c3=95)


def test_candidates_of_the_settings_decide():
    ranked = rank_all(CANDIDATES, NEAR)
    # sdoc: counters of points of the same debate and side; sda: of the debate; epc: all counters; epa: everything
    assert ranked.hits["sdoc"].tolist() == [False, True, True, True]  # p0: c1 at 20 before c0 at -30
    assert ranked.hits["epc"].tolist() == [False, True, True, True]  # p1: c1 is 11 away, c2 15
    assert ranked.hits["epa"].tolist() == ranked.hits["retrieval"].tolist() == [False, False, True, True]
    assert ranked.weight is None and "classification_10" not in ranked.hits


def test_the_classifier_re_ranks():
    ranked = rank_all(CANDIDATES, NEAR, odds_of(c0=5.0, c3=9.0))
    # c3 is the best of all for every point but in its shortlists' settings that lack it
    assert ranked.hits["epa"].tolist() == [False, False, False, True]
    assert ranked.hits["classification_50"].tolist() == [False, False, False, True]
    assert ranked.hits["sda"].tolist() == [True, False, False, True]  # the other debate knows c0 alone
    assert ranked.hits["retrieval"].tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("odds", "weight", "accuracy"),
    [
        ({}, 0.0, 0.5),
        # p1 is nearest to p0 (.988) and then to c1 (.982): a weight of .003 makes good for .006 with log-odds of 2.5
        ({"c1": 2.5}, 0.003, 0.75),
        # with 0.4 it takes .02, the first above .015
        ({"c1": 0.4}, 0.02, 0.75),
    ],
)
def test_the_weight_is_learned(odds, weight, accuracy):
    learned = rank_all(CANDIDATES, NEAR, odds_of(**odds), LEARNED)
    assert (learned.weight, learned.hits["epa"].mean()) == (weight, accuracy)
    assert rank_all(CANDIDATES, NEAR, odds_of(**odds), weight).hits["epa"].mean() == accuracy


def test_shortlists_by_hand():
    scores = np.array([[0.1, 0.9, 0.5, 0.9, 0.2], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
    pools = [np.array([0, 1, 2, 3]), np.array([1, 2, 4]), np.array([], dtype=int)]
    near, values = shortlist(scores, pools, 3)
    # of equal scores the first text, and nothing from outside a pool
    assert near.tolist() == [[1, 3, 2], [1, 2, 4], [NONE] * 3]
    assert values[0].tolist() == np.float32([0.9, 0.9, 0.5]).tolist() and values[2].tolist() == [-np.inf] * 3
    # by other scores: the one retrieved first among equals, never an absent one
    near = np.array([[4, 2, 7], [3, 1, NONE], [NONE] * 3])
    assert reranked(near, np.array([[0.1, 0.8, 0.8], [0.2, 0.3, 0.9], [0.5] * 3])).tolist() == [2, 1, NONE]


# on "a" two texts of either side and one on both, on "b" too few against it, on "c" none; "f0" is in two debates
OPINIONS = [("one", "a", text, side) for text, side in [("f0", 1), ("f1", 1), ("n0", 0), ("n1", 0), ("n2", 0)]]
OPINIONS += [("one", "a", "both", 0), ("one", "a", "both", 1), ("one", "a", "f1", 1)]
OPINIONS += [("one", "b", "g0", 1), ("one", "b", "g1", 1), ("one", "b", "m0", 0)]
OPINIONS += [("one", "c", "h0", 1), ("one", "c", "h1", 1)]
OPINIONS += [("two", "a", text, side) for text, side in [("f0", 0), ("x", 0), ("y", 1), ("z", 1)]]
OPINIONS = dict(zip(("group", "statement", "text", "side"), map(list, zip(*OPINIONS, strict=True)), strict=True))


def test_opinions_by_hand():
    opinions = Opinions(OPINIONS)
    name = opinions.texts.__getitem__
    rows = zip(opinions.points, opinions.of("epa"), opinions.answers, strict=True)
    found = [(name(point), {*map(name, pool)}, {*map(name, answers)}) for point, pool, answers in rows]
    assert found[0] == ("f0", {"f1", "n0", "n1", "n2"}, {"n0", "n1", "n2"})
    assert found[5] == ("f0", {"x", "y", "z"}, {"y", "z"})
    assert [point for point, *_ in found] == ["f0", "f1", "n0", "n1", "n2", "f0", "x", "y", "z"]
    assert opinions.groups.tolist() == [0] * 5 + [1] * 4 and len(opinions.texts) == 8
    some = Opinions(OPINIONS, limit=2)
    assert len(some) == 2 and [len(pool) for pool in some.of("epa")] in ([4, 4], [4, 3], [3, 3])
    with pytest.raises(ValueError, match="two texts of either side"):
        Opinions({column: values[8:11] for column, values in OPINIONS.items()})


def test_the_side_of_the_first_hit_by_hand(tiny_base):
    evaluator = SidesEvaluator(OPINIONS, **FACTS)
    # f0 has three of four candidates against it, f1 too, the three against "a" two of four, the last four two of three
    chance = (2 * 3 / 4 + 3 * 2 / 4 + 4 * 2 / 3) / 9
    hits = np.array([1, 0, 1, 1, 0, 0, 0, 1, 1], bool)
    assert evaluator.metrics(hits) == {"other_side": 5 / 9, "chance": pytest.approx(chance), "n_debates": 2}
    # one debate has 3 of 5 and the other 2 of 4: draws of both have every share between
    assert evaluator.intervals(hits) == {"other_side": (pytest.approx(1 / 2), pytest.approx(3 / 5))}
    model = load_backbone(resolve(str(tiny_base), "org/tiny"))
    opinions, vectors = evaluator.opinions, model.encode(evaluator.opinions.texts, normalize_embeddings=True)
    cosines, asked = vectors @ vectors.T, zip(opinions.points, opinions.of("epa"), opinions.answers, strict=True)
    right = [pool[cosines[point, pool].argmax()] in answers for point, pool, answers in asked]
    assert evaluator.scores(model).tolist() == right
