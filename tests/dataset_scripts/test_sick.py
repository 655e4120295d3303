"""SICK: releases with and without a split column."""

from collections import Counter

import pytest

from dataset_scripts.scored_pairs import Sick

SEMEVAL = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
SPLITS = "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set\r\n"
ROW = "1\tA cat\tA dog\t3\tNEUTRAL\n"


def test_without_split_column_all_is_test(build, write):
    rows = ["1\tA cat  naps\tA cat sleeps\t4.5\tENTAILMENT\n", "2\tA cat\tNo cat\t3.2\tCONTRADICTION\n"]
    rows += ['3\tRain\t"A cat\tat"\t1\n']  # without a label, but a quotation mark, which does not join columns
    rows += ["4\tA cat\tA dog\n", "5\tA cat\tA dog\t0.9\tNEUTRAL\n", "6\t \tA dog\t3\tNEUTRAL\n"]
    rows += ["7\tA cat\tA dog\t3\tMAYBE\n"]
    data, dropped = build(Sick, write("raw", {"SICK.txt.gz": SEMEVAL + "".join(rows)}))
    assert data["test"].features["label"].names == ["contradiction", "neutral", "entailment"]
    assert data["test"][0] == {"sentence1": "A cat naps", "sentence2": "A cat sleeps", "label": 2, "score": 4.5}
    assert data["test"]["label"] == [2, 0] and dropped == {
        "row: unknown label": 2,
        "row: wrong number of columns": 1,
        "row: score is no number from 1 to 5": 1,
        "row: empty text": 1,
    }


def test_split_column_and_the_three_files_of_the_shared_task(build, write):
    names = ["TRAIN", "TEST", "TRIAL", "TEST", "X"]
    rows = "".join(f"{n}\tA cat naps\tA cat sleeps\tNEUTRAL\t3\t{name}\r\n" for n, name in enumerate(names))
    folder = write("raw", {"SICK_with_splits.txt": SPLITS + rows})
    data, dropped = build(Sick, folder)
    assert data.num_rows == {"train": 1, "validation": 1, "test": 2} and dropped == {"row: unknown split": 1}
    # these come before the later release
    write("raw", dict.fromkeys(("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"), SEMEVAL + ROW))
    assert build(Sick, folder)[0].num_rows == {"test": 3}


@pytest.mark.corpora
def test_the_release_has_the_papers_labels(build, corpora):
    data, _ = build(Sick, corpora / "sick")
    assert Counter(data["test"]["label"]) == {1: 5611, 2: 2857, 0: 1459}
