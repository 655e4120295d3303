"""What training and test data share: texts in any spelling, motions by their vectors, and what is left out of tests."""

import numpy as np
import pytest
from datasets import Dataset
from typer.testing import CliRunner

from dataset_scripts.base.schema import OPPOSE, PRO
from modeling.base.commands import app
from modeling.base.overlap import LeftOut, Side, near_motions, recipe_sources, shared_texts, summary
from modeling.base.recipe import load_recipe
from tests.tiny import save_corpus

ANGLES = {
    "Trams should be free.": 0,
    "Should trams be free?": 20,
    "Parks should close at night.": 90,
    "Ban kites.": 180,
}


def turned(texts):
    """Unit vectors at the angles above."""
    angles = np.radians([ANGLES[text] for text in texts])
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Where the demonstration is built, once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def ours(tmp_path):
    """A corpus of families to train on."""
    texts = {"Nobody would queue for tickets.": "Trams should be free.", "They are a danger to birds.": "Ban kites."}
    rows = [
        {"text": text, "statement": of, "side": PRO, "group": f"g{n}"} for n, (text, of) in enumerate(texts.items())
    ]
    return str(save_corpus(tmp_path / "ours", {"families": {"train": rows, "test": rows[:1]}}))


@pytest.fixture
def theirs(tmp_path):
    """Debates to test on: one on a motion of ours, with a text of ours in another spelling."""

    def row(group, title, text, stance):
        shared = {"id": text[:3], "parent": None, "depth": 1}
        return shared | {"stance": stance, "text": text, "title": title, "group": group}

    tree = [
        row("t", "Should trams be free?", "Trams could cost nothing at all.", "pro"),
        row("p", "Parks should close at night.", "They are noisy after dark.", "pro"),
    ]
    pairs = [
        {"sentence1": "They are noisy after dark.", "sentence2": "Lamps cost money.", "label": OPPOSE, "group": "p"},
        {"sentence1": "Rain falls on all.", "sentence2": "nobody would queue for TICKETS", "label": 1, "group": "t"},
    ]
    return str(save_corpus(tmp_path / "theirs", {"arguments": {"test": tree}, "pairs": {"test": pairs}}))


def test_by_hand(ours, theirs, tmp_path):
    train, test = Side([ours], "train", tmp_path, ["families"]), Side([theirs], "test", tmp_path, ["pairs"])
    shared, near = shared_texts(train, test), near_motions(train, test, turned, 0.65)
    places = ["theirs", "theirs/pairs[1]", "ours/families[0]"]
    assert shared.to_numpy().tolist() == [[*places, "nobody would queue for TICKETS"]]
    # at 20 degrees; 90 and 180 are far
    groups = near[["corpus", "group", "train_corpus", "train_group"]].to_numpy().tolist()
    assert groups == [["theirs", "t", "ours", "g0"]]
    assert near["cosine"].tolist() == pytest.approx([np.cos(np.radians(20))], rel=1e-6)
    assert near_motions(train, test, turned, 0.95).empty
    assert summary(test, shared, near).to_numpy().tolist() == [["theirs", 4, 1, 2, 1]]


def test_the_command(ours, theirs, tmp_path):
    file, words = tmp_path / "near.csv", ["--train", ours, "--cache-dir", str(tmp_path)]
    done = CliRunner().invoke(app, ["overlap", *words, "--test", theirs, "-o", str(file)])
    assert done.exit_code == 1 and "theirs/pairs[1]" in done.stdout and "for TICKETS" in done.stdout, done.output
    assert file.read_text().splitlines()[1].startswith("theirs,t,0.")
    assert "name a RECIPE, or both" in CliRunner().invoke(app, ["overlap", *words]).stderr


def test_the_demonstration_trains_on_none_of_the_texts_that_it_is_tested_on(cache):
    assert recipe_sources(load_recipe("stance-demo")) == (["demo"], ["demo"])
    sides = [Side(["demo"], split, cache, ["pairs", "triplets"]) for split in ("train", "test")]
    assert len(sides[1].texts) > 100 and shared_texts(*sides).empty
    assert sides[1].motions["group"].nunique() == 8  # of the corpora that have these texts alone


def test_debates_are_left_out_of_test_rows(make_system, cache, tmp_path):
    system, debate = make_system("stance-demo", data="demo", cache_dir=cache), "t:should-boxing-be-banned"
    (tmp_path / "near.csv").write_text(f"corpus,group\ndemonstration,{debate}\nkialo,7\n")
    groups = system.rows("demo", "pairs", "test")["group"]
    system.left_out = LeftOut(tmp_path / "near.csv")
    assert debate in groups
    assert system.rows("demo", "pairs", "test")["group"] == [group for group in groups if group != debate]
    assert system.left_out.note() == "Without the groups of demonstration that near.csv lists (263 rows)."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("corpus,cosine\ntheirs,1\n", "has no column 'group': write it with opinion overlap"),
        ("corpus,group\ntheirs,a\ntheirs,b\n", "lists all groups of theirs"),
        ("corpus,group\ntheirs,z\n", "no group of the test data is in it; it lists groups of theirs"),
    ],
)
def test_tables_that_do_not_fit(tmp_path, text, message):
    (tmp_path / "near.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        left_out = LeftOut(tmp_path / "near.csv")
        left_out.apply(Dataset.from_dict({"group": ["a", "b", "a"]}), "theirs")
        left_out.note()
