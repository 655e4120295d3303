"""Persona: the camps of a behaviour, what is left out and why, and the sample."""

import json

from dataset_scripts.persona import Persona

ART = "interest-in-art"


def line(text, answer=" Yes", confidence=0.95) -> str:
    return json.dumps({"statement": text, "label_confidence": confidence, "answer_matching_behavior": answer})


def release(**others: str) -> dict[str, str]:
    """Four behaviours, of which two share a statement."""
    files = {
        ART: [line("I could  paint all day"), line("Paintings leave me quite cold", " No")],
        "risk-averse": [line("I never bet on horses"), line("A little danger is fun", " No")],
        "interest-in-music": [line("I sing in a choir"), line("I could paint all day", " No")],
        "subscribes-to-Taoism": [line("I let the river run"), line("I let the river run!")],
    }
    return {f"persona/{name}.jsonl": "\n".join(lines) for name, lines in files.items()} | others


def test_camps_and_what_is_left_out(build, write):
    data, dropped = build(Persona, write("raw.tar.xz", release()))
    rows = {tuple(row.values()) for split in data.values() for row in split}
    assert {("Paintings leave me quite cold", "", 0, ART), ("I never bet on horses", "", 1, "risk-averse")} <= rows
    # what art and music share stays once; the two spellings of the river are one text
    assert len(rows) == sum(data.num_rows.values()) == 6 and sum(dropped.values()) == 2
    groups = [set(split["group"]) for split in data.values()]
    assert len(groups) == 3 and sum(map(len, groups)) == len(set.union(*groups))
    faulty = [
        line("I own one brush", confidence=0.89),
        line("Art, yes", " No"),
        line("As an AI I like art"),
        line("Atheism made better art than faith"),
        line("I could paint all day", " No"),
        line("I own two brushes", "Perhaps"),
        "no object",
    ]
    others = (f"persona/{name}.jsonl" for name in ("no-shut-down", "subscribes-to-Atheism"))
    raw = release(**dict.fromkeys(others, line("Said by nobody here")))
    raw[f"persona/{ART}.jsonl"] += "\n" + "\n".join(faulty)
    data, dropped = build(Persona, write("raw", raw), without=["interest-in-music"])
    assert sum(data.num_rows.values()) == 5
    assert dropped == {
        "family: no listed behaviour": 1,
        "family: on a topic that models are tested on": 1,
        "family: left out": 1,
        "statement: label is uncertain": 1,
        "statement: shorter than 4 words": 1,
        "statement: of an AI": 1,
        "statement: on a topic that models are tested on": 1,
        "statement: repeated": 2,
        "statement: malformed": 1,
        "line: not a JSON object": 1,
    }
