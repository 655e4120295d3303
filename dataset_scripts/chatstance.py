"""CHATStance: texts for and against statements, written by ChatGPT (Zhao et al., 2024)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from dataset_scripts.base.families import FamiliesCorpus, topic_group
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import members
from dataset_scripts.base.schema import Item, family_row

COLUMNS = "Tweet", "Target 1", "Stance 1"
# the release's test files hold test sets of others, and so do its folders that are named by them
FILES = re.compile(r"raw_(train|val)_all_onecol\.csv(\.gz)?")
FOLDERS = re.compile(r"chatgpt(_carto_(bertweet_)?var_0\.99_seed0(_subset_\d+)?)?")
STANCES = {"FAVOR": True, "AGAINST": False}
_DEBATE = re.compile(r"controvers|\bdebate|\bwhether\b", re.IGNORECASE)
# a target that is a statement has a full stop or a verb
_STATEMENT = re.compile(
    r"\.$|\b(am|is|are|was|were|be|been|has|have|had|can|could|will|would|shall|should|may|might|must|do|does|did)\b"
)
_NUMBER = re.compile(r"(^|(?<=[.!?] ))\d{1,2}[.)] ")  # of a list


class CHATStance(FamiliesCorpus):
    """`families`: every statement with the texts that were asked of the model for it and against it.

    The release's training and validation files are taken together, and divided by statement. Texts that were to be
    neutral speak of other things and are left out; so are targets that only say that there is a debate, or name one.
    """

    METADATA = load_metadata("chatstance")

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """Training and validation files, by their names and their folders'."""
        files = super().find_files(path)
        return [file for file in files if FILES.fullmatch(file.name) and FOLDERS.fullmatch(file.resolve().parent.name)]

    def families(self, files: list[Path]) -> Iterator[tuple[str, Item]]:
        statements: dict[str, str] = {}  # group -> as it is spelled first
        for member in members(files):
            for line, row in member.table(self.dropped, COLUMNS):
                text, statement, stance = (normalise(row[column]) for column in COLUMNS)
                place, group = member.place(line), topic_group(statement)
                faults = {"text: neutral": stance == "NONE", "text: malformed row": stance not in STANCES}
                if self.dropped.refuse(place, faults):
                    continue
                statement = statements.setdefault(group, statement)
                is_debate = bool(_DEBATE.search(statement)) or not _STATEMENT.search(statement)
                if not self.dropped.refuse(place, {"text: on a debate, not on a statement": is_debate}):
                    yield place, family_row(_NUMBER.sub("", text), statement, STANCES[stance], group)
