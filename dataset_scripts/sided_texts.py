"""Tables of texts with their side towards a statement: CHATStance, IAM and ValueEval'23."""

import html
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from dataset_scripts.base.families import FamiliesCorpus, topic_group
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import TEST_TOPICS, TestSetGuard, normalise
from dataset_scripts.base.schema import Item, family_row

MARK = re.compile(r"\s*\[(?:\d+|ref|citation needed|[a-z]+\?)\]")  # of a footnote, or of an editor
# how what is asked goes on behind its subject, which may be a pronoun
_PREDICATES = "a threat|be|bring|harmful|have|limit|promote|reflect|remain|replace|restrict"
QUESTION = re.compile(
    rf"(shouldn't|should|will|can|is|does|do) (?:(i|it|there|we|you)|(.+?(?= (?:{_PREDICATES})\b))) (.+?)\W*", re.I
)


class SidedTexts(FamiliesCorpus):
    """Families of the texts on each statement, whose words are their group: the official splits are not kept.

    A subclass writes `read`: text, statement and row -> text and statement as a family has them, and the row's faults.

    Attributes:
        COLUMNS: Of text, statement and side.
        SIDES: What stands in the column of sides -> whether the text is for the statement; None for neither side.
        DELIMITER, HEADER: As of `reading.Member.table`.
    """

    DELIMITER, HEADER = "\t", ()

    def families(self, files: list[Path]) -> Iterator[tuple[str, Item]]:
        for place, row in self.table(files, self.COLUMNS, delimiter=self.DELIMITER, header=self.HEADER):
            text, topic, side = (normalise(html.unescape(row[column])) for column in self.COLUMNS)
            malformed = not (text and topic) or side not in self.SIDES
            neither = self.SIDES.get(side) is None
            if not self.dropped.refuse(place, {"text: malformed row": malformed, "text: on neither side": neither}):
                text, statement, faults = self.read(text, topic, row)
                if not self.dropped.refuse(place, faults):
                    yield place, family_row(text, statement, self.SIDES[side], topic_group(topic))


class CHATStance(SidedTexts):
    """Texts for and against statements, written by ChatGPT (Zhao et al., 2024).

    The release's training and validation files are taken together. Texts that were to be neutral speak of other things
    and are left out; so are targets that only say that there is a debate, or name one.
    """

    METADATA = load_metadata("chatstance")
    COLUMNS = ("Tweet", "Target 1", "Stance 1")
    SIDES = {"FAVOR": True, "AGAINST": False, "NONE": None}
    DELIMITER = ","
    # the release's test files hold test sets of others, and so do its folders that are named by them
    FILES = re.compile(r"raw_(train|val)_all_onecol\.csv(\.gz)?")
    FOLDERS = re.compile(r"chatgpt(_carto_(bertweet_)?var_0\.99_seed0(_subset_\d+)?)?")
    DEBATE = re.compile(r"controvers|\bdebate|\bwhether\b", re.IGNORECASE)
    # a target that is a statement has a full stop or a verb
    STATEMENT = re.compile(
        r"\.$|\b(am|is|are|was|were|be|been|has|have|had|can|could|will|would|shall|should|may|might|must|do|does|did)\b"
    )
    NUMBER = re.compile(r"(^|(?<=[.!?] ))\d{1,2}[.)] ")  # of a list

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """Training and validation files, by their names and their folders'."""
        files = super().find_files(path)
        return [f for f in files if cls.FILES.fullmatch(f.name) and cls.FOLDERS.fullmatch(f.resolve().parent.name)]

    @cached_property
    def spelled(self) -> dict[str, str]:
        """Group -> its statement as it is spelled first."""
        return {}

    def read(self, text: str, statement: str, row: dict[str, str]) -> tuple[str, str, dict[str, bool]]:
        statement = self.spelled.setdefault(topic_group(statement), statement)
        is_debate = bool(self.DEBATE.search(statement)) or not self.STATEMENT.search(statement)
        return self.NUMBER.sub("", text), statement, {"text: on a debate, not on a statement": is_debate}


class IAM(SidedTexts):
    """Claims of web articles for and against what a topic's question asks (Cheng et al., 2022), as a statement."""

    METADATA = load_metadata("iam")
    RELEASES = (("train.txt", "dev.txt", "test.txt"),)
    HEADER = ("label", "topic", "claim", "article", "stance")
    COLUMNS = ("claim", "topic", "stance")
    SIDES = {"1": True, "-1": False}
    # as well: topics of IBM's claims in other words, and one on feminism
    test_topics = re.compile(
        rf"{TEST_TOPICS.pattern}|intellectual property|physical education|school-leaving age|women's right to choose",
        re.I,
    )

    @cached_property
    def guard(self) -> TestSetGuard:
        """Knows claims as they are written here, marks included."""
        return TestSetGuard("iam")

    def read(self, text: str, statement: str, row: dict[str, str]) -> tuple[str, str, dict[str, bool]]:
        faults = {"text: in a set that models are tested on": self.guard.fault(text) is not None}
        faults["text: its topic is no yes/no question"] = (answer := as_statement(statement)) is None
        return MARK.sub("", text), answer, faults


class ValueEval23(SidedTexts):
    """Touché23-ValueEval (Mirzakhmedova, 2024): premises for and against conclusions, without ArgQ-Rank-30k's."""

    METADATA = load_metadata("valueeval23")
    RELEASES = (tuple(f"arguments-{split}.tsv" for split in ("training", "validation", "test")),)
    COLUMNS = ("Premise", "Conclusion", "Stance")
    SIDES = {"in favor of": True, "against": False}
    # arguments with an A are ArgQ-Rank-30k's, which `ibm_argkp` has; these are not in it, and their motions are in its
    # training split
    NEW = {"A05074", "A12085", "A12087", "A12108", "A12132", "A12172"}

    def read(self, text: str, statement: str, row: dict[str, str]) -> tuple[str, str, dict[str, bool]]:
        other = row["Argument ID"].startswith("A") and row["Argument ID"] not in self.NEW
        return text, statement, {"text: of ArgQ-Rank-30k": other}


def as_statement(question: str) -> str | None:
    """The statement whose truth is asked for; None where that is not understood.

    Example:
        >>> as_statement("Shouldn't the old bridge be closed?"), as_statement("Does rain bring luck")
        ('The old bridge should be closed', 'Rain brings luck')
    """
    parts = QUESTION.fullmatch(question)
    if not parts:
        return None
    verb, subject, rest = parts[1].lower(), parts[2] or parts[3], parts[4]
    subject = {"i": "We"}.get(subject.lower(), subject[0].upper() + subject[1:])
    if verb == "does":
        first, _, others = rest.partition(" ")
        return f"{subject} {'has' if first.lower() == 'have' else first + 's'} {others}"
    return " ".join([subject, *([] if verb == "do" else [verb.removesuffix("n't")]), rest])
