"""Scored pairs: votes, grades and numbers, which files are read, what is no pair; releases of SICK."""

from collections import Counter

import pytest

from dataset_scripts.scored_pairs import Pit2015, Sick, STSBenchmark, TwitterUrl

LINK = "https://t.co/invented"


def stsb(score: str) -> str:
    return f'main-news\tinvented\t2012\t1\t{score}\t"Big  cat" sleeps.\tA cat naps.\tsource\tlicence\n'


def pit(label: str, first: str = "my cat naps", topic: str = "7") -> str:
    return "\t".join([topic, "Cats", first, "cat is asleep lol", label, "my/O/PRP$/B-NP/O", "cat/O/NN/B-NP/O"]) + "\n"


def turl(votes: str, first: str = "Trams are free now ", end: str = "\n") -> str:
    return f"{first}\tFree  trams & amp ; buses \t{votes}\t{LINK}{end}"


# quotes are letters, repeated and debatable pairs and short texts stay; samples and a split's second file are not read
CASES = {
    STSBenchmark: (
        {"sts-train.csv.gz": stsb("5") * 3, "sts-dev.csv.gz": stsb("0"), "sts-test.csv.gz": stsb("3.50")},
        {"train": [5.0] * 3, "validation": [0.0], "test": [3.5]},
        ('"Big cat" sleeps.', "A cat naps.", 3.5, "main-news"),
        {},
    ),
    Pit2015: (  # the votes for a paraphrase count, not those against
        {"data/dev.data.gz": pit("(3, 2)") + pit("(2, 3)") * 2, "data/test.data": pit("3", '"my  cat', "90") + pit("0")}
        | {"later/dev.data": pit("(5, 0)"), "data/test.label": "true\t0.8000\n", "__MACOSX/._train.data": "no rows"},
        {"validation": [3.0, 2.0, 2.0], "test": [3.0, 0.0]},
        ('"my cat', "cat is asleep lol", 3.0, "90"),
        {"file: a second one of its split": 1},
    ),
    TwitterUrl: (
        {"Twitter_URL_Corpus_test.txt": "".join(map(turl, ["(3,6)", "(0,6)", "(6, 6)"]))}
        | {"Twitter_URL_Corpus_testNew.txt.gz": turl("(1,6)"), "Twitter_URL_Corpus_train_sample.txt": turl("(2,6)")},
        {"test": [3.0, 0.0, 6.0]},
        ("Trams are free now", "Free trams & amp ; buses", 3.0, LINK),
        {"file: a second one of its split": 1},
    ),
}


@pytest.mark.parametrize("target", ["raw", "raw.zip"])
@pytest.mark.parametrize("corpus", CASES)
def test_scores(corpus, target, build, write):
    files, scores, first, dropped = CASES[corpus]
    data, counts = build(corpus, write(target, files))
    assert {split: rows["score"][:] for split, rows in data.items()} == scores and counts == dropped
    assert tuple(data["test"][0].values()) == first


def test_what_is_no_pair(build, write):
    lines = ["\r\r\n", turl("(4,6)", end="\t\r\r\n"), "a\tb\t(4,6)\r\r\n", turl("(4,6)", " "), turl("(5,6)")]
    lines += [turl(votes) for votes in ("(7,6)", "(4,5)", "4")]
    text = "".join(lines).encode() + turl("(4,6)", "caf\xe9").encode("latin-1")
    data, dropped = build(TwitterUrl, write("raw", {"Twitter_URL_Corpus_train.txt": text}))
    assert data["train"]["score"] == [5.0]
    assert dropped == {
        "line: empty": 1,
        "row: wrong number of columns": 2,
        "row: no votes of 6, as in (4,6)": 3,
        "row: empty text": 1,
        "line: not UTF-8": 1,
    }
    wrong = "".join(pit(label) for label in ("(3, 3)", "6", "", "(1, 4)"))
    assert build(Pit2015, write("pit", {"dev.data": wrong}))[1] == {f"row: no {Pit2015.SCORE}": 3}


SEMEVAL = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"


def test_sick_with_and_without_a_column_of_splits(build, write):
    header = SEMEVAL.strip() + "\tSemEval_set\r\n"
    names = ["TRAIN", "TEST", "TRIAL", "TEST", "X"]
    marked = "".join(f"{n}\tA cat naps\tA cat sleeps\t3\tNEUTRAL\t{name}\r\n" for n, name in enumerate(names))
    data, dropped = build(Sick, write("later", {"SICK_with_splits.txt": header + marked}))
    assert data.num_rows == {"train": 1, "validation": 1, "test": 2} and dropped == {"row: unknown split": 1}
    rows = ["1\tA cat  naps\tA cat sleeps\t4.5\tENTAILMENT\n", "2\tA cat\tNo cat\t3.2\tCONTRADICTION\n"]
    rows += ['3\tRain\t"A cat\tat"\t1\n']  # without a label, but a quotation mark, which does not join columns
    rows += ["4\tA cat\tA dog\n", "5\tA cat\tA dog\t0.9\tNEUTRAL\n", "6\t \tA dog\t3\tNEUTRAL\n"]
    rows += ["7\tA cat\tA dog\t3\tMAYBE\n"]
    # the three files of the shared task come before the later release
    three = {
        "SICK_train.txt": SEMEVAL + "".join(rows),
        "SICK_trial.txt.gz": SEMEVAL,
        "SICK_test_annotated.txt": SEMEVAL,
    }
    data, dropped = build(Sick, write("later", three))
    assert data["test"].features["label"].names == ["contradiction", "neutral", "entailment"]
    assert data["test"][0] == {"sentence1": "A cat naps", "sentence2": "A cat sleeps", "label": 2, "score": 4.5}
    assert data["test"]["label"] == [2, 0] and dropped == {
        "row: unknown label": 2,
        "row: wrong number of columns": 1,
        "row: score is no number from 1 to 5": 1,
        "row: empty text": 1,
    }


@pytest.mark.corpora
def test_the_release_has_the_papers_labels(build, corpora):
    data, _ = build(Sick, corpora / "sick")
    assert Counter(data["test"]["label"]) == {1: 5611, 2: 2857, 0: 1459}
