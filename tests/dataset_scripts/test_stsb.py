"""STS Benchmark: released files, the demonstration layout, and every malformed row."""

import gzip
import os
from pathlib import Path

import pytest

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.stsb import STSBenchmark

LINE = 'main-news\tinvented\t2012\t1\t3.50\t"Big  cat" sleeps.\tA cat naps.\tsource\tlicence\n'


def build(path: Path, cache: Path):
    builder = STSBenchmark.open(path, cache_dir=cache / "cache")
    builder.download_and_prepare()
    return builder.as_dataset(), dict(builder.dropped)


@pytest.mark.parametrize("packed", [False, True])
def test_released_files(tmp_path, packed):
    for name, copies in (("sts-train.csv", 3), ("sts-dev.csv", 2), ("sts-test.csv", 1)):
        text = (LINE * copies).encode()
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text)) if packed else (tmp_path / name).write_bytes(text)
    data, dropped = build(tmp_path, tmp_path)
    # quotes are letters, repeated rows and short texts stay
    assert data.num_rows == {"train": 3, "validation": 2, "test": 1} and dropped == {}
    assert data["test"][0] == {
        "sentence1": '"Big cat" sleeps.',
        "sentence2": "A cat naps.",
        "score": 3.5,
        "group": "main-news",
    }


def test_one_file_and_malformed_rows(tmp_path):
    bad = [
        "a\tb\tc\n",
        LINE.replace("3.50", "high"),
        LINE.replace("3.50", "5.1"),
        LINE.replace("3.50", "nan"),
        LINE.replace("A cat naps.", " "),
    ]
    (tmp_path / "sts-test.csv").write_text(LINE + "".join(bad))
    data, dropped = build(tmp_path / "sts-test.csv", tmp_path)
    assert data.num_rows == {"test": 1}
    assert dropped == {"row: too few columns": 1, "row: score is no number from 0 to 5": 3, "row: empty text": 1}


def test_demonstration_layout(tmp_path):
    rows = [
        "validation\t4\tA cat naps.\tThe cat sleeps.",
        "test\t0\tA cat naps.\tIt rains.",
        "train\t1\tA",
        "dev\t1\tA\tB",
    ]
    (tmp_path / "similarity.tsv").write_text("\n".join(["split\tscore\tsentence1\tsentence2", *rows]))
    data, dropped = build(tmp_path, tmp_path)
    assert data.num_rows == {"validation": 1, "test": 1}
    assert data["validation"][0] == {
        "sentence1": "A cat naps.",
        "sentence2": "The cat sleeps.",
        "score": 4.0,
        "group": "",
    }
    assert dropped == {"row: too few columns": 1, "row: unknown split": 1}


@pytest.mark.parametrize(
    ("name", "text"), [("sts-dev.csv", "score,sentence1,sentence2\n"), ("pairs.tsv", LINE), ("sts-dev.csv", "")]
)
def test_wrong_layout(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(
        ValueError, match=rf"{name}, line 1: \d tab separated column\(s\); give a file named sts-train.csv"
    ):
        build(tmp_path / name, tmp_path)


def test_a_broken_file_is_named(tmp_path):
    whole = gzip.compress((LINE * 500).encode())
    (tmp_path / "sts-dev.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"sts-dev.csv.gz cannot be read .*; download it again"):
        build(tmp_path / "sts-dev.csv.gz", tmp_path)
    (tmp_path / "sts-test.csv").write_bytes(LINE.encode() + b"\xff\xfe")
    with pytest.raises(ValueError, match=r"sts-test.csv cannot be read .*utf-8"):
        build(tmp_path / "sts-test.csv", tmp_path)


def test_missing_files_are_named(tmp_path):
    (tmp_path / "sts-dev.csv").write_text(LINE)
    with pytest.raises(FileNotFoundError, match=r"lacks sts-train.csv, sts-test.csv \(plain or .gz\)"):
        build(tmp_path, tmp_path)


@pytest.mark.corpora
@pytest.mark.skipif("CORPORA_DIR" not in os.environ, reason="CORPORA_DIR is not set")
def test_the_release(tmp_path):
    data, dropped = build(Path(os.environ["CORPORA_DIR"]) / "stsb", tmp_path)
    assert data.num_rows == load_metadata("stsb").expected["similarity"] and dropped == {}
