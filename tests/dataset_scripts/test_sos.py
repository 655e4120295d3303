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


def release(annotated: str) -> dict[str, str]:
    laptops, meals = (table("sent_id text category", *((*row, "X#Y") for row in of.items())) for of in (LAPTOPS, MEALS))
    return {ANNOTATIONS: annotated, "data/EN_LAPT_SB1_TEST_.csv": laptops, "data/EN_REST_SB1_TEST.csv.gz": meals}


def test_means_of_annotations_and_pairs_that_cannot_be_used(build, write):
    scores = [("L1:0", "L1:1", 3), ("L1:0", "L1:1", 4), ("R1:1", "R1:0", 0), ("R1:1", "R1:0", 1), ("R1:1", "R1:0", 1)]
    scores += [("L1:0", "L1:1", 3), ("L1:0", "L1:1", -1)]  # a pair's annotations need not stand together
    scores += [("L1:0", "L7:0", 1), ("L1:0", "L9:0", 1), ("L1:0", "R1:0", 1)]
    scores += [("L1:1", "L2:0", score) for score in (5, "x", "", "nan")] + [("L1:0", "L2:0", 2)]
    data, dropped = build(Sos, write("raw", release(annotations(*scores) + '"L1:0","L1:1"\n')))
    assert data["test"].column_names == ["id", "sentence1", "sentence2", "score", "domain"]
    # the number stays that of the pair in the annotations
    assert [tuple(row.values()) for row in data["test"]] == [
        ("pair_1", "The screen is sharp.", "A sharp screen & lid", pytest.approx(10 / 3), "laptop"),
        ("pair_2", "The soup was hot.", "Cold soup.", pytest.approx(2 / 3), "restaurant"),
        ("pair_7", "The screen is sharp.", "It broke.", 2, "laptop"),
    ]
    assert dropped == {
        "annotation: no number from 0 to 4": 5,
        "pair: a sentence is in none of the files": 2,
        "pair: sentences of two domains": 1,
        "pair: without a valid annotation": 1,
        "row: wrong number of columns": 1,
    }
