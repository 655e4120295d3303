"""IAM: claims of web articles for and against what a topic's question asks (Cheng et al., 2022)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from dataset_scripts.base.families import FamiliesCorpus, topic_group
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import TEST_TOPICS, TestSetGuard, normalise
from dataset_scripts.base.reading import members
from dataset_scripts.base.schema import Item, family_row

COLUMNS = ("label", "topic", "claim", "article", "stance")
STANCES = {"1": True, "-1": False}
_MARK = re.compile(r"\s*\[(?:\d+|ref|citation needed|[a-z]+\?)\]")  # of a footnote, or of an editor
# how what is asked goes on behind its subject, which may be a pronoun
_PREDICATES = "a threat|be|bring|harmful|have|limit|promote|reflect|remain|replace|restrict"
_QUESTION = re.compile(
    rf"(shouldn't|should|will|can|is|does|do) (?:(i|it|there|we|you)|(.+?(?= (?:{_PREDICATES})\b))) (.+?)\W*", re.I
)


class IAM(FamiliesCorpus):
    """A topic's question as a statement is a family's statement, and the topic a group.

    The official split, which divides topics, is not kept.
    """

    METADATA = load_metadata("iam")
    RELEASES = (("train.txt", "dev.txt", "test.txt"),)

    # as well: topics of IBM's claims in other words, and one on feminism
    test_topics = re.compile(
        rf"{TEST_TOPICS.pattern}|intellectual property|physical education|school-leaving age|women's right to choose",
        re.I,
    )

    def families(self, files: list[Path]) -> Iterator[tuple[str, Item]]:
        guard = TestSetGuard("iam")
        for member in members(files):
            for line, row in member.table(self.dropped, delimiter="\t", header=COLUMNS):
                topic, claim, stance = (normalise(row[column]) for column in ("topic", "claim", "stance"))
                place, pro, statement = member.place(line), STANCES.get(stance), as_statement(topic)
                faults = {
                    "claim: malformed row": not claim or pro is None,
                    "claim: in a set that models are tested on": not guard.keep(claim),  # known as it is written here
                    "claim: its topic is no yes/no question": statement is None,
                }
                if not self.dropped.refuse(place, faults):
                    yield place, family_row(_MARK.sub("", claim), statement, pro, topic_group(topic))


def as_statement(question: str) -> str | None:
    """The statement whose truth is asked for; None where that is not understood.

    Example:
        >>> as_statement("Shouldn't the old bridge be closed?"), as_statement("Does rain bring luck")
        ('The old bridge should be closed', 'Rain brings luck')
    """
    parts = _QUESTION.fullmatch(question)
    if not parts:
        return None
    verb, subject, rest = parts[1].lower(), parts[2] or parts[3], parts[4]
    subject = {"i": "We"}.get(subject.lower(), subject[0].upper() + subject[1:])
    if verb == "does":
        first, _, others = rest.partition(" ")
        return f"{subject} {'has' if first.lower() == 'have' else first + 's'} {others}"
    return " ".join([subject, *([] if verb == "do" else [verb.removesuffix("n't")]), rest])
