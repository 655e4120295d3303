"""Ranking of counter-arguments, worked out on seven texts in the plane."""

import numpy as np
import pytest

from modeling.base.models import load_backbone, resolve
from modeling.bipolar.candidates import NONE, SETTINGS, Candidates, Opinions, reranked, shortlist
from modeling.bipolar.encoder import BipolarEncoder
from modeling.bipolar.evaluation import (
    LEARNED,
    CounterargumentEvaluator,
    SidesEvaluator,
    learn_weight,
    rank_all,
)
from modeling.bipolar.files import heads_of, with_heads
from modeling.bipolar.heads import BipolarHeads
from tests.modeling.bipolar.baselines.invented import columns_of, debates
from tests.tiny import counters

# debate, stance, point, counter, seen_in
ROWS = [
    ("one", "pro", "p0", "c0", ""),
    ("one", "pro", "p1", "c1", "train"),
    ("one", "con", "p2", "c2", ""),
    ("two", "pro", "p3", "c3", ""),
]


COLUMNS = dict(zip(("debate", "stance", "point", "counter", "seen_in"), zip(*ROWS, strict=True), strict=True))
COLUMNS |= {"theme": ["town"] * 4, "conclusion": COLUMNS["point"], "premises": [""] * 4}
CANDIDATES = Candidates(COLUMNS)
FACTS = {"title": "counters", "dataset": "towns", "dataset_id": "towns"}


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
    assert ranked.hits["epa"].tolist() == [False, False, True, True]
    assert ranked.hits["retrieval"].tolist() == ranked.hits["epa"].tolist()
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


def test_the_classifier_alone_is_learned():
    right = dict(zip(CANDIDATES.points, CANDIDATES.counters, strict=True))
    learned = rank_all(CANDIDATES, NEAR, lambda point, listed: 1e-3 * (listed == right[point]), LEARNED)
    assert learned.weight is None and learned.hits["epa"].all()


def test_recall_counts_the_shortlist():
    assert len(CANDIDATES.texts) == 8 and rank_all(CANDIDATES, NEAR).recall == {10: 1.0, 30: 1.0, 50: 1.0}
    many = [f"{number}{end}" for end in ("", *["-0", "-1", "-2", "-3", "-4"]) for number in range(4)]
    texts = {"point": [f"p{name}" for name in many], "counter": [f"c{name}" for name in many]}
    candidates = Candidates({name: list(values) * 6 for name, values in COLUMNS.items()} | texts)
    # the counter of the first point comes last, those of all others first
    scores = np.zeros((len(candidates), len(candidates.texts)))
    scores[np.arange(len(candidates)), candidates.counters] = 1.0
    scores[0, candidates.counters[0]] = -1.0
    assert rank_all(candidates, scores).recall == {10: pytest.approx(23 / 24), 30: pytest.approx(23 / 24), 50: 1.0}


def test_a_sample_of_points_leaves_all_candidates():
    evaluator = CounterargumentEvaluator(COLUMNS, limit=2, **FACTS)
    assert evaluator.rows == 2 and len(evaluator.candidates.texts) == 8
    assert [len(pool) for pool in evaluator.candidates.of("epa")] == [7, 7]


def test_metrics_have_the_unseen_part():
    evaluator = CounterargumentEvaluator(COLUMNS, **FACTS)
    metrics = evaluator.metrics(rank_all(evaluator.candidates, NEAR))
    assert metrics["accuracy_epa"] == pytest.approx(2 / 4)
    assert metrics["accuracy_epa_unseen"] == pytest.approx(2 / 3) and metrics["n_unseen"] == 3
    assert metrics["accuracy_sdoc"] == pytest.approx(3 / 4)
    assert metrics["classification_10"] is None and metrics["recall_10"] == 1.0


