"""The command: rankings of a tiny corpus beside the paper's figures, kept, and found again."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer

from modeling.bipolar.baselines import data, run
from modeling.bipolar.baselines.__main__ import main, parse
from modeling.bipolar.baselines.cells import Cells
from modeling.bipolar.baselines.figures import accuracy, recall
from modeling.bipolar.baselines.report import render, shown
from modeling.bipolar.baselines.rows import KEYS, ROWS, expand
from modeling.bipolar.encoder import BipolarEncoder
from modeling.bipolar.heads import BipolarHeads
from tests.tiny import TOPICS, counters


@pytest.fixture(scope="module")
def corpus(tiny_data, tmp_path_factory):
    """The tiny corpus, named after the paper's; of its published test split, four points are in an earlier one."""
    folder = shutil.copytree(tiny_data, tmp_path_factory.mktemp("corpus") / "counterargs-tiny")
    path = next((folder / "counters_official").glob("test-*"))
    rows = pd.read_parquet(path)
    rows["seen_in"] = ["train"] * 4 + [""] * 8
    rows.to_parquet(path)
    return folder


@pytest.fixture(scope="module")
def models(tiny_base, tmp_path_factory):
    """A Bipolar-encoder whose scores are joined, one whose scores are not, and a cross-encoder."""
    folder = tmp_path_factory.mktemp("models")
    for name, weight in (("joined", 0.1), ("apart", None)):
        torch.manual_seed(len(name))
        heads = BipolarHeads(32)
        heads.fusion_weight = weight
        BipolarEncoder(SentenceTransformer(str(tiny_base)), heads).save_pretrained(folder / name)
    CrossEncoder(str(tiny_base), num_labels=1, max_length=48).save_pretrained(str(folder / "cross"))
    return folder


@pytest.fixture
def line(corpus, tmp_path):
    """A function that gives the command line for rows and models."""

    def words(rows, *more):
        return [
            str(corpus),
            "--rows",
            rows,
            "--cache_dir",
            str(tmp_path / "cache"),
            "--out",
            str(tmp_path / "out"),
            *map(str, more),
        ]

    return words


def table_rows(table, title):
    """Cells of the table under a heading that begins with `title`, with its header."""
    text = table.split(f"### {title}")[1].split("###")[0]
    rows = [[cell.strip() for cell in row.split(" | ")] for row in text.splitlines() if row.startswith("| ")]
    return [[cell.strip("| ") for cell in row] for row in rows[:1] + rows[2:]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the following arguments are required: DATA"),
        (["/nowhere/x"], "there is no folder /nowhere/x; build it with python -m dataset_scripts counterargs18"),
        (["demo", "--rows", "bm25,bm26"], "--rows 'bm26' is unknown; there are simple-sd, logit-part"),
        (["demo", "--split", "mine"], "--split 'mine' is unknown; there are official, clean"),
        (["demo", "--rows", "bipolar"], "--rows bipolar needs --bipolar: Bipolar-encoders"),
        (["demo", "--rows", "without-joint", "--unipolar_ret", "a"], "--rows without-joint needs --unipolar_cls"),
        (["demo", "--cross_encoder", "a,b"], "--cross_encoder takes one model, not 2"),
        (["demo", "--shortlists", "10,0"], "--shortlists: '0' must be a whole number above 0"),
        (["demo", "--max_points", "-1"], "--max_points: '-1' must be a whole number above 0"),
        (["demo", "--evaluate_on", "train"], "--evaluate_on: invalid choice: 'train'"),
        (["demo", "--out", "README.md"], "--out README.md is a file: name a folder"),
    ],
)
def test_wrong_words(root, monkeypatch, capsys, words, message):
    monkeypatch.chdir(root)
    with pytest.raises(SystemExit) as end:
        parse(words)
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_words():
    found = parse(
        ["demo", "--split", "clean,official", "--bipolar", "a,b", "--model", "c", "d", "--shortlists", "5,2,5"]
    )
    assert (found.split, found.shortlists, found.rows) == (["official", "clean"], (2, 5), list(KEYS))
    assert found.models == {"model": ["c", "d"], "bipolar": ["a", "b"]}


