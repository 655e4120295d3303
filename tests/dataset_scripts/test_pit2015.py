"""PIT-2015: the released files plain, gzipped and in an archive, both kinds of label, and every malformed row."""

import gzip
import os
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.pit2015 import Pit2015


def line(label: str, first: str = "my cat naps", second: str = "cat is asleep lol", topic: str = "7") -> str:
    return "\t".join([topic, "Cats", first, second, label, "my/O/PRP$/B-NP/O", "cat/O/NN/B-NP/O"]) + "\n"


def build(path: Path, cache: Path):
    builder = Pit2015.open(path, cache_dir=cache / "cache")
    builder.download_and_prepare()
    return builder.as_dataset(), dict(builder.dropped)


def test_votes_and_grades(tmp_path):
    # the votes for a paraphrase count, not those against; debatable and repeated pairs stay, quotes are letters
    (tmp_path / "dev.data.gz").write_bytes(gzip.compress((line("(3, 2)") + line("(2, 3)") * 2).encode()))
    (tmp_path / "test.data").write_text(line("3", '"my  cat', topic="90") + line("5", "same", "same") + line("0"))
    (tmp_path / "test.label").write_text("true\t0.8000\n")
    data, dropped = build(tmp_path, tmp_path)
    assert data["validation"]["score"] == [3.0, 2.0, 2.0] and data["test"]["score"] == [3.0, 5.0, 0.0]
    expected = {"sentence1": '"my cat', "sentence2": "cat is asleep lol", "score": 3.0, "group": "90"}
    assert data["test"][0] == expected and data["validation"]["group"] == ["7"] * 3
    assert list(data) == ["validation", "test"] and dropped == {}


def test_malformed_rows(tmp_path):
    votes = ["(3, 3)", "(3, 2", "(-1, 6)", "6", "2.5", "----", ""]
    text = line("(0,5)") + "".join(map(line, votes)) + line("4", " ") + "7\tCats\tmy cat naps\tcat is asleep\n"
    (tmp_path / "train.data").write_bytes(text.encode() + line("4", "caf\xe9").encode("latin-1"))
    data, dropped = build(tmp_path / "train.data", tmp_path)
    assert data.num_rows == {"train": 1} and data["train"]["score"] == [0.0]
    assert dropped == {
        "row: label is neither 5 votes, as in (3, 2), nor a digit from 0 to 5": 7,
        "row: empty text": 1,
        "row: too few columns": 1,
        "line: not UTF-8": 1,
    }


def test_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "SemEval-PIT2015-github.zip", "w") as archive:
        archive.writestr("pack/data/test.data", line("1"))
        archive.writestr("pack/data/dev.data.gz", gzip.compress(line("(4, 1)").encode()))
        archive.writestr("pack/copy/dev.data", line("(5, 0)"))
        archive.writestr("pack/readme.md", "no rows")
        archive.writestr("__MACOSX/pack/data/._train.data", "no rows")
    data, dropped = build(tmp_path / "SemEval-PIT2015-github.zip", tmp_path)
    assert {split: rows["score"][:] for split, rows in data.items()} == {"validation": [4.0], "test": [1.0]}
    assert dropped == {"file: a second one of its name": 1}


def test_what_is_no_corpus_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing at .* belongs to pit2015; it needs a folder or archive with"):
        build(tmp_path, tmp_path)
    (tmp_path / "tweets.tsv").write_text(line("3"))
    with pytest.raises(ValueError, match=r"tweets.tsv is not named train.data, dev.data, test.data \(plain or .gz\)"):
        build(tmp_path / "tweets.tsv", tmp_path)
    (tmp_path / "test.data.gz").write_bytes(gzip.compress(line("3").encode() * 99)[:-20])
    with pytest.raises(ValueError, match=r"test.data.gz cannot be read .*; download it again"):
        build(tmp_path, tmp_path)


@pytest.mark.corpora
@pytest.mark.skipif("CORPORA_DIR" not in os.environ, reason="CORPORA_DIR is not set")
def test_the_release(tmp_path):
    data, dropped = build(Path(os.environ["CORPORA_DIR"]) / "pit2015", tmp_path)
    expected = load_metadata("pit2015").expected["similarity"]
    assert data.num_rows == {split: expected[split] for split in ("validation", "test")} and dropped == {}
    assert Counter(data["validation"]["score"]) == {0: 1748, 1: 924, 2: 585, 3: 522, 4: 537, 5: 411}
    assert Counter(data["test"]["score"]) == {0: 157, 1: 376, 2: 130, 3: 134, 4: 134, 5: 41}
    groups = [set(data[split]["group"]) for split in ("validation", "test")]
    assert [len(of_split) for of_split in groups] == [129, 40] and not groups[0] & groups[1]
