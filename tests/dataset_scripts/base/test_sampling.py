"""Samples of pairs: every pair once, every item about equally often."""

from __future__ import annotations

from dataset_scripts.base.sampling import across, within


def test_samples_use_every_item_about_equally_often():
    pairs = list(within(list("abcd"), 4))
    assert pairs == [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    assert len({frozenset(pair) for pair in within(list("abcd"), 99)}) == 6
    assert len({frozenset(pair) for pair in within(list("abcde"), 99)}) == 10
    assert list(across(list("ab"), list("xyz"), 3)) == [("a", "x"), ("b", "y"), ("a", "z")]
    assert len(set(across(list("abcd"), list("wxyz12"), 99))) == 24
    assert list(within([], 3)) == list(across([], ["x"], 3)) == []