def test_rows_of_models():
    labels = {name: name for name in "abcd"}
    rows = expand(KEYS, {"model": ["a", "b"], "bipolar": ["c", "d"], "cross_encoder": ["a"]}, labels)
    assert [row.heading for row in rows if row.key == "cosine"] == ["cosine (a)", "cosine (b)"]
    assert [row.id for row in rows if row.key == "bipolar"] == ["bipolar:c", "bipolar:d"]
    assert [row.heading for row in rows if row.key == "bm25+cross-encoder"] == ["BM25 + Cross-encoder"]
    # a row without its model is there, but cannot be ranked for
    assert [row.sources for row in rows if row.key in ("bi-encoder+cross-encoder", "unipolar-ret")] == [None, None]
    assert len(expand(KEYS, {}, {})) == len(ROWS)


def split_of(rows):
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return data.Split("clean", columns, data.Candidates(columns))


def test_accuracy_and_recall_by_hand():
    split = split_of([row for topic in TOPICS[:2] for row in counters(topic)])
    right = [min(answers) for answers in split.candidates.answers]
    wrong = split.candidates.points
    # all points of one debate and none of the other: its share of two debates is 0, .5 or 1
    found = accuracy(split, np.arange(24), np.array([*right[:12], *wrong[12:]]))
    assert found == {"accuracy": 0.5, "low": 0.0, "high": 1.0, "n": 24}
    assert accuracy(split, np.array([5, 6]), np.array([right[5], -1])) == {
        "accuracy": 0.5,
        "low": None,
        "high": None,
        "n": 2,
    }
    listed = np.array([[wrong[0], right[0], -1], [wrong[1], wrong[2], right[1]], [-1, -1, -1]])
    assert recall(split, np.arange(3), listed, (1, 2, 3)) == {"1": 0.0, "2": 1 / 3, "3": 2 / 3}


def test_the_interval_is_shown_by_its_half():
    assert shown({"accuracy": 0.336, "low": 0.31, "high": 0.36, "n": 1401}) == "33.6 ±2.5"
    assert shown({"accuracy": 0.336, "low": None, "high": None, "n": 1}) == "33.6" and shown(None) == ""


def test_every_kind_of_row(line, models, tiny_base, tmp_path, capsys):
    rows = "bm25,cosine,bi-encoder,bm25+cross-encoder,bipolar,bipolar-ret,bipolar-fused"
    main(
        line(
            rows,
            "--model",
            tiny_base,
            "--bi_encoder",
            tiny_base,
            "--cross_encoder",
            models / "cross",
            "--bipolar",
            f"{models / 'joined'},{models / 'apart'}",
            "--shortlists",
            "1,10",
            "--max_points",
            5,
        )
    )
    printed, out = capsys.readouterr().out, tmp_path / "out"
    table = (out / "table.md").read_text(encoding="utf-8")
    assert table.split("![")[0].strip() in printed
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert str(tmp_path) not in json.dumps(results) and str(models) not in json.dumps(results)
    by_id = {row["id"]: row["splits"] for row in results["rows"]}
    assert results["splits"]["official"] == {
        "config": "counters_official",
        "points": 12,
        "seen": 4,
        "candidates": 24,
        "debates": 1,
    }
    # the best of a shortlist of one is what was retrieved first
    for split in ("official", "clean"):
        first = by_id["bipolar:joined"][split]["accuracy"]["@1/1"]
        assert first == by_id["bipolar-ret:joined"][split]["accuracy"]["epa"]
        assert by_id["cosine:tiny"][split]["accuracy"] == by_id["bi-encoder"][split]["accuracy"]
        assert by_id["bm25"][split]["accuracy"]["sdoc"]["n"] == 12
        assert by_id["bm25+cross-encoder"][split]["points"] == 5
    assert by_id["bm25"]["official"]["unseen"]["epa"]["n"] == 8 and by_id["bm25"]["clean"]["unseen"] is None
    # joined with nothing, both scores are the classifier's
    fused = by_id["bipolar-fused:apart"]["clean"]
    assert fused["accuracy"] == by_id["bipolar:apart"]["clean"]["accuracy"]
    assert fused["notes"] == ["the model has no weight that joins its scores: the classifier ranks alone"]
    assert by_id["bipolar-fused:joined"]["clean"]["notes"] == ["retrieval similarity + 0.1 x log-odds"]
    header, *body = table_rows(table, "Accuracy@1 after re-ranking K")
    assert header == ["row", "@1/1, official", "@1/1, clean", "@1/10, official", "@1/10, clean"]
    cells = {row[0]: row[1:] for row in body}
    assert cells["BM25 + Cross-encoder"][2].startswith("8.76 / ") and "/" not in cells["BM25 + Cross-encoder"][3]
    assert cells["Bi-encoder"][0].startswith("14.88 / ") and cells["Bipolar-encoder (apart)"][2].startswith("48.86 / ")
    scales = {tuple(row[:2]): row[2] for row in table_rows(table, "Shortlists")}
    assert scales["BM25 + Cross-encoder", "clean"] == "5 of 12" and scales["BM25", "clean"] == "12"
    predictions = pd.read_parquet(out / "predictions.parquet")
    own = predictions.query("row == 'bm25' and split == 'clean' and measure == 'sdoc'")
    assert own["right"].mean() == by_id["bm25"]["clean"]["accuracy"]["sdoc"]["accuracy"]
    assert set(own["predicted"].str.split(":").str[1]) == {"counter"} and own["id"].str.startswith("town/").all()
    assert {path.name for path in (out / "plots").iterdir()} == {"accuracy.png", "shortlists.png"}


