"""Touché23-ValueEval: whose arguments are used, their sides, and what is left out."""

from dataset_scripts.valueeval23 import ValueEval23

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


def release(training=TRAINING) -> dict[str, str]:
    others = {
        "arguments-validation.tsv": [
            "D02001\tThe market should open earlier\tagainst\tNobody buys fish at five o'clock"
        ],
        "arguments-test.tsv.gz": ["E03001\tour town needs a tram!\tin favor of\tTrams are quiet and they last long"],
    }
    return {name: "\n".join([HEADER, *rows]) for name, rows in {"arguments-training.tsv": training, **others}.items()}


def test_families(build, write):
    data, dropped = build(ValueEval23, write("raw", release()))
    rows = {row["text"]: row for split in data.values() for row in split}
    assert {text: (row["statement"], row["side"]) for text, row in rows.items()} == {
        "A tram & a bus carry more people than cars": ("Our town needs a tram", 1),
        "Rails would ruin the old street": ("Our town needs a tram", 0),
        "The harbour has cost us money for years": ("We should sell the harbour", 1),
        "Nobody buys fish at five o'clock": ("The market should open earlier", 0),
        "Trams are quiet and they last long": ("our town needs a tram!", 1),
    }
    # one statement in two spellings is one group, so that it is in one split
    assert {len(set(split["group"])) for split in data.values()} == {1} and len(data) == 3
    assert dropped == {
        "argument: of ArgQ-Rank-30k": 1,
        "argument: malformed row": 1,
        "row: wrong number of columns": 1,
        "family: on a topic that models are tested on": 1,
    }
