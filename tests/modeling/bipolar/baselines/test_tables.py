"""The command: rankings of a tiny corpus beside the paper's figures, kept, and found again."""

import shutil

import numpy as np
import pandas as pd
import pytest
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from typer.testing import CliRunner

from modeling.base.vectors import Vectors
from modeling.bipolar import commands
from modeling.bipolar.baselines import ranking, tables
from modeling.bipolar.baselines.ranking import Ranker, Split, bm25
from modeling.bipolar.baselines.rows import KEYS, ROWS, expand
from modeling.bipolar.candidates import Candidates, shortlist
from modeling.bipolar.commands import app
from modeling.bipolar.encoder import BipolarEncoder
from modeling.bipolar.files import with_heads
from modeling.bipolar.heads import BipolarHeads
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


@pytest.fixture(scope="module")
def split():
    return Split("clean", columns_of([row for topic in TOPICS[:2] for row in counters(topic)]))


def row_of(key, **sources):
    return next(row for row in expand([key], {option: [name] for option, name in sources.items()}, sources))


@pytest.fixture
def command(corpus, tmp_path):
    """A function that runs the command for rows and models."""

    def run(*words, data=corpus):
        places = ["--cache-dir", tmp_path / "cache", "-o", tmp_path / "out"]
        return CliRunner().invoke(app, [*map(str, ["baselines", "bipolar", data, *words, *places])])

    return run


def table_rows(table, title):
    """Cells of the table under a heading that begins with `title`, with its header."""
    text = table.split(f"### {title}")[1].split("###")[0]
    rows = [[cell.strip("| ") for cell in row.split(" | ")] for row in text.splitlines() if row.startswith("| ")]
    return rows[:1] + rows[2:]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rows", "bm25,bm26"], "--rows bm26: choose from simple-sd"),
        (["--split", "mine"], "--split mine: choose from official, clean"),
        (["--rows", "bipolar"], "--rows bipolar needs --bipolar MODEL"),
        (["--rows", "without-joint", "--unipolar-ret", "bundled"], "--rows without-joint needs --unipolar-cls"),
        (["--shortlists", "10,0"], "--shortlists 10,0: numbers from 1"),
        (["--max-points", "0"], "--max-points"),
        (["--evaluate-on", "train"], "--evaluate-on"),
        (["--bipolar", "bundled"], "--bipolar bundled: it has no heads"),
        (["--rows", "cosine", "--model", "org/absent"], "there is no model 'org/absent'"),
    ],
)
def test_wrong_words(command, words, message, monkeypatch, tmp_path):
    monkeypatch.delenv("OPINION_TRACEBACK", raising=False)
    ended = command(*words)
    assert ended.exit_code == 2 and message in ended.output
    assert not (tmp_path / "out").exists()


def test_rows_of_models():
    labels = {name: name for name in "abcd"}
    rows = expand(KEYS, {"model": ["a", "b"], "bipolar": ["c", "d"], "cross_encoder": ["a"]}, labels)
    assert [row.heading for row in rows if row.key == "cosine"] == ["cosine (a)", "cosine (b)"]
    assert [row.id for row in rows if row.key == "bipolar"] == ["bipolar:c", "bipolar:d"]
    assert [row.heading for row in rows if row.key == "bm25+cross-encoder"] == ["BM25 + Cross-encoder"]
    # a row without its model is there, but cannot be ranked for
    assert [row.sources for row in rows if row.key in ("bi-encoder+cross-encoder", "unipolar-ret")] == [None, None]
    assert len(expand(KEYS, {}, {})) == len(ROWS)


def test_accuracy_and_recall_by_hand(split):
    right = [min(answers) for answers in split.candidates.answers]
    wrong = split.candidates.points
    # all points of one debate and none of the other: its share of two debates is 0, .5 or 1
    figures = tables.accuracy(split, np.arange(24), np.array([*right[:12], *wrong[12:]]))
    assert figures == {"value": 0.5, "low": 0.0, "high": 1.0, "rows": 24}
    alone = tables.accuracy(split, np.array([5, 6]), np.array([right[5], -1]))
    assert alone == {"value": 0.5, "low": None, "high": None, "rows": 2}
    listed = np.array([[wrong[0], right[0], -1], [wrong[1], wrong[2], right[1]], [-1, -1, -1]])
    recall = tables.recall(split, np.arange(3), listed, (1, 2, 3))
    assert recall == {"recall@1": 0.0, "recall@2": 1 / 3, "recall@3": 2 / 3}


def test_words_in_common_rank():
    columns = {name: ["", "", ""] for name in ("conclusion", "premises", "stance", "theme", "debate", "seen_in")}
    columns["point"] = ["trams rattle loudly", "gardens smell sweet", "of the"]
    columns["counter"] = ["quiet trams rattle little", "sweet gardens need water", "elsewhere"]
    candidates = Candidates(columns)
    scores = bm25(candidates)
    best = shortlist(scores, candidates.of("epa"), 1)[0][:, 0]
    assert [candidates.texts[index] for index in best[:2]] == columns["counter"][:2]
    # the third has no word in common, and one of stop words only finds nothing
    assert scores[0, candidates.points[1]] == 0 and not scores[2].any()


