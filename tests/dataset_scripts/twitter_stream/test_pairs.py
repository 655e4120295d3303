"""Pairs of a small stream, worked out by hand; and what their draw does not depend on."""

from __future__ import annotations

import bz2
import random

import pyarrow.parquet as pq
import pytest

from dataset_scripts.twitter_stream import parsing
from dataset_scripts.twitter_stream.mining import ALL, mine
from dataset_scripts.twitter_stream.options import MiningOptions
from tests.dataset_scripts.packing import archive, pack
from tests.dataset_scripts.twitter_stream.conftest import OPTIONS
from tests.dataset_scripts.twitter_stream.streams import (
    delete,
    lines,
    quote,
    reply,
    retweet,
    said,
    status,
    table,
    tables,
    write,
)

ALL_TRAIN = {"test": 1e-6, "validation": 1e-6, "pairs": None}
NAMES = ("quote", "reply", "coquote", "coreply")


def run(tmp_path, files, names=NAMES, partitions=1, **options):
    """Split by set of what is mined, and the counts."""
    counts = mine(files, tmp_path / "out", tmp_path / "work", MiningOptions(**options), names, partitions)
    return tables(tmp_path / "out") if (tmp_path / "out").exists() else {}, counts


def id_pairs(rows):
    return sorted((row["anchor_id"], row["positive_id"]) for row in rows)


@pytest.fixture(scope="module")
def small(native, tmp_path_factory):
    """Seven tweets and what was said to them, over two files and an archive."""
    folder = tmp_path_factory.mktemp("small")
    one, five, six = status(1, said("one")), status(5, said("five")), status(6, said("six, cut…"), truncated=True)
    whole = {**six, "extended_tweet": {"full_text": said("six, cut and the whole of it")}}
    first = [
        *(reply(71, 7, said("seven one")), reply(11, 1, said("one one")), reply(61, 6, said("six one"))),
        *(reply(21, 2, said("two one")), delete(9), b"broken {", six, reply(16, 1, said("ONE"))),
        *(status(3, said("po polsku"), lang="pl"), reply(31, 3, said("three one"))),
    ]
    second = [
        *(one, reply(12, 1, said("one two")), reply(13, 1, said("one two")), retweet(99, whole)),
        *(reply(14, 1, said("po polsku"), lang="pl"), reply(15, 1, "@ana_example ok thanks"), b""),
        *(status(4, "short"), reply(41, 4, said("four one")), reply(8, 8, said("eight, to itself"))),
        *(reply(12, 1, said("one two")), retweet(98, one)),  # seen again
    ]
    third = {
        "02.json.gz": pack("x.gz", lines([reply(22, 2, said("two two")), quote(51, five, said("five one"))])),
        "03.json": lines([status(7, said("seven")), quote(52, five, "@bo_example " + said("five two"))]),
    }
    files = [write(folder / "00.json", first), write(folder / "01.json.bz2", second)]
    return run(folder, [*files, archive(folder / "day.tar", third)], keep_ids=True, **ALL_TRAIN)


def test_pairs_by_hand(small):
    built, _ = small
    assert {name: list(splits) for name, splits in built.items()} == {name: ["train"] for name in sorted(NAMES)}
    replies = dict(id_pairs(built["reply"]["train"]))
    assert replies.keys() == {1, 6, 7} and replies[6] == 61 and replies[7] == 71
    assert replies[1] in (11, 12, 13)
    ((quoted, quoting),) = id_pairs(built["quote"]["train"])
    assert quoted == 5 and quoting in (51, 52)
    assert {tuple(sorted(pair)) for pair in id_pairs(built["coquote"]["train"])} == {(51, 52)}
    first, second = sorted(sorted(pair) for pair in id_pairs(built["coreply"]["train"]))
    assert first[0] == 11 and first[1] in (12, 13)  # which say the same
    assert second == [21, 22]  # replies to a tweet that nobody saw


def test_every_reason_is_counted(small):
    counts = small[1]
    assert counts.lines == {
        **{"line: status": 23, "line: delete notice": 1, "line: malformed JSON": 1, "line: blank": 1},
        "retweets, replaced by the tweet": 2,
    }
    assert counts.lines.first == {"line: malformed JSON": "00.json, line 6"}
    assert counts.tweets == {
        # 1, 5, 6, 7, 8, 11, 12, 13, 16, 21, 22, 31, 41, 51, 52, 61, 71; 3 and 14; 4 and 15
        **{"tweet: usable": 17, "tweet: in another language": 2, "tweet: too short": 2},
        **{"reply: both sides usable": 6, "quote: both sides usable": 2},  # 11, 12, 13, 16, 61, 71; 51, 52
        **{"reply: answered tweet not in the stream": 2, "reply: answered tweet in another language": 1},
        **{"reply: answered tweet too short": 1, "reply: in another language": 1, "reply: too short": 1},
        **{"answer: repeats the tweet": 1, "answer: same text as another to the tweet": 1, "conversations": 7},
    }
    assert counts.sets == {
        **{"quote": {"pairs found": 1}, "coquote": {"pairs found": 1}},
        **{"reply": {"pairs found": 3}, "coreply": {"pairs found": 2}},
    }


