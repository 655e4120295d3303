"""The column layouts that builders emit and systems train on; a system relies on these names and no others."""

from __future__ import annotations

from datasets import ClassLabel, Features, Value

OPPOSE, AGREE = 0, 1

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
