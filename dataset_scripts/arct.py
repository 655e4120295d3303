"""Room for Debate: two opposed statements a debate, and why readers side with either (Habernal et al., 2018)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import TEST_TOPICS, Cleaner, LeakGuard, normalise
from dataset_scripts.base.reading import Dropped, Member, members, unquote
from dataset_scripts.base.schema import FAMILIES, Rows, family_row
from dataset_scripts.base.splits import split_groups

COMMENTS, SUMMARIES = "exported-3365-stance-taking-arguments.tsv", "argument-summarized.tsv"
REASONS = "61-reason-disambiguation-batch-0001-5000-4235reasons-exported-gist.csv", "61-exported-gist.csv"
HEADERS = (), ("id", "comment", "gist"), ("claim", "id", "gist")  # comments have their own


class Comment(NamedTuple):
    """A reader's comment; `statements`: of its debate, the one that it speaks for first."""

    debate: str
    text: str
    statements: tuple[str, str]


class Debate(NamedTuple):
    """A debate, by its address, with its two statements and (statement, text for it)."""

    id: str
    statements: tuple[str, str]
    texts: list[tuple[str, str]]


class ARCT(Corpus):
    """What the crowd wrote of readers' comments in the New York Times: summaries, and single reasons.

    `families`: either statement of a debate with the texts for it, those for the other one, and that itself. Comments
    are left out, since their first words seldom say which side they are on.
    """

    METADATA = load_metadata("arct")
    FEATURES = {"families": FAMILIES}
    RELEASES = tuple((COMMENTS, SUMMARIES, reasons) for reasons in REASONS)

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        comments: dict[str, Comment] = {}
        debates: dict[str, Debate] = {}
        for member, header in zip(members(files), HEADERS, strict=True):
            if not header:
                comments = read_comments(member, self.dropped)
                debates = {c.debate: Debate(c.debate, tuple(sorted(c.statements)), []) for c in comments.values()}
                continue
            for line, row in member.table(self.dropped, delimiter="\t", header=header):
                if comment := comments.get(row["id"].partition("_")[0]):
                    debates[comment.debate].texts.append((comment.statements[0], normalise(row["gist"])))
                else:
                    self.dropped.skip("text: of no known comment", member.place(line))
        splits = split_groups(debates, seed=self.config.seed)
        units = [(splits[debate.id], debate) for debate in debates.values() if self._is_usable(debate)]
        rules = (Cleaner(ordered=True), LeakGuard())
        yield from self.clean(units, _families, lambda d: (*d.statements, *(text for _, text in d.texts)), rules)

    def _is_usable(self, debate: Debate) -> bool:
        answers = any(statement.startswith(("Yes,", "No,")) for statement in debate.statements)
        faults = {
            "debate: on a topic that models are tested on": bool(TEST_TOPICS.search(" ".join(debate.statements))),
            "debate: answers to its question for statements": answers,
        }
        return not self.dropped.refuse(debate.id, faults)


def read_comments(member: Member, dropped: Dropped) -> dict[str, Comment]:
    """Id -> comment, of the release's file of comments; counts rows without a debate, or on neither side of it."""
    columns = ("id", "text", "url", "stance1", "stance2", "annotatedStance")
    comments = {}
    for line, row in member.table(dropped, columns, delimiter="\t"):
        stance, one, other = (normalise(unquote(row[name])) for name in ("annotatedStance", "stance1", "stance2"))
        debate = row["url"].rpartition("/")[2]
        if debate and one and other and one != other and stance in (one, other):
            comments[row["id"]] = Comment(debate, normalise(row["text"]), (stance, other if stance == one else one))
        else:
            dropped.skip("comment: malformed row", member.place(line))
    return comments


def _families(debate: Debate) -> Rows:
    for statement, other in (debate.statements, debate.statements[::-1]):
        yield family_row(other, statement, False, debate.id)
        for stance, text in debate.texts:
            yield family_row(text, statement, stance == statement, debate.id)
