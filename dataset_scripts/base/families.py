"""Corpora of what is for or against a statement: families alone, or trees of arguments with pairs and triplets."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus, Rule, Unit
from dataset_scripts.base.quality import MINIMUM_WORDS, TEST_TOPICS, Cleaner, LeakGuard, TestSetGuard, bare
from dataset_scripts.base.schema import ARGUMENTS, CON, FAMILIES, PAIRS, PRO, TRIPLETS, Item, Rows, family_row
from dataset_scripts.base.splits import split_groups


class FamiliesCorpus(Corpus):
    """A corpus whose one configuration is `families`.

    A subclass writes the method of this name: files -> (place, row of `FAMILIES`), what is not used counted.

    A family whose statement is on one of the `test_topics` is left out; the others are divided by group, see `split`.

    Attributes:
        MINIMUM_WORDS, ANY_SPELLING: Of `quality.Cleaner`.
        ONE_SIDED: Whether a text that is both for and against its statement is left out.
    """

    FEATURES = {"families": FAMILIES}
    MINIMUM_WORDS = MINIMUM_WORDS
    ANY_SPELLING = ONE_SIDED = False
    test_topics = TEST_TOPICS

    def split(self, groups: Mapping[str, Collection[Item]]) -> dict[str, str]:
        """Group -> its split, of the groups that have families."""
        return split_groups(groups, seed=self.config.seed) if groups else {}

    def by_group(self, families: Iterable[tuple[str, Item]]) -> dict[str, list[Item]]:
        """Group -> its rows, those of one family after each other."""
        by_family: dict[tuple[str, str], tuple[str, list[Item]]] = {}
        for place, item in families:
            by_family.setdefault((item[1]["group"], item[1]["statement"]), (place, []))[1].append(item)
        groups: dict[str, list[Item]] = defaultdict(list)
        for (group, statement), (place, items) in by_family.items():
            if self.test_topics.search(statement):
                self.dropped.skip("family: on a topic that models are tested on", place)
            else:
                groups[group] += items
        return groups

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        groups = self.by_group(self.families(files))
        splits = self.split(groups)
        units = [(splits[group], items) for group, items in groups.items()]
        cleaner = Cleaner(self.MINIMUM_WORDS, ordered=True, any_spelling=self.ANY_SPELLING)
        rules = (LeakGuard(), cleaner, TestSetGuard(self.METADATA.name))
        make_rows = self._one_sided if self.ONE_SIDED else iter
        yield from self.clean(units, make_rows, lambda items: (text for texts, _ in items for text in texts), rules)

    def _one_sided(self, items: list[Item]) -> Rows:
        spelled = bare if self.ANY_SPELLING else str
        stances = {(row["statement"], spelled(row["text"]), row["side"]) for _, row in items}
        for texts, row in items:
            both = (row["statement"], spelled(row["text"]), PRO + CON - row["side"]) in stances
            if not self.dropped.refuse(row["group"], {"text: for and against its statement": both}):
                yield texts, row


def topic_group(topic: str) -> str:
    """The group of a topic: its words in small letters, so that no two spellings of it are two groups."""
    return "-".join(re.findall(r"\w+", topic.casefold()))


class TreesCorpus(Corpus):
    """Four configurations of the same units, a debate or claim each.

    A subclass writes `units` (files -> (split, unit), in an order that does not depend on that of the files), `texts`
    (unit -> all its texts) and the rows of a unit: `pairs`, `triplets` and `arguments`.
    """

    FEATURES = {"pairs": PAIRS, "triplets": TRIPLETS, "arguments": ARGUMENTS, "families": FAMILIES}

    def families(self, unit: Unit) -> Rows:
        """Rows of `FAMILIES`: every argument that is for or against another one, with that one."""
        rows = [row for _, row in self.arguments(unit)]
        texts = {row["id"]: row["text"] for row in rows}
        for row in rows:
            parent = texts.get(row["parent"])  # which may come later, below a link to it
            if parent and row["stance"] in ("pro", "con"):
                yield family_row(row["text"], parent, row["stance"] == "pro", row["group"])

    def rules(self, config: str) -> tuple[Rule, ...]:
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
