"""SOS: means of annotations, and what cannot be used."""

import pytest

from dataset_scripts.sos import Sos

ANNOTATIONS = "opinion_similarity_annotation.csv"
LAPTOPS = {"L1:0": "The screen  is sharp.", "L1:1": "A sharp screen & lid", "L2:0": "It broke.", "L9:0": " "}
MEALS = {"R1:0": "Cold soup.", "R1:1": "The soup was hot."}


def table(header: str, *rows: tuple) -> str:
    quoted = [",".join(f'"{field}"' for field in row) for row in (header.split(), *rows)]
    return "\n".join(quoted) + "\n"


def annotations(*rows: tuple) -> str:
    return table("sent1_id sent2_id annotation annotator_id", *((*row, "A") for row in rows))


def rows_of(built) -> list[tuple]:
    return [tuple(row.values()) for row in built[0]["test"]]


def sentences(category: str, of_domain: dict[str, str]) -> str:
    rows = [(n, id, text, f"{category}#GENERAL", "+") for n, (id, text) in enumerate(of_domain.items())]
    return table("index sent_id text category polarity", *rows)


def test_means_of_annotations(build, write):
    scores = [("L1:0", "L1:1", 3), ("L1:0", "L1:1", 4), ("R1:1", "R1:0", 0), ("R1:1", "R1:0", 1), ("R1:1", "R1:0", 1)]
    scores += [("L1:0", "L1:1", 3), ("L1:0", "L2:0", 2)]  # a pair's annotations need not stand together
    files = {ANNOTATIONS: annotations(*scores), "data/EN_LAPT_SB1_TEST_.csv": sentences("LAPTOP", LAPTOPS)}
    built = build(Sos, write("raw", files | {"data/EN_REST_SB1_TEST.csv.gz": sentences("RESTAURANT", MEALS)}))
    assert built[0]["test"].column_names == ["id", "sentence1", "sentence2", "score", "domain"]
    assert rows_of(built) == [
        ("pair_1", "The screen is sharp.", "A sharp screen & lid", pytest.approx(10 / 3), "laptop"),
        ("pair_2", "The soup was hot.", "Cold soup.", pytest.approx(2 / 3), "restaurant"),
        ("pair_3", "The screen is sharp.", "It broke.", 2, "laptop"),
    ]
    assert built[1] == {}


def test_pairs_that_cannot_be_used(build, write):
    scores = [("L1:0", "L7:0", 1), ("L1:0", "L9:0", 1), ("L1:0", "R1:0", 1), ("H1:0", "H1:1", 1)]
    scores += [("L1:1", "L2:0", score) for score in (5, "x", "", "nan")]
    scores += [("L1:0", "L1:1", score) for score in (3, -1, 2)]
    files = {ANNOTATIONS: annotations(*scores) + '"L1:0","L1:1"\n', "laptops.csv": sentences("LAPTOP", LAPTOPS)}
    files["meals.csv"] = sentences("RESTAURANT", MEALS)
    files["hotels.csv"] = sentences("HOTEL", {"H1:0": "A soft bed", "H1:1": "A hard bed"})
    built = build(Sos, write("raw", files))
    # the number stays that of the pair in the annotations
    assert [(row[0], row[3]) for row in rows_of(built)] == [("pair_6", 2.5)]
    assert built[1] == {
        "annotation: no number from 0 to 4": 5,
        "file: no opinions on laptops or restaurants": 1,
        "pair: a sentence is in none of the files": 3,
        "pair: sentences of two domains": 1,
        "pair: without a valid annotation": 1,
        "row: wrong number of columns": 1,
    }
