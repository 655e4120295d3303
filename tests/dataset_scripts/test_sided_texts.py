"""Texts with their side towards a statement: how each corpus tells it, and what is left out."""

import pytest

from dataset_scripts.base.quality import TestSetGuard
from dataset_scripts.sided_texts import IAM, CHATStance, ValueEval23, as_statement
from tests.dataset_scripts.packing import csv_table


@pytest.mark.parametrize(
    ("question", "statement"),  # others are in the docstring and below
    [
        ("Does the Harbour Have More Rain?", "The Harbour has More Rain"),
        ("Do all ducks have the right to bread", "All ducks have the right to bread"),
        ("Is slow music harmful to ducks?", "Slow music is harmful to ducks"),
    ],
)
def test_a_question_as_a_statement(question, statement):
    assert as_statement(question) == statement


OWLS, BIKES, BUSES = "Owls are wise birds.", "Every street needs a bike lane.", "Buses should be free"
FIRST = [
    ("1. Owls see at night. 2. Owls plan\ntheir hunts.", OWLS, "FAVOR"),
    ("An owl of mine flew into the same window twice.", OWLS, "AGAINST"),
    ("Rain is good for the garden.", OWLS, "NONE"),
    ("Cyclists get home safely on lanes of their own.", BIKES, "FAVOR"),
]
SECOND = [
    ("Owls turn their heads very far.", " owls  are wise birds ", "FAVOR"),
    ("Drivers lose the room that they need.", BIKES, "AGAINST"),
    ("Free buses fill up with people who would have walked.", BUSES, "AGAINST"),
    ("So it is.", BUSES, "FAVOR"),
    ("Streets get quieter with buses that cost nothing.", BUSES, "PERHAPS"),
    ("A wall of stone will stand for ages.", "Building a wall", "FAVOR"),
    ("People quarrel over tabs and spaces.", "There is a debate over tabs and spaces.", "FAVOR"),
    ("A text on what others are tested on.", "Feminism is a movement of our time.", "FAVOR"),
]


def table(rows) -> str:
    return csv_table([("Tweet", "Target 1", "Stance 1"), *rows])