def test_heads_retrieve_and_re_rank(split, bipolar, tmp_path):
    rows = [row_of(key, bipolar="b") for key in ("bipolar-ret", "bipolar", "bipolar-fused")]
    ranker = Ranker(rows, {("bipolar", "b"): bipolar}, tmp_path, shortlists=(1, 5))
    retrieved, apart, fused = (ranker.rank(row, split) for row in rows)
    whole = BipolarEncoder.of(bipolar)
    for point in (0, 13):
        candidates = [split.candidates.texts[text] for text in split.candidates.of("epa")[point]]
        for result, weight in ((apart, np.inf), (fused, 0.1)):
            best = whole.rank(split.rows["point"][point], candidates, shortlist=5, top_k=1, weight=weight)[0]
            assert split.candidates.texts[result.best["@1/5"][point]] == candidates[best["corpus_id"]]
    assert apart.best["@1/1"].tolist() == retrieved.best["epa"].tolist()
    assert fused.notes == ["retrieval similarity + 0.1 x log-odds"]
    bipolar.bipolar_heads[0].fusion_weight = None
    assert ranker.rank(rows[2], split).best["@1/5"].tolist() == apart.best["@1/5"].tolist()


def test_pairs_are_read_once_and_resumed(split, tiny_base, tmp_path, monkeypatch):
    model = CrossEncoder(str(tiny_base), num_labels=1, max_length=48)
    read, predict = [], model.predict

    def counted(pairs, **options):
        if len(read) == 5:
            raise KeyboardInterrupt
        read.extend(pairs)
        return predict(pairs, **options)

    monkeypatch.setattr(model, "predict", counted)
    row = row_of("bm25+cross-encoder", cross_encoder="c")
    ranker = Ranker([row], {("cross_encoder", "c"): model}, tmp_path, shortlists=(5,), max_points=2)
    with pytest.raises(KeyboardInterrupt):
        ranker.rank(row, split)
    monkeypatch.setattr(model, "predict", lambda pairs, **options: read.extend(pairs) or predict(pairs, **options))
    result = ranker.rank(row, split)
    assert len(read) == 10 == len(set(read)) and len(result.points) == 2
    texts = split.candidates.texts
    for point, listed, best in zip(result.points, result.retrieved, result.best["@1/5"], strict=True):
        pairs = [(split.rows["point"][point], texts[text]) for text in listed]
        assert best == listed[predict(pairs, activation_fn=torch.nn.Identity()).argmax()]


def test_the_command_from_end_to_end(command, tiny_base, tmp_path, monkeypatch):
    cross = tmp_path / "cross"
    CrossEncoder(str(tiny_base), num_labels=1, max_length=48).save_pretrained(str(cross))
    words = ["--rows", "simple-sd,bm25,cosine,bi-encoder,bm25+cross-encoder,bipolar", "--shortlists", "1,10"]
    words += ["--model", tiny_base, "--bi_encoder", tiny_base, "--cross-encoder", cross, "--bipolar", "bipolar-minilm"]
    words += ["--max-points", 5]
    ended = command(*words)
    assert ended.exit_code == 0, ended.output
    out = tmp_path / "out"
    table = (out / "table.md").read_text(encoding="utf-8")
    assert table.split("![")[0].strip() in ended.output and str(tmp_path) not in table
    figures = pd.read_csv(out / "results.csv").set_index(["who", "row", "data", "metric"])
    ours = figures.loc["ours"]
    rows = {("bm25", "official", "sdoc"): 12, ("bm25", "official, unseen", "epa"): 8, ("simple-sd", "clean", "epa"): 5}
    assert {figure: ours.loc[figure, "rows"] for figure in rows} == rows
    assert ours.loc[("cosine:tiny", "clean", "epa"), "value"] == ours.loc[("bi-encoder", "clean", "epa"), "value"]
    assert figures.loc[("paper", "bipolar", "official", "reranked/10"), "value"] == pytest.approx(0.4886)
    header, *body = table_rows(table, "Accuracy@1 after re-ranking K")
    names = ["paper", "official", "clean"]
    assert header == ["row", *(f"{metric}, {name}" for metric in ("@1/1", "@1/10") for name in names)]
    cells = {row[0]: row[1:] for row in body}
    assert cells["BM25 + Cross-encoder"][3] == "8.76" and cells["Bipolar-encoder"][3] == "48.86"
    assert cells["BM25"][1] == cells["BM25"][4] and cells["BM25"][3] == ""
    predictions = pd.read_parquet(out / "predictions.parquet")
    own = predictions.query("row == 'bm25' and split == 'clean' and measure == 'sdoc'")
    assert own["right"].mean() == ours.loc[("bm25", "clean", "sdoc"), "value"]
    assert set(own["predicted"].str.split(":").str[1]) == {"counter"} and own["id"].str.startswith("town/").all()
    assert {path.name for path in (out / "plots").iterdir()} == {"accuracy.png", "shortlists.png"}
    # again, nothing is embedded, read as pairs or ranked by distances
    monkeypatch.setattr(Vectors, "_embed", None)
    monkeypatch.setattr(ranking, "predict_pairs", None)
    monkeypatch.setattr(ranking, "FeatureTable", None)
    assert command(*words).exit_code == 0
    assert pd.read_parquet(out / "predictions.parquet").equals(predictions)


def test_rows_that_cannot_be_read_are_named(corpus, command, tmp_path):
    broken = shutil.copytree(corpus, tmp_path / "broken")
    for path in (broken / "counters").glob("*.parquet"):
        pd.read_parquet(path).drop(columns="stance").to_parquet(path)
    ended = command("--rows", "bm25", "--split", "clean", data=broken)
    assert ended.exit_code == 2 and "(counters, test): there is no column 'stance'; it has" in ended.output


def test_missing_libraries_are_named_with_their_extras(command, monkeypatch):
    monkeypatch.setattr(commands, "find_spec", lambda name: None if name in ("ot", "bm25s") else name)
    ended = command()
    assert ended.exit_code == 2 and "bm25s, ot not installed: pip install 'opinion-transformers[base" in ended.output
    assert "bm25s not installed" in command("--rows", "bm25").output
