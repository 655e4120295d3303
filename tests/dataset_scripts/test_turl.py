"""Twitter News URL corpus: votes, tokenised files, binary scores from either, and every malformed row."""

import gzip
import os
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.turl import TwitterUrl

LINK = "https://t.co/invented"


def line(votes: str, first: str = "Trams are free now ", second: str = "Free  trams & amp ; buses ") -> str:
    return f"{first}\t{second}\t{votes}\t{LINK}\n"


def build(path: Path, cache: Path, config: str | None = None):
    builder = TwitterUrl.open(path, config, cache_dir=cache / "cache")
    builder.download_and_prepare()
    return builder.as_dataset(), dict(builder.dropped)


def tokenise(folder: Path, firsts: list[str], seconds: list[str], labels: list[str]) -> None:
    folder.mkdir(parents=True)
    for name, lines in (("a.toks", firsts), ("b.toks", seconds)):
        (folder / f"{name}.gz").write_bytes(gzip.compress("".join(f"{text}\n" for text in lines).encode("latin-1")))
    (folder / "sim.txt").write_text("\n".join(labels))  # the last line may lack its end


def test_votes(tmp_path):
    # three votes are as good a score as any; samples and the second file of a split are not read
    (tmp_path / "Twitter_URL_Corpus_test.txt").write_text("".join(map(line, ["(3,6)", "(0,6)", "(6, 6)", "(0,6)"])))
    (tmp_path / "Twitter_URL_Corpus_testNew.larger.txt.gz").write_bytes(gzip.compress(line("(1,6)").encode()))
    (tmp_path / "Twitter_URL_Corpus_train_sample.txt").write_text(line("(2,6)"))
    data, dropped = build(tmp_path, tmp_path)
    assert data.num_rows == {"test": 4} and data["test"]["score"] == [3.0, 0.0, 6.0, 0.0]
    texts = {"sentence1": "Trams are free now", "sentence2": "Free trams & amp ; buses"}
    assert data["test"][0] == {**texts, "score": 3.0, "group": LINK}
    assert dropped == {"file: a second one of its kind and split": 1}


def test_malformed_rows(tmp_path):
    bad = ["\r\n", line("(4,6)").replace(LINK, f"\t{LINK}"), "a\tb\t(4,6)\n"]
    bad += [line("(7,6)"), line("(4,5)"), line("4"), line("(4,6)", " ")]
    content = (line("(5,6)") + "".join(bad)).replace("\n", "\r\r\n").encode()
    content += line("(4,6)", "caf\xe9").encode("latin-1")
    (tmp_path / "Twitter_URL_Corpus_train.txt").write_bytes(content)
    data, dropped = build(tmp_path / "Twitter_URL_Corpus_train.txt", tmp_path)
    assert data.num_rows == {"train": 1} and data["train"]["group"] == [LINK]
    assert dropped == {
        "line: empty": 1,
        "row: wrong number of columns": 2,
        "row: no votes of 6, as in (4,6)": 3,
        "row: empty text": 1,
        "line: not UTF-8": 1,
    }


def test_binary_scores_from_votes(tmp_path):
    votes = "".join(line(f"({n},6)") for n in range(7))
    (tmp_path / "Twitter_URL_Corpus_test.txt").write_text(votes)
    data, dropped = build(tmp_path, tmp_path, "paraphrases")
    assert data["test"]["score"] == [0, 0, 0, 1, 1, 1]
    assert dropped == {"row: debatable, 3 votes of 6": 1}


def test_tokenised_files_come_first(tmp_path):
    firsts = ["free trams", "caf\xe9", "free trams", "one\ttab", "rain again", " "]
    tokenise(tmp_path / "train", firsts, ["a", "b", "c", "d", "e", "f"], ["1", "1", "0", "1", "0.5", "1"])
    (tmp_path / "Twitter_URL_Corpus_train.txt").write_text(line("(6,6)"))
    (tmp_path / "Twitter_URL_Corpus_test.txt").write_text(line("(6,6)"))
    data, dropped = build(tmp_path, tmp_path, "paraphrases")
    # a line that cannot be decoded does not shift the others
    rows = [
        {"sentence1": "free trams", "sentence2": b, "score": s, "group": "free trams"} for b, s in (("a", 1), ("c", 0))
    ]
    assert list(data["train"]) == rows and data["test"]["group"] == [LINK]
    assert dropped == {
        "line: not UTF-8": 1,
        "row: wrong number of columns": 1,
        "row: label is neither 0 nor 1": 1,
        "row: empty text": 1,
    }
    assert build(tmp_path, tmp_path)[0].num_rows == {"train": 1, "test": 1}


def test_an_archive(tmp_path):
    tokenise(tmp_path / "corpus" / "train", ["free trams"], ["trams are free"], ["1"])
    (tmp_path / "corpus" / "Twitter_URL_Corpus_test.txt").write_text(line("(2,6)"))
    with tarfile.open(tmp_path / "turl.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "corpus", "corpus")
    data, _ = build(tmp_path / "turl.tar.gz", tmp_path, "paraphrases")
    assert {split: rows["score"][:] for split, rows in data.items()} == {"train": [1], "test": [0]}


def test_what_does_not_fit_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing at .* belongs to turl; it needs a folder or archive with"):
        build(tmp_path, tmp_path)
    (tmp_path / "pairs.txt").write_text(line("(2,6)"))
    with pytest.raises(ValueError, match=r"pairs.txt is no Twitter_URL_Corpus_test\*.txt or _train\*.txt; give a"):
        build(tmp_path / "pairs.txt", tmp_path)
    tokenise(tmp_path / "test", ["free trams", "rain"], ["trams are free", "sun"], ["1"])
    with pytest.raises(ValueError, match=r"similarity needs votes .*; --config paraphrases does not"):
        build(tmp_path, tmp_path)
    with pytest.raises(ValueError, match=r"test/ differ in lines \(a.toks 2, b.toks 2, sim.txt 1\); give all three"):
        build(tmp_path, tmp_path, "paraphrases")


@pytest.mark.corpora
@pytest.mark.skipif("CORPORA_DIR" not in os.environ, reason="CORPORA_DIR is not set")
def test_the_release(tmp_path):
    folder, expected = Path(os.environ["CORPORA_DIR"]) / "turl", load_metadata("turl").expected
    data, dropped = build(folder, tmp_path)
    assert data.num_rows == expected["similarity"] and len(set(data["test"]["group"])) == 915
    assert dropped == {"line: empty": 250, "row: wrong number of columns": 10}
    assert Counter(data["test"]["score"]) == {0: 4656, 1: 1860, 2: 988, 3: 786, 4: 583, 5: 602, 6: 635}
    binary, dropped = build(folder, tmp_path, "paraphrases")
    assert binary.num_rows == expected["paraphrases"] and dropped == {}
    # the votes and the tokenised files tell the same, row by row: the published 9,324 pairs
    assert binary["test"]["score"][:] == [float(score > 3) for score in data["test"]["score"] if score != 3]
    assert not set(binary["train"]["sentence1"]) & set(binary["test"]["sentence1"])
