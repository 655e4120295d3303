"""SICK: sentence pairs with an entailment label and a relatedness from 1 to 5 (Marelli et al., 2014)."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import find_released, open_text, parse_score, whole_rows
from dataset_scripts.base.schema import INFERENCE

# the first release of which every file is there is read; all hold the same pairs, the last one 87 fewer
RELEASES = (
    ("SICK.txt",),
    ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"),
    ("SICK_with_splits.txt",),
)
SPLIT_NAMES = {"TRAIN": "train", "TRIAL": "validation", "TEST": "test"}
TEXTS = ("sentence_A", "sentence_B")
LABELS = ("entailment_label", "entailment_judgment")  # the name changed between releases
SCORE, SPLIT = "relatedness_score", "SemEval_set"


class Sick(Corpus):
    """SICK with its split where the file has one, and as one test split where it has none.

    Ghafouri et al. (2024) take all 9,927 pairs of SemEval-2014 task 1 as a test set: 5,611 neutral, 2,857 entailment,
    1,459 contradiction. That is what SICK.txt without a split column holds, and the three files of the shared task
    together. The later release with the column SemEval_set has 9,840 pairs.

    An evaluation set keeps every valid row, however short its sentences.
    """

    METADATA = load_metadata("sick")
    FEATURES = {"inference": INFERENCE}

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """One given file, or the files of the first complete release in a folder; plain or gzipped.

        Raises:
            FileNotFoundError: If no release is complete; the message names the files.
        """
        if path.is_file():
            return [path]
        for names in RELEASES:
            found = find_released(path, names)
            if len(found) == len(names):
                return [found[name] for name in names]
        names = "; or ".join(", ".join(names) for names in RELEASES)
        raise FileNotFoundError(f"{path} lacks the files of SICK (plain or .gz): {names}")

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (split, row); see `Corpus.rows`."""
        labels = INFERENCE["label"]
        for file in files:
            for row in self._table(file):
                first, second = (normalise(row[column]) for column in TEXTS)
                label, score = row["label"].strip().lower(), parse_score(row[SCORE], 1, 5)
                split = SPLIT_NAMES.get(row[SPLIT].strip()) if SPLIT in row else "test"
                if split is None:
                    self.dropped["row: unknown split"] += 1
                elif label not in labels.names:
                    self.dropped["row: unknown label"] += 1
                elif score is None:
                    self.dropped["row: score is no number from 1 to 5"] += 1
                elif not (first and second):
                    self.dropped["row: empty text"] += 1
                else:
                    texts = {"sentence1": first, "sentence2": second}
                    yield split, {**texts, "label": labels.str2int(label), "score": score}

    def _table(self, path: Path) -> Iterator[dict[str, str]]:
        with open_text(path) as file:
            lines = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            header = lines.fieldnames or []
            label = next((column for column in LABELS if column in header), None)
            missing = [column for column in (*TEXTS, SCORE) if column not in header]
            if missing or label is None:
                raise ValueError(
                    f"{path}, line 1: no tab separated column {', '.join(missing) or ' or '.join(LABELS)}; "
                    "give the file as it was released, with its header"
                )
            for row in whole_rows(lines, self.dropped):
                yield {**row, "label": row[label]}
