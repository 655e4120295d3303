"""What corpora of arguments that answer each other share: pairs, triplets, trees and families of a debate or claim."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus, Unit
from dataset_scripts.base.quality import Cleaner, LeakGuard
from dataset_scripts.base.schema import ARGUMENTS, FAMILIES, PAIRS, TRIPLETS, Rows, family_row


class TreesCorpus(Corpus):
    """Four configurations of the same units, a debate or claim each; a subclass writes them from one unit."""

    FEATURES = {"pairs": PAIRS, "triplets": TRIPLETS, "arguments": ARGUMENTS, "families": FAMILIES}

    @abstractmethod
    def units(self, files: list[Path]) -> list[tuple[str, Unit]]:
        """(split, unit), in an order that does not depend on that of the files."""

    @abstractmethod
    def texts(self, unit: Unit) -> Iterable[str]:
        """All texts of a unit."""

    @abstractmethod
    def pairs(self, unit: Unit) -> Rows:
        """Rows of `PAIRS`."""

    @abstractmethod
    def triplets(self, unit: Unit) -> Rows:
        """Rows of `TRIPLETS`."""

    @abstractmethod
    def arguments(self, unit: Unit) -> Rows:
        """Rows of `ARGUMENTS`."""

    def families(self, unit: Unit) -> Rows:
        """Rows of `FAMILIES`: every argument that is for or against another one, with that one."""
        rows = [row for _, row in self.arguments(unit)]
        texts = {row["id"]: row["text"] for row in rows}
        for row in rows:
            parent = texts.get(row["parent"])  # which may come later, below a link to it
            if parent and row["stance"] in ("pro", "con"):
                yield family_row(row["text"], parent, row["stance"] == "pro", row["group"])

    def rules(self, config: str) -> tuple[LeakGuard | Cleaner, ...]:
        """Of cleaning, see `Corpus.clean`."""
        return Cleaner(ordered=config in ("triplets", "families")), LeakGuard()

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        yield from self.clean(self.units(files), getattr(self, config), self.texts, self.rules(config))


def claim_rows(group: str, claim: str, answers: Iterable[tuple[str, str, str]]) -> Rows:
    """Rows of `ARGUMENTS` for an English claim, with its group as id, and its answers: (id, stance, text)."""
    shared = {"title": claim, "language": "en", "group": group}
    yield (claim,), {"id": group, "parent": None, "stance": "thesis", "text": claim, "depth": 0, **shared}
    for id, stance, text in answers:
        yield (text,), {"id": id, "parent": group, "stance": stance, "text": text, "depth": 1, **shared}