def test_a_text_is_once_on_each_side_of_a_set(native, tmp_path):
    items = [status(n, said("the same" if n < 4 else str(n))) for n in range(1, 9)]
    items += [reply(n * 10, n, said("thanks" if n > 5 else f"to {n}")) for n in range(1, 9)]
    built, counts = run(tmp_path, [write(tmp_path / "00.json", items)], ["reply"], keep_ids=True, **ALL_TRAIN)
    pairs = id_pairs(built["reply"]["train"])
    assert len(pairs) == 4  # of 1, 2 and 3 one; 4; 5; of 6, 7 and 8 one
    assert {(4, 40), (5, 50)} < set(pairs)
    assert counts.sets["reply"] == {"pairs found": 8, "pair: a text is in another pair": 4}


def texts_of(rows):
    values = [value for row in rows for name, value in row.items() if name != "group" and not name.endswith("_id")]
    return {text for value in values for text in ([value] if isinstance(value, str) else value)}


def test_no_text_and_no_conversation_is_in_two_splits(mined):
    folder, counts = mined
    texts, groups = ({split: set() for split in ("train", "validation", "test")} for _ in range(2))
    built = tables(folder)
    for splits in built.values():
        for split, rows in splits.items():
            texts[split] |= texts_of(rows)
            groups[split] |= {row["group"] for row in rows}
    assert counts.sets["reply"]["pair: a text is also in a split held out"] > 0
    assert texts["train"] and not texts["train"] & (texts["validation"] | texts["test"])
    assert said("the same") in texts["test"]
    for name in NAMES:
        assert not texts_of(built[name]["validation"]) & texts["test"]
    assert sum(map(len, groups.values())) == len(set.union(*groups.values())) == counts.tweets["conversations"] == 90


def repacked(folder, stream):
    """The same statuses in another order, under other names, packed in other ways, some of them twice."""
    items = [line for path in stream for line in bz2.decompress(path.read_bytes()).splitlines()]
    random.Random(1).shuffle(items)
    half = len(items) // 2
    write(folder / "zz.jsonl.zst", items[:half])
    archive(folder / "aa.tar.gz", {"x/1.json.xz": pack("x.xz", lines(items[half:])), "x/2.json": lines(items[:100])})
    return [folder / "zz.jsonl.zst", folder / "aa.tar.gz"]


def test_the_result_is_the_same_however_the_work_is_divided(mined, stream, tmp_path, monkeypatch):
    monkeypatch.setattr(parsing, "SMALLEST_SHARD", 1)
    monkeypatch.setattr(parsing, "FILE_BYTES", 1)
    built, counts = run(tmp_path, repacked(tmp_path, stream), ALL, 4, **OPTIONS)
    assert len(list((tmp_path / "work" / "rows").iterdir())) == 2
    assert built == tables(mined[0])
    assert (counts.tweets, counts.sets) == (mined[1].tweets, mined[1].sets)


def test_a_limit_takes_the_first_of_the_draw_and_large_sets_are_several_files(mined, stream, tmp_path, monkeypatch):
    monkeypatch.setattr("dataset_scripts.twitter_stream.sets.FILE_ROWS", 20)
    built, counts = run(tmp_path, stream, ["reply"], **OPTIONS, pairs=50)
    before = table(mined[0], "reply")
    assert built["reply"] == {**before, "train": before["train"][:50]}
    assert counts.sets["reply"]["pair: beyond the number asked for"] == len(before["train"]) - 50
    files = sorted((tmp_path / "out" / "reply").glob("train-*"))
    assert [path.name for path in files] == [f"train-0000{n}-of-00003.parquet" for n in range(3)]
    assert [pq.read_metadata(path).num_rows for path in files] == [20, 20, 10]


def test_a_stream_without_answers_has_no_sets(native, tmp_path):
    items = [delete(1), b"", b"broken", status(1, said("one")), status(2, said("two"))]
    built, counts = run(tmp_path, [write(tmp_path / "00.json", items), write(tmp_path / "01.json", [])], ALL)
    assert built == {} and counts.tweets["conversations"] == 0
    assert not any(counts.sets.values()) and len(counts.sets) == 8
    assert counts.lines.total() == len(items)
