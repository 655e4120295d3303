"""VAST: topics within a debate, its comments cut."""

import pytest

from dataset_scripts.base.splits import split_groups
from dataset_scripts.room_for_debate import COMMENTS, VAST
from tests.dataset_scripts.packing import csv_table

COLUMNS = "id", "text", "url", "stance1", "stance2", "annotatedStance"


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