def test_heads_that_change_nothing_rank_as_the_cosine(tiny_base):
    evaluator = CounterargumentEvaluator(columns_of(counters("trams")), **FACTS)
    model = load_backbone(resolve(str(tiny_base), "org/tiny"))
    whole = with_heads(model, BipolarHeads(32, shared=False))
    plain, headed = evaluator.scores(model), evaluator.scores(whole)
    assert headed.hits["retrieval"].tolist() == plain.hits["retrieval"].tolist()
    heads_of(whole).fusion_weight = LEARNED
    assert learn_weight(whole, evaluator.candidates) == evaluator.scores(whole).weight


def test_candidates_stay_those_of_all_points():
    whole = debates(seed=0)
    some = np.array([40, 3, 7])
    taken = whole.take(some)
    assert len(taken) == 3 and len(whole) == 48
    for setting in SETTINGS:
        pools = whole.of(setting)
        for pool, number in zip(taken.of(setting), some, strict=True):
            assert pool.tolist() == pools[number].tolist()
    assert taken.answers == [whole.answers[number] for number in some]
    assert taken.conclusions == [whole.conclusions[number] for number in some]
    assert taken.points.tolist() == whole.points[some].tolist()


def test_shortlists_by_hand():
    scores = np.array([[0.1, 0.9, 0.5, 0.9, 0.2], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
    pools = [np.array([0, 1, 2, 3]), np.array([1, 2, 4]), np.array([], dtype=int)]
    near, values = shortlist(scores, pools, 3)
    # of equal scores the first text, and nothing from outside a pool
    assert near.tolist() == [[1, 3, 2], [1, 2, 4], [NONE] * 3]
    assert values[0].tolist() == np.float32([0.9, 0.9, 0.5]).tolist() and values[2].tolist() == [-np.inf] * 3


def test_reranked_by_hand():
    near = np.array([[4, 2, 7], [3, 1, NONE], [NONE] * 3])
    scores = np.array([[0.1, 0.8, 0.8], [0.2, 0.3, 0.9], [0.5, 0.5, 0.5]])
    # the one retrieved first among equals, never an absent one
    assert reranked(near, scores).tolist() == [2, 1, NONE]


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
    rows = zip(opinions.points, opinions.pools, opinions.answers, strict=True)
    found = [(name(point), {*map(name, pool)}, {*map(name, answers)}) for point, pool, answers in rows]
    assert found[0] == ("f0", {"f1", "n0", "n1", "n2"}, {"n0", "n1", "n2"})
    assert found[5] == ("f0", {"x", "y", "z"}, {"y", "z"})
    assert [point for point, *_ in found] == ["f0", "f1", "n0", "n1", "n2", "f0", "x", "y", "z"]
    assert opinions.groups.tolist() == [0] * 5 + [1] * 4 and len(opinions.texts) == 8
    some = Opinions(OPINIONS, limit=2)
    assert len(some) == 2 and [len(pool) for pool in some.pools] in ([4, 4], [4, 3], [3, 3])
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
    cosines = vectors @ vectors.T
    first = [pool[cosines[point, pool].argmax()] for point, pool in zip(opinions.points, opinions.pools, strict=True)]
    right = [hit in answers for hit, answers in zip(first, opinions.answers, strict=True)]
    assert evaluator.scores(model).tolist() == right


def test_the_classifier_ranks_sides_where_it_has_a_weight(tiny_base):
    evaluator = SidesEvaluator(OPINIONS, **FACTS)
    model = load_backbone(resolve(str(tiny_base), "org/tiny"))
    heads = BipolarHeads(32)
    heads.fusion_weight = 0.0
    whole = with_heads(model, heads)
    assert evaluator.scores(whole).tolist() == evaluator.scores(model).tolist()
    heads.fusion_weight = None
    u = model.encode(evaluator.opinions.texts)
    encoder = BipolarEncoder.of(whole)
    ranked = zip(evaluator.opinions.points, evaluator.opinions.pools, evaluator.opinions.answers, strict=True)
    right = [pool[encoder.margins(u[point], u[pool]).argmax()] in answers for point, pool, answers in ranked]
    assert evaluator.scores(whole).tolist() == right
    heads.fusion_weight = "learned"  # in training, before it is
    assert evaluator.scores(whole).tolist() == right
