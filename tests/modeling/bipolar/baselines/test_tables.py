"""The command: rankings of a tiny corpus beside the paper's figures, kept, and found again."""

import shutil

import numpy as np
import pandas as pd
import pytest
import torch
from sentence_transformers import SentenceTransformer
from typer.testing import CliRunner

from modeling.base.vectors import Vectors
from modeling.bipolar import commands
from modeling.bipolar.baselines.tables import measure
from modeling.bipolar.baselines.words import SimpleSD
from modeling.bipolar.candidates import Candidates
from modeling.bipolar.commands import app
from modeling.bipolar.encoder import BipolarEncoder
from modeling.bipolar.heads import BipolarHeads, with_heads
from tests.modeling.bipolar.baselines.invented import columns_of
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


@pytest.fixture
def bipolar(tiny_base):
    """A model that carries heads, as `load_model` returns it."""
    torch.manual_seed(1)
    heads = BipolarHeads(32, shared=False)
    torch.nn.init.normal_(heads.document.weight)
    heads.fusion_weight = 0.1
    return with_heads(SentenceTransformer(str(tiny_base)), heads)


@pytest.fixture
def command(corpus, tmp_path):
    """A function that runs the command for models."""

    def run(*words, data=corpus):
        places = ["--cache-dir", tmp_path / "cache", "-o", tmp_path / "out"]
        return CliRunner().invoke(app, [*map(str, ["baselines", "bipolar", data, *words, *places])])

    return run


def test_heads_re_rank_what_they_or_others_retrieve(bipolar, tmp_path, monkeypatch):
    rows = columns_of([row for topic in TOPICS[:2] for row in counters(topic)])
    candidates = Candidates(rows)
    models, names = {"b": bipolar}, ["b", "bm25+b"]
    frame = measure({"clean": candidates}, names, models, tmp_path)
    assert frame["model"].unique().tolist() == [
        *("Simple-SD", "BM25", "b", "b, similarity + 0.1 x log-odds", "BM25 + b")
    ]
    found = frame.set_index(["model", "metric"])["value"]
    whole, texts, right = BipolarEncoder.of(bipolar), candidates.texts, {0.1: [], np.inf: []}
    for point, pool, answers in zip(rows["point"], candidates.of("epa"), candidates.answers, strict=True):
        for weight, hits in right.items():
            best = whole.rank(point, [texts[text] for text in pool], shortlist=50, top_k=1, weight=weight)[0]
            hits.append(pool[best["corpus_id"]] in answers)
    assert found["b, similarity + 0.1 x log-odds", "epa"] == np.mean(right[0.1])
    assert found["b, similarity + 0.1 x log-odds", "classification_50"] == np.mean(right[np.inf])
    assert set(frame["rows"]) == {24}
    # again, no text is embedded and no word counted
    monkeypatch.setattr(SimpleSD, "words", None)
    monkeypatch.setattr(Vectors, "_embed", None)
    pd.testing.assert_frame_equal(measure({"clean": candidates}, names, models, tmp_path), frame)


def test_figures_stand_beside_the_papers(command, tiny_base, tmp_path):
    ended = command("--model", tiny_base)
    assert ended.exit_code == 0, ended.output
    frame = pd.read_csv(tmp_path / "out" / "results.csv").set_index(["who", "model", "data", "metric"])
    printed = frame.loc[("paper", "Bipolar-encoder", "official", "classification_10"), "value"]
    assert printed == pytest.approx(0.4886)
    seen, unseen = (frame.loc[("ours", "BM25", data, "sdoc")] for data in ("official", "official, unseen"))
    assert (seen["rows"], unseen["rows"]) == (12, 8)
    table = (tmp_path / "out" / "table.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| ")]
    assert rows[0][:4] == ["who", "model", "sdoc, official", "sdoc, clean"]
    assert next(row for row in rows if row[:2] == ["paper", "Simple-SD"])[2:4] == ["72.4", ""]
    bm25 = next(row for row in rows if row[:2] == ["ours", "BM25"])
    assert bm25[2] == f"{100 * seen['value']:.1f}"
    assert (tmp_path / "out" / "accuracy.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--model", "bundled,bm25"], "--model bm25: BM25 has a row of its own"),
        (["--model", "org/absent"], "there is no model 'org/absent'"),
        (["--model", "bm25+bundled"], "--model bm25+bundled: bundled re-ranks nothing: it has no heads"),
        (["--model", "bundled+bm25"], "--model bundled+bm25: bm25 re-ranks nothing: it has no heads"),
    ],
)
def test_models_that_are_none(command, words, message, tmp_path):
    ended = command(*words)
    assert ended.exit_code == 2 and message in ended.output
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_read_is_named(corpus, command, tmp_path, monkeypatch):
    broken = shutil.copytree(corpus, tmp_path / "broken")
    for path in (broken / "counters").glob("*.parquet"):
        pd.read_parquet(path).drop(columns="stance").to_parquet(path)
    ended = command(data=broken)
    assert ended.exit_code == 2 and "(counters, test): there is no column 'stance'; it has" in ended.output
    monkeypatch.setattr(commands, "find_spec", lambda name: None if name in ("ot", "bm25s") else name)
    assert "bm25s, ot not installed: pip install 'opinion-transformers[base" in command().output
