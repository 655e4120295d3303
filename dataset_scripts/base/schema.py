"""The column layouts that builders emit and systems train on; a system relies on these names and no others."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from datasets import ClassLabel, Features, List, Value

OPPOSE, AGREE = 0, 1
CON, PRO = 0, 1
# a row before it is cleaned: the texts that the rules of cleaning judge, and the columns
Item = tuple[tuple[str, ...], dict[str, Any]]
Rows = Iterable[Item]
TEXT, FLOAT = Value("string"), Value("float32")


def _columns(*texts: str, **others: Value | ClassLabel | List) -> Features:
    """Columns of texts, then others."""
    return Features({**dict.fromkeys(texts, TEXT), **others})


# `relation` is how the texts are related: child-to-parent, child-to-child, same-topic, ...; `group`, here and below, is
# the unit that is never divided between splits: a discussion, claim or topic
PAIRS = _columns("sentence1", "sentence2", label=ClassLabel(names=["oppose", "agree"]), relation=TEXT, group=TEXT)
TRIPLETS = _columns("anchor", "positive", "negative", "group")
# `stance` towards the parent: pro, con, or thesis for a root
ARGUMENTS = _columns("id", "parent", "stance", "text", depth=Value("int32"), title=TEXT, language=TEXT, group=TEXT)
# a statement with the texts for it (pro) and against it (con); those of one statement in one group are a family. Where
# two camps speak and nobody wrote down what for, the statement is empty, and pro is one of the camps
FAMILIES = _columns("text", "statement", side=ClassLabel(names=["con", "pro"]), group=TEXT)
SIMILARITY = _columns("sentence1", "sentence2", score=FLOAT, group=TEXT)
INFERENCE = _columns(
    "sentence1", "sentence2", label=ClassLabel(names=["contradiction", "neutral", "entailment"]), score=FLOAT
)
TEXTS = _columns("id", "text", "author", "group", "topic", "date")
# `group` is what the text is about, e.g. a film or a product; empty where the corpus does not tell
SENTENCES = _columns("text", label=ClassLabel(names=["negative", "positive"]), group=TEXT)
# two texts of either polarity, each drawn for itself: not on one subject
QUADRUPLES = _columns("positive1", "positive2", "negative1", "negative2")
# pairs of SgTS (Kim et al., 2024, section 2)
POLARITY_PAIRS = _columns("sentence1", "sentence2", label=ClassLabel(names=["different", "same"]))
# a word with the polarity of its senses: positive, negative, or both
WORDS = _columns("word", "polarity", positive=FLOAT, negative=FLOAT)
# pairs of opinions with the mean of people's scores
OPINIONS = _columns("id", "sentence1", "sentence2", score=FLOAT, domain=TEXT)
# a point, its conclusion and premises, and its best counter-argument; `stance` of the point towards the thesis: pro or
# con; `seen_in`: the split before this one that has the same point: train, validation, or empty
COUNTERS = _columns(
    *("id", "conclusion", "premises", "point", "counter", "stance", "theme", "debate", "thesis", "seen_in", "group")
)
# two tweets of one conversation that belong together (Di Giovanni and Brambilla, 2021, section 2); `group` is the
# conversation: tweets connected by replies and quotes
TWEET_PAIRS = _columns("anchor", "positive", "group")
# a query with the texts that are to come first and those that are not (section 4.1 there)
RANKINGS = _columns("query", positives=List(TEXT), negatives=List(TEXT), group=TEXT)
# columns that name or describe a text; in all others of words is what somebody wrote
NAMES = {"id", "parent", "stance", "title", "language", "group", "relation", "author", "topic", "date", "domain"}
NAMES |= {"theme", "debate", "thesis", "seen_in", "word", "polarity"}
# configuration -> column that says what a group is about; where a corpus has several, the first is closest to its roots
MOTIONS = {"arguments": "title", "families": "statement", "counters": "thesis"}


def pair_row(one: str, other: str, agree: bool, relation: str, group: str) -> Item:
    """A row of `PAIRS`."""
    row = {"sentence1": one, "sentence2": other, "label": AGREE if agree else OPPOSE}
    return (one, other), {**row, "relation": relation, "group": group}


def triplet_row(anchor: str, positive: str, negative: str, group: str) -> Item:
    """A row of `TRIPLETS`."""
    row = {"anchor": anchor, "positive": positive, "negative": negative, "group": group}
    return (anchor, positive, negative), row


def family_row(text: str, statement: str, pro: bool, group: str) -> Item:
    """A row of `FAMILIES`."""
    texts = (text, statement) if statement else (text,)
    return texts, {"text": text, "statement": statement, "side": PRO if pro else CON, "group": group}


def motions(config: str, rows: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, str]]:
    """(group, what it is about) of rows of a configuration in `MOTIONS`; of trees the theses, too."""
    yield from ((group, motion) for group, motion in zip(rows["group"], rows[MOTIONS[config]], strict=True) if motion)
    if config == "arguments":
        entries = zip(rows["group"], rows["text"], rows["stance"], strict=True)
        yield from ((group, text) for group, text, stance in entries if stance == "thesis")
