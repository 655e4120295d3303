"""VAST: comments of Room for Debate with their stance towards topics (Allaway and McKeown, 2020)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dataset_scripts.arct import COMMENTS, read_comments
from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import TEST_TOPICS, Cleaner, LeakGuard, bare, normalise
from dataset_scripts.base.reading import members
from dataset_scripts.base.schema import FAMILIES, Rows, family_row
from dataset_scripts.base.splits import split_groups

# the authors' files; the training file as others pass it on, and the validation file in the columns of ZeroStance
NAMES = ("vast_train.csv", "vast_dev.csv", "vast_test.csv", "vast_train.zip", "raw_val_all_onecol.csv")
STANCES = {"0": False, "1": True, "2": None, "AGAINST": False, "FAVOR": True, "NONE": None}
MAXIMUM_WORDS = 80
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)]*(?= )")


class Family(NamedTuple):
    """A topic in one debate: the statement that supports it, and text -> the stances that it was given."""

    statement: str
    stances: dict[str, set[bool]]


class VAST(Corpus):
    """`families`: the statement "I support <topic>.", with the comments of one debate that are for or against it.

    Of a comment stand the first `MAXIMUM_WORDS` words, up to the end of a sentence. The authors divide by comment; here
    it is by debate, as `arct` is divided, which has texts on the same comments: its file tells what debate each is of.
    """

    METADATA = load_metadata("vast")
    FEATURES = {"families": FAMILIES}

    @classmethod
    def is_raw(cls, name: str) -> bool:
        """Files of VAST, and the comments of ARCT."""
        return name.removesuffix(".gz") in (*NAMES, COMMENTS)

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        comments = [file for file in files if file.name.startswith(COMMENTS)]
        if not comments or len(comments) == len(files):
            raise ValueError(
                f"{files[0]}: give files of VAST and {COMMENTS} of ARCT, which tells the debates; both paths"
            )
        debate_of = {}
        for member in members(comments):
            debate_of |= {bare(c.text): c.debate for c in read_comments(member, self.dropped).values()}
        debates: dict[str, dict[str, Family]] = defaultdict(dict)
        for member in members([file for file in files if file not in comments]):
            for line, row in member.table(self.dropped, ["new_topic"]):
                post, topic = normalise(row.get("post", row.get("Tweet"))), normalise(row["new_topic"]).rstrip(". ")
                label, debate, text = row.get("label", row.get("Stance 1")), debate_of.get(bare(post)), _cut(post)
                faults = {
                    "text: malformed row": not (post and topic and label in STANCES),
                    "text: neutral": STANCES.get(label) is None,
                    "text: on a topic that models are tested on": bool(TEST_TOPICS.search(topic)),
                    "text: of no known comment": debate is None,
                    f"text: first sentence longer than {MAXIMUM_WORDS} words": not text,
                }
                if not self.dropped.refuse(member.place(line), faults):
                    # topics that are one but for inflection
                    key = row.get("topic_str", row.get("Target 1"))
                    family = debates[debate].setdefault(key, Family(f"I support {topic}.", defaultdict(set)))
                    family.stances[text].add(STANCES[label])
        splits = split_groups(debate_of.values(), seed=self.config.seed)
        units = [(splits[debate], (debate, list(families.values()))) for debate, families in debates.items()]
        rules = (Cleaner(minimum_words=3, ordered=True), LeakGuard())  # for a topic of one word
        yield from self.clean(units, self._families, _texts, rules)

    def _families(self, unit: tuple[str, list[Family]]) -> Rows:
        debate, families = unit
        for family in families:
            for text, stances in family.stances.items():
                if len(stances) == 1:
                    yield family_row(text, family.statement, *stances, debate)
                else:
                    self.dropped.skip("text: for and against one topic", debate)


def _cut(text: str) -> str:
    """The sentences of a text that end within its first `MAXIMUM_WORDS` words; empty if there is none."""
    words = text.split()
    if len(words) <= MAXIMUM_WORDS:
        return text
    start = " ".join(words[:MAXIMUM_WORDS]) + " "
    return start[: max((end.end() for end in _SENTENCE_END.finditer(start)), default=0)]


def _texts(unit: tuple[str, list[Family]]) -> Iterator[str]:
    for family in unit[1]:
        yield family.statement
        yield from family.stances
