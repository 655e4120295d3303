"""Polis: pairs by votes and words worked by hand, what is left out and why, and the splits."""

import pytest

from dataset_scripts.polis import Polis

MORE, FEWER = "We should have more trams on the bridge", "There should be fewer trams on the bridge"
ALSO, CATS, RARE = (
    "More trams for the bridge please",
    "Cats are the best of all pets",
    "The bridge is for trams at night",
)
# of six voters, four are for more trams; each text with its votes: 1, -1, pass (0) or none
STATEMENTS = {
    MORE: "1 1 1 -1 -1 1",
    FEWER: "-1 -1 -1 1 1 -1",
    ALSO: "1 1 1 -1 -1 0",
    CATS: "1 1 1 -1 -1 1",
    RARE: "1 _ _ -1 _ _",  # two common votes
}
OPTIONS = {"least_votes": 3, "likeness_agreeing": 0.1, "likeness_opposed": 0.1}


def conversation(name: str, statements=STATEMENTS, moderated="1", end: str = "") -> dict[str, str]:
    comments = ["timestamp,comment-id,moderated,comment-body"]
    comments += [f'{n},{n},{moderated},"{text}"' for n, text in enumerate(statements)]
    columns = zip(*(votes.replace("_", "").split(" ") for votes in statements.values()), strict=True)
    votes = ["participant,n-votes," + ",".join(map(str, range(len(statements))))]
    votes += [f"{n},5," + ",".join(row) for n, row in enumerate(columns)]
    files = {"comments.csv": "\n".join(comments), "participants-votes.csv": "\n".join(votes)}
    return {f"{name}/{file}{end}": content for file, content in files.items()}


def test_families(build, write):
    data, dropped = build(Polis, write("raw", conversation("trams", end=".gz")), **OPTIONS)
    # the votes on cats are those on more trams, but no word is common; who passed counts for neither
    assert {tuple(row.values()) for row in data["train"]} == {
        (ALSO, MORE, 1, "trams"),
        (MORE, ALSO, 1, "trams"),
        (FEWER, MORE, 0, "trams"),
        (MORE, FEWER, 0, "trams"),
        (FEWER, ALSO, 0, "trams"),
        (ALSO, FEWER, 0, "trams"),
    }
    assert data.keys() == {"train"} and dropped == {}
    # each side needs more than two of five, or three of six: nothing is left but an error that says so
    with pytest.raises(ValueError, match="no usable row in 2 file"):
        build(Polis, write("raw", conversation("trams", end=".gz")), **OPTIONS, least_side=0.45)


def test_splits_and_what_is_left_out(build, write):
    files = {}
    for number in range(5):
        texts = {text.replace("bridge", f"bridge {number}"): votes for text, votes in STATEMENTS.items()}
        files |= conversation(f"trams-{number}", texts)
    german = {"Die Straßenbahn soll über die Brücke fahren": "1 -1", "Keine Straßenbahn über die Brücke": "-1 1"}
    files |= conversation("bahn", german) | conversation("rejected", {"The cats said so": "1 -1"}, moderated="-1")
    files |= conversation("mixed", {"I live in the old town": "1", "Trump is at the bridge": "1", " ": "1"})
    files["silent/comments.csv"] = "comment-id,moderated,comment-body\n1,1,Nobody voted on this\n"
    data, dropped = build(Polis, write("raw", files), **OPTIONS)
    assert data.num_rows == {"train": 18, "validation": 6, "test": 6}
    assert dropped == {
        "conversation: no statement is left": 2,
        "conversation: without votes": 1,
        "conversation: not in English": 1,
        "statement: rejected by the moderators": 1,
        "statement: of the voter": 1,
        "statement: on a topic that models are tested on": 1,
        "statement: empty": 1,
    }
