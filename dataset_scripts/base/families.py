"""What corpora of families alone share: topics that models are tested on, splits by group, and rules of cleaning."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.quality import MINIMUM_WORDS, TEST_TOPICS, Cleaner, LeakGuard, TestSetGuard, bare
from dataset_scripts.base.schema import CON, FAMILIES, PRO, Item, Rows
from dataset_scripts.base.splits import split_groups


class FamiliesCorpus(Corpus):
    """A corpus whose one configuration is `families`; a subclass writes `families`.

    A family whose statement is on one of the `test_topics` is left out; the others are divided by group, see `split`.

    Attributes:
        MINIMUM_WORDS, ANY_SPELLING: Of `quality.Cleaner`.
        ONE_SIDED: Whether a text that is both for and against its statement is left out.
    """

    FEATURES = {"families": FAMILIES}
    MINIMUM_WORDS: ClassVar[int] = MINIMUM_WORDS
    ANY_SPELLING: ClassVar[bool] = False
    ONE_SIDED: ClassVar[bool] = False
    test_topics: ClassVar[re.Pattern[str]] = TEST_TOPICS

    @abstractmethod
    def families(self, files: list[Path]) -> Iterator[tuple[str, Item]]:
        """Yields (place, row of `FAMILIES`); what is not used is counted."""

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
            if not self.dropped.refuse(
                place, {"family: on a topic that models are tested on": bool(self.test_topics.search(statement))}
            ):
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
