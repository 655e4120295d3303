"""Kialo: the parser of exports and the builder, on invented discussions whose numbers are worked out by hand."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.kialo import Kialo
from dataset_scripts.kialo.export import clean_text, discussion_id, parse_export

DATA = Path(__file__).parents[1] / "data" / "kialo"
PIGEONS, VILLAGE = DATA / "should-pigeons-be-fed-101.txt", DATA / "what-should-the-village-build-102.txt"
needs_corpora = pytest.mark.skipif(not os.environ.get("CORPORA_DIR"), reason="CORPORA_DIR is not set")


def export(topic: str) -> str:
    """A discussion of one thesis, one argument for it and one against: 3 pairs, 1 triplet, 3 arguments."""
    return (
        f"Discussion Title: Is the {topic} any good?\n\n1. The {topic} is good for all of us.\n"
        f"1.1. Pro: The {topic} is what we have been waiting for.\n1.2. Con: The {topic} is a waste of our time.\n"
    )


def write_exports(folder: Path, count: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"topic-{100 + number}.txt").write_text(export(f"thing number {number}"), encoding="utf-8")
    return folder


def build(data: Path, config: str, cache: Path, **options):
    builder = Kialo.open(data, config, cache_dir=cache / "cache", **options)
    builder.download_and_prepare()
    return builder, {split: list(rows) for split, rows in builder.as_dataset().items()}


def test_title_dialect():
    discussion = parse_export(PIGEONS.read_text(encoding="utf-8"))
    assert discussion.title == "Should pigeons be fed?"
    assert [node.id for node in discussion.nodes] == [
        "1.", "1.1.", "1.1.1.", "1.1.2.", "1.1.2.1.", "1.2.", "1.3.", "1.4.", "1.5.",
    ]  # fmt: skip
    nodes = {node.id: node for node in discussion.nodes}
    assert nodes["1."].parent is None and nodes["1."].relation is None
    assert nodes["1.1."].relation == "Pro" and nodes["1.1.1."].relation == "Con"
    assert nodes["1.1."].text == "Feeding pigeons makes lonely people happy (and talkative)."
    assert nodes["1.1.1."].text == (
        "Lonely people are in need of friends more than birds. "
        "1. This numbered line belongs to the same argument. 2. And so does this one."
    )
    assert not discussion.has_theses() and len(discussion.arguments()) == 7


def test_links():
    nodes = {node.id: node for node in parse_export(PIGEONS.read_text(encoding="utf-8")).nodes}
    assert nodes["1.1.2."].link_to == "1.3." and nodes["1.1.2."].text == nodes["1.3."].text
    assert nodes["1.1.2.1."].parent == "1.3."  # an answer below a link answers the linked claim
    assert nodes["1.5."].link_to == "#921" and nodes["1.5."].text == "Birds should live in the wild."


def test_link_chain_and_circle():
    discussion = parse_export(
        "Discussion Title: Links\n1. Root\n1.1. Pro: -> See 1.2.\n1.2. Pro: -> See 1.3.\n1.3. Con: A claim\n"
        "1.4. Pro: -> See 1.5.\n1.5. Pro: -> See 1.4.\n1.6. Con: -> See 1.9.\n"
    )
    assert [node.link_to for node in discussion.nodes] == [None, "1.3.", "1.3.", None, "1.5.", "1.4.", "1.9."]


def test_name_dialect_with_theses_and_sources():
    discussion = parse_export(VILLAGE.read_text(encoding="utf-8"))
    assert discussion.title == "What should the village build?" and discussion.has_theses()
    assert [(node.id, node.relation, node.text, node.link_to) for node in discussion.nodes] == [
        ("1.", None, "What should the village build next?", None),
        ("1.1.", None, "The village should build a skate park.", None),
        ("1.1.1.", "Pro", "Teenagers have nowhere to go in the evening.", None),
        ("1.1.1.1.", "Con", "The youth club is open until ten every evening.", None),
        ("1.1.2.", "Con", "Skate parks are loud. It goes on until midnight.", None),
        ("1.2.", None, "The village should build a library.", None),
        ("1.2.1.", "Pro", "Teenagers have nowhere to go in the evening.", "1.1.1."),
    ]


def test_theses_without_labels():
    lines = ["Discussion Title: Pets", "", "1. Which?", "1.1. Cats", "1.1.1. Pro: They purr", "1.2. Dogs: all of them"]
    assert [(n.id, n.relation, n.text) for n in parse_export("\r\n".join(lines)).nodes][1:] == [
        ("1.1.", None, "Cats"),
        ("1.1.1.", "Pro", "They purr"),
        ("1.2.", None, "Dogs: all of them"),
    ]


def test_entry_without_parent_is_left_out():
    entries = "1. Root\n1.1. Pro: Here\n1.7.1. Con: Its parent is missing\n1.2. Con: There"
    discussion = parse_export(f"Discussion Title: T\n{entries}")
    assert [node.text for node in discussion.nodes] == ["Root", "Here", "There"] and discussion.orphans == 1


@pytest.mark.parametrize("text", ["", "Some notes of mine\n1. No title", "Discussion Title: Only a title\n\n"])
def test_no_tree(text):
    with pytest.raises(ValueError, match="no "):
        parse_export(text)


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("see [the law](http://a.b/c_(d)) now", "see the law now"),
        ("said [they \\[all\\] agree](http://a.b) so", "said they [all] agree so"),
        ("true [[1]](http://a.b). Next", "true. Next"),
        ("proven (Source [12]; [13])!", "proven!"),
        ("in [1984] it was", "in [1984] it was"),
        ("of 2 \\< 3 \\(or so\\)", "of 2 < 3 (or so)"),
        ("the source (of all) is open", "the source (of all) is open"),
    ],
)
def test_clean_text(raw, plain):
    assert clean_text(raw) == plain


def test_marks_of_four_digits_need_the_list():
    assert clean_text("as seen [1001] in [1984]", frozenset({"1001"})) == "as seen in [1984]"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a-b-333.txt", "333"),
        ("a-b-333 (1).txt", "333"),
        ("cut-off-nam-1.txt", "t:is-tea-good"),
        ("tea.txt", "t:is-tea-good"),
    ],
)
def test_discussion_id(name, expected):
    assert discussion_id(name, parse_export("Discussion Title: Is tea good?\n1. Tea is good")) == expected


def test_pairs(tmp_path):
    # 101: 6 child-to-parent and 6 child-to-child; "No way." takes 1 and 3 of them. 102: 3 and 1.
    builder, splits = build(DATA, "pairs", tmp_path)
    rows = splits["train"]
    assert set(splits) == {"train"}  # two discussions cannot be divided
    assert Counter((row["group"], row["relation"], row["label"]) for row in rows) == {
        ("101", "child-to-parent", 1): 2,
        ("101", "child-to-parent", 0): 3,
        ("101", "child-to-child", 1): 1,
        ("101", "child-to-child", 0): 2,
        ("102", "child-to-parent", 1): 1,
        ("102", "child-to-parent", 0): 2,
        ("102", "child-to-child", 0): 1,
    }
    assert builder.dropped == {"row: text shorter than 4 words": 4, "entry: a link, not an argument": 3}
    questions = [row for row in rows if "build next" in row["sentence1"] + row["sentence2"]]
    assert not questions  # a thesis is neither for nor against its question
    under_link = next(row for row in rows if row["sentence1"].startswith("The fields"))
    assert under_link["sentence2"] == "Pigeons that are fed leave the crops alone." and under_link["label"] == 0


def test_triplets(tmp_path):
    builder, splits = build(DATA, "triplets", tmp_path)  # 101: 2 Pro x 2 Con, one Con too short; 102: 1 x 1
    assert Counter(row["group"] for row in splits["train"]) == {"101": 2, "102": 1}
    assert builder.dropped["row: text shorter than 4 words"] == 2
    assert splits["train"][2] == {
        "anchor": "The village should build a skate park.",
        "positive": "Teenagers have nowhere to go in the evening.",
        "negative": "Skate parks are loud. It goes on until midnight.",
        "group": "102",
    }


def test_arguments(tmp_path):
    _, splits = build(DATA, "arguments", tmp_path)
    assert Counter(row["stance"] for row in splits["train"]) == {"con": 5, "pro": 3, "thesis": 3, "question": 1}
    row = next(row for row in splits["train"] if row["id"] == "101:1.1.2.1.")
    assert (row["parent"], row["depth"], row["language"]) == ("101:1.3.", 3, "en")


def test_cap_per_parent(tmp_path):
    _, splits = build(PIGEONS, "triplets", tmp_path, max_per_parent=1)
    assert len(splits["train"]) == 1
    _, splits = build(PIGEONS, "pairs", tmp_path, max_per_parent=2)
    assert Counter(row["relation"] for row in splits["train"]) == {"child-to-parent": 5, "child-to-child": 2}


def test_triplets_of_siblings(tmp_path):
    sides = {
        "Pro": ["Trams carry many people at once.", "Trams hardly pollute the air."],
        "Con": [
            "Rails are dangerous for cyclists.",
            "Trams cost more than buses do.",
            "Building the lines takes years.",
        ],
    }
    answers = [f"{side}: {text}" for side, texts in sides.items() for text in texts]
    entries = "\n".join(f"1.{number}. {answer}" for number, answer in enumerate(answers, start=1))
    head = "Discussion Title: Trams?\n\n1. Our town should build trams."
    last = "1.1.1. Pro: One tram replaces three buses."
    (tmp_path / "trams-104.txt").write_text(f"{head}\n{entries}\n{last}\n")
    _, plain = build(tmp_path / "trams-104.txt", "triplets", tmp_path)
    _, splits = build(tmp_path / "trams-104.txt", "triplets", tmp_path, siblings=True)
    assert [row for row in splits["train"] if row["anchor"] == "Our town should build trams."] == plain["train"]
    siblings = [row for row in splits["train"] if row["anchor"] != "Our town should build trams."]
    # one for each answer to the thesis, none where an argument has a single answer
    assert sorted(row["anchor"] for row in siblings) == sorted(sides["Pro"] + sides["Con"])
    side_of = {text: side for side, texts in sides.items() for text in texts}
    for row in siblings:
        assert row["positive"] != row["anchor"]
        assert side_of[row["positive"]] == side_of[row["anchor"]] != side_of[row["negative"]]


def _archive(kind: str, folder: Path, target: Path) -> Path:
    files = sorted(folder.rglob("*.txt"), reverse=True)
    path = target / f"exports.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for file in files:
                archive.write(file, f"deep/{file.name}")
            archive.writestr("__MACOSX/._topic-100.txt", b"\x00\x05")
        return path
    with tarfile.open(path, f"w:{kind.partition('.')[2]}") as archive:
        for file in files:
            archive.add(file, f"deep/{file.name}")
    return path


def _as_jsonl(folder: Path, target: Path) -> Path:
    path = target / "trees.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        for file in sorted(folder.glob("*.txt")):
            tree = parse_export(file.read_text(encoding="utf-8"))
            nodes = [{name: getattr(node, name) for name in node.__slots__} for node in tree.nodes]
            record = {"discussion_id": discussion_id(file.name, tree), "title": tree.title, "nodes": nodes}
            lines.write(json.dumps(record) + "\n")
    return path


@pytest.mark.parametrize("kind", ["tar.xz", "tar.gz", "tar", "zip", "jsonl"])
def test_every_container_gives_the_same_rows(kind, tmp_path):
    folder = write_exports(tmp_path / "in", 12)
    packed = _as_jsonl(folder, tmp_path) if kind == "jsonl" else _archive(kind, folder, tmp_path)
    assert build(packed, "pairs", tmp_path / "a")[1] == build(folder, "pairs", tmp_path / "b")[1]


def test_single_file_gives_the_same_rows(tmp_path):
    _, alone = build(PIGEONS, "pairs", tmp_path / "a")
    _, both = build(DATA, "pairs", tmp_path / "b")
    assert alone["train"] == [row for row in both["train"] if row["group"] == "101"]


def test_split_by_discussion(tmp_path):
    # 20 discussions: validation round(0.05 * 20) = 1, test 2, train 17; 3 pairs each
    folder = write_exports(tmp_path / "in", 20)
    _, splits = build(folder, "pairs", tmp_path)
    assert {split: len(rows) for split, rows in splits.items()} == {"train": 51, "validation": 3, "test": 6}
    groups = {split: {row["group"] for row in rows} for split, rows in splits.items()}
    assert sum(map(len, groups.values())) == 20 == len(set().union(*groups.values()))
    assert build(folder, "pairs", tmp_path, seed=42)[1] == splits
    other = build(folder, "pairs", tmp_path, seed=7)[1]
    assert {row["group"] for row in other["test"]} != groups["test"]
    _, triplets = build(folder, "triplets", tmp_path)
    assert {row["group"] for row in triplets["test"]} == groups["test"]


def test_copied_arguments_stay_on_one_side(tmp_path):
    folder = write_exports(tmp_path / "in", 20)
    _, splits = build(folder, "pairs", tmp_path)
    tested, trained = splits["test"][0], splits["train"][0]["group"]
    path = folder / f"topic-{trained}.txt"
    copied = tested["sentence1"].rstrip(".").upper()  # copies differ in punctuation and capitals
    path.write_text(path.read_text() + f"1.3. Con: {copied}\n1.4. Pro: {tested['sentence2']}\n", encoding="utf-8")
    builder, leaky = build(folder, "pairs", tmp_path)
    # 4 children: 4 + 6 pairs, of which 3 hold neither copy
    assert builder.dropped == {"row: a text is also in test": 7}
    assert leaky == splits


def test_duplicates_regardless_of_order(tmp_path):
    lines = ["Discussion Title: Is this the one?", "1. This is the first of the statements."]
    lines += ["1.1. Pro: This is the second of the statements."]
    lines += ["1.1.1. Pro: This is the first of the statements."]  # the pair (1., 1.1.) turned round
    lines += ["1.1.1.1. Con: This is the first of the statements."]  # equal texts
    (tmp_path / "in-55.txt").write_text("\n".join(lines))
    builder, splits = build(tmp_path / "in-55.txt", "pairs", tmp_path)
    assert len(splits["train"]) == 1
    assert builder.dropped == {"row: duplicate": 1, "row: equal texts": 1}


def test_fullest_of_several_exports(tmp_path):
    folder = write_exports(tmp_path / "in", 3)
    fuller = export("thing number 0") + "1.3. Con: The fuller export is the one to keep.\n"
    (folder / "topic-100 (1).txt").write_text(fuller)
    builder, splits = build(folder, "arguments", tmp_path)
    assert sum(map(len, splits.values())) == 10
    assert builder.dropped == {"discussion: in several files (the fullest is kept)": 1}


def test_other_languages(tmp_path):
    folder = write_exports(tmp_path / "in", 3)
    text = (
        "Discussion Title: Ist Tee gut?\n1. Der Tee ist besser als der Kaffee von gestern.\n"
        "1.1. Pro: Man kann ihn auch kalt noch gerne trinken.\n1.2. Con: Kaffee riecht aber viel besser als Tee.\n"
    )
    (folder / "tee-900.txt").write_text(text, encoding="utf-8")
    builder, splits = build(folder, "pairs", tmp_path)
    assert builder.dropped == {"discussion: not in English": 1} and sum(map(len, splits.values())) == 9
    builder, splits = build(folder, "arguments", tmp_path, all_languages=True)
    assert Counter(row["language"] for rows in splits.values() for row in rows) == {"en": 9, "other": 3}


def test_broken_files_are_counted(tmp_path, caplog):
    folder = write_exports(tmp_path / "in", 3)
    (folder / "empty-901.txt").write_bytes(b"")
    (folder / "binary-902.txt").write_bytes(bytes(range(256)))
    (folder / "latin-903.txt").write_bytes("Discussion Title: Café?\n1. Ja".encode("latin-1"))
    (folder / "notes.txt").write_text("My notes on the exports")
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    (folder / "cut.tar.xz").write_bytes(_archive("tar.xz", DATA, tmp_path).read_bytes()[:300])
    (folder / "trees.jsonl").write_text('{"discussion_id": "1"}\n\nnot json\n[1]\n')
    packed = bytearray(gzip.compress(b'{"discussion_id": "1"}'))
    packed[10:14] = b"\xff" * 4  # after the header
    (folder / "more.jsonl.gz").write_bytes(packed)
    (folder / "picture.png").write_bytes(b"\x89PNG")  # no name of ours: passed over
    builder, splits = build(folder, "pairs", tmp_path)
    assert sum(map(len, splits.values())) == 9
    assert builder.dropped == {
        "file: empty": 1,
        "file: not UTF-8 text": 2,
        "file: without a discussion tree": 1,
        "file: cannot be read": 3,
        "line: not a parsed discussion": 3,
    }
    assert "binary-902.txt" in caplog.text and "trees.jsonl, line 3" in caplog.text


def test_stray_files_in_an_archive(tmp_path):
    archive = tmp_path / "exports.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(PIGEONS, PIGEONS.name)
        info = tarfile.TarInfo("readme.pdf")
        info.size = 3
        tar.addfile(info, io.BytesIO(b"pdf"))
    builder, _ = build(archive, "arguments", tmp_path)
    assert builder.dropped["file: neither an export nor parsed discussions"] == 1


def test_nothing_usable(tmp_path):
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(ValueError, match=r"kialo: no usable row in 1 file.*file: empty"):
        build(tmp_path / "empty.txt", "pairs", tmp_path)
    with pytest.raises(FileNotFoundError, match="belongs to kialo"):
        Kialo.open(Path(__file__), "pairs")


@pytest.mark.corpora
@needs_corpora
@pytest.mark.parametrize("config", ["pairs", "triplets", "arguments"])
def test_expected_counts(config, tmp_path):
    archive = Path(os.environ["CORPORA_DIR"]) / "kialo" / "kialo_raw_txt.tar.xz"
    builder = Kialo.open(archive, config, cache_dir=tmp_path)
    builder.download_and_prepare()
    splits = {split: info.num_examples for split, info in builder.info.splits.items()}
    assert splits == load_metadata("kialo").expected[config]
    assert builder.dropped["discussion: in several files (the fullest is kept)"] == 12
    assert builder.dropped["discussion: not in English"] == 36


@pytest.mark.corpora
@needs_corpora
def test_agrees_with_an_independent_parse():
    from tests.benchmarks.kialo import compare

    folder = Path(os.environ["CORPORA_DIR"]) / "kialo"
    classes = compare(folder / "kialo_raw_txt.tar.xz", folder / "kialo_trees.jsonl.gz")
    assert classes["files"] == 921 and classes["entries in both"] == 155_779
    assert not any(classes[name] for name in ("entry: only here", "entry: only in the reference", "parent", "relation"))
    assert classes["link: other"] == classes["title: other"] == 0
    assert sum(count for name, count in classes.items() if name.startswith("text: other")) == 11
