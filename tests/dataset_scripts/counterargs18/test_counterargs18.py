"""counterargs-18: the layouts it comes in, footnotes, the leak of the published split and the clean one."""

import gzip
import io
import json
import os
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from dataset_scripts.__main__ import main
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.schema import COUNTERS
from dataset_scripts.base.sources import load_source
from dataset_scripts.counterargs18 import CounterArgs18
from dataset_scripts.counterargs18.footnotes import clean_paragraphs

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


def unpacked(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def packed(path: Path, files: list[tuple[str, bytes]], mode: str) -> Path:
    with tarfile.open(path, mode) as archive:
        for name, content in files:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def lines_of(debates=DEBATES) -> str:
    records = [
        {
            "split": split,
            "theme": theme,
            "debate": debate,
            "thesis": thesis,
            "args": [{"id": id, "side": id[:3], "point": p, "counter": c} for id, (p, c) in arguments.items()],
        }
        for split, theme, debate, thesis, arguments in debates
    ]
    return "".join(json.dumps(record) + "\n" for record in records)


def raw(form: str, folder: Path) -> Path:
    """The corpus in one of the forms that a user may have."""
    files = files_of()
    if form == "folder":
        return unpacked(folder / "my [copy]", files)
    if form == "nested folder":
        unpacked(folder / "data/of-another-name/v2", files)
        return folder / "data"
    if form.startswith("tar"):
        hidden = [("top/test/energy/ban-kettles/pro/._pro01a-point.txt", b"\x00\x05\x16\x07")]
        mode = {"tar": "w", "tar.gz": "w:gz", "tar.xz": "w:xz"}[form]
        return packed(folder / f"raw.{form}", [*hidden, *((f"top/{name}", files[name]) for name in files)], mode)
    path = folder / f"raw.{form}"
    text = lines_of().encode()
    path.write_bytes(gzip.compress(text) if form.endswith(".gz") else text)
    return path


def build(data: Path, config: str, cache: Path):
    builder = CounterArgs18.open(data, config, cache_dir=cache / "cache")
    builder.download_and_prepare()
    return builder.as_dataset(), dict(builder.dropped), dict(builder.facts)


@pytest.mark.parametrize("form", ["folder", "nested folder", "tar", "tar.gz", "tar.xz", "jsonl", "jsonl.gz"])
def test_the_published_split_and_its_leak(tmp_path, form):
    data, dropped, facts = build(raw(form, tmp_path), "counters_official", tmp_path)
    assert data.num_rows == {"train": 6, "validation": 1, "test": 2}
    assert data["test"].features == COUNTERS
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
    assert data["test"][0] == {
        "id": "energy/ban-kettles:con01",
        "conclusion": "Gas costs more",
        "premises": "The bill doubles.",
        "point": "Gas costs more The bill doubles.",
        "counter": "It is a tenth of rent.",
        "stance": "con",
        "theme": "energy",
        "debate": "ban-kettles",
        "thesis": "This House would ban kettles.",
        "seen_in": "",
        "group": "energy/ban-kettles",
    }
    assert dropped == {"point: without counter": 2}
    assert facts == {
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


def test_the_clean_split(tmp_path):
    data, dropped, facts = build(raw("folder", tmp_path), "counters", tmp_path)
    # three debates on kettles are one group, by thesis and by point, and belong to test; of those on trams only the one
    # in validation is left, without its second point; the lamps come once
    ids = {split: data[split]["id"] for split in data}
    assert ids == {
        "train": ["home/lamps:con01"],
        "validation": ["travel/trams:pro01"],
        "test": ["energy/ban-kettles:con01", "energy/ban-kettles:pro01"],
    }
    groups = {split: set(data[split]["group"]) for split in data}
    assert groups == {"train": {"home/lamps"}, "validation": {"cities/trams"}, "test": {"energy/ban-kettles"}}
    assert dropped == {
        "pair: in train, but its group is in test": 2,
        "pair: in train, but its group is in validation": 2,
        "point: without counter": 2,
        "row: duplicate": 1,
    }
    assert facts["groups of debates that share a thesis or a text"] == 3 and facts["texts that two splits have"] == 0
    assert set(data["test"]["seen_in"]) == {""}


def test_arguments_are_whole_trees(tmp_path):
    data, dropped, _ = build(raw("folder", tmp_path), "arguments", tmp_path)
    columns = ("id", "parent", "stance", "depth", "text")
    assert [tuple(row[name] for name in columns) for row in data["validation"]] == [
        ("travel/trams", None, "thesis", 0, TRAM),
        ("travel/trams:con01", "travel/trams", "con", 1, "Rails cost a lot"),
        ("travel/trams:pro01", "travel/trams", "pro", 1, "Trams are quiet They hum."),
        ("travel/trams:pro01:counter", "travel/trams:pro01", "con", 2, "They squeal in every bend."),
    ]
    assert data["train"]["id"] == ["home/lamps", "home/lamps:con01", "home/lamps:con01:counter"]
    assert dropped == {"argument: repeated": 3}


def test_a_repeated_thesis_keeps_the_points_of_both_debates(tmp_path):
    other = {"pro01": ("Wicks are cheap", "So is a bulb."), **WICK}
    (tmp_path / "raw.jsonl").write_text(
        lines_of([("training", "home", "lamps", LAMP, WICK), ("training", "light", "lamps", f"{LAMP}!", other)])
    )
    data, dropped, _ = build(tmp_path / "raw.jsonl", "arguments", tmp_path)
    assert [(row["id"], row["parent"]) for row in data["train"]] == [
        ("home/lamps", None),
        ("home/lamps:con01", "home/lamps"),
        ("home/lamps:con01:counter", "home/lamps:con01"),
        ("light/lamps:pro01", "home/lamps"),
        ("light/lamps:pro01:counter", "light/lamps:pro01"),
    ]
    assert dropped == {"argument: repeated": 3}


def test_broken_files_are_counted_and_cost_only_themselves(tmp_path, caplog):
    files = files_of([*DEBATES, ("test", "sea", "ships", "This House sails", TEA)])
    files |= {
        "test/energy/ban-kettles/con/con02b-counter.txt": b"Nobody said so.",
        "test/energy/ban-kettles/con/con03a-point.txt": b" \n",
        "test/energy/ban-kettles/con/con04a-point.txt": "Caf\xe9s use kettles".encode("latin-1"),
        "test/energy/ban-kettles/con/con05a-point.txt": b'."',
        "test/energy/ban-kettles/con/con06a-point.txt": b"Pans are slow\n\nA pan is no slower.",
        "test/energy/ban-kettles/con/con06b-counter.txt": b"A pan is no slower.",
        "somewhere/energy/ban-kettles/con/con01a-point.txt": b"This folder is no split",
        "test/energy/ban-kettles/con/._con01a-point.txt": b"\x00\x05\x16\x07",
    }
    del files["test/sea/ships/thesis.txt"]
    data, dropped, _ = build(unpacked(tmp_path / "raw", files), "counters", tmp_path)
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
    assert "con04a-point.txt: file: not UTF-8 text" in caplog.text and "sea/ships: no thesis" in caplog.text


def test_a_file_and_a_debate_given_twice(tmp_path):
    files = [(f"top/{name}", content) for name, content in files_of().items()]
    again = ("top/training/home/lamps/con/con01a-point.txt", b"Wicks smell\n\nOf very old fat.")
    folder = tmp_path / "raw"
    folder.mkdir()
    packed(folder / "1.tar", [*files, again], "w")
    (folder / "2.jsonl").write_text(lines_of([*DEBATES[:2], ("test", "sea", "ships", "This House sails", TEA)]))
    data, dropped, _ = build(folder, "counters_official", tmp_path)
    assert data.num_rows == {"train": 6, "validation": 1, "test": 3}
    assert dropped == {
        "debate: given twice (the fuller is kept)": 2,
        "file: given twice (the later is kept)": 1,
        "point: without counter": 2,
    }
    lamps = [row["point"] for row in data["train"] if row["id"] == "home/lamps:con01"]
    assert lamps == ["Wicks smell Of very old fat."]


def test_broken_lines_are_named(tmp_path, caplog):
    path = tmp_path / "raw.jsonl"
    wrong = [
        '{"split": "training"',
        '{"split": "dawn", "theme": "a", "debate": "b", "thesis": "c", "args": []}',
        '{"split": "test", "theme": "a", "debate": "b", "thesis": "c", "args": [{"id": 1, "side": "both"}]}',
        '{"split": "test", "theme": "a", "debate": "b", "thesis": "c", "args": [{"id": 1, "side": "pro", "point": 7}]}',
        "[]",
        "",
    ]
    path.write_text(lines_of() + "\n".join(wrong) + "\n")
    data, dropped, _ = build(path, "counters_official", tmp_path)
    assert data.num_rows["train"] == 6 and dropped["line: not a parsed debate"] == 5
    assert "raw.jsonl, line 8" in caplog.text and "side is 'both', neither pro nor con" in caplog.text


def test_an_archive_that_is_cut_off_gives_what_it_has(tmp_path):
    path = raw("tar.gz", tmp_path)
    path.write_bytes(path.read_bytes()[:-300])
    data, dropped, _ = build(path, "counters_official", tmp_path)
    assert dropped["file: cannot be read to its end"] == 1 and data["train"]


def test_nothing_of_the_corpus(tmp_path):
    (tmp_path / "notes.txt").write_text("no debate")
    with pytest.raises(FileNotFoundError, match=r"nothing at .* belongs to counterargs18; it needs the second part"):
        CounterArgs18.open(tmp_path)


def test_the_leak_is_printed_and_kept(tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["counterargs18", "--data", str(raw("jsonl", tmp_path)), "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert "        1 test points that are in train, word for word\n" in printed.out
    assert "        0 texts that two splits have\n" in printed.out
    assert "test points that are in train, word for word 1 instead of 616" in printed.err  # the release has more
    card = (out / "README.md").read_text()
    assert "## Counted" in card and "| test points that are in train, word for word |  | 1 |  |" in card
    summary = json.loads((out / "summary.json").read_text())
    assert summary["configs"]["counters"]["facts"]["texts that two splits have"] == 0
    assert not summary["redistributable"]


@pytest.mark.parametrize("config", CounterArgs18.FEATURES)
def test_the_demonstration(tmp_path, config):
    data = load_source("demo:counters", config, tmp_path)
    assert list(data) == ["train", "validation", "test"]
    if config != "arguments":  # plain `demo` has the debates for those
        assert load_source("demo", config, tmp_path).num_rows == data.num_rows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tea is hot [1] . It cools [ii], slowly [3, 4].", ["Tea is hot. It cools, slowly."]),
        ("“[i]t was [1998] then”, he [sic] said", ["“[i]t was [1998] then”, he [sic] said"]),
        (
            "Jobs came.1 More jobs2, on p.10 of No.7 in 2 , for 3 .",
            ["Jobs came. More jobs, on p.10 of No.7 in 2 , for."],
        ),
        ("Tea &amp; cof\u00adfee\u200b\u00a0too\n\nimprove this\n\nCOUNTERPOINT", ["Tea & coffee too"]),
        ("Head\n\nBody.\n\n[1] Doe, 'T', 2010\n\n[2] ibid", ["Head", "Body."]),
        ("Head\n\nBody (1) and (2) more.\n\n(1) Doe, 'T', http://a.org/b", ["Head", "Body and more."]),
        ("Head\n\nBody.1\n\n1 Doe, J. (2010, May 1). T. Retrieved May 2, 2010\n\n2 The Herald", ["Head", "Body."]),
        ("Head\n\nBody.\n\nDoe, Jane. “On Tea.” The Herald. 19/05/2011 http://a.org", ["Head", "Body."]),
        ("Head\n\nThe end. 1 Doe, J. (2009). Tea. Retrieved May 2, 2010, from Herald", ["Head", "The end."]),
        # prose stays: lists, a number or a year at the start, a mark that was put in front
        ("Head\n\n(1) it is cheap\n\n(2) it is good", ["Head", "(1) it is cheap", "(2) it is good"]),
        ("Head\n\n16 year olds did vote in 2014 with care", ["Head", "16 year olds did vote in 2014 with care"]),
        ("Head\n\n[1] In 2010 all were for it.\n\nThen not.", ["Head", "In 2010 all were for it.", "Then not."]),
        ("Head\n\nLook at Iraq in 2003.", ["Head", "Look at Iraq in 2003."]),
        ("See the page http://a.org/b for more", ["See the page for more"]),
        ("[1] Doe, 'T', 2010", ["Doe, 'T', 2010"]),  # a text is never taken away altogether
    ],
)
def test_footnotes(text, expected):
    assert clean_paragraphs(text, Counter()) == expected


def test_footnotes_are_counted():
    counts = Counter()
    clean_paragraphs("Head [1]\n\nBody [2].\n\n[1] Doe, 'T', 2010\n\n[2] ibid", counts)
    assert counts["texts with references"] == 1
    assert counts["references taken out"] == 2 and counts["marks of footnotes taken out"] == 2


@pytest.mark.corpora
@pytest.mark.skipif("CORPORA_DIR" not in os.environ, reason="CORPORA_DIR is not set")
@pytest.mark.parametrize("config", ["counters", "counters_official"])
def test_the_release(tmp_path, config):
    archive = Path(os.environ["CORPORA_DIR"]) / "counterargs18" / "02-extracted-arguments.tar.xz"
    data, dropped, facts = build(archive, config, tmp_path)
    record = load_metadata("counterargs18")
    assert data.num_rows == record.expected[config]
    expected = record.expected_facts.get(config, {})
    assert {fact: facts[fact] for fact in expected} == expected
    assert dropped.pop("point: without words") == 2
    if config == "counters_official":
        assert dropped == {"point: without counter": 24}  # all 6,753 pairs are there
        assert Counter(data["test"]["seen_in"]) == {"train": 616, "validation": 177, "": 608}
    if config == "counters":
        groups = [set(rows["group"]) for rows in data.values()]
        assert not groups[0] & groups[1] and not (groups[0] | groups[1]) & groups[2]
