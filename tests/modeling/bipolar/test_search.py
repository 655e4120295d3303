"""A collection asked for counter-arguments: a shortlist ranked by the classifier, without the argument itself."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
import typer.testing

from modeling.bipolar.commands import app
from modeling.bipolar.heads import BipolarHeads, with_heads
from modeling.bipolar.search import CounterIndex
from modeling.search import index as module
from modeling.search.index import Index
from tests.modeling.search.chosen import Chosen, table
from tests.tiny import TOPICS, arguments

TEXTS = [text for topic in TOPICS[:2] for side in ("pro", "con") for text in arguments(topic, side)]  # 24 different
ROWS = [("for", "G"), ("rather for", "G"), ("rather for", "G"), ("against", "B"), ("elsewhere", "B"), ("both", "B")]


class Perpendicular:
    """Ranks a shortlist by the distance to a right angle."""

    heads = SimpleNamespace(fusion_weight=None)

    def retrieval_embeddings(self, u, queries=False):
        return u

    def rank_embeddings(self, u_point, u, shortlist):
        scores = 1 - np.abs(u @ u_point)
        order = np.argsort(-scores, kind="stable")[:shortlist]
        return order, scores[order]


@pytest.fixture
def plane(tmp_path, monkeypatch):
    """Five texts in the plane, shortlisted by cosine and ranked by `Perpendicular`."""
    monkeypatch.setattr(CounterIndex, "ranker", Perpendicular())
    return CounterIndex.build(table(ROWS), tmp_path / "plane", group="party", model=Chosen())


@pytest.fixture(scope="module")
def bipolar(tiny_base):
    """A Bipolar-encoder with heads that do something, one for queries and one for documents."""
    from sentence_transformers import SentenceTransformer

    torch.manual_seed(1)
    heads = BipolarHeads(32, shared=False)
    for layer in (heads.query, heads.document):
        torch.nn.init.normal_(layer.weight)
    return with_heads(SentenceTransformer(str(tiny_base)), heads)


def test_the_shortlist_is_ranked_and_the_argument_is_no_answer(plane):
    hits = plane.ask("for", top=2, shortlist=3)
    # cosines with (1, 0): both .8, rather for .6, against 0, elsewhere -.6; "for" itself is no answer
    assert hits[["argument", "rank", "text", "rows", "row"]].to_numpy().tolist() == [
        ["for", 1, "against", 1, 3],
        ["for", 2, "rather for", 2, 1],
    ]
    assert hits["score"].tolist() == pytest.approx([1.0, 0.4])
    assert hits["similarity"].tolist() == pytest.approx([0.0, 0.6])
    # a shortlist of two does not reach "against"
    assert plane.ask("for", top=2, shortlist=2)["text"].tolist() == ["rather for", "both"]
    # however it is spaced; another text with the same vector is an answer
    assert set(plane.ask("  rather\n for\x00 ")["text"]) == {"for", "against", "elsewhere", "both"}
    assert "for" in set(plane.ask("FOR", top=5)["text"])
    several = plane.ask(["for", "against"], top=1)
    assert several[["argument", "text"]].to_numpy().tolist() == [["for", "against"], ["against", "for"]]


def test_counters_are_those_of_rank_over_the_whole_collection(tmp_path, bipolar, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 7)  # several blocks
    index = Index.build(pd.DataFrame({"text": TEXTS}), tmp_path / "index", model=bipolar)  # as `opinion embed` does
    index = CounterIndex.open(tmp_path / "index", model=bipolar)
    u = index.ranker.encode(TEXTS)
    assert np.asarray(index.vectors) == pytest.approx(u, rel=1e-4, abs=1e-5)
    hits = index.ask(TEXTS[3], top=6, shortlist=10)
    ranked = index.ranker.rank(TEXTS[3], TEXTS, top_k=6, shortlist=10)
    assert hits["row"].tolist() == [hit["corpus_id"] for hit in ranked]
    assert hits["score"].tolist() == pytest.approx([hit["score"] for hit in ranked], rel=1e-4)
    found = index.ranker.encode([TEXTS[3], *hits["text"]])
    retrieval = index.ranker.retrieval_embeddings
    similarities = retrieval(found[1:]) @ retrieval(found[:1], queries=True)[0]
    assert hits["similarity"].tolist() == pytest.approx(similarities, rel=1e-4)
    assert index.embeddings(np.arange(2)) == pytest.approx(bipolar.encode_document(TEXTS[:2]), rel=1e-4, abs=1e-5)


def test_an_encoder_without_heads_ranks_by_similarity(tmp_path, tiny_base):
    index = CounterIndex.build(pd.DataFrame({"text": TEXTS}), tmp_path / "index", model=str(tiny_base))
    hits = index.ask(TEXTS[3], top=6)
    cosines = np.asarray(index.vectors) @ index.vectors[3]
    assert hits["row"].tolist() == np.argsort(-cosines)[1:7].tolist()
    for column in ("score", "similarity"):
        assert hits[column].tolist() == pytest.approx(np.sort(cosines)[::-1][1:7], rel=1e-5)
    only = CounterIndex.build(pd.DataFrame({"text": TEXTS[:1]}), tmp_path / "only", model=str(tiny_base))
    assert only.ask(TEXTS[0]).empty


def test_the_command(plane, tmp_path, monkeypatch):
    monkeypatch.setattr(CounterIndex, "model", Chosen())
    (tmp_path / "points.txt").write_text("against\n")

    def run(*words):
        words = ["counter", str(plane.folder), *map(str, words)]
        return typer.testing.CliRunner().invoke(app, words, catch_exceptions=False)

    result = run("for", "-f", tmp_path / "points.txt", "-n", 1, "-o", tmp_path / "hits.csv")
    assert pd.read_csv(tmp_path / "hits.csv")["text"].tolist() == ["against", "for"]
    assert "| 1    | 1.000 | 0.000      | 1    | against |" in result.stdout
    monkeypatch.setattr(CounterIndex, "ranker", None)
    assert "has no classifier" in run("for", "-n", 1).stdout
    for words, message in ((["for", "-n", 60], "--shortlist 50 is less than -n 60"), ([], "there is no argument")):
        result = run(*words)
        assert result.exit_code == 2 and message in result.stderr
