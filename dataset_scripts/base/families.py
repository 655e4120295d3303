"""What corpora of families alone share: topics that models are tested on, splits by group, and rules of cleaning."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.quality import MINIMUM_WORDS, TEST_TOPICS, Cleaner, LeakGuard, TestSetGuard
from dataset_scripts.base.schema import FAMILIES, Item
from dataset_scripts.base.splits import split_groups


class FamiliesCorpus(Corpus):
    """A corpus whose one configuration is `families`; a subclass writes `families`.

    A family whose statement is on one of the `test_topics` is left out; the others are split by group.
    """

    FEATURES = {"families": FAMILIES}
    MINIMUM_WORDS: ClassVar[int] = MINIMUM_WORDS
    ANY_SPELLING: ClassVar[bool] = False  # whether texts that differ in case and punctuation alone are duplicates
    test_topics: ClassVar[re.Pattern[str]] = TEST_TOPICS

    @abstractmethod
    def families(self, files: list[Path]) -> Iterator[tuple[str, Item]]:
        """Yields (place, row of `FAMILIES`); what is not used is counted."""

    def split(self, groups: Mapping[str, Collection[Item]]) -> dict[str, str]:
        """Group -> its split, of the groups that have families."""
        return split_groups(groups, seed=self.config.seed) if groups else {}

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        families: dict[tuple[str, str], tuple[str, list[Item]]] = {}
        for place, item in self.families(files):
            row = item[1]
            families.setdefault((row["group"], row["statement"]), (place, []))[1].append(item)
        groups: dict[str, list[Item]] = defaultdict(list)
        for (group, statement), (place, items) in families.items():
            if not self.dropped.refuse(
                place, {"family: on a topic that models are tested on": bool(self.test_topics.search(statement))}
            ):
                groups[group] += items
        splits = self.split(groups)
        units = [(splits[group], items) for group, items in groups.items()]
        cleaner = Cleaner(self.MINIMUM_WORDS, ordered=True, any_spelling=self.ANY_SPELLING)
        rules = (LeakGuard(), cleaner, TestSetGuard(self.METADATA.name))
        yield from self.clean(units, iter, lambda items: (text for texts, _ in items for text in texts), rules)


def topic_group(topic: str) -> str:
    """The group of a topic: its words in small letters, so that no two spellings of it are two groups."""
    return "-".join(re.findall(r"\w+", topic.casefold()))
