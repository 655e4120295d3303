"""CHATStance: texts for and against statements, written by ChatGPT (Zhao et al., 2024)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.families import topic_group
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import TEST_TOPICS, Cleaner, LeakGuard, TestSetGuard, normalise
from dataset_scripts.base.reading import members
from dataset_scripts.base.schema import FAMILIES, Rows, family_row
from dataset_scripts.base.splits import split_groups

COLUMNS = "Tweet", "Target 1", "Stance 1"
# the release's test files hold test sets of others, and so do its folders that are named by them
FILES = re.compile(r"raw_(train|val)_all_onecol\.csv(\.gz)?")
FOLDERS = re.compile(r"chatgpt(_carto_(bertweet_)?var_0\.99_seed0(_subset_\d+)?)?")
STANCES = {"FAVOR": True, "AGAINST": False}
_DEBATE = re.compile(r"controvers|\bdebate|\bwhether\b", re.IGNORECASE)
_VERB = re.compile(
    r"\b(am|is|are|was|were|be|been|has|have|had|can|could|will|would|shall|should|may|might|must|do|does|did)\b"
)
_NUMBER = re.compile(r"(^|(?<=[.!?] ))\d{1,2}[.)] ")  # of a list


class Family(NamedTuple):
    """A statement, with its words as id, and (text, whether it is for the statement)."""

    id: str
    statement: str
    texts: list[tuple[str, bool]]


class CHATStance(Corpus):
    """`families`: every statement with the texts that were asked of the model for it and against it.

    The release's training and validation files are taken together, and divided by statement. Texts that were to be
    neutral speak of other things and are left out; so are targets that only say that there is a debate, or name one.
    """

    METADATA = load_metadata("chatstance")
    FEATURES = {"families": FAMILIES}

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """Training and validation files, by their names and their folders'."""
        files = super().find_files(path)
        return [file for file in files if FILES.fullmatch(file.name) and FOLDERS.fullmatch(file.resolve().parent.name)]

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        families: dict[str, Family] = {}
        for member in members(files):
            for line, row in member.table(self.dropped, COLUMNS):
                text, statement, stance = (normalise(row[column]) for column in COLUMNS)
                faults = {"text: neutral": stance == "NONE", "text: malformed row": stance not in STANCES}
                if not self.dropped.refuse(member.place(line), faults):
                    id = topic_group(statement)
                    family = families.setdefault(id, Family(id, statement, []))
                    family.texts.append((_NUMBER.sub("", text), STANCES[stance]))
        usable = [family for family in families.values() if self._is_usable(family)]
        splits = split_groups((family.id for family in usable), seed=self.config.seed)
        rules = (Cleaner(ordered=True), TestSetGuard("chatstance"), LeakGuard())
        units = [(splits[family.id], family) for family in usable]
        yield from self.clean(units, _families, lambda f: (f.statement, *(text for text, _ in f.texts)), rules)

    def _is_usable(self, family: Family) -> bool:
        is_heading = not family.statement.endswith(".") and not _VERB.search(family.statement)
        faults = {
            "family: on a topic that models are tested on": bool(TEST_TOPICS.search(family.statement)),
            "family: of a debate, not of a statement": bool(_DEBATE.search(family.statement)) or is_heading,
        }
        return not self.dropped.refuse(family.id, faults)


def _families(family: Family) -> Rows:
    return (family_row(text, family.statement, pro, family.id) for text, pro in family.texts)
