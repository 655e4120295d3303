"""Splits by group, and samples of pairs that use every item about equally often."""

from __future__ import annotations

from collections import Counter

import pytest

from dataset_scripts.base.splits import across, linked_groups, split_groups, within


def test_shares_and_remainder():
    # round(0.05 * 41) = 2, round(0.10 * 41) = 4, the rest trains
    assignment = split_groups(f"group {n}" for n in range(41))
    assert Counter(assignment.values()) == {"train": 35, "validation": 2, "test": 4}


def test_depends_on_the_set_and_the_seed_alone():
    groups = [f"group {n}" for n in range(30)]
    assert split_groups(groups) == split_groups([*reversed(groups), *groups])
    assert split_groups(groups, seed=1) != split_groups(groups, seed=2)


def test_every_split_gets_a_group():
    assert sorted(split_groups(["a", "b", "c"]).values()) == ["test", "train", "validation"]


def test_own_shares():
    assert Counter(split_groups(map(str, range(10)), {"train": 0.9, "test": 0.1}).values()) == {"train": 9, "test": 1}


@pytest.mark.parametrize("fractions", [{"train": 0.9, "test": 0.2}, {"train": 1.0, "test": 0.0}])
def test_wrong_shares(fractions):
    with pytest.raises(ValueError, match="sum to 1"):
        split_groups("abc", fractions)


def test_too_few_groups():
    with pytest.raises(ValueError, match=r"2 group\(s\) cannot be divided into 3 splits"):
        split_groups(["a", "b", "a"])


def test_items_are_linked_by_way_of_others():
    # 0 and 3 share nothing, but 2 shares a key with both; 4 has none
    assert linked_groups([["a"], ["b"], ["c", "a"], ["c"], [], ["b", "b"]]) == [0, 1, 0, 0, 2, 1]
    assert linked_groups([]) == []


def test_samples_use_every_item_about_equally_often():
    pairs = list(within(list("abcd"), 4))
    assert pairs == [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    assert len({frozenset(pair) for pair in within(list("abcd"), 99)}) == 6
    assert len({frozenset(pair) for pair in within(list("abcde"), 99)}) == 10
    assert list(across(list("ab"), list("xyz"), 3)) == [("a", "x"), ("b", "y"), ("a", "z")]
    assert len(set(across(list("abcd"), list("wxyz12"), 99))) == 24
    assert list(within([], 3)) == list(across([], ["x"], 3)) == []
