"""Opinion similarity and triplet accuracy, from cosines set by hand."""

import numpy as np
import pytest

from modeling.sos.evaluation import OpinionEvaluator, TripletAccuracyEvaluator
from tests.tiny import triplets

FACTS = {"title": "opinions", "dataset": "tiny (test)", "dataset_id": "tiny"}
TEXTS = list("abcdefgh")
# four broadly different pairs, the last of them at the boundary, and four broadly similar ones
SCORES = [0, 0.5, 1, 1.5, 2, 3, 3.5, 4]
COSINES = np.array([0.9, 0.2, 0.1, 0.6, 0.3, 0.8, 0.4, 0.5])


class Fake:
    """An encoder whose vectors are given, unit vectors in a plane by the cosine with the first axis."""

    def __init__(self, cosines):
        self.cosines = cosines

    def encode(self, texts, **options):
        return np.array([[self.cosines[text], np.sqrt(1 - self.cosines[text] ** 2)] for text in texts])


def opinion_evaluator(scores=SCORES):
    return OpinionEvaluator({"sentence1": ["x"] * 8, "sentence2": TEXTS, "score": scores}, **FACTS)


def test_opinions_are_grouped_at_one_and_a_half():
    evaluator = opinion_evaluator()
    groups = evaluator.by_group(COSINES)
    assert groups["broadly different"].tolist() == [0.9, 0.2, 0.1, 0.6]
    assert groups["broadly similar"].tolist() == [0.3, 0.8, 0.4, 0.5]
    assert evaluator.rows == 8


def test_opinion_metrics():
    found = opinion_evaluator().metrics(COSINES)
    assert (found["n_different"], found["n_similar"]) == (4, 4)
    # the cosines' ranks are 8 2 1 6 3 7 4 5: behind them 0, 5, 5, 1, 3, 0 and 1 higher ones, 15 of 28 rise
    assert found["kendall"] == pytest.approx((15 - 13) / 28)
    assert found["kendall_different"] == pytest.approx((2 - 4) / 6)  # 8 2 1 6: (2, 6) and (1, 6) rise
    assert found["kendall_similar"] == pytest.approx((4 - 2) / 6)  # 3 7 4 5: all but (7, 4) and (7, 5)
    # 0.9 and 0.8 lie above the third quartile of .65, and only 0.9 is of a pair that people put into their lowest
    # quarter; 0.1 and 0.2 lie below the first of .275, and neither is of a similar pair
    assert found["wrong_quartile_different"] == 0.25
    assert found["wrong_quartile_similar"] == 0
    assert all(key in found for key in OpinionEvaluator.headline)


def test_nothing_to_correlate_is_no_figure():
    found = opinion_evaluator().metrics(np.full(8, 0.5))
    assert set(found) == set(OpinionEvaluator.measures) and not any(found.values())


@pytest.mark.parametrize("score", [4.5, -1, float("nan")])
def test_a_score_outside_of_the_scale_is_refused(score):
    with pytest.raises(ValueError, match=rf"tiny \(test\): score must be people's mean in \[0, 4\]; there is {score}"):
        opinion_evaluator([*SCORES[:7], score])


def test_a_group_without_pairs_has_no_figure():
    found = opinion_evaluator([2, 2.5, 3, 3.5, 4, 3.75, 3.25, 2.25]).metrics(COSINES)
    assert found["pearson_different"] is None
    assert found["n_different"] == 0


def test_triplet_accuracy():
    rows = {"anchor": ["x"] * 4, "positive": list("abcd"), "negative": list("efgh")}
    evaluator = TripletAccuracyEvaluator(rows, **FACTS)
    positive, negative = [0.9, 0.5, 0.3, 0.7], [0.1, 0.6, 0.3, 0.2]
    cosines = dict(zip(TEXTS, positive + negative, strict=True)) | {"x": 1.0}
    # the first and the last are nearer to their own; the third is as near to the other, which does not count
    found = evaluator(Fake(cosines))
    assert found == pytest.approx({"triplets_accuracy": 0.5, "triplets_mean_same": 0.6, "triplets_mean_other": 0.3})
    assert evaluator.rows == 4


def test_accuracy_is_that_of_the_library(tiny_base):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.evaluation import TripletEvaluator

    model, rows = SentenceTransformer(str(tiny_base)), triplets("trams")
    columns = {key: [row[key] for row in rows] for key in ("anchor", "positive", "negative")}
    theirs = TripletEvaluator(*columns.values(), main_similarity_function="cosine")(model)
    assert TripletAccuracyEvaluator(columns, **FACTS)(model)["triplets_accuracy"] == pytest.approx(
        theirs["cosine_accuracy"]
    )
    assert 0 < theirs["cosine_accuracy"] < 1
