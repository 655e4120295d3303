import numpy as np
import pytest

from modeling.bipolar.candidates import Candidates
from modeling.bipolar.negatives import hard_negatives, random_negatives


def rows(*pairs):
    """Columns of `COUNTERS`, from (point, counter, debate)."""
    points, counters, debates = zip(*pairs, strict=True)
    same = {name: [""] * len(pairs) for name in ("conclusion", "premises", "seen_in", "theme", "group")}
    return {"point": points, "counter": counters, "debate": debates, "stance": ["pro"] * len(pairs), **same}


# texts by index: p 0, q 1, r 2, a 3, b 4, c 5; p has two counters
CANDIDATES = Candidates(rows(("p", "a", "x"), ("q", "b", "x"), ("r", "c", "y"), ("p", "c", "x")))
ANSWERS = [{"p", "a", "c"}, {"q", "b"}, {"r", "c"}, {"p", "a", "c"}]
# angles in degrees; nearest to a (40) is p (30), then q (60); to b (90) is q (60); to c (200) is r (190), then b
ANGLES = np.deg2rad([30, 60, 190, 40, 90, 200])
VECTORS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


def test_random_negatives_are_all_the_texts_that_are_no_answer_and_nothing_else():
    drawn = [random_negatives(CANDIDATES, seed) for seed in range(200)]
    for row, answers in enumerate(ANSWERS):
        assert {draw[row] for draw in drawn} == set("pqrabc") - answers
    assert random_negatives(CANDIDATES, 7) == drawn[7]
    assert random_negatives(CANDIDATES, (7, 1)) != random_negatives(CANDIDATES, (7, 2))


def test_the_text_nearest_to_the_counter_is_mined():
    # for p, a: p and c are its own, so q; for q, b: p is farther from b (60) than a (50)
    # for r, c: r is its own, b (110) is nearer than q (140); for p, c: r
    for vectors in (VECTORS, 5 * VECTORS):
        assert hard_negatives(CANDIDATES, vectors, 1.0, 0) == ["q", "a", "b", "r"]
    # by a probability: the others are those that are drawn
    drawn, some = random_negatives(CANDIDATES, 1), hard_negatives(CANDIDATES, VECTORS, 0.5, 1)
    assert all(one in pair for one, *pair in zip(some, drawn, ["q", "a", "b", "r"], strict=True))


def test_what_does_not_fit_is_refused():
    for vectors in (np.full_like(VECTORS, np.nan), 0 * VECTORS):
        with pytest.raises(ValueError, match="not finite or has length 0"):
            hard_negatives(CANDIDATES, vectors, 1.0, 0)
    with pytest.raises(ValueError, match="no negative for row 0"):
        random_negatives(Candidates(rows(("p", "a", "x"))), 0)
