"""SICK: releases with and without a split column, and every malformed row."""

import gzip
import os
from collections import Counter
from pathlib import Path

import pytest

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.sick import Sick

SEMEVAL = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
SPLITS = "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set\r\n"


def build(path: Path, cache: Path):
    builder = Sick.open(path, cache_dir=cache / "cache")
    builder.download_and_prepare()
    return builder.as_dataset(), dict(builder.dropped)


def test_without_split_column_all_is_test(tmp_path):
    rows = [
        "1\tA cat  naps\tA cat sleeps\t4.5\tENTAILMENT\n",
        "2\tA cat\tNo cat\t3.2\tCONTRADICTION\n",
        '3\tRain\t"A cat\tat"\t1\n',
    ]
    (tmp_path / "SICK.txt.gz").write_bytes(gzip.compress((SEMEVAL + "".join(rows)).encode()))
    data, dropped = build(tmp_path, tmp_path)
    assert data["test"].features["label"].names == ["contradiction", "neutral", "entailment"]
    assert data["test"][0] == {"sentence1": "A cat naps", "sentence2": "A cat sleeps", "label": 2, "score": 4.5}
    # the third row has no label but a quotation mark, which does not join columns
    assert [row["label"] for row in data["test"]] == [2, 0]
    assert dropped == {"row: unknown label": 1}


def test_split_column(tmp_path):
    rows = [
        f"{n}\tA cat naps\tA cat sleeps\tNEUTRAL\t3\t{name}\r\n"
        for n, name in enumerate(["TRAIN", "TEST", "TRIAL", "TEST", "X"])
    ]
    (tmp_path / "SICK_with_splits.txt").write_bytes((SPLITS + "".join(rows)).encode())
    data, dropped = build(tmp_path, tmp_path)
    assert data.num_rows == {"train": 1, "validation": 1, "test": 2} and dropped == {"row: unknown split": 1}


def test_the_three_files_of_the_shared_task(tmp_path):
    for name in ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt", "SICK_with_splits.txt"):
        (tmp_path / name).write_text(SEMEVAL + f"1\tA cat naps\t{name} is here\t3\tNEUTRAL\n")
    assert build(tmp_path, tmp_path)[0].num_rows == {"test": 3}


def test_malformed_rows(tmp_path):
    good, text = "1\tA cat\tA dog\t5\tNEUTRAL\n", "3\tNEUTRAL"
    bad = [
        "2\tA cat\tA dog\n",
        f"3\tA cat\tA dog\t{text}\textra\n",
        "4\tA cat\tA dog\t0.9\tNEUTRAL\n",
        "5\tA cat\tA dog\tx\tNEUTRAL\n",
    ]
    (tmp_path / "SICK.txt").write_text(
        SEMEVAL + good + "".join(bad) + f"6\t \tA dog\t{text}\n7\tA cat\tA dog\t3\tMAYBE\n"
    )
    data, dropped = build(tmp_path / "SICK.txt", tmp_path)
    assert data.num_rows == {"test": 1}
    assert dropped == {
        "row: wrong number of columns": 2,
        "row: score is no number from 1 to 5": 2,
        "row: empty text": 1,
        "row: unknown label": 1,
    }


def test_wrong_layout_and_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"SICK.txt; or SICK_train.txt, SICK_trial.txt"):
        (tmp_path / "SICK_train.txt").write_text(SEMEVAL)
        build(tmp_path, tmp_path)
    path = tmp_path / "SICK.txt"
    path.write_text("pair_ID,sentence_A,sentence_B\n")
    with pytest.raises(ValueError, match=r"SICK.txt, line 1: no tab separated column sentence_A, sentence_B, related"):
        build(path, tmp_path)
    path.write_text(SEMEVAL.replace("entailment_judgment", "gold"))
    with pytest.raises(ValueError, match="no tab separated column entailment_label or entailment_judgment"):
        build(path, tmp_path)


@pytest.mark.corpora
@pytest.mark.skipif("CORPORA_DIR" not in os.environ, reason="CORPORA_DIR is not set")
def test_the_releases(tmp_path):
    folder = Path(os.environ["CORPORA_DIR"]) / "sick"
    data, dropped = build(folder, tmp_path)
    assert data.num_rows == load_metadata("sick").expected["inference"] and dropped == {}
    assert Counter(data["test"]["label"]) == {1: 5611, 2: 2857, 0: 1459}
    data, dropped = build(folder / "SICK_with_splits.txt.gz", tmp_path)
    assert data.num_rows == {"train": 4439, "validation": 495, "test": 4906} and dropped == {}
