"""Room for Debate: two opposed statements a debate, and why readers side with either (Habernal et al., 2018)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.families import FamiliesCorpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import TEST_TOPICS, normalise
from dataset_scripts.base.reading import unquote
from dataset_scripts.base.schema import Item, family_row
from dataset_scripts.base.splits import split_groups

COMMENTS, SUMMARIES = "exported-3365-stance-taking-arguments.tsv", "argument-summarized.tsv"
REASONS = "61-reason-disambiguation-batch-0001-5000-4235reasons-exported-gist.csv", "61-exported-gist.csv"
HEADERS = ("id", "comment", "gist"), ("claim", "id", "gist")  # of summaries and reasons


class Comment(NamedTuple):
    """A reader's comment; `statements`: of its debate, the one that it speaks for first."""

    debate: str
    text: str
    statements: tuple[str, str]


class ARCT(FamiliesCorpus):
    """What the crowd wrote of readers' comments in the New York Times: summaries, and single reasons.

    `families`: either statement of a debate with the texts for it, those for the other one, and that itself. Comments
    are left out, since their first words seldom say which side they are on.
    """

    METADATA = load_metadata("arct")
    RELEASES = tuple((COMMENTS, SUMMARIES, reasons) for reasons in REASONS)
    debates: Mapping[str, tuple[str, ...]]  # debate -> its statements

    def families(self, files: list[Path]) -> Iterator[tuple[str, Item]]:
        comments = read_comments(self, files[:1])
        self.debates = {comment.debate: tuple(sorted(comment.statements)) for comment in comments.values()}
        texts: dict[str, list[tuple[str, str]]] = defaultdict(list)  # debate -> (statement, text for it)
        for file, header in zip(files[1:], HEADERS, strict=True):
            for place, row in self.table([file], delimiter="\t", header=header):
                if comment := comments.get(row["id"].partition("_")[0]):
                    texts[comment.debate].append((comment.statements[0], normalise(row["gist"])))
                else:
                    self.dropped.skip("text: of no known comment", place)
        for debate, statements in self.debates.items():
            faults = {
                "debate: on a topic that models are tested on": bool(TEST_TOPICS.search(" ".join(statements))),
                "debate: answers to its question for statements": any(
                    s.startswith(("Yes,", "No,")) for s in statements
                ),
            }
            if self.dropped.refuse(debate, faults):
                continue
            for statement, other in (statements, statements[::-1]):
                yield debate, family_row(other, statement, False, debate)
                for stance, text in texts[debate]:
                    yield debate, family_row(text, statement, stance == statement, debate)

    def split(self, groups: Mapping[str, Collection[Item]]) -> dict[str, str]:
        return split_groups(self.debates, seed=self.config.seed)  # as `vast`, which has others of them


def read_comments(corpus: Corpus, files: list[Path]) -> dict[str, Comment]:
    """Id -> comment, of the release's files of comments; counts rows without a debate, or on neither side of it."""
    columns = ("id", "text", "url", "stance1", "stance2", "annotatedStance")
    comments = {}
    for place, row in corpus.table(files, columns, delimiter="\t"):
        stance, one, other = (normalise(unquote(row[name])) for name in ("annotatedStance", "stance1", "stance2"))
        debate = row["url"].rpartition("/")[2]
        if debate and one and other and one != other and stance in (one, other):
            comments[row["id"]] = Comment(debate, normalise(row["text"]), (stance, other if stance == one else one))
        else:
            corpus.dropped.skip("comment: malformed row", place)
    return comments
