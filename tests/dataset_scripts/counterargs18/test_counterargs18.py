"""counterargs-18: the layouts it comes in, footnotes, the leak of the published split and the clean one."""

from collections import Counter

import pytest

from dataset_scripts.counterargs18 import CounterArgs18
from dataset_scripts.counterargs18.footnotes import clean_paragraphs
from tests.dataset_scripts.packing import json_lines

KETTLE, TRAM, LAMP = "This House would ban kettles", "This House believes in trams", "This House prefers lamps"
# id -> point and counter
TEA = {"pro01": ("Kettles waste heat\n\nMost of it leaves by the lid.", "A lid keeps nearly all of it.")}
GAS = {"con01": ("Gas costs more\n\nThe bill [1] doubles.\n\n[1] Doe, J., 'Bills', 2010", "It is a tenth of rent.")}
RAIL = {"pro01": ("Trams are quiet\n\nThey hum.", "They squeal in every bend."), "con01": ("Rails cost a lot", None)}
WICK = {"con01": ("Wicks smell\n\nOf old fat.", "Of honey, if they are made well.")}
LID = ("Kettles waste heat - most of it leaves by the lid", "So does the heat of a pan.")
TREE = ("Trams look good in town", "So does a tree.")
# (split, theme, debate, thesis, arguments): the debate on kettles stands in train and, with another point, in test;
# that on trams in validation and train; the tax on kettles shares a point with the first, punctuation aside
DEBATES = [
    ("training", "home", "ban-kettles", KETTLE, TEA),
    ("test", "energy", "ban-kettles", f"{KETTLE}.", {**TEA, **GAS}),
    ("training", "money", "tax-kettles", "This House would tax kettles", {"pro02": LID}),
    ("validation", "travel", "trams", TRAM, RAIL),
    ("training", "cities", "trams", TRAM, {**RAIL, "pro02": TREE}),
    ("training", "home", "lamps", LAMP, WICK),
    ("training", "light", "lamps", LAMP, WICK),
]


def files_of(debates=DEBATES) -> dict[str, bytes]:
    """Path -> content of the released layout, with files of other kinds beside."""
    files = {}
    for split, theme, debate, thesis, arguments in debates:
        folder = f"{split}/{theme}/{debate}"
        files |= {f"{folder}/thesis.txt": f"{thesis}\n".encode(), f"{folder}/full.txt": b"all of it"}
        for id, texts in arguments.items():
            for part, text in zip(("a-point", "b-counter"), texts, strict=True):
                if text is not None:
                    files[f"{folder}/{id[:3]}/{id}{part}.txt"] = f"{text}\n".encode()
    return files


def raw(form: str, write):
    """The corpus in one of the forms that a user may have."""
    if "jsonl" in form:
        names = ("split", "theme", "debate", "thesis")
        records = [dict(zip(names, debate, strict=False)) for debate in DEBATES]
        for record, (*_, arguments) in zip(records, DEBATES, strict=True):
            texts = [(id, *both) for id, both in arguments.items()]
            record["args"] = [{"id": id, "side": id[:3], "point": p, "counter": c} for id, p, c in texts]
        return write("raw", {form: json_lines(records)}) / form
    hidden = {"top/test/energy/ban-kettles/pro/._pro01a-point.txt": b"\x00\x05\x16\x07"}
    files = hidden | {f"top/{name}": content for name, content in files_of().items()}
    return write(f"raw.{form}" if "tar" in form else "my [copy]", files)


@pytest.mark.parametrize("form", ["folder", "tar.xz", "debates.jsonl.gz"])
def test_the_published_split_and_its_leak(form, build, write):
    data, dropped = build(CounterArgs18, raw(form, write), "counters_official")
    assert data.num_rows == {"train": 6, "validation": 1, "test": 2}
    found = {row["id"]: (row["stance"], row["seen_in"]) for split in data for row in data[split]}
    assert found == {
        "cities/trams:pro01": ("pro", ""),
        "cities/trams:pro02": ("pro", ""),
        "home/ban-kettles:pro01": ("pro", ""),
        "home/lamps:con01": ("con", ""),
        "light/lamps:con01": ("con", ""),
        "money/tax-kettles:pro02": ("pro", ""),
        "travel/trams:pro01": ("pro", "train"),
        "energy/ban-kettles:pro01": ("pro", "train"),
        "energy/ban-kettles:con01": ("con", ""),
    }
    row, group = data["test"][0], "energy/ban-kettles"
    assert (row["id"], row["conclusion"], row["premises"]) == (f"{group}:con01", "Gas costs more", "The bill doubles.")
    assert (row["point"], row["counter"]) == ("Gas costs more The bill doubles.", "It is a tenth of rent.")
    assert (row["theme"], row["debate"], row["thesis"], row["group"]) == ("energy", "ban-kettles", f"{KETTLE}.", group)
    assert dropped == {"point: without counter": 2}
    assert build.facts == {
        "debates": 7,
        "theses": 4,
        "theses that several themes list": 3,
        "texts with references": 1,
        "references taken out": 1,
        "marks of footnotes taken out": 1,
        "validation points that are in train, word for word": 1,
        "test points that are in train, word for word": 1,
        "test points that are in train or validation, word for word": 1,
    }