SUBSET, NAME = "chatgpt_carto_var_0.99_seed0_subset_1000/raw_train_all_onecol.csv.gz", "raw_val_all_onecol.csv"
OTHERS = dict.fromkeys(("chatgpt/raw_test_all_onecol.csv", f"chatgpt_vast/{NAME}", "notes.csv"), "")
BRIDGE, CLOSE = "should-we-close-the-old-bridge", "C\tShould we close the old bridge?\t"
TRAIN = [
    CLOSE + "Its stones are loose [ref], engineers say.[12]\t1_1\t1",
    CLOSE + "People reach the market by this bridge [1841 plans]\t1_2\t-1",
    CLOSE + "Nobody can tell what this says\t1_2\t0",
    CLOSE + "A sentence of a test set [ref] stands here\t1_2\t1",
    "C\tShould physical education be compulsory\tRunning makes pupils hungry for lunch\t2_1\t1",
    "C\tShould abortion be prohibited\tThis topic has a test of its own\t2_1\t1",
    "C\tWhat a fine bridge\tThe old bridge is rather fine\t3_1\t1",
    "C\tno third field",
]
HEADER = "Argument ID\tConclusion\tStance\tPremise"
TRAINING = [
    "E01001\tOur town needs a tram\tin favor of\tA tram &amp; a bus  carry more people than cars",
    "E01002\tOur town  needs a tram\tagainst\tRails would ruin the old street",
    "A01001\tOur town needs a tram\tagainst\tThis one is in the other corpus",
    "A05074\tWe should sell the harbour\tin favor of\tThe harbour has cost us money for years",
    "D01003\tClimate change is a concern\tin favor of\tThe winters here have lost their snow",
    "D01004\tThe market should open earlier\tneither\tSome like to rise before the sun",
    "D01005\tThe market should open earlier",
]
# corpus -> files, a text of a test set, rows, and what is left out
CASES = {
    CHATStance: (
        {f"chatgpt/{NAME}": table(FIRST), SUBSET: table(SECOND), **OTHERS},
        SECOND[1][0],
        {
            ("Owls see at night. Owls plan their hunts.", OWLS, 1, "owls-are-wise-birds"),
            ("An owl of mine flew into the same window twice.", OWLS, 0, "owls-are-wise-birds"),
            ("Owls turn their heads very far.", OWLS, 1, "owls-are-wise-birds"),
            (FIRST[3][0], BIKES, 1, "every-street-needs-a-bike-lane"),
            (SECOND[2][0], BUSES, 0, "buses-should-be-free"),
        },
        {"text: on neither side": 1, "text: malformed row": 1, "text: on a debate, not on a statement": 2}
        | {"row: a text is in a set that models are tested on": 1, "row: text shorter than 4 words": 1}
        | {"family: on a topic that models are tested on": 1},
    ),
    IAM: (  # a text of a test set is known by its words as they are written, marks included
        {
            "train.txt": "\r\n".join(TRAIN),
            "dev.txt": "C\tDoes slow music bring peace\tListeners of slow music sleep well\t4_1\t1",
            "test.txt": "C\tShould there be a tax on hats?\tHats keep the poor warm as well\t5_1\t-1",
        },
        "A sentence of a test set [ref] stands here",
        {
            ("Hats keep the poor warm as well", "There should be a tax on hats", 0, "should-there-be-a-tax-on-hats"),
            ("Its stones are loose, engineers say.", "We should close the old bridge", 1, BRIDGE),
            ("Listeners of slow music sleep well", "Slow music brings peace", 1, "does-slow-music-bring-peace"),
            ("People reach the market by this bridge [1841 plans]", "We should close the old bridge", 0, BRIDGE),
        },
        {"text: malformed row": 1, "text: in a set that models are tested on": 1, "row: wrong number of columns": 1}
        | {"text: its topic is no yes/no question": 1, "family: on a topic that models are tested on": 2},
    ),
    ValueEval23: (  # one statement in two spellings is one group, so that it is in one split
        {
            "arguments-training.tsv": "\n".join([HEADER, *TRAINING]),
            "arguments-validation.tsv": HEADER + "\nD2\tThe market should open earlier\tagainst\tNobody buys fish at 5",
            "arguments-test.tsv.gz": HEADER + "\nE3\tour town needs a tram!\tin favor of\tTrams hum quietly all day",
        },
        "",
        {
            ("A tram & a bus carry more people than cars", "Our town needs a tram", 1, "our-town-needs-a-tram"),
            ("Rails would ruin the old street", "Our town needs a tram", 0, "our-town-needs-a-tram"),
            ("The harbour has cost us money for years", "We should sell the harbour", 1, "we-should-sell-the-harbour"),
            ("Nobody buys fish at 5", "The market should open earlier", 0, "the-market-should-open-earlier"),
            ("Trams hum quietly all day", "our town needs a tram!", 1, "our-town-needs-a-tram"),
        },
        {"text: of ArgQ-Rank-30k": 1, "text: malformed row": 1, "row: wrong number of columns": 1}
        | {"family: on a topic that models are tested on": 1},
    ),
}


@pytest.mark.parametrize("corpus", CASES)
def test_families(corpus, build, write, monkeypatch):
    files, tested, expected, dropped = CASES[corpus]
    digests = f"corpus\tsha1\n{corpus.METADATA.name}\t{TestSetGuard.digest(tested)}\n"
    monkeypatch.setattr(TestSetGuard, "PATH", write("guard", {"list.tsv": digests}) / "list.tsv")
    data, counts = build(corpus, write("raw", files))
    assert {tuple(row.values()) for split in data.values() for row in split} == expected and counts == dropped
    groups = [set(rows["group"]) for rows in data.values()]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 3
