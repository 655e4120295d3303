"""Ranking benchmarks: numbers by hand, equal to the library's evaluator, every text embedded once."""

from math import log2

import numpy as np
import pytest
from sentence_transformers.sentence_transformer.evaluation import RerankingEvaluator

from modeling.base.models import load_backbone, resolve
from modeling.tweets.evaluation import RankingEvaluator, Rankings, ranking_metrics
from tests.modeling.base.test_evaluation import FACTS
from tests.tiny import TOPICS, arguments, rankings


def columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.fixture(scope="module")
def model(tiny_base):
    return load_backbone(resolve(str(tiny_base), "org/tiny"))


@pytest.fixture(scope="module")
def benchmarks():
    """Two benchmarks; of the second one query has a candidate less."""
    rows = [rankings(topic)[0] for topic in TOPICS]
    fewer = [row | {"query": arguments("kites", "con")[3]} for row in rows[:3]]
    fewer[1] = fewer[1] | {"negatives": fewer[1]["negatives"][:2]}
    return {"dq": columns(rows), "cq": columns(fewer)}


def test_metrics_by_hand():
    # first query: + - + in this order; second: - + -
    relevance = np.array([[1, 0, 1], [0, 1, 0]])
    cosines = np.array([[0.9, 0.5, 0.1], [0.8, 0.6, 0.2]])
    metrics = ranking_metrics(relevance, cosines)
    first = (1 + 1 / log2(4)) / (1 + 1 / log2(3))  # 1.5 / 1.631 = 0.920
    second = 1 / log2(3)  # the only positive in the second place: 0.631
    assert metrics["ndcg"] == pytest.approx((first + second) / 2)
    assert metrics["map"] == pytest.approx(((1 + 2 / 3) / 2 + 1 / 2) / 2)
    assert metrics["mrr"] == pytest.approx((1 + 1 / 2) / 2)
    assert metrics["accuracy_at_1"] == 0.5


def test_it_is_the_evaluator_of_the_library(model, benchmarks):
    for name, rows in benchmarks.items():
        ours = RankingEvaluator(Rankings({name: rows}), name, **FACTS)(model)
        samples = [
            {"query": query, "positive": positives, "negative": negatives}
            for query, positives, negatives in zip(rows["query"], rows["positives"], rows["negatives"], strict=True)
        ]
        theirs = RerankingEvaluator(samples, at_k=30, name="library", write_csv=False)(model)
        for key, of_library in (("ndcg", "ndcg@30"), ("map", "map"), ("mrr", "mrr@30")):
            assert ours[f"{name}_{key}"] == pytest.approx(theirs[f"library_{of_library}"], abs=1e-6)
        assert 0 < ours[f"{name}_ndcg"] < 1


def test_every_text_is_embedded_once(model, benchmarks, tmp_path, monkeypatch):
    shared = Rankings(benchmarks)
    # the query, two positives and three negatives of eight topics, and the one query of the other benchmark
    assert len(shared.texts) == len(set(shared.texts)) == 8 * 6 + 1
    both = RankingEvaluator(shared, **FACTS)
    cosines = both.scores(model, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(model, "encode", lambda texts, **options: pytest.fail("embedded again"))
        again = RankingEvaluator(shared, "cq", ["cq"], **FACTS).scores(model, tmp_path)
    assert np.array_equal(again["cq"], cosines["cq"])
    # benchmarks count the same, not by their rows
    each = [RankingEvaluator(shared, name, [name], **FACTS)(model)[f"{name}_ndcg"] for name in benchmarks]
    assert both.metrics(cosines)["ndcg"] == pytest.approx(np.mean(each)) and both.rows == 8 + 3