def test_the_clean_split(build, write):
    data, dropped = build(CounterArgs18, raw("folder", write), "counters")
    facts = build.facts
    # three debates on kettles are one group, by thesis and by point, and belong to test; of those on trams only the one
    # in validation is left, without its second point; the lamps come once
    ids = {split: data[split]["id"] for split in data}
    assert ids == {
        "train": ["home/lamps:con01"],
        "validation": ["travel/trams:pro01"],
        "test": ["energy/ban-kettles:con01", "energy/ban-kettles:pro01"],
    }
    assert dropped == {
        "pair: in train, but its group is in test": 2,
        "pair: in train, but its group is in validation": 2,
        "point: without counter": 2,
        "row: duplicate": 1,
    }
    assert facts["groups of debates that share a thesis or a text"] == 3 and facts["texts that two splits have"] == 0


def test_arguments_are_whole_trees(build, write):
    data, dropped = build(CounterArgs18, raw("folder", write), "arguments")
    columns = ("id", "parent", "stance", "depth", "text")
    assert [tuple(row[name] for name in columns) for row in data["validation"]] == [
        ("travel/trams", None, "thesis", 0, TRAM),
        ("travel/trams:con01", "travel/trams", "con", 1, "Rails cost a lot"),
        ("travel/trams:pro01", "travel/trams", "pro", 1, "Trams are quiet They hum."),
        ("travel/trams:pro01:counter", "travel/trams:pro01", "con", 2, "They squeal in every bend."),
    ]
    assert data["train"]["id"] == ["home/lamps", "home/lamps:con01", "home/lamps:con01:counter"]
    assert dropped == {"argument: repeated": 3}


def test_broken_files_are_counted_and_cost_only_themselves(build, write):
    files, folder = files_of([*DEBATES, ("test", "sea", "ships", "This House sails", TEA)]), "test/energy/ban-kettles"
    files |= {
        f"{folder}/con/con02b-counter.txt": b"Nobody said so.",
        f"{folder}/con/con03a-point.txt": b" \n",
        f"{folder}/con/con04a-point.txt": "Caf\xe9s use kettles".encode("latin-1"),
        f"{folder}/con/con05a-point.txt": b'."',
        f"{folder}/con/con06a-point.txt": b"Pans are slow\n\nA pan is no slower.",
        f"{folder}/con/con06b-counter.txt": b"A pan is no slower.",
        "somewhere/energy/ban-kettles/con/con01a-point.txt": b"This folder is no split",
    }
    del files["test/sea/ships/thesis.txt"]
    data, dropped = build(CounterArgs18, write("raw", files), "counters")
    assert data.num_rows == {"train": 1, "validation": 1, "test": 2}
    assert dropped == {
        "counter: without its point": 1,
        "debate: without thesis": 1,
        "file: empty": 1,
        "file: in a folder that is no split": 1,
        "file: not UTF-8 text": 1,
        "pair: in train, but its group is in test": 2,
        "pair: in train, but its group is in validation": 2,
        "pair: the counter is a part of the point": 1,
        "point: without counter": 2,
        "point: without words": 1,
        "row: duplicate": 1,
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tea is hot [1] . It cools [ii], slowly [3, 4].", ["Tea is hot. It cools, slowly."]),
        (
            "Jobs came.1 More jobs2, on p.10 of No.7 in 2 , for 3 .",
            ["Jobs came. More jobs, on p.10 of No.7 in 2 , for."],
        ),
        ("Head\n\nBody.\n\n[1] Doe, 'T', 2010\n\n[2] ibid", ["Head", "Body."]),
        ("Head\n\nBody.\n\nDoe, Jane. “On Tea.” The Herald. 19/05/2011 http://a.org", ["Head", "Body."]),
        ("Head\n\nThe end. 1 Doe, J. (2009). Tea. Retrieved May 2, 2010, from Herald", ["Head", "The end."]),
        # prose stays
        ("Head\n\n(1) it is cheap\n\n(2) it is good", ["Head", "(1) it is cheap", "(2) it is good"]),
        ("[1] Doe, 'T', 2010", ["Doe, 'T', 2010"]),  # a text is never taken away altogether
    ],
)
def test_footnotes(text, expected):
    assert clean_paragraphs(text, Counter()) == expected
