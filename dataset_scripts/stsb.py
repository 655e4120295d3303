"""STS Benchmark: sentence pairs with a similarity from 0 to 5, in the official split (Cer et al., 2017)."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import fsspec

from dataset_scripts.corpus import SPLITS, Corpus
from dataset_scripts.metadata import load_metadata
from dataset_scripts.quality import normalise
from dataset_scripts.schema import SIMILARITY

RELEASED = {"sts-train.csv": "train", "sts-dev.csv": "validation", "sts-test.csv": "test"}
DEMO_NAME = "similarity.tsv"
DEMO_HEADER = ["split", "score", "sentence1", "sentence2"]
GENRE, SCORE, FIRST, SECOND = 0, 4, 5, 6  # of the released columns: genre, file, year, number, score, two sentences


def find_released(folder: Path, names: Collection[str]) -> dict[str, Path]:
    """Name -> the first file of that name below a folder, plain or gzipped. A name that is not there is left out."""
    found: dict[str, Path] = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file() and (name := file.name.removesuffix(".gz")) in names:
            found.setdefault(name, file)
    return found


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Opens a UTF-8 file, plain or gzipped; line ends stay as they are, as `csv` wants them.

    Raises:
        ValueError: If the file turns out to be broken or cut off, at once or while the caller reads it.
    """
    try:
        with fsspec.open(str(path), "rt", compression="infer", encoding="utf-8-sig", newline="") as file:
            yield file
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeError, csv.Error) as error:
        raise ValueError(f"{path} cannot be read ({error}); download it again") from error


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
        missing = [name for name in RELEASED if name not in found]
        if found.keys() == {DEMO_NAME}:
            return [found[DEMO_NAME]]
        if missing:
            raise FileNotFoundError(f"{path} lacks {', '.join(missing)} (plain or .gz); it needs {cls.METADATA.raw}")
        return [found[name] for name in RELEASED]

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (split, row); see `Corpus.rows`."""
        for file in files:
            for split, group, score, *sentences in self._fields(file):
                first, second = map(normalise, sentences)
                value = _score(score)
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


def _score(text: str) -> float | None:
    try:
        score = float(text)
    except ValueError:
        return None
    return score if 0 <= score <= 5 else None
