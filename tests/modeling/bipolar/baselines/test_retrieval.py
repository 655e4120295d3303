"""Retrievers and re-rankers on tiny models, and what is kept of them."""

import json

import numpy as np
import pytest
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer

from modeling.bipolar.baselines import rerank, retrieval
from modeling.bipolar.baselines.models import identity
from modeling.bipolar.baselines.ranking import best, shortlist
from modeling.bipolar.baselines.rerank import ClassificationHead, PairScores
from modeling.bipolar.baselines.retrieval import BM25, Cosine, RetrievalHead, Vectors
from modeling.bipolar.candidates import Candidates
from modeling.bipolar.encoder import BipolarEncoder
from modeling.bipolar.heads import BipolarHeads
from tests.tiny import TOPICS, counters


@pytest.fixture(scope="module")
def candidates():
    rows = [row for topic in TOPICS[:2] for row in counters(topic)]
    return Candidates({column: [row[column] for row in rows] for column in rows[0]})


@pytest.fixture(scope="module")
def encoder(tiny_base):
    return SentenceTransformer(str(tiny_base))


@pytest.fixture(scope="module")
def bipolar(tiny_base):
    torch.manual_seed(1)
    heads = BipolarHeads(32, shared=False)
    torch.nn.init.normal_(heads.document.weight)
    return BipolarEncoder(SentenceTransformer(str(tiny_base)), heads)


def test_words_in_common_rank():
    columns = {name: ["", "", ""] for name in ("conclusion", "premises", "stance", "theme", "debate", "seen_in")}
    columns["point"] = ["trams rattle loudly", "gardens smell sweet", "of the"]
    columns["counter"] = ["quiet trams rattle little", "sweet gardens need water", "elsewhere"]
    given = Candidates(columns)
    scores, counts, costs = BM25().scores(given)
    assert [given.texts[index] for index in best(scores, given.of("epa"))[:2]] == columns["counter"][:2]
    # of two words in common one is as rare as the other: the third has none, and one of stop words only finds nothing
    assert scores[0, given.points[1]] == 0 and not scores[2].any()
    assert counts == {"points without words": 1} and [cost.seconds > 0 for cost in costs.values()] == [True]


def test_bm25_needs_its_library(monkeypatch):
    monkeypatch.setattr(retrieval, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"BM25 needs bm25s: pip install 'opinion-transformers\[retrieval\]'"):
        BM25()


def test_cosines_are_computed_once(candidates, encoder, tmp_path, monkeypatch):
    scores, counts, costs = Cosine(encoder, "tiny", tmp_path).scores(candidates)
    vectors = encoder.encode(candidates.texts, normalize_embeddings=True)
    assert np.allclose(scores, vectors[candidates.points] @ vectors.T, atol=1e-5)
    assert counts == {"texts longer than 48 tokens, cut there": 0}
    embedding, weights, ranking = costs.values()
    assert weights.weights >= sum(4 * each.numel() for each in encoder.parameters()) and weights.seconds == 0
    assert embedding.seconds > ranking.seconds > 0
    monkeypatch.setattr(retrieval, "embed_file", None)
    again, _, kept = Cosine(encoder, "tiny", tmp_path).scores(candidates)
    assert (again == scores).all() and next(iter(kept.values())) == embedding
    # the same texts in another order share vectors
    rows = [row for topic in reversed(TOPICS[:2]) for row in counters(topic)]
    turned = Candidates({column: [row[column] for row in rows] for column in rows[0]})
    found, _ = Vectors(encoder, "tiny", tmp_path)(turned.texts)
    assert np.allclose(found[0], vectors[candidates.texts.index(turned.texts[0])], atol=1e-5)


def test_a_text_that_two_splits_have_is_embedded_once(encoder, tmp_path, monkeypatch):
    texts, embedded, embed_file = ["we love trams", "we hate parks", "a joy to visitors"], [], retrieval.embed_file

    def counted(model, given, *more, **options):
        embedded.append(given)
        return embed_file(model, given, *more, **options)

    monkeypatch.setattr(retrieval, "embed_file", counted)
    vectors = Vectors(encoder, "tiny", tmp_path)
    _, first = vectors(texts[:2])
    found, cost = vectors([texts[2], texts[0], texts[2]])
    assert [sorted(given) for given in embedded] == [sorted(texts[:2]), texts[2:]]
    assert np.allclose(found, encoder.encode([texts[2], texts[0], texts[2]], normalize_embeddings=True), atol=1e-5)
    # half of what the first two cost, and all of the third
    assert next(iter(cost.values())).seconds > next(iter(first.values())).seconds / 2


