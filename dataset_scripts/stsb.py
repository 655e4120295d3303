"""STS Benchmark: sentence pairs with a similarity from 0 to 5, in the official split (Cer et al., 2017)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import members, parse_score
from dataset_scripts.base.schema import SIMILARITY

RELEASED = {"sts-train.csv": "train", "sts-dev.csv": "validation", "sts-test.csv": "test"}
GENRE, SCORE, FIRST, SECOND = 0, 4, 5, 6  # of the released columns: genre, file, year, number, score, two sentences


class STSBenchmark(Corpus):
    """STS Benchmark as released; some lines name a source and its licence behind the sentences.

    Every valid row stays: short sentences, equal sentences and repeated pairs too. `group` is the genre, for scores by
    genre (the official split does not follow it).
    """

    METADATA = load_metadata("stsb")
    FEATURES = {"similarity": SIMILARITY}

    @classmethod
    def is_raw(cls, name: str) -> bool:
        return name.removesuffix(".gz") in RELEASED

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for member in members(files):
            for line, text in member.lines(self.dropped):
                fields = text.split("\t")
                if self.dropped.refuse(member.place(line), {"row: too few columns": len(fields) <= SECOND}):
                    continue
                first, second = normalise(fields[FIRST]), normalise(fields[SECOND])
                score = parse_score(fields[SCORE], 0, 5)
                faults = {
                    "row: score is no number from 0 to 5": score is None,
                    "row: empty text": not (first and second),
                }
                if not self.dropped.refuse(member.place(line), faults):
                    row = {"sentence1": first, "sentence2": second, "score": score, "group": fields[GENRE]}
                    yield RELEASED[Path(member.name).name], row
