"""MR: the split files, the two files of the first release, and every malformed row."""

import gzip
import os
from pathlib import Path

import pytest

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.mr import MovieReviews

SPLITS = ("train", "validation", "test")


def build(path: Path, cache: Path, config: str = "sentences", **options):
    builder = MovieReviews.open(path, config, cache_dir=cache / "cache", **options)
    builder.download_and_prepare()
    return builder.as_dataset(), dict(builder.dropped)


def write_splits(folder: Path, train: bytes, prefix: str = "split_", header: bytes = b"label\ttext\n") -> None:
    rest = {split: f"0\tdull {split}\n1\tfine {split}\n".encode() for split in ("validation", "test")}
    for split, rows in {"train": train, **rest}.items():
        (folder / f"{prefix}{split}.tsv.gz").write_bytes(gzip.compress(header + rows))


@pytest.mark.parametrize("prefix", ["split_", ""])
def test_the_usual_split_stays_as_it_is(tmp_path, prefix):
    rows = ["1\ta  fine film .", "1\ta fine film", "0\tbad", '0\tthe " plot', "0\ta fine film", "1\ta fine film"]
    write_splits(tmp_path, "\n".join(rows).encode(), prefix)
    data, dropped = build(tmp_path, tmp_path)
    assert data.num_rows == {"train": 6, "validation": 2, "test": 2} and dropped == {}
    assert data["train"].features["label"].names == ["negative", "positive"]
    assert data["train"][0] == {"text": "a fine film .", "label": 1, "group": ""}
    # of these six rows four texts; one has both labels, one is the only positive text left
    with pytest.raises(ValueError, match=r"'train: fewer than 2 texts of a label': 1"):
        build(tmp_path, tmp_path, "quadruples")


def test_malformed_rows(tmp_path):
    bad = ["1\t", "2\tneither", "\tno label", "1\ta\tb", "1", "", "1\tdull test!"]
    train = "\n".join(["0\tbad plot", *bad]).encode() + b"\n1\tclich\xe9\n"
    write_splits(tmp_path, train)
    data, dropped = build(tmp_path / "split_test.tsv.gz", tmp_path)
    assert data["train"]["text"] == ["bad plot"]
    assert dropped == {
        "row: empty text": 1,
        "row: unknown label": 2,
        "line: wrong number of columns": 2,
        "line: not UTF-8": 1,
        "row: a text is also in test": 1,
    }


def test_the_first_release_is_split_by_seed(tmp_path):
    (tmp_path / "rt-polarity.pos").write_bytes(b"".join(b"a fine film of %d minutes \n" % n for n in range(18)))
    # one copy in Windows-1252 and one in UTF-8; a spelling of a text, which is on its side of the split
    other = [f"a dull film of {n} minutes ".encode() for n in range(17)]
    other += ["a clich\u00e9 \u2013 and dull".encode("cp1252"), "a \u00ab dull \u00bb film of 3 minutes".encode()]
    other += [b"a fine film of 5 minutes", b"\x81"]
    (tmp_path / "rt-polarity.neg").write_bytes(b"\n".join(other))
    data, dropped = build(tmp_path, tmp_path)
    # 36 different texts, of which 80 / 10 / 10 % are 28 / 4 / 4; the one with both labels is in one of the splits
    assert sum(data.num_rows.values()) == 35 and all(abs(data.num_rows[split] - 4) <= 1 for split in SPLITS[1:])
    assert dropped == {"row: text with both labels": 2, "row: duplicate": 1, "line: not UTF-8": 1}
    texts = [text for split in SPLITS for text in data[split]["text"]]
    assert "a clich\u00e9 \u2013 and dull" in texts and len(texts) == len(set(texts))
    assert build(tmp_path, tmp_path)[0]["test"]["text"] == data["test"]["text"]
    assert build(tmp_path, tmp_path, seed=7)[0]["test"]["text"] != data["test"]["text"]


def test_missing_files_and_columns(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"lacks the files of MR .*split_train.tsv.*rt-polarity.pos"):
        build(tmp_path, tmp_path)
    write_splits(tmp_path, b"1\tfine\n", header=b"text\tlabels\n")
    with pytest.raises(ValueError, match=r"split_train.tsv.gz, line 2: no tab separated columns label and text"):
        build(tmp_path, tmp_path)


@pytest.mark.corpora
@pytest.mark.skipif("CORPORA_DIR" not in os.environ, reason="CORPORA_DIR is not set")
def test_the_release(tmp_path):
    folder, expected = Path(os.environ["CORPORA_DIR"]) / "mr", load_metadata("mr").expected
    for config in expected:
        data, dropped = build(folder, tmp_path, config)
        assert data.num_rows == expected[config] and dropped == {}
    assert sum(data["validation"]["label"]) == sum(data["test"]["label"]) == 266
    for name in ("pos", "neg"):
        (tmp_path / f"rt-polarity.{name}.gz").write_bytes((folder / f"rt-polarity.{name}.gz").read_bytes())
    data, dropped = build(tmp_path, tmp_path)
    assert sum(data.num_rows.values()) + sum(dropped.values()) == 10662
