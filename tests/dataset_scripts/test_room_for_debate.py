"""ARCT: what is for one statement of a debate is against the other. VAST: topics within a debate, its comments cut."""

import pytest

from dataset_scripts.base.splits import split_groups
from dataset_scripts.room_for_debate import ARCT, COMMENTS, REASONS, SUMMARIES, VAST
from tests.dataset_scripts.packing import csv_table

COLUMNS = "id", "text", "url", "stance1", "stance2", "annotatedStance"
CATS = "/debates/2016/cats", "Cats belong in every library", "Cats have no place in libraries"
ROWS = [
    ("1", "A long comment\ton cats", *CATS, CATS[1]),
    ("2", "Another one on cats", *CATS, CATS[2]),
    ("3", "On mules", "/m/mules", '"Mules are ""cute"" animals"', "Mules are not cute", "Mules are not cute"),
    ("4", "On dogs", "/m/dogs", "Yes, dogs should do that", "No, dogs should not do that", "Yes, dogs should do that"),
    ("5", "On Trump", "/m/trump", "Donald Trump likes cats", "Donald Trump hates cats", "Donald Trump hates cats"),
    ("6", "On owls", "/m/owls", "Owls are wise birds", "Owls are not that wise", "Owls are birds"),
]
GISTS = [("1", "A  cat calms the readers."), ("2", "Some readers cannot breathe near fur."), ("9", "Nobody said this.")]
POINTS = [("1_17", "A cat calms the readers."), ("2_3", "Cats scratch."), ("3_1", "Mules kick whoever comes near.")]


def release(rows=ROWS, reasons=REASONS[0], header=COLUMNS) -> dict[str, str]:
    tables = {
        COMMENTS: [header, *([field.replace("\t", " ") for field in row] for row in rows)],
        SUMMARIES: [(id, "the comment", gist) for id, gist in GISTS],
        reasons: [("a claim", id, reason) for id, reason in POINTS],
    }
    return {f"{name}.gz": "\n".join(map("\t".join, table)) for name, table in tables.items()}


def test_families(build, write):
    # debates: three that can be used and two that cannot, divided before that is known
    data, dropped = build(ARCT, write("raw", release()))
    rows = [tuple(row.values()) for split in data.values() for row in split]
    calms, fur = "A cat calms the readers.", "Some readers cannot breathe near fur."
    assert sorted(row[:3] for row in rows if row[3] == "cats") == sorted(
        [
            *((CATS[2], CATS[1], 0), (calms, CATS[1], 1), (fur, CATS[1], 0)),
            *((CATS[1], CATS[2], 0), (calms, CATS[2], 0), (fur, CATS[2], 1)),
        ]
    )
    mules = 'Mules are "cute" animals', "Mules are not cute"
    kick = "Mules kick whoever comes near."
    assert sorted(row[:3] for row in rows if row[3] == "mules") == sorted(
        [(mules[1], mules[0], 0), (kick, mules[0], 0), (mules[0], mules[1], 0), (kick, mules[1], 1)]
    )
    assert {row[3] for row in rows} == {"cats", "mules"}
    assert dropped == {
        "comment: malformed row": 1,  # on neither side of its debate
        "text: of no known comment": 1,
        "debate: answers to its question for statements": 1,
        "debate: on a topic that models are tested on": 1,
        "row: duplicate": 2,
        "row: text shorter than 4 words": 2,
    }


BINS, LONG = (
    "Bins on every corner keep the town clean.",
    "Bins cost the town money. " + "No one empties them at all " * 20,
)
ENDLESS = "Nobody likes bins " * 30
TEXTS = {"bins": [BINS, LONG, ENDLESS, "Bins smell, and not only in summer."], "owls": ["Owls keep the mice away!"]}
TEXTS |= {f"topic-{n}": [f"This is what somebody says on topic {n}."] for n in range(20)}
TRAIN = [
    # post, new_topic, topic_str, label
    (BINS, "public bins", "public bin", "1"),
    (f" {BINS}", "public  bin", "public bin", "1"),
    (LONG, "public bin", "public bin", "0"),
    (ENDLESS, "public bins", "public bin", "0"),
    (TEXTS["bins"][3], "public bins", "public bin", "0"),
    (TEXTS["bins"][3], "town", "town", "0"),
    (TEXTS["bins"][3], "town", "town", "1"),
    (BINS, "litter", "litter", "2"),
    (BINS, "global warming", "global warm", "0"),
    (BINS, "litter", "litter", "3"),
    ("Nobody has ever said this.", "litter", "litter", "0"),
]
VALIDATION = [(TEXTS["owls"][0], "owls", "owl", "FAVOR"), (TEXTS["owls"][0], "public bins", "public bin", "NONE")]


@pytest.fixture
def vast(write):
    """The paths of VAST's files and of ARCT's comments."""
    validation = csv_table([("Tweet", "new_topic", "Target 1", "Stance 1"), *VALIDATION])
    write("vast/vast_train.zip", {"vast_train.csv": csv_table([("post", "new_topic", "topic_str", "label"), *TRAIN])})
    comments = [(text, f"/2016/{debate}", "A", "B", "A") for debate, texts in TEXTS.items() for text in texts]
    rows = [COLUMNS, *((str(n), *comment) for n, comment in enumerate(comments))]
    return write("vast", {"raw_val_all_onecol.csv.gz": validation}), write(
        "arct", {COMMENTS: "\n".join(map("\t".join, rows))}
    )


def test_comments_on_topics(vast, build):
    data, dropped = build(VAST, vast)
    splits = split_groups(TEXTS)
    rows = {(split, *row.values()) for split in data for row in data[split]}
    assert rows == {
        (splits["bins"], BINS, "I support public bins.", 1, "bins"),
        (splits["bins"], "Bins cost the town money.", "I support public bins.", 0, "bins"),
        (splits["bins"], TEXTS["bins"][3], "I support public bins.", 0, "bins"),
        (splits["owls"], TEXTS["owls"][0], "I support owls.", 1, "owls"),
    }
    assert dropped == {
        "text: neutral": 2,
        "text: malformed row": 1,
        "text: on a topic that models are tested on": 1,
        "text: of no known comment": 1,
        "text: first sentence longer than 80 words": 1,
        "text: for and against its statement": 2,
        "row: duplicate": 1,
    }
