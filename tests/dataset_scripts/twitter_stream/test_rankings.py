"""The benchmarks: whose answers rank, how many there are, and what is too little."""

from __future__ import annotations

import re

import pytest

from dataset_scripts.twitter_stream.mining import mine
from dataset_scripts.twitter_stream.options import MiningOptions
from tests.dataset_scripts.twitter_stream.streams import quote, reply, said, status, table, tables, write

BENCHMARKS = ("dq", "cq", "dr", "cr")


def id_of(text):
    """The tweet that says a text of `streams.conversations`; None for the one that several say."""
    name = re.fullmatch("an invented sentence called ([a-j]{19})", text)
    return int("".join(str(ord(letter) - ord("a")) for letter in name[1])) if name else None


def texts_of(row):
    return [row["query"], *row["positives"], *row["negatives"]]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_positives_answer_the_tweet_and_negatives_others(mined, name):
    splits = table(mined[0], name)
    assert set(splits) == {"validation", "test"}
    answers = range(101, 109) if name[1] == "q" else range(1, 9)
    drawn = {}
    for split, rows in splits.items():
        assert len({row["query"] for row in rows}) == len(rows)
        drawn[split] = {id_of(text) // 1000 for row in rows for text in row["negatives"] if id_of(text)}
        for row in rows:
            assert len(row["positives"]) == 5 and len(row["negatives"]) == 25
            assert len(set(texts_of(row))) == 31
            query = id_of(row["query"])
            parent = query // 1000 * 1000
            assert query % 1000 == 0 if name[0] == "d" else query % 1000 in answers
            for text in row["positives"]:
                assert text == said("the same") or (id_of(text) - parent in answers)
            for text in row["negatives"]:
                assert text == said("the same") or id_of(text) // 1000 != query // 1000
    assert all(len(groups) > 10 for groups in drawn.values()) and not drawn["validation"] & drawn["test"]


def test_sizes_are_options_and_what_is_too_little_is_counted(native, tmp_path):
    items = []
    for n in range(1, 13):
        first = status(n * 100, said(f"tweet {n}" if n > 2 else "both"))
        items += [first, *(reply(n * 100 + m, n * 100, said(f"answer {n} {m}")) for m in range(1, 4))]
        items += [quote(n * 100 + 10, first, said(f"quote {n}"))]
    files = [write(tmp_path / "00.json", items)]
    names, shares = ["dq", "dr", "cr"], {"test": 0.98, "validation": 0.01}
    options = MiningOptions(positives=2, negatives=4, queries=5, **shares)
    found = mine(files, tmp_path / "out", tmp_path / "work", options, names)
    built = tables(tmp_path / "out")
    assert {name: {split: len(rows) for split, rows in splits.items()} for name, splits in built.items()} == {
        **{"cr": {"test": 5}, "dr": {"test": 5}}
    }
    assert {(len(row["positives"]), len(row["negatives"])) for row in built["dr"]["test"]} == {(2, 4)}
    assert found.sets["dq"] == {}  # one quote of each tweet
    assert found.sets["cr"] == {"queries found": 12, "query: beyond the number asked for": 7}
    many = MiningOptions(positives=2, negatives=34, **shares)  # there are 33 answers in other conversations
    found = mine(files, tmp_path / "out2", tmp_path / "work", many, names)
    assert found.sets["dr"] == {"queries found": 12, "query: too few answers of other conversations": 12}
    assert not (tmp_path / "out2").exists()
    just = MiningOptions(positives=2, negatives=33, **shares)
    found = mine(files, tmp_path / "out3", tmp_path / "work", just, ["dr"])
    assert found.sets["dr"] == {"queries found": 12, "query: same text as another": 1}
    assert len(table(tmp_path / "out3", "dr")["test"]) == 11
