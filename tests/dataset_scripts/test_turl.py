"""Twitter News URL corpus: votes, tokenised files, binary scores from either."""

from collections import Counter

import pytest

from dataset_scripts.turl import TwitterUrl

LINK = "https://t.co/invented"


def line(votes: str, first: str = "Trams are free now ", second: str = "Free  trams & amp ; buses ") -> str:
    return f"{first}\t{second}\t{votes}\t{LINK}\n"


def tokenised(split: str, firsts: list[str], seconds: list[str], labels: list[str]) -> dict[str, bytes]:
    texts = {f"{split}/a.toks.gz": firsts, f"{split}/b.toks.gz": seconds}
    files = {name: "".join(f"{text}\n" for text in of_file).encode("latin-1") for name, of_file in texts.items()}
    return files | {f"{split}/sim.txt": "\n".join(labels).encode()}  # the last line may lack its end


def test_votes(build, write):
    # three votes are as good a score as any; samples and the second file of a split are not read
    folder = write(
        "raw",
        {
            "Twitter_URL_Corpus_test.txt": "".join(map(line, ["(3,6)", "(0,6)", "(6, 6)", "(0,6)"])),
            "Twitter_URL_Corpus_testNew.larger.txt.gz": line("(1,6)"),
            "Twitter_URL_Corpus_train_sample.txt": line("(2,6)"),
        },
    )
    data, dropped = build(TwitterUrl, folder)
    assert data.num_rows == {"test": 4} and data["test"]["score"] == [3.0, 0.0, 6.0, 0.0]
    texts = {"sentence1": "Trams are free now", "sentence2": "Free trams & amp ; buses"}
    assert data["test"][0] == {**texts, "score": 3.0, "group": LINK}
    assert dropped == {"file: a second one of its kind and split": 1}
    data, dropped = build(
        TwitterUrl,
        write("binary", {"Twitter_URL_Corpus_test.txt": "".join(line(f"({n},6)") for n in range(7))}),
        "paraphrases",
    )
    assert data["test"]["score"] == [0, 0, 0, 1, 1, 1] and dropped == {"row: debatable, 3 votes of 6": 1}


@pytest.mark.parametrize("target", ["raw", "raw.tar.gz"])
def test_tokenised_files_come_first(target, build, write):
    firsts = ["free trams", "caf\xe9", "free trams", "one\ttab", "rain again", " "]
    files = tokenised("train", firsts, ["a", "b", "c", "d", "e", "f"], ["1", "1", "0", "1", "0.5", "1"])
    files |= {f"Twitter_URL_Corpus_{split}.txt": line("(6,6)") for split in ("train", "test")}
    folder = write(target, files)
    data, dropped = build(TwitterUrl, folder, "paraphrases")
    # a line that cannot be decoded does not shift the others
    assert [tuple(row.values()) for row in data["train"]] == [
        ("free trams", "a", 1, "free trams"),
        ("free trams", "c", 0, "free trams"),
    ]
    assert data["test"]["group"] == [LINK] and dropped == {
        "line: not UTF-8": 1,
        "row: wrong number of columns": 1,
        "row: label is neither 0 nor 1": 1,
        "row: empty text": 1,
    }
    assert build(TwitterUrl, folder)[0].num_rows == {"train": 1, "test": 1}


@pytest.mark.corpora
def test_the_release(build, corpora):
    data, dropped = build(TwitterUrl, corpora / "turl")
    expected = TwitterUrl.METADATA.expected
    assert data.num_rows == expected["similarity"] and len(set(data["test"]["group"])) == 915
    assert dropped == {"line: empty": 250, "row: wrong number of columns": 10}
    assert Counter(data["test"]["score"]) == {0: 4656, 1: 1860, 2: 988, 3: 786, 4: 583, 5: 602, 6: 635}
    binary, dropped = build(TwitterUrl, corpora / "turl", "paraphrases")
    assert binary.num_rows == expected["paraphrases"] and dropped == {}
    # the votes and the tokenised files tell the same, row by row: the published 9,324 pairs
    assert binary["test"]["score"][:] == [float(score > 3) for score in data["test"]["score"] if score != 3]
    assert not set(binary["train"]["sentence1"]) & set(binary["test"]["sentence1"])