def test_queries_and_documents_have_vectors_of_their_own(candidates, tiny_base, tmp_path):
    model = SentenceTransformer(str(tiny_base), prompts={"query": "the town needs ", "document": ""})
    scores, _, _ = Cosine(model, "tiny", tmp_path).scores(candidates)
    queries = model.encode_query([candidates.texts[point] for point in candidates.points], normalize_embeddings=True)
    assert np.allclose(scores, queries @ model.encode_document(candidates.texts).T, atol=1e-5)
    assert len(list(tmp_path.glob("*-query/*.npy"))) == len(list(tmp_path.glob("*-document/*.npy"))) == 1


def test_vectors_that_are_no_numbers_are_refused(candidates, tiny_base, tmp_path):
    model = SentenceTransformer(str(tiny_base))
    with torch.no_grad():
        next(model.parameters()).fill_(float("nan"))
    with pytest.raises(ValueError, match=r"the vectors of broken: .* are no numbers \(NaN\): its weights are damaged"):
        Cosine(model, "broken", tmp_path).scores(candidates)


def test_models_are_told_apart(tiny_base, encoder, bipolar):
    same, other = (SentenceTransformer(str(tiny_base)) for _ in range(2))
    assert identity(same) == identity(encoder)
    other.max_seq_length = 5
    assert identity(other) != identity(encoder)
    with torch.no_grad():
        next(same.parameters())[0, 0] += 1e-6
    assert len({identity(same), identity(encoder), identity(bipolar), identity(bipolar.encoder)}) == 3
    assert identity(bipolar.encoder) == identity(encoder)


def test_retrieval_embeddings_of_queries_and_documents(candidates, bipolar, tmp_path):
    scores, _, _ = RetrievalHead(bipolar, "tiny", tmp_path).scores(candidates)
    u = torch.from_numpy(bipolar.encode(candidates.texts))
    with torch.no_grad():
        expected = bipolar.heads.queries(u[candidates.points]) @ bipolar.heads.documents(u).T
    assert np.allclose(scores, expected.numpy(), atol=1e-5)


def test_log_odds_of_shortlists(candidates, bipolar, tmp_path):
    rows, listed = np.array([2, 0]), np.array([[1, 5, -1], [-1, -1, -1]])
    scores, costs = ClassificationHead(bipolar, "tiny", tmp_path).scores(candidates, "digest", rows, listed)
    u = bipolar.encode(candidates.texts)
    expected = bipolar.margins(u[candidates.points[2]], u[[1, 5]])
    assert np.allclose(scores[0, :2], expected, atol=1e-5)
    # what retrieval pays as well, vectors and weights, has one name: a row pays it once
    _, _, retrieval_costs = RetrievalHead(bipolar, "tiny", tmp_path).scores(candidates)
    assert [step.split()[0] for step in retrieval_costs.keys() & costs.keys()].count("vectors") == 1
    assert len(retrieval_costs.keys() & costs.keys()) == 2 and len(retrieval_costs | costs) == 4
    assert scores[0, 2] == -np.inf and (scores[1] == -np.inf).all()


def test_pairs_are_read_once_and_resumed(candidates, tiny_base, tmp_path, monkeypatch):
    model = CrossEncoder(str(tiny_base), num_labels=1, max_length=48)
    monkeypatch.setattr(rerank, "PAIRS", 4)
    read, predict = [], model.predict

    def counted(pairs, **options):
        if len(read) == 8:
            raise KeyboardInterrupt
        read.extend(pairs)
        return predict(pairs, **options)

    monkeypatch.setattr(model, "predict", counted)
    listed, _ = shortlist(np.zeros((24, len(candidates.texts))), candidates.of("epa"), 5)
    rows = np.array([3, 9])
    with pytest.raises(KeyboardInterrupt):
        PairScores(model, "tiny", tmp_path).scores(candidates, "digest", rows, listed[rows])
    assert len(read) == 8
    monkeypatch.setattr(model, "predict", lambda pairs, **options: read.extend(pairs) or predict(pairs, **options))
    pairs = PairScores(model, "tiny", tmp_path)
    scores, costs = pairs.scores(candidates, "digest", rows, listed[rows])
    assert len(read) == 10 == len(set(read)) and read[0][0] == candidates.texts[candidates.points[3]]
    expected = predict(read, activation_fn=torch.nn.Identity())
    assert np.allclose(scores.ravel(), expected, atol=1e-5)
    # a longer shortlist of fewer points reads what is new, and costs in proportion
    longer, _ = shortlist(np.zeros((24, len(candidates.texts))), candidates.of("epa"), 6)
    _, more = PairScores(model, "tiny", tmp_path).scores(candidates, "digest", rows[:1], longer[rows[:1]])
    assert len(read) == 11
    stored = json.loads(next(tmp_path.glob("*-cost.json")).read_text())
    assert more[pairs.key].seconds == pytest.approx(stored["seconds"] * 6 / 11)
    assert costs[pairs.key].seconds < stored["seconds"]
