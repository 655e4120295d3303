"""Comments of Room for Debate: why readers side with either statement (ARCT), and stances towards topics (VAST)."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.families import FamiliesCorpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import TEST_TOPICS, bare, normalise
from dataset_scripts.base.reading import named, unquote
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
    """What the crowd wrote of readers' comments in the New York Times (Habernal et al., 2018): summaries and reasons.

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
                "debate: answers to its question for statements": re.search("^(Yes|No),", "\n".join(statements), re.M)
                is not None,
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


# the authors' files; the training file as others pass it on, and the validation file in the columns of ZeroStance
NAMES = ("vast_train.csv", "vast_dev.csv", "vast_test.csv", "vast_train.zip", "raw_val_all_onecol.csv")
STANCES = {"0": False, "1": True, "2": None, "AGAINST": False, "FAVOR": True, "NONE": None}
MAXIMUM_WORDS = 80
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)]*(?= )")


class VAST(FamiliesCorpus):
    """`families`: the statement "I support <topic>.", with the comments of one debate that are for or against it.

    Stances by Allaway and McKeown (2020). Of a comment stand the first `MAXIMUM_WORDS` words, up to the end of a
    sentence. The authors divide by comment; here it is by debate, as `arct` is divided, which has texts on the same
    comments: its file tells what debate each is of.
    """

    METADATA = load_metadata("vast")
    RAW = named(*NAMES, COMMENTS, packed=False)
    MINIMUM_WORDS = 3  # for a topic of one word
    ONE_SIDED = True
    debate_of: Mapping[str, str]  # comment -> debate

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
