"""The column layouts that builders emit and systems train on; a system relies on these names and no others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from datasets import ClassLabel, Features, List, Value

OPPOSE, AGREE = 0, 1
# a row before it is cleaned: the texts that the rules of cleaning judge, and the columns
Item = tuple[tuple[str, ...], dict[str, Any]]
Rows = Iterable[Item]

PAIRS = Features(
    {
        "sentence1": Value("string"),
        "sentence2": Value("string"),
        "label": ClassLabel(names=["oppose", "agree"]),
        # how the two texts are related: child-to-parent, child-to-child, same-topic, ...
        "relation": Value("string"),
        # the unit that is never divided between splits: a discussion, claim or topic
        "group": Value("string"),
    }
)

TRIPLETS = Features(
    {
        "anchor": Value("string"),
        "positive": Value("string"),
        "negative": Value("string"),
        "group": Value("string"),
    }
)

ARGUMENTS = Features(
    {
        "id": Value("string"),
        "parent": Value("string"),
        "stance": Value("string"),  # towards the parent: pro, con, or thesis for a root
        "text": Value("string"),
        "depth": Value("int32"),
        "title": Value("string"),
        "language": Value("string"),
        "group": Value("string"),
    }
)

SIMILARITY = Features(
    {"sentence1": Value("string"), "sentence2": Value("string"), "score": Value("float32"), "group": Value("string")}
)

INFERENCE = Features(
    {
        "sentence1": Value("string"),
        "sentence2": Value("string"),
        "label": ClassLabel(names=["contradiction", "neutral", "entailment"]),
        "score": Value("float32"),
    }
)

TEXTS = Features(
    {
        "id": Value("string"),
        "text": Value("string"),
        "author": Value("string"),
        "group": Value("string"),
        "topic": Value("string"),
        "date": Value("string"),
    }
)

SENTENCES = Features(
    {
        "text": Value("string"),
        "label": ClassLabel(names=["negative", "positive"]),
        # what the text is about, e.g. a film or a product, where the corpus tells; empty where it does not
        "group": Value("string"),
    }
)

# two texts of either polarity, each drawn for itself: not on one subject
QUADRUPLES = Features({name: Value("string") for name in ("positive1", "positive2", "negative1", "negative2")})

# pairs of SgTS (Kim et al., 2024, section 2)
POLARITY_PAIRS = Features(
    {
        "sentence1": Value("string"),
        "sentence2": Value("string"),
        "label": ClassLabel(names=["different", "same"]),
    }
)

# a word with the polarity of its senses: positive, negative, or both
WORDS = Features(
    {"word": Value("string"), "polarity": Value("string"), "positive": Value("float32"), "negative": Value("float32")}
)

# pairs of opinions with the mean of people's scores
OPINIONS = Features(
    {
        "id": Value("string"),
        "sentence1": Value("string"),
        "sentence2": Value("string"),
        "score": Value("float32"),
        "domain": Value("string"),
    }
)

# a point, its conclusion and premises, and its best counter-argument
COUNTERS = Features(
    {
        "id": Value("string"),
        "conclusion": Value("string"),
        "premises": Value("string"),
        "point": Value("string"),
        "counter": Value("string"),
        "stance": Value("string"),  # of the point towards the thesis: pro or con
        "theme": Value("string"),
        "debate": Value("string"),
        "thesis": Value("string"),
        # the split before this one that has the same point: train, validation, or empty
        "seen_in": Value("string"),
        "group": Value("string"),
    }
)

# two tweets of one conversation that belong together (Di Giovanni and Brambilla, 2021, section 2)
TWEET_PAIRS = Features(
    {
        "anchor": Value("string"),
        "positive": Value("string"),
        # the conversation: tweets connected by replies and quotes
        "group": Value("string"),
    }
)

# a query with the texts that are to come first and those that are not (section 4.1 there)
RANKINGS = Features(
    {
        "query": Value("string"),
        "positives": List(Value("string")),
        "negatives": List(Value("string")),
        "group": Value("string"),
    }
)


def pair_row(one: str, other: str, agree: bool, relation: str, group: str) -> Item:
    """A row of `PAIRS`."""
    row = {"sentence1": one, "sentence2": other, "label": AGREE if agree else OPPOSE}
    return (one, other), {**row, "relation": relation, "group": group}


def triplet_row(anchor: str, positive: str, negative: str, group: str) -> Item:
    """A row of `TRIPLETS`."""
    row = {"anchor": anchor, "positive": positive, "negative": negative, "group": group}
    return (anchor, positive, negative), row


def tree_rows(group: str, claim: str, answers: Iterable[tuple[str, str, str]]) -> Rows:
    """Rows of `ARGUMENTS` for an English claim, with its group as id, and its answers: (id, stance, text)."""
    shared = {"title": claim, "language": "en", "group": group}
    yield (claim,), {"id": group, "parent": None, "stance": "thesis", "text": claim, "depth": 0, **shared}
    for id, stance, text in answers:
        yield (text,), {"id": id, "parent": group, "stance": stance, "text": text, "depth": 1, **shared}
