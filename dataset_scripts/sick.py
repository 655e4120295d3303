"""SICK: sentence pairs with an entailment label and a relatedness from 1 to 5 (Marelli et al., 2014)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import parse_score
from dataset_scripts.base.schema import INFERENCE

SPLIT_NAMES = {"TRAIN": "train", "TRIAL": "validation", "TEST": "test"}
FIRST, SECOND, SCORE, SPLIT = "sentence_A", "sentence_B", "relatedness_score", "SemEval_set"
LABELS = ("entailment_label", "entailment_judgment")  # the name changed between releases


class Sick(Corpus):
    """SICK with its split where the file has one, and as one test split where it has none.

    Ghafouri et al. (2024) take all 9,927 pairs of SemEval-2014 task 1 as a test set: SICK.txt without a split column,
    or the three files of the shared task together. The later release with the column SemEval_set has 9,840 pairs.
    Every valid row stays, however short its sentences.
    """

    METADATA = load_metadata("sick")
    FEATURES = {"inference": INFERENCE}
    # all hold the same pairs, the last one 87 fewer
    RELEASES = (
        ("SICK.txt",),
        ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"),
        ("SICK_with_splits.txt",),
    )

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        return [path] if path.is_file() else super().find_files(path)

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        labels = INFERENCE["label"]
        for place, row in self.table(files, (FIRST, SECOND, SCORE), delimiter="\t"):
            label = next((row[column].strip().lower() for column in LABELS if column in row), None)
            texts = {"sentence1": normalise(row[FIRST]), "sentence2": normalise(row[SECOND])}
            score, split = parse_score(row[SCORE], 1, 5), SPLIT_NAMES.get(row.get(SPLIT, "TEST").strip())
            faults = {
                "row: unknown split": split is None,
                "row: unknown label": label not in labels.names,
                "row: score is no number from 1 to 5": score is None,
                "row: empty text": not all(texts.values()),
            }
            if not self.dropped.refuse(place, faults):
                yield split, {**texts, "label": labels.str2int(label), "score": score}
