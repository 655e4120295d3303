"""CHATStance: both files are one corpus, divided by statement, and what is no text on a statement is left out."""

import csv
import io

import pytest

from dataset_scripts.base.quality import TestSetGuard
from dataset_scripts.chatstance import CHATStance

TRAIN, VALIDATION = "raw_train_all_onecol.csv.gz", "raw_val_all_onecol.csv"
HEADER = "Tweet", "Target 1", "Stance 1", "Prompt"
SUBSET = "chatgpt_carto_var_0.99_seed0_subset_1000"
OWLS, BIKES, BUSES = "Owls are wise birds.", "Every street needs a bike lane.", "Buses should be free"
FIRST = [
    ("1. Owls see at night. 2. Owls plan\ntheir hunts.", OWLS, "FAVOR", "2"),
    ("An owl of mine flew into the same window twice.", OWLS, "AGAINST", "2"),
    ("Rain is good for the garden.", OWLS, "NONE", "2"),
    ("Cyclists get home safely on lanes of their own.", BIKES, "FAVOR", "3"),
]
SECOND = [
    ("Owls turn their heads very far.", " owls  are wise birds ", "FAVOR", "5"),
    ("Drivers lose the room that they need.", BIKES, "AGAINST", "3"),
    ("Free buses fill up with people who would have walked.", BUSES, "AGAINST", "3"),
    ("So it is.", BUSES, "FAVOR", "3"),
    ("Streets get quieter with buses that cost nothing.", BUSES, "PERHAPS", "3"),
    ("A wall of stone will stand for ages.", "Building a wall", "FAVOR", "3"),
    ("People quarrel over tabs and spaces.", "There is a debate over tabs and spaces.", "FAVOR", "3"),
    ("A text on what others are tested on.", "Feminism is a movement of our time.", "FAVOR", "3"),
]


def table(rows) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([HEADER, *rows])
    return text.getvalue()


def release() -> dict[str, str]:
    others = dict.fromkeys(("chatgpt/raw_test_all_onecol.csv", f"chatgpt_vast/{VALIDATION}", "notes.csv"), "")
    return {f"chatgpt/{VALIDATION}": table(FIRST), f"{SUBSET}/{TRAIN}": table(SECOND), **others}


def test_families(build, write, monkeypatch, tmp_path):
    (tmp_path / "digests.tsv").write_text("corpus\tsha1\nchatstance\t" + TestSetGuard.digest(SECOND[1][0]) + "\n")
    monkeypatch.setattr(TestSetGuard, "PATH", tmp_path / "digests.tsv")
    data, dropped = build(CHATStance, write("raw", release()))
    rows = {tuple(row.values()) for split in data.values() for row in split}
    assert rows == {
        ("Owls see at night. Owls plan their hunts.", OWLS, 1, "owls-are-wise-birds"),
        ("An owl of mine flew into the same window twice.", OWLS, 0, "owls-are-wise-birds"),
        ("Owls turn their heads very far.", OWLS, 1, "owls-are-wise-birds"),
        (FIRST[3][0], BIKES, 1, "every-street-needs-a-bike-lane"),
        (SECOND[2][0], BUSES, 0, "buses-should-be-free"),
    }
    assert sum(len(set(rows["group"])) for rows in data.values()) == 3  # none in two splits
    assert dropped == {
        "text: neutral": 1,
        "text: malformed row": 1,
        "text: on a debate, not on a statement": 2,
        "family: on a topic that models are tested on": 1,
        "row: a text is in a set that models are tested on": 1,
        "row: text shorter than 4 words": 1,
    }


def test_only_files_of_its_own_are_read(build, write):
    with pytest.raises(FileNotFoundError, match="belongs to chatstance; it needs raw_train_all"):
        build(CHATStance, write("raw", {f"pstance/{TRAIN}": table(FIRST)}))
    with pytest.raises(ValueError, match=f"{VALIDATION}, line 1: no column Stance 1"):
        build(CHATStance, write("other", {f"chatgpt/{VALIDATION}": "Tweet,Target 1\n"}))
