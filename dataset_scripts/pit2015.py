"""PIT-2015: pairs of tweets with a graded paraphrase score from 0 to 5 (Xu et al., 2015; SemEval-2015 task 1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import ARCHIVES, members
from dataset_scripts.base.schema import SIMILARITY

RELEASED = {"train.data": "train", "dev.data": "validation", "test.data": "test"}
# of the released columns: topic's number and name, two sentences, label, then the sentences with tags
TOPIC, FIRST, SECOND, LABEL = 0, 2, 3, 4
HIGHEST = 5
_VOTES = re.compile(r"\((\d+), ?(\d+)\)")
_GRADE = re.compile(rf"[0-{HIGHEST}]")
_NO_SCORE = f"row: label is neither {HIGHEST} votes, as in (3, 2), nor a digit from 0 to {HIGHEST}"


class Pit2015(Corpus):
    """The released files that are there; `dev.data` is the validation split.

    The score is the official one, from 0 to 5: in train and validation how many of five crowd workers called the pair
    a paraphrase, in test an expert's grade. `group` is the number of the topic, a trend on Twitter.

    The task's classification leaves out debatable pairs (2 votes of 5; grade 3), its graded similarity does not, and
    neither does Di Giovanni and Brambilla's (2021, section 4.2): every valid row stays.
    """

    METADATA = load_metadata("pit2015")
    FEATURES = {"similarity": SIMILARITY}

    @classmethod
    def is_raw(cls, name: str) -> bool:
        return name.removesuffix(".gz") in RELEASED or name.lower().endswith(ARCHIVES)

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        splits = set()
        for member in members(files, lambda name: Path(name).name in RELEASED):
            split = RELEASED[Path(member.name).name]
            if self.dropped.refuse(member.place(), {"file: a second one of its name": split in splits}):
                continue
            splits.add(split)
            for line, text in member.lines(self.dropped):
                fields = text.split("\t")
                if len(fields) <= LABEL:
                    self.dropped.skip("row: too few columns", member.place(line))
                    continue
                first, second, score = normalise(fields[FIRST]), normalise(fields[SECOND]), _score(fields[LABEL])
                faults = {_NO_SCORE: score is None, "row: empty text": not (first and second)}
                if not self.dropped.refuse(member.place(line), faults):
                    group = fields[TOPIC].strip()
                    yield split, {"sentence1": first, "sentence2": second, "score": score, "group": group}


def _score(label: str) -> float | None:
    """The votes for a paraphrase, or the grade; None if the label is neither."""
    if votes := _VOTES.fullmatch(label.strip()):
        return float(votes[1]) if int(votes[1]) + int(votes[2]) == HIGHEST else None
    return float(label) if _GRADE.fullmatch(label.strip()) else None
