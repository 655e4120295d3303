"""Twitter News URL corpus: pairs of tweets on one link with six people's votes (Lan et al., 2017)."""

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

RELEASED = re.compile(r"Twitter_URL_Corpus_(train|test)(?!.*sample).*\.txt(\.gz)?")
COLUMNS = 4  # two sentences, votes, link
PEOPLE = 6
_VOTES = re.compile(rf"\(([0-{PEOPLE}]), ?{PEOPLE}\)")


class TwitterUrl(Corpus):
    """The authors' release, its samples aside. The score is the number of people, of six, who called it a paraphrase.

    `group` is the link. Every valid row stays, and no text is unescaped, since results are published on the texts as
    they are.
    """

    METADATA = load_metadata("turl")
    FEATURES = {"similarity": SIMILARITY}

    @classmethod
    def is_raw(cls, name: str) -> bool:
        return RELEASED.fullmatch(name) is not None or name.lower().endswith(ARCHIVES)

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        splits = set()
        for member in members(files, lambda name: RELEASED.fullmatch(Path(name).name) is not None):
            split = RELEASED.fullmatch(Path(member.name).name)[1]
            if self.dropped.refuse(member.place(), {"file: a second one of its split": split in splits}):
                continue
            splits.add(split)
            for number, line in member.lines(self.dropped):
                fields = line.split("\t")
                votes = _VOTES.fullmatch(fields[2].strip()) if len(fields) == COLUMNS else None
                texts = [normalise(field) for field in fields[:2]]
                faults = {
                    "line: empty": not line.strip(),
                    "row: wrong number of columns": len(fields) != COLUMNS,
                    f"row: no votes of {PEOPLE}, as in (4,{PEOPLE})": votes is None,
                    "row: empty text": not all(texts),
                }
                if not self.dropped.refuse(member.place(number), faults):
                    shared = {"score": float(votes[1]), "group": fields[3].strip()}
                    yield split, {"sentence1": texts[0], "sentence2": texts[1], **shared}