def test_rows_without_a_model_show_the_papers_figures(corpus, tmp_path, capsys):
    found = parse([str(corpus), "--split", "official", "--cache_dir", str(tmp_path)])
    found.rows = ["bm25", "bipolar", "without-joint"]
    results, _ = run.evaluate(found)
    cells = {row[0]: row[1] for row in table_rows(render(results), "Accuracy@1 after re-ranking K")}
    assert cells["Bipolar-encoder"] == "48.86 /" and cells["Bipolar-encoder without joint training"] == "43.63 /"


def test_an_interrupted_command_goes_on(line, tiny_base, monkeypatch, tmp_path, capsys):
    words, retrieved, computed = line("bm25,cosine", "--model", tiny_base), Cells.retrieved, []

    def interrupted(self, retriever, split):
        if len(computed) == 3:
            raise KeyboardInterrupt
        computed.append((retriever.key.split("-")[0], split.name))
        return retrieved(self, retriever, split)

    monkeypatch.setattr(Cells, "retrieved", interrupted)
    with pytest.raises(SystemExit, match="interrupted; the same command continues where this one stopped"):
        main(words)
    assert computed == [("bm25", "official"), ("bm25", "clean"), ("cosine", "official")]
    assert not (tmp_path / "out").exists()
    monkeypatch.undo()
    scored = []
    for kind in (run.BM25, run.Cosine):
        scores = kind.scores
        monkeypatch.setattr(
            kind, "scores", lambda self, given, scores=scores: scored.append(self.key[:4]) or scores(self, given)
        )
    main(words)
    first = capsys.readouterr().out
    main(words)
    # clean and official rank the same points: one ranking serves both
    assert scored == [] and capsys.readouterr().out == first


def test_features_rank_for_a_sample(line, tmp_path, capsys):
    main(line("simple-sd", "--split", "clean", "--max_points", "3"))
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    found = results["rows"][0]["splits"]["clean"]
    assert found["points"] == 3 and found["recall"] is None
    assert set(found["accuracy"]) == {"sdoc", "sda", "epc", "epa"} and found["counts"]["epa"]["pairs"] == 2 * 3 * 23
    assert "| 3 of 12 |" in capsys.readouterr().out


def test_what_cannot_be_ranked(line, corpus, models, tiny_base, tmp_path, monkeypatch):
    monkeypatch.delenv("OPINION_TRACEBACK", raising=False)
    with pytest.raises(SystemExit, match=r"--bipolar .*tiny: .*no Bipolar-encoder"):
        main(line("bipolar", "--bipolar", tiny_base))
    with pytest.raises(SystemExit, match=r"--cross_encoder .*tiny: this is an encoder of single texts"):
        main(line("bm25+cross-encoder", "--cross_encoder", tiny_base))
    with pytest.raises(SystemExit, match=r"--model org/absent: the model 'org/absent' could not be loaded"):
        main(line("cosine", "--model", "org/absent"))
    broken = shutil.copytree(corpus, tmp_path / "broken")
    for path in (broken / "counters").glob("*.parquet"):
        pd.read_parquet(path).drop(columns="stance").to_parquet(path)
    with pytest.raises(SystemExit, match=r"\(counters, test\) has no column stance; it has"):
        main([str(broken), "--rows", "bm25", "--split", "clean", "--cache_dir", str(tmp_path / "other")])
    assert not (tmp_path / "out").exists() and not (tmp_path / "cache" / "counterarguments").exists()


def test_a_larger_sample_has_all_of_a_smaller():
    small, large = data.sample(100, 10), data.sample(100, 30)
    assert len(small) == 10 and set(small) < set(large) and data.sample(5, 9).tolist() == [0, 1, 2, 3, 4]
