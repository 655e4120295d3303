"""What a statement finds, on scores chosen by hand."""

import numpy as np
import pytest

from tests.benchmarks.hits import Hits


def families(*sizes):
    """Statements s0, s1, ... with so many texts for and against each, which are called p0, p1, ... and c0, c1, ..."""
    rows = [
        (f"{kind}{number} s{family}", f"s{family}", side, "g")
        for family, size in enumerate(sizes)
        for kind, side in (("p", 1), ("c", 0))
        for number in range(size)
    ]
    return dict(zip(("text", "statement", "side", "group"), map(list, zip(*rows, strict=True)), strict=True))


def scored(asked, *orders):
    """Scores by which each statement finds the texts in an order; all others come behind, as they are listed."""
    scores = -np.arange(len(asked.texts), dtype=float) * np.ones((len(orders), 1))
    for row, order in zip(scores, orders, strict=True):
        for rank, text in enumerate(order):
            row[asked.texts.index(text)] = 10 - rank
    return scores


def test_the_first_five_of_each_statement():
    rows = families(3, 3, 2)  # the third has too few
    rows["text"][0] = "s1"  # which statement s1 does not find, being it
    asked = Hits(rows, statements=None)
    assert (asked.statements, len(asked.texts)) == (["s0", "s1"], 12)
    first = ["s1", "p1 s0", "c0 s0", "p0 s1", "c0 s1"]
    second = ["s1", "p0 s1", "p1 s1", "p2 s1", "c0 s1", "c1 s1"]
    scores = scored(asked, first, second)
    figures = asked.metrics(scores)
    assert figures["for_at_5"] == pytest.approx((2 + 3) / 10)
    assert figures["on_at_5"] == pytest.approx((3 + 5) / 10)
    assert figures["side_at_5"] == pytest.approx(5 / 8)
    assert (figures["low"], figures["high"]) == (0.4, 0.6)  # of two statements, one may be drawn twice
