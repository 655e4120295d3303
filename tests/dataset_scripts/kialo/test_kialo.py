"""Kialo: the parser of exports and the builder, on invented discussions whose numbers are worked out by hand."""

from collections import Counter
from pathlib import Path

import pytest

from dataset_scripts.base.sources import DEMO_FOLDER
from dataset_scripts.base.stances import stance_statistics, tokenize
from dataset_scripts.kialo import Kialo, WrittenDebates
from dataset_scripts.kialo.export import clean_text, parse_export

DATA = Path(__file__).parent / "exports"
PIGEONS, VILLAGE = DATA / "should-pigeons-be-fed-101.txt", DATA / "what-should-the-village-build-102.txt"


def test_title_dialect():
    discussion = parse_export(PIGEONS.read_text(encoding="utf-8"))
    nodes = {node.id: node for node in discussion.nodes}
    assert discussion.title == "Should pigeons be fed?" and not discussion.has_theses()
    assert list(nodes) == ["1.", "1.1.", "1.1.1.", "1.1.2.", "1.1.2.1.", "1.2.", "1.3.", "1.4.", "1.5."]
    assert (nodes["1."].parent, nodes["1."].relation, nodes["1.1."].relation) == (None, None, "Pro")
    assert nodes["1.1."].text == "Feeding pigeons makes lonely people happy (and talkative)."
    assert nodes["1.1.1."].text == (
        "Lonely people are in need of friends more than birds. "
        "1. This numbered line belongs to the same argument. 2. And so does this one."
    )
    assert nodes["1.1.2."].link_to == "1.3." and nodes["1.1.2."].text == nodes["1.3."].text
    assert nodes["1.1.2.1."].parent == "1.3."  # an answer below a link answers the linked claim
    assert nodes["1.5."].link_to == "#921" and nodes["1.5."].text == "Birds should live in the wild."
    assert len(discussion.arguments()) == 7


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


def test_links_theses_without_labels_and_entries_without_parents():
    head = "Discussion Title: T\r\n\r\n1. Root\r\n"
    chains = "1.1. Pro: -> See 1.2.\n1.2. Pro: -> See 1.3.\n1.3. Con: A claim\n1.4. Pro: -> See 1.5.\n"
    chains += "1.5. Pro: -> See 1.4.\n1.6. Con: -> See 1.9.\n"
    links = [node.link_to for node in parse_export(head + chains).nodes]
    assert links == [None, "1.3.", "1.3.", None, "1.5.", "1.4.", "1.9."]
    theses = parse_export(f"{head}1.1. Cats\r\n1.1.1. Pro: They purr\r\n1.2. Dogs: all of them").nodes[1:]
    assert [(n.relation, n.text) for n in theses] == [(None, "Cats"), ("Pro", "They purr"), (None, "Dogs: all of them")]
    discussion = parse_export(f"{head}1.1. Pro: Here\n1.7.1. Con: Its parent is missing\ngone\n1.2. Con: There")
    assert [node.text for node in discussion.nodes] == ["Root", "Here", "There"] and discussion.orphans == 1


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("see [the law](http://a.b/c_(d)) now", "see the law now"),
        ("proven (Source [12]; [13])!", "proven!"),
        ("as seen [1001] in [1984]", "as seen in [1984]"),  # a mark of four digits needs the list
        ("of 2 \\< 3 \\(or so\\)", "of 2 < 3 (or so)"),
    ],
)
def test_clean_text(raw, plain):
    assert clean_text(raw, frozenset({"1001"})) == plain


