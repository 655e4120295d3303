"""STS Benchmark: sentence pairs with a similarity from 0 to 5, in the official split (Cer et al., 2017)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import SPLITS, Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import find_all_released, find_released, open_text, parse_score
from dataset_scripts.base.schema import SIMILARITY

RELEASED = {"sts-train.csv": "train", "sts-dev.csv": "validation", "sts-test.csv": "test"}
DEMO_NAME = "similarity.tsv"
DEMO_HEADER = ["split", "score", "sentence1", "sentence2"]
GENRE, SCORE, FIRST, SECOND = 0, 4, 5, 6  # of the released columns: genre, file, year, number, score, two sentences


class STSBenchmark(Corpus):
    """STS Benchmark as released, or a file laid out like this project's small `demo/similarity.tsv`.

    An evaluation set keeps every valid row: short sentences, equal sentences and repeated pairs stay. `group` is the
    genre, for scores by genre (the official split does not follow it); it is empty where the file has none.
    """

    METADATA = load_metadata("stsb")
    FEATURES = {"similarity": SIMILARITY}

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """One given file, or the three released files of a folder, or else its `similarity.tsv`; plain or gzipped.

        Raises:
            FileNotFoundError: If a released file is missing; the message names it.
        """
        if path.is_file():
            return [path]
        found = find_released(path, (*RELEASED, DEMO_NAME))
        if found.keys() == {DEMO_NAME}:
            return [found[DEMO_NAME]]
        return find_all_released(path, RELEASED, cls.METADATA.raw)

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (split, row); see `Corpus.rows`."""
        for file in files:
            for split, group, score, *sentences in self._fields(file):
                first, second = map(normalise, sentences)
                value = parse_score(score, 0, 5)
                if split not in SPLITS:
                    self.dropped["row: unknown split"] += 1
                elif value is None:
                    self.dropped["row: score is no number from 0 to 5"] += 1
                elif not (first and second):
                    self.dropped["row: empty text"] += 1
                else:
                    yield split, {"sentence1": first, "sentence2": second, "score": value, "group": group}

    def _fields(self, path: Path) -> Iterator[tuple[str, ...]]:
        """(split, group, score, sentence1, sentence2) of every line that has enough columns."""
        with open_text(path) as file:
            lines = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            first = next(lines, [])
            if first == DEMO_HEADER:
                for split, *values in self._long_enough(lines, len(DEMO_HEADER)):
                    yield split, "", *values[:3]
                return
            split = RELEASED.get(path.name.removesuffix(".gz"))
            if split is None or len(first) <= SECOND:
                raise ValueError(
                    f"{path}, line 1: {len(first)} tab separated column(s); give a file named {', '.join(RELEASED)} "
                    f"with at least {SECOND + 1} columns, or one with the header {', '.join(DEMO_HEADER)}"
                )
            for fields in self._long_enough(chain([first], lines), SECOND + 1):
                yield split, fields[GENRE], fields[SCORE], fields[FIRST], fields[SECOND]

    def _long_enough(self, lines: Iterable[list[str]], columns: int) -> Iterator[list[str]]:
        for fields in lines:
            if len(fields) >= columns:
                yield fields
            else:
                self.dropped["row: too few columns"] += 1
