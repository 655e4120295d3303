"""Touché23-ValueEval: premises in favour of and against conclusions, without ArgQ-Rank-30k (Mirzakhmedova, 2024)."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path

from dataset_scripts.base.families import FamiliesCorpus, topic_group
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import members
from dataset_scripts.base.schema import Item, family_row

COLUMNS = ("Argument ID", "Conclusion", "Stance", "Premise")
STANCES = {"in favor of": True, "against": False}
# arguments with an A are ArgQ-Rank-30k's, which `ibm_argkp` has; these are not in it, and their motions are in its
# training split
NEW = {"A05074", "A12085", "A12087", "A12108", "A12132", "A12172"}


class ValueEval23(FamiliesCorpus):
    """A conclusion is a statement, and a group; its premises are the texts. The official split divides conclusions."""

    METADATA = load_metadata("valueeval23")
    RELEASES = (tuple(f"arguments-{split}.tsv" for split in ("training", "validation", "test")),)

    def families(self, files: list[Path]) -> Iterator[tuple[str, Item]]:
        for member in members(files):
            for line, row in member.table(self.dropped, COLUMNS, "\t"):
                id, conclusion, stance, premise = (normalise(html.unescape(row[column])) for column in COLUMNS)
                place, pro = member.place(line), STANCES.get(stance)
                faults = {
                    "argument: of ArgQ-Rank-30k": id.startswith("A") and id not in NEW,
                    "argument: malformed row": not (id and conclusion and premise) or pro is None,
                }
                if not self.dropped.refuse(place, faults):
                    yield place, family_row(premise, conclusion, pro, topic_group(conclusion))