def test_pairs_triplets_arguments_and_families(build):
    # 101: 6 child-to-parent and 6 child-to-child; "No way." takes 1 and 3 of them. 102: 3 and 1.
    data, dropped = build(Kialo, DATA, "pairs")
    assert set(data) == {"train"}  # two discussions cannot be divided
    assert Counter((row["group"], row["relation"], row["label"]) for row in data["train"]) == {
        ("101", "child-to-parent", 1): 2,
        ("101", "child-to-parent", 0): 3,
        ("101", "child-to-child", 1): 1,
        ("101", "child-to-child", 0): 2,
        ("102", "child-to-parent", 1): 1,
        ("102", "child-to-parent", 0): 2,
        ("102", "child-to-child", 0): 1,
    }
    assert dropped == {"row: text shorter than 4 words": 4, "entry: a link, not an argument": 3}
    under_link = next(row for row in data["train"] if row["sentence1"].startswith("The fields"))
    assert (under_link["sentence2"], under_link["label"]) == ("Pigeons that are fed leave the crops alone.", 0)

    data, dropped = build(Kialo, DATA, "triplets")  # 101: 2 Pro x 2 Con, one Con too short; 102: 1 x 1
    assert Counter(data["train"]["group"]) == {"101": 2, "102": 1} and dropped["row: text shorter than 4 words"] == 2
    data, _ = build(Kialo, DATA, "arguments")
    assert Counter(data["train"]["stance"]) == {"con": 5, "pro": 3, "thesis": 3, "question": 1}
    # what answers a link answers its target, wherever that stands; theses and links are no answers
    data, dropped = build(Kialo, DATA, "families")
    sides = Counter((row["group"], row["side"]) for row in data["train"])
    assert sides == {("101", 1): 2, ("101", 0): 3, ("102", 1): 1, ("102", 0): 2}


def test_triplets_of_siblings(build, write):
    pros = ["Trams carry many people at once.", "Trams hardly pollute the air."]
    cons = ["Rails are dangerous for cyclists.", "Trams cost more than buses do.", "Building the lines takes years."]
    answers = [f"Pro: {text}" for text in pros] + [f"Con: {text}" for text in cons]
    entries = ["1. Our town should build trams.", *(f"1.{n}. {text}" for n, text in enumerate(answers, start=1))]
    folder = write("raw", {"trams-104.txt": "Discussion Title: Trams?\n\n" + "\n".join(entries) + "\n1.1.1. Pro: So."})
    plain, _ = build(Kialo, folder, "triplets")
    rows = build(Kialo, folder, "triplets", siblings=True)[0]["train"].to_list()
    assert rows[: len(plain["train"])] == plain["train"].to_list()
    # one for each answer to the thesis, none where an argument has a single answer
    assert sorted(row["anchor"] for row in rows[len(plain["train"]) :]) == sorted(pros + cons)
    for row in rows[len(plain["train"]) :]:
        assert row["positive"] != row["anchor"]
        assert (row["anchor"] in pros) == (row["positive"] in pros) != (row["negative"] in pros)


def test_statistics_by_stance():
    words = "I can't, I don’t, and I CANNOT: neither well-known nor not-so. No!"
    assert " ".join(tokenize(words)) == "i can't i don’t and i cannot neither well-known nor not-so no"
    stances = ["pro", "con", "pro", "thesis", "con", "con"]
    texts = ["yes yes", "no not never", "yes and no", "not counted", "...", words]
    # pro: (1/2 + 3/3) / 2 and (0 + 1) / 2; con: (3/3 + 10/12) / 2 and (3 + 6) / 2, the dots have no words
    assert stance_statistics(stances, texts) == {
        "pro": {"texts": 2, "lexical_diversity": 0.75, "negations": 0.5},
        "con": {"texts": 2, "lexical_diversity": pytest.approx(11 / 12), "negations": 4.5},
    }
    assert stance_statistics(["thesis"], ["a text"]) == {}


def test_written_debates_are_split_by_discussion():
    splits = WrittenDebates.open(DEMO_FOLDER / "discussions.jsonl", "families").read_splits()
    groups = [{row[-1] for row in rows} for rows in splits.values()]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 621
    assert {split: len(rows) for split, rows in splits.items()} == WrittenDebates.METADATA.expected["families"]
