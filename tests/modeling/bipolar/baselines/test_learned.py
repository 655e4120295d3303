"""What the models learn from, and that they rank."""

import numpy as np
import pytest

from modeling.bipolar.baselines import learned
from modeling.bipolar.baselines.learned import draw_examples, fit_logistic, fit_trees, rank_trees
from modeling.bipolar.baselines.words import FULL, PART, FeatureTable, rank_linear
from tests.modeling.bipolar.baselines.invented import debates, embed, vectors
from tests.modeling.bipolar.baselines.test_words import brute_force


@pytest.fixture(scope="module")
def train():
    """Features and labels of 48 points."""
    candidates = debates(seed=2)
    table, examples = FeatureTable(candidates, embed, vectors), draw_examples(candidates)
    features = np.concatenate([table.features(row, texts) for row, texts, _ in examples])
    return features, np.concatenate([np.arange(len(texts)) < answers for _, texts, answers in examples])


@pytest.fixture(scope="module")
def table():
    return FeatureTable(debates(seed=3, number=6), embed, vectors)


def accuracy(table, best):
    return np.mean([text in answers for text, answers in zip(best, table.candidates.answers, strict=True)])


@pytest.mark.parametrize(("share", "near"), [(0, 0), (0.5, 5), (1, 10)])
def test_examples_are_each_counter_and_ten_others(share, near):
    candidates = debates(seed=2)
    examples = draw_examples(candidates, same_debate=share)
    assert [row for row, _, _ in examples] == list(range(48))
    for row, texts, answers in examples:
        assert set(texts[:answers]) == candidates.answers[row] and len(texts) == answers + 10 == len(set(texts))
        assert not set(texts[answers:]) & {candidates.points[row], *candidates.answers[row]}
        assert len(set(texts[answers:]) & set(candidates.of("sda")[row].tolist())) >= near
    assert draw_examples(candidates, same_debate=share) == examples
    assert draw_examples(candidates, same_debate=share, seed=1) != examples


def test_a_small_corpus_gives_fewer_negatives():
    examples = draw_examples(debates(seed=2, number=1, points=2), same_debate=0)
    assert [len(texts) for _, texts, _ in examples] == [3, 3]  # of four texts, one is the point and one its counter


@pytest.mark.parametrize("size", [PART, FULL])
def test_logistic_regression_ranks_exactly(train, table, size):
    weights = fit_logistic(train[0][:, :size], train[1])
    best = rank_linear(table, weights, "epa", range(len(table.candidates)))
    assert best.tolist() == brute_force(table, weights, "epa") and accuracy(table, best) > 0.8


def test_trees_rank_all_of_few_and_a_shortlist_of_many(train, table, monkeypatch):
    monkeypatch.setattr(learned, "XGBOOST", learned.XGBOOST | {"n_estimators": 30})
    trees, weights, rows = fit_trees(*train), fit_logistic(*train), range(len(table.candidates))
    best, possible = rank_trees(table, trees, weights, "sdoc", rows)
    assert accuracy(table, best) > 0.6 and possible.all()
    monkeypatch.setattr(learned, "SHORTLIST", 5)
    best, possible = rank_trees(table, trees, weights, "epa", rows)
    assert accuracy(table, best) <= possible.mean() and 0.8 < possible.mean() < 1
    monkeypatch.setattr(learned, "FEW", 1000)
    best, possible = rank_trees(table, trees, weights, "epa", range(3))
    pools = table.candidates.of("epa")
    scores = [trees.predict_proba(table.features(row, pools[row]))[:, 1] for row in range(3)]
    assert best.tolist() == [pools[row][score.argmax()] for row, score in enumerate(scores)] and possible.all()
