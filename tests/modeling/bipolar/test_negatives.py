import numpy as np
import pytest

from modeling.bipolar.candidates import Candidates
from modeling.bipolar.negatives import hard_negatives, hard_probability, random_negatives


def rows(*pairs):
    """Columns of `COUNTERS`, from (point, counter, debate)."""
    points, counters, debates = zip(*pairs, strict=True)
    same = {name: [""] * len(pairs) for name in ("conclusion", "premises", "seen_in", "theme")}
    return {"point": points, "counter": counters, "debate": debates, "stance": ["pro"] * len(pairs), **same}


# texts by index: p 0, q 1, r 2, a 3, b 4, c 5; p has two counters
CANDIDATES = Candidates(rows(("p", "a", "x"), ("q", "b", "x"), ("r", "c", "y"), ("p", "c", "x")))
ANSWERS = [{"p", "a", "c"}, {"q", "b"}, {"r", "c"}, {"p", "a", "c"}]
# angles in degrees; nearest to a (40) is p (30), then q (60); to b (90) is q (60); to c (200) is r (190), then b
ANGLES = np.deg2rad([30, 60, 190, 40, 90, 200])
VECTORS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


def test_the_probability_grows_to_one():
    assert [hard_probability(epoch) for epoch in (1, 25, 50, 51)] == [0.02, 0.5, 1.0, 1.0]
    assert hard_probability(2, rate=0.3) == 0.6


def test_random_negatives_are_all_the_texts_that_are_no_answer_and_nothing_else():
    drawn = [random_negatives(CANDIDATES, seed) for seed in range(200)]
    for row, answers in enumerate(ANSWERS):
        assert {draw[row] for draw in drawn} == set("pqrabc") - answers
    assert random_negatives(CANDIDATES, 7) == drawn[7]
    assert random_negatives(CANDIDATES, (7, 1)) != random_negatives(CANDIDATES, (7, 2))


def test_random_negatives_of_the_same_debate():
    drawn = [random_negatives(CANDIDATES, seed, "sda") for seed in range(200)]
    # debate x has p, q, a, b and c; debate y only r and its counter, so that any other text will do
    assert [{draw[row] for draw in drawn} for row in range(3)] == [{"q", "b"}, {"p", "a", "c"}, set("pqab")]


def test_without_mining_negatives_are_the_random_ones():
    assert hard_negatives(CANDIDATES, VECTORS, 0, 3) == random_negatives(CANDIDATES, 3)


def test_the_text_nearest_to_the_counter_is_mined():
    # for p, a: p and c are its own, so q; for q, b: p is farther from b (60) than a (50)
    # for r, c: r is its own, b (110) is nearer than q (140); for p, c: r
    assert hard_negatives(CANDIDATES, VECTORS, 1, 0) == ["q", "a", "b", "r"]
    assert hard_negatives(CANDIDATES, 5 * VECTORS, 1, 0) == ["q", "a", "b", "r"]


def test_the_text_nearest_to_the_point_is_mined():
    # to p: a is an answer, so q (30); to q (60): a (20) before p (30) and b, its answer; to r: b (100), a (150)
    assert hard_negatives(CANDIDATES, VECTORS, 1, 0, anchor="point") == ["q", "a", "b", "q"]
    opposite = -VECTORS[CANDIDATES.points]  # as another encoder may embed them: p at 210, q at 240, r at 10
    assert hard_negatives(CANDIDATES, VECTORS, 1, 0, "point", opposite) == ["r", "c", "p", "r"]


def test_one_of_the_nearest_is_drawn():
    drawn = [hard_negatives(CANDIDATES, VECTORS, 1, seed, pool_size=2) for seed in range(60)]
    assert [{draw[row] for draw in drawn} for row in range(4)] == [{"q", "b"}, {"a", "p"}, {"b", "q"}, {"r", "b"}]


def test_so_many_are_mined_as_the_probability_says():
    many = Candidates(rows(*((f"point {n}", f"counter {n}", "x") for n in range(500))))
    vectors = np.random.default_rng(0).normal(size=(1000, 8))
    mined = hard_negatives(many, vectors, 1, 5)
    same = np.mean(np.array(hard_negatives(many, vectors, 0.3, 5)) == np.array(mined))
    assert 0.25 < same < 0.35


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"anchor": "negative"}, "must be one of positive, point"),
        ({"probability": 1.5}, "must be in"),
        ({"pool_size": 0}, "at least 1"),
        ({"text_vectors": VECTORS[:5]}, r"text_vectors has the shape \(5, 2\): there must be 6 rows"),
        ({"text_vectors": np.full_like(VECTORS, np.nan)}, "not finite"),
        ({"anchor": "point", "point_vectors": VECTORS}, "point_vectors has the shape"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    options = {"text_vectors": VECTORS, "probability": 1, "seed": 0, **options}
    with pytest.raises(ValueError, match=message):
        hard_negatives(CANDIDATES, **options)


def test_where_all_texts_are_answers_there_is_no_negative():
    with pytest.raises(ValueError, match="no negative for row 0"):
        random_negatives(Candidates(rows(("p", "a", "x"))), 0)
