"""VAST: comments of Room for Debate with their stance towards topics (Allaway and McKeown, 2020)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from dataset_scripts.arct import COMMENTS, read_comments
from dataset_scripts.base.families import FamiliesCorpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import TEST_TOPICS, bare, normalise
from dataset_scripts.base.schema import Item, family_row
from dataset_scripts.base.splits import split_groups

# the authors' files; the training file as others pass it on, and the validation file in the columns of ZeroStance
NAMES = ("vast_train.csv", "vast_dev.csv", "vast_test.csv", "vast_train.zip", "raw_val_all_onecol.csv")
STANCES = {"0": False, "1": True, "2": None, "AGAINST": False, "FAVOR": True, "NONE": None}
MAXIMUM_WORDS = 80
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)]*(?= )")


class VAST(FamiliesCorpus):
    """`families`: the statement "I support <topic>.", with the comments of one debate that are for or against it.

    Of a comment stand the first `MAXIMUM_WORDS` words, up to the end of a sentence. The authors divide by comment; here
    it is by debate, as `arct` is divided, which has texts on the same comments: its file tells what debate each is of.
    """

    METADATA = load_metadata("vast")
    MINIMUM_WORDS = 3  # for a topic of one word
    ONE_SIDED = True
    debate_of: Mapping[str, str]  # comment -> debate

    @classmethod
    def is_raw(cls, name: str) -> bool:
        """Files of VAST, and the comments of ARCT."""
        return name.removesuffix(".gz") in (*NAMES, COMMENTS)

    def families(self, files: list[Path]) -> Iterator[tuple[str, Item]]:
        comments = [file for file in files if file.name.startswith(COMMENTS)]
        if not comments or len(comments) == len(files):
            raise ValueError(
                f"{files[0]}: give files of VAST and {COMMENTS} of ARCT, which tells the debates; both paths"
            )
        self.debate_of = {bare(c.text): c.debate for c in read_comments(self, comments).values()}
        statements: dict[tuple[str, str], str] = {}
        for place, row in self.table([file for file in files if file not in comments], ["new_topic"]):
            post, topic = normalise(row.get("post", row.get("Tweet"))), normalise(row["new_topic"]).rstrip(". ")
            label, debate, text = row.get("label", row.get("Stance 1")), self.debate_of.get(bare(post)), _cut(post)
            faults = {
                "text: malformed row": not (post and topic and label in STANCES),
                "text: neutral": STANCES.get(label) is None,
                "text: on a topic that models are tested on": bool(TEST_TOPICS.search(topic)),
                "text: of no known comment": debate is None,
                f"text: first sentence longer than {MAXIMUM_WORDS} words": not text,
            }
            if not self.dropped.refuse(place, faults):
                # topics that are one but for inflection
                key = debate, row.get("topic_str", row.get("Target 1"))
                statement = statements.setdefault(key, f"I support {topic}.")
                yield place, family_row(text, statement, STANCES[label], debate)

    def split(self, groups: Mapping[str, Collection[Item]]) -> dict[str, str]:
        return split_groups(self.debate_of.values(), seed=self.config.seed)


def _cut(text: str) -> str:
    """The sentences of a text that end within its first `MAXIMUM_WORDS` words; empty if there is none."""
    words = text.split()
    if len(words) <= MAXIMUM_WORDS:
        return text
    start = " ".join(words[:MAXIMUM_WORDS]) + " "
    return start[: max((end.end() for end in _SENTENCE_END.finditer(start)), default=0)]
