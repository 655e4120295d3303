"""Negation in inference: the sides of each part, what is too one-sided, linked premises, the cap."""

import json

from dataset_scripts.nli_negation import NliNegation

LAMP, DIM = "A lamp lights the room", "A candle hardly lights the room"
PAIRS = [
    (LAMP, "The room is bright enough", "entailment"),
    (LAMP, '"The room is ""very"" dark"', "contradiction"),
    (LAMP, "The room is a kitchen", "neutral"),
    (LAMP, "The room has a window", "entailment"),
    (LAMP, "The room has a window", "neutral"),
    (DIM, "The room is very dark", "entailment"),
    (DIM, "the room is bright enough!", "contradiction"),
    ("A cook peels some onions", "Someone is in the kitchen", "entailment"),
    ("A cook peels some onions", "Someone peels red onions", "unknown"),
]
COUNTERFACTUAL = "\n".join(map("\t".join, [("sentence1", "sentence2", "gold_label"), *PAIRS]))
RUNS, STAYS, FAST, SLOW = "The dog runs home", "The dog does not run home", "A dog is moving", "A dog isn&#39;t moving"
THREES = [
    *[(STAYS, FAST, "contradiction"), (RUNS, SLOW, "contradiction"), (STAYS, SLOW, "entailment")],
    *[("It never rains", "It is wet here", "neutral"), ("It often rains", "It is not wet here", "contradiction")],
    *[("It never rains", "It is not wet here", "entailment"), ("One row is not three", "as is said", "neutral")],
]
NEGATED = "\n".join(
    ["index\tText\tHypothesis\tgold_label", *("\t".join([str(n), *row]) for n, row in enumerate(THREES))]
)
REPLACED = [
    {"sentence1": "She plays a small violin", "sentence2": f"She plays a {size} violin", "gold_label": label}
    for size, label in [("tiny", "entailment"), ("large", "contradiction")]
]
REFUTED = """sentence\tnegated
The mill was built of stone\tThe mill was never built of stone
The mill was built of stone\tThe mill was built of wood"""
FILES = {
    "cad/train.tsv": COUNTERFACTUAL,
    "SNLI.txt.gz": NEGATED,
    "dataset.jsonl": "\n".join(map(json.dumps, REPLACED)),
    "wikifactcheck_english_0.tsv": REFUTED,
    "sem_anto_neg.tsv": "not of this corpus",
}


def test_families(build, write):
    data, dropped = build(NliNegation, write("raw", FILES))
    rows = [row for split in data.values() for row in split]
    families = {}
    for row in rows:
        families.setdefault(row["statement"], set()).add((row["text"], row["side"]))
    slow = "A dog isn't moving"
    assert families == {
        LAMP: {("The room is bright enough", 1), ('The room is "very" dark', 0)},
        DIM: {("The room is very dark", 1), ("the room is bright enough!", 0)},
        STAYS: {(FAST, 0), (slow, 1)},
        RUNS: {(FAST, 1), (slow, 0)},  # FAST follows from what is said of its negation
        "She plays a small violin": {("She plays a tiny violin", 1), ("She plays a large violin", 0)},
        "The mill was built of stone": {("The mill was never built of stone", 0)},
    }
    group = {row["statement"]: row["group"] for row in rows}
    assert group[LAMP] == group[DIM] and group[RUNS] == group[STAYS] and len(set(group.values())) == 4
    assert dropped == {
        "sentence: neutral": 1,
        "sentence: judged in two ways": 1,
        "sentence: malformed": 1,
        "family: on one side alone": 1,
        "negations: not one entailed and one contradicted": 1,
        "negations: one row of three is missing": 1,
        "refutation: by no negation": 1,
    }
