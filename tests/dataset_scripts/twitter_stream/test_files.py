"""Stream files: every packing, parts of large ones, and what is kept of damaged ones; archives: see `test_reading`."""

from __future__ import annotations

import random

import pytest

import dataset_scripts.twitter_stream.files as stream_files
from dataset_scripts.twitter_stream.files import parts
from tests.dataset_scripts.packing import archive, pack
from tests.dataset_scripts.twitter_stream.streams import lines, read, said, status, write

DAMAGE = "file: cut off or damaged"
PACKINGS = (".gz", ".bz2", ".xz", ".zst")


def tweets(start, stop):
    draw = random.Random(start)  # texts that cannot be packed to nothing
    return [status(n, f"{said(str(n))} {draw.getrandbits(400):x}") for n in range(start, stop)]


def ids(rows):
    return [row["id"] for row in rows]


@pytest.mark.parametrize("name", ["00.JSON", "00.json.gz", "00.jsonl.bz2", "00.ndjson.xz", "00.json.zst"])
def test_every_packing_gives_the_same_rows(tmp_path, name):
    path = tmp_path / name
    # several streams put together, and no end of the last line
    path.write_bytes(b"".join(pack(path.name, lines(tweets(n, n + 13))) for n in (1, 14)))
    path.write_bytes(path.read_bytes() + pack(path.name, lines(tweets(27, 40)).rstrip()))
    rows, counts, first = read(path)
    assert ids(rows) == list(range(1, 40)) and rows[0]["text"].startswith(said("1"))
    assert (counts, first) == ({"line: status": 39}, {})


@pytest.mark.parametrize("packing", PACKINGS)
def test_what_lies_before_a_cut_is_kept_and_a_file_of_another_kind_is_counted(tmp_path, packing):
    path = write(tmp_path / f"00.json{packing}", tweets(1, 6_000))
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    rows, counts, first = read(path)
    assert 2_000 < len(rows) < 4_500 and ids(rows) == list(range(1, len(rows) + 1))
    assert counts == {"line: status": len(rows), DAMAGE: 1} and first[DAMAGE].startswith(f"00.json{packing} (")
    path.write_bytes(b"<html>not found</html>")
    rows, counts, first = read(path, write(tmp_path / "01.json", tweets(1, 3)))
    assert ids(rows) == [1, 2]
    assert counts == {"line: status": 2, DAMAGE: 1} and f"00.json{packing}" in first[DAMAGE]


@pytest.mark.parametrize("name", ["day.tar", "day.zip"])
def test_parts_of_an_archive_are_together_the_whole(tmp_path, name, monkeypatch):
    hidden = {"a/._00.json": b"\x00", "notes.txt": b"no tweets"}
    members = {f"a/{'long/' * 30}{n:02}.json.bz2": pack("x.bz2", lines(tweets(10 * n, 10 * n + 7))) for n in range(9)}
    path = archive(tmp_path / name, {**hidden, **members, "last": b""})
    whole = read(path)
    size = len(next(iter(members.values())))
    for wanted, expected in ((size // 2, 9), (size * 3 - 500, 3)):
        monkeypatch.setattr(stream_files, "PART_BYTES", wanted)
        pieces = list(parts([path]))
        assert len(pieces) in (expected, expected + 1)  # with the empty one at the end
        assert sum(part.bytes for part in pieces) == sum(map(len, [*hidden.values(), *members.values()]))
        assert read(path) == whole


@pytest.mark.parametrize("size", [1, 300])
def test_parts_of_a_plain_file_are_together_the_whole(tmp_path, size, monkeypatch):
    path = write(tmp_path / "00.jsonl", [*tweets(1, 30), b"", b"broken", *tweets(30, 60)])
    path.write_bytes(path.read_bytes().rstrip())
    whole = read(path)
    monkeypatch.setattr(stream_files, "PART_BYTES", size)
    monkeypatch.setattr(stream_files, "PACKING", 1)
    pieces = list(parts([path]))
    assert len(pieces) == -(-path.stat().st_size // size)
    assert sum(part.bytes for part in pieces) == path.stat().st_size
    rows, counts, first = read(path)
    assert (rows, counts) == whole[:2]
    assert first["line: malformed JSON"].startswith("00.jsonl")
