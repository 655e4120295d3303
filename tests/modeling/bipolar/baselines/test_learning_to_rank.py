"""What the models learn from, that they rank, and that shortlists are reported."""

import numpy as np
import pytest

from modeling.bipolar.baselines import learning_to_rank
from modeling.bipolar.baselines.features import FULL, PART, FeatureTables
from modeling.bipolar.baselines.learning_to_rank import Examples, LogisticRanker, XGBoostRanker
from modeling.bipolar.candidates import SETTINGS
from tests.modeling.bipolar.baselines.invented import debates, embed, vectors
from tests.modeling.bipolar.baselines.test_simple_sd import brute_force


@pytest.fixture(scope="module")
def tables():
    return FeatureTables(embed, vectors=vectors)


@pytest.fixture(scope="module")
def train():
    return debates(seed=2)


@pytest.fixture(scope="module")
def test():
    return debates(seed=3, number=6)


def accuracy(candidates, found):
    return np.mean([best in candidates.answers[row] for row, best in enumerate(found.best)])


def test_examples_are_each_counter_and_ten_others(tables, train):
    features, labels = Examples(tables).of(train, FULL)
    assert features.shape == (48 * 11, 20)
    assert labels.reshape(48, 11)[:, 0].all() and labels.sum() == 48
    assert np.array_equal(features[11], tables.of(train).features(1, sorted(train.answers[1]))[0])
    again, _ = Examples(tables).of(train, PART)
    assert np.array_equal(again, features[:, :8])
    other, _ = Examples(tables, seed=1).of(train, PART)
    assert not np.array_equal(other, again)


@pytest.mark.parametrize(("share", "near"), [(0, 0), (0.5, 5), (1, 10)])
def test_negatives_are_from_the_debate_and_from_anywhere(tables, train, share, near):
    examples, rng = Examples(tables, same_debate=share), np.random.default_rng(0)
    debate, everything = train.of("sda")[0], train.of("epa")[0]
    drawn = examples._draw(rng, debate, everything, sorted(train.answers[0]))
    assert len(set(drawn)) == 10
    assert not {*drawn} & {train.points[0], *train.answers[0]}
    assert len({*drawn} & {*debate.tolist()}) >= near
    assert len({*drawn} & {*debate.tolist()}) < 10 or share == 1


def test_a_small_corpus_gives_fewer_negatives(tables):
    features, _ = Examples(tables, same_debate=0).of(debates(seed=2, number=1, points=2), PART)
    assert len(features) == 2 * 3  # of four texts, one is the point and one its counter


def test_bad_options_are_refused(tables):
    with pytest.raises(ValueError, match=r"negatives \(0\) must be 1 or more"):
        Examples(tables, negatives=0)
    with pytest.raises(ValueError, match=r"same_debate \(2\) from 0 to 1"):
        Examples(tables, same_debate=2)


@pytest.mark.parametrize("size", [PART, FULL])
def test_logistic_regression_ranks_exactly(tables, train, test, size):
    ranker = LogisticRanker(Examples(tables), size)
    ranker.fit(train)
    found = ranker.best(test, "epa")
    assert found.best.tolist() == brute_force(tables.of(test), ranker.weights, "epa")
    assert accuracy(test, found) > 0.8


def test_xgboost_ranks_all_of_few_and_a_shortlist_of_many(tables, train, test, monkeypatch):
    monkeypatch.setattr(learning_to_rank, "XGBOOST", learning_to_rank.XGBOOST | {"n_estimators": 30})
    ranker = XGBoostRanker(Examples(tables), shortlist=5)
    ranker.fit(train)
    found = {setting: ranker.best(test, setting) for setting in SETTINGS}
    assert accuracy(test, found["sdoc"]) > 0.6
    assert found["sdoc"].note == found["sda"].note == ""
    recall = found["epa"].counts["points with an answer in the shortlist"] / len(test)
    assert found["epa"].note == (
        f"ranks the 5 candidates that logistic regression finds best; they have an answer of {recall:.1%} of the points"
    )
    assert recall > 0.8
    assert accuracy(test, found["epa"]) <= recall
    everything = XGBoostRanker(Examples(tables), shortlist=1000)
    everything.fit(train)
    pools = test.of("epa")
    scores = [everything._model.predict_proba(tables.of(test).features(row, pools[row]))[:, 1] for row in range(3)]
    assert everything.best(test, "epa").best[:3].tolist() == [
        pool[score.argmax()] for pool, score in zip(pools, scores, strict=False)
    ]


def test_parameters_are_the_papers():
    assert learning_to_rank.LOGISTIC == {"class_weight": "balanced", "max_iter": 1000, "C": 50}
    assert learning_to_rank.XGBOOST == {
        "max_depth": 8,
        "learning_rate": 0.01,
        "n_estimators": 1000,
        "min_child_weight": 5,
        "subsample": 0.8,
        "colsample_bytree": 0.7,
        "reg_lambda": 0.4,
        "scale_pos_weight": 0.8,
        "objective": "binary:logistic",
    }


def test_what_is_missing_is_said(train):
    without = Examples(FeatureTables(vectors=vectors))
    with pytest.raises(ValueError, match="all 20 features take an encoder"):
        LogisticRanker(without).fit(train)
    with pytest.raises(ValueError, match="XGBoost-part has not been trained: call fit first"):
        XGBoostRanker(without, PART).best(train, "sda")
