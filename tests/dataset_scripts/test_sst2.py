"""SST-2: SentEval's three files and every malformed row."""

import gzip
import os
from pathlib import Path

import pytest

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.sst2 import SST2

TEST, VALIDATION = "a grand parade .\t1\n", "a wet parade .\t0\n"


def build(path: Path, cache: Path, config: str = "sentences"):
    builder = SST2.open(path, config, cache_dir=cache / "cache")
    builder.download_and_prepare()
    return builder.as_dataset(), dict(builder.dropped)


def write(folder: Path, train: bytes, dev: str = VALIDATION, test: str = TEST) -> Path:
    (folder / "sentiment-train").write_bytes(train)
    (folder / "sentiment-dev.gz").write_bytes(gzip.compress(dev.encode()))
    (folder / "sentiment-test").write_text(test)
    return folder


def test_short_and_repeated_phrases_stay(tmp_path):
    data, dropped = build(write(tmp_path, b"grand \t1\nwet \t0\ngrand \t1\n"), tmp_path)
    assert data["train"].to_list() == [
        {"text": text, "label": label, "group": ""} for text, label in (("grand", 1), ("wet", 0), ("grand", 1))
    ]
    assert data.num_rows == {"train": 3, "validation": 1, "test": 1} and dropped == {}


def test_evaluation_comes_first(tmp_path):
    train = b"A grand parade\t1\na wet parade . \t0\na parade\t1\n"
    data, dropped = build(write(tmp_path, train, dev=VALIDATION + TEST), tmp_path)
    assert data["train"]["text"] == ["a parade"] and data["validation"]["text"] == ["a wet parade ."]
    assert dropped == {"row: a text is also in test": 2, "row: a text is also in validation": 1}


def test_malformed_rows(tmp_path):
    train = b"wet \t0\nno label\nwet\t0\t1\n\t1\nodd \t2\nclich\xe9 \t0\n\n"
    data, dropped = build(write(tmp_path, train), tmp_path)
    assert data["train"]["text"] == ["wet"]
    assert dropped == {
        "line: wrong number of columns": 3,
        "row: empty text": 1,
        "row: unknown label": 1,
        "line: not UTF-8": 1,
    }


def test_quadruples_and_pairs(tmp_path):
    train = "".join(f"{word} {n}\t{label}\n" for label, word in enumerate(("wet", "grand")) for n in (1, 2, 2, 3))
    test = "".join(f"{word} {n}\t{label}\n" for label, word in enumerate(("soggy", "fine")) for n in range(5))
    write(tmp_path, train.encode(), test=test)
    data, dropped = build(tmp_path, tmp_path, "quadruples")
    assert data.num_rows == {"train": 3} and dropped == {"train: repeated text": 2}
    data, dropped = build(tmp_path, tmp_path, "sgts")  # floor(5 / 4) = 1 of either label; 3 are left of each
    assert data.num_rows == {"test": 5} and sum(data["test"]["label"]) == 2
    assert dropped == {"validation: fewer than 4 texts of a label": 1}
    assert data["test"].features["label"].names == ["different", "same"]


def test_missing_and_broken_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"lacks sentiment-train, sentiment-dev, sentiment-test \(plain or"):
        build(tmp_path, tmp_path)
    write(tmp_path, b"wet\t0\n")
    (tmp_path / "sentiment-dev.gz").write_bytes(gzip.compress(VALIDATION.encode())[:-9])
    with pytest.raises(ValueError, match=r"sentiment-dev.gz cannot be read"):
        build(tmp_path, tmp_path)


@pytest.mark.corpora
@pytest.mark.skipif("CORPORA_DIR" not in os.environ, reason="CORPORA_DIR is not set")
def test_the_release(tmp_path):
    folder, expected = Path(os.environ["CORPORA_DIR"]) / "sst2", load_metadata("sst2").expected
    data, dropped = build(folder, tmp_path)
    assert data.num_rows == expected["sentences"]
    assert data.num_rows["train"] + sum(dropped.values()) == 67349
    assert (data.num_rows["validation"], data.num_rows["test"]) == (872, 1821)
    data, _ = build(folder, tmp_path, "sgts")
    assert data.num_rows == expected["sgts"] and sum(data["validation"]["label"]) == 214
