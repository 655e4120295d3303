"""Twitter4SSE: the sets, no batch with a conversation twice, both losses by hand, evaluators, the paper's figures."""

from functools import partial

import pytest
from sentence_transformers.sentence_transformer.modules import Normalize

from modeling.base.batches import DistinctBatchSampler
from modeling.tweets.system import TweetsSystem
from tests.tiny import TOPICS


@pytest.fixture
def make(make_system):
    """A function that makes a system on the tiny encoder and data."""
    return partial(make_system, "tweets-demo", batch_size=4)


def test_training_rows(make):
    system = make(per_set="none")
    state = dict(vars(system))
    data = system.load_data()
    assert vars(system) == state  # what phases need is in the data
    # of six topics: two quotes and two replies, a pair of co-quotes and one of co-replies each; no set lacks, and each
    # topic has six rows for nine batches of four: none is left out
    assert list(data.counts.values()) == [12, 12, 6, 6, 0, 36, 0]
    assert data.train["pairs"].column_names == ["anchor", "positive"]
    assert data.sources == ["tiny-debates"]


def test_a_sample_of_each_set(make):
    assert make(sets="coreply,quote", batch_size=1).load_data().counts["pairs in training"] == 18
    data = make(per_set=5, batch_size=1).load_data()
    assert data.counts["pairs in training"] == 20
    assert data.counts["quote pairs of the sources"] == 12
    assert sum("needs" in anchor for anchor in data.train["pairs"]["anchor"]) == 10  # of quotes and replies


def test_a_source_that_is_none_is_named(make, tiny_data):
    with pytest.raises(ValueError, match="Couldn't reach 'nowhere/at-all'"):
        make(data=f"{tiny_data},nowhere/at-all").load_data()
    with pytest.raises(ValueError, match="have no 'dq'"):
        make(benchmarks="demo:reviews").evaluators("test")


def test_no_batch_has_a_conversation_twice(make):
    system = make(batch_size=6)
    data = system.load_data()
    (phase,) = system.phases(system.build_model(), data)
    sampler = phase.arguments["batch_sampler"](phase.dataset, 6, True, seed=1)
    assert isinstance(sampler, DistinctBatchSampler)
    topics = [next(topic for topic in TOPICS if topic in row["anchor"] + row["positive"]) for row in phase.dataset]
    batches = list(sampler)
    assert len(batches) == 6
    assert all(sorted(topics[row] for row in batch) == sorted(TOPICS[:6]) for batch in batches)
    # batches of five: seven take 5 x 6 rows of 6 topics, at most 7 x 5 = 35 of 36
    assert make(batch_size=5).load_data().counts["pairs that an epoch leaves out"] == 1
    with pytest.raises(ValueError, match="a batch of 7 rows needs as many groups"):
        phase.arguments["batch_sampler"](phase.dataset, 7, True)


def test_the_negative_is_the_positive_of_another_conversation(make):
    system = make(objective="triplet")
    rows = system.load_data().train["pairs"]
    assert rows.column_names == ["anchor", "positive", "negative"]
    assert set(rows["negative"]) <= set(rows["positive"])
    own = [next(topic for topic in TOPICS if topic in row["anchor"] + row["positive"]) for row in rows]
    assert not any(topic in row["negative"] for topic, row in zip(own, rows, strict=True))
    assert "pairs that an epoch leaves out" not in system.load_data().counts
    # vectors as long as they come until the phase is over
    system = make(objective="triplet", normalised="false", margin=5, replay="none", keep=0)
    model = system.build_model()
    phases = system.phases(model, system.load_data())
    assert next(phases).arguments == {}
    assert not isinstance(model[-1], Normalize)
    assert list(phases) == [] and isinstance(model[-1], Normalize)
    with pytest.raises(ValueError, match="--objective triplet draws negatives from other conversations: there is only"):
        make(objective="triplet", max_train_rows=1).load_data()


def test_evaluators(make, tiny_data):
    validation = make(pit=tiny_data, turl=tiny_data).evaluators("validation")
    assert [evaluator.name for evaluator in validation] == ["benchmarks", "similarity"]
    assert validation[0].rows == 4
    test = make(pit=tiny_data, turl=tiny_data).evaluators("test")
    assert [evaluator.name for evaluator in test] == ["benchmarks", "dq", "cq", "dr", "cr", "pit", "turl", "similarity"]
    assert [evaluator.rows for evaluator in test] == [4, 1, 1, 1, 1, 4, 4, 4]
    assert {evaluator.dataset for evaluator in test} == {"tiny-debates (test)"}
    for evaluators in (validation, test):
        assert f"{evaluators[0].name}_{evaluators[0].headline[0]}" == TweetsSystem.PRIMARY
    # a mean of what one has
    fewer = make(similarity="none", data="nowhere/to-be-found", benchmarks=f"{tiny_data},{tiny_data}")
    assert [evaluator.rows for evaluator in fewer.evaluators("test")] == [8, 2, 2, 2, 2]
    assert 0 < test[0](make().load_base())[TweetsSystem.PRIMARY] <= 1
