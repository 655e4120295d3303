"""The readers that all builders share: archives, released files, tables and scores."""

from __future__ import annotations

import csv
import gzip
import tarfile
import zipfile
from collections import Counter

import pytest

from dataset_scripts.base.reading import (
    find_all_released,
    find_released,
    load_json,
    open_text,
    parse_score,
    read_members,
    whole_rows,
)


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz", "a.tgz", "a.tar.xz"])
def test_read_members(name, tmp_path):
    (tmp_path / "one.txt").write_text("1")
    (tmp_path / ".hidden").write_text("2")
    path = tmp_path / name
    if name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.mkdir("deep")
            archive.write(tmp_path / "one.txt", "deep/one.txt")
            archive.write(tmp_path / ".hidden", "deep/.hidden")
    else:
        with tarfile.open(path, f"w:{name.rpartition('.')[2].replace('tgz', 'gz').replace('tar', '')}") as archive:
            archive.add(tmp_path / "one.txt", "deep/one.txt")
            archive.add(tmp_path / ".hidden", "deep/.hidden")
    assert list(read_members(path)) == [("deep/one.txt", b"1")]
    assert list(read_members(tmp_path / "one.txt")) == [("one.txt", b"1")]


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz", "a.tar.xz"])
def test_broken_archives(name, tmp_path):
    (tmp_path / name).write_bytes(b"no archive at all")
    with pytest.raises(ValueError, match=f"{name} is no readable archive"):
        list(read_members(tmp_path / name))


def test_released_files_are_found_plain_or_packed(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("b.csv", "deep/a.csv.gz", "deep/b.csv", "c.txt"):
        (tmp_path / name).touch()
    first = [tmp_path / "deep" / "a.csv.gz", tmp_path / "b.csv"]
    assert find_all_released(tmp_path, ("a.csv", "b.csv"), "all") == first
    assert find_released(tmp_path, ("a.csv", "z.csv")) == {"a.csv": first[0]}
    with pytest.raises(FileNotFoundError, match=r"lacks y.csv, z.csv \(plain or .gz\); it needs two files"):
        find_all_released(tmp_path, ("y.csv", "a.csv", "z.csv"), "two files")


def test_a_broken_file_is_named(tmp_path):
    packed = gzip.compress(b"one text and another")
    contents = {"cut.gz": packed[:-5], "bad.gz": packed[:12] + b"\xff" * 8, "latin.txt": b"caf\xe9", "no.gz": b"plain"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        with (
            pytest.raises(ValueError, match=f"{name} cannot be read .*; download it again"),
            open_text(tmp_path / name) as file,
        ):
            file.read()


def test_json_of_another_kind_or_none(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"a": 1}')
    assert load_json(path, dict) == {"a": 1}
    with pytest.raises(ValueError, match=r"a.json, line 1: expected a list \[...\]"):
        load_json(path, list)
    path.write_text('{"a":\n 1,}')
    with pytest.raises(ValueError, match=r"a.json, line 2, column \d: not valid JSON"):
        load_json(path, dict)


def test_rows_with_too_few_or_too_many_fields_are_counted():
    dropped = Counter()
    lines = csv.DictReader(["a,b", "1,2", "1", "1,2,3", "3,4"])
    assert list(whole_rows(lines, dropped)) == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    assert dropped == {"row: wrong number of columns": 2}


@pytest.mark.parametrize(
    ("text", "score"), [("1", 1.0), (" 2.5 ", 2.5), ("5", 5.0), ("0.9", None), ("5.1", None), ("nan", None), ("", None)]
)
def test_score_between_bounds(text, score):
    assert parse_score(text, 1, 5) == score
