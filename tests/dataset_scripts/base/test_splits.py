"""Splits by group, and samples of pairs that use every item about equally often."""

from collections import Counter

import pytest

from dataset_scripts.base.splits import FRACTIONS, across, linked_groups, split_groups, within


def test_groups_are_split_by_share_set_and_seed_alone():
    # round(0.05 * 41) = 2, round(0.10 * 41) = 4, the rest trains
    groups = [f"group {n}" for n in range(41)]
    splits = split_groups(groups)
    assert Counter(splits.values()) == {"train": 35, "validation": 2, "test": 4}
    assert splits == split_groups([*reversed(groups), *groups]) != split_groups(groups, seed=1)
    assert sorted(split_groups(["a", "b", "c"]).values()) == ["test", "train", "validation"]
    with pytest.raises(ValueError, match=r"2 group\(s\) cannot be divided into 3 splits"):
        split_groups("aba", FRACTIONS)


def test_items_are_linked_by_way_of_others():
    # 0 and 3 share nothing, but 2 shares a key with both; 4 has none
    assert linked_groups([["a"], ["b"], ["c", "a"], ["c"], [], ["b", "b"]]) == [0, 1, 0, 0, 2, 1]
    assert linked_groups([]) == []


def test_samples_use_every_item_about_equally_often():
    assert list(within(list("abcd"), 4)) == [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    assert len({frozenset(pair) for pair in within(list("abcde"), 99)}) == 10
    assert list(within(list("ab"), 9, ordered=True)) == [("a", "b"), ("b", "a")]
    ordered = list(within(list("abc"), 9, ordered=True))
    assert len(set(ordered)) == 6 and Counter(one for one, _ in ordered) == {"a": 2, "b": 2, "c": 2}
    assert list(across(list("ab"), list("xyz"), 3)) == [("a", "x"), ("b", "y"), ("a", "z")]
    assert len(set(across(list("abcd"), list("wxyz12"), 99))) == 24
    assert list(within([], 3)) == list(across([], ["x"], 3)) == []
