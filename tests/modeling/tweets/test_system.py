"""Twitter4SSE: the sets, no batch with a conversation twice, both losses by hand, evaluators, the paper's figures."""

import shutil
from functools import partial
from math import exp, log

import pytest
import torch
from datasets import Dataset
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.modules import Normalize

from modeling.base.batches import DistinctBatchSampler
from modeling.tweets.system import SETS, TweetsSystem
from tests.tiny import TOPICS, rankings


@pytest.fixture
def make(make_system):
    """A function that makes a system on the tiny encoder and data."""
    return partial(make_system, "tweets-demo", batch_size=4)


@pytest.fixture
def small(tiny_data, tmp_path):
    """A function that makes a source without some configurations, as a small archive gives it."""

    def source(*lacking):
        folder = tmp_path / str(len(list(tmp_path.iterdir()))) / "small-archive"
        shutil.copytree(tiny_data, folder)
        lines = (folder / "README.md").read_text().split("- config_name: ")
        (folder / "README.md").write_text(
            "- config_name: ".join(part for part in lines if part.partition("\n")[0] not in lacking) + "---\n"
        )
        return folder

    return source


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
    for sets, rows in (("quote", 12), ("coreply,quote", 18), ("quote,quote", 12), ("all", 36)):
        assert make(sets=sets, batch_size=1).load_data().counts["pairs in training"] == rows
    data = make(per_set=5, batch_size=1).load_data()
    assert data.counts["pairs in training"] == 20
    assert data.counts["quote pairs of the sources"] == 12
    anchors = data.train["pairs"]["anchor"]
    assert sum("needs" in anchor for anchor in anchors) == 10  # of quotes and replies
    assert make(per_set=5, batch_size=1).load_data().train["pairs"]["anchor"] == anchors
    assert make(per_set=5, batch_size=1, seed=3).load_data().train["pairs"]["anchor"] != anchors
    assert len(make(max_train_rows=7, batch_size=1).load_data().train["pairs"]) == 7


def test_a_set_that_is_not_there(make, small):
    folder = small("quote", "coquote")
    counts = make(data=folder).load_data().counts
    assert (counts["pairs in training"], counts["sets without pairs"]) == (18, 2)
    both = make(data=f"{folder},{small('quote', 'coquote')}", batch_size=1).load_data()
    assert both.counts["reply pairs of the sources"] == 24


def without(folder, split, *configs):
    """Takes a split of configurations out of a source, as builders do where all rows are of others."""
    text = (folder / "README.md").read_text()
    for name in configs:
        text = text.replace(f"  - split: {split}\n    path: {name}/{split}-00000-of-00001.parquet\n", "")
    (folder / "README.md").write_text(text)
    return folder


def test_what_a_source_lacks(make, small, tiny_data):
    folder = without(small(), "train", "quote")
    assert make(data=folder).load_data().counts["sets without pairs"] == 1
    for options, message in (
        ({"data": folder, "sets": "quote"}, "has no quote pairs to train on"),
        ({"data": f"{tiny_data},nowhere/at-all"}, "Couldn't reach 'nowhere/at-all'"),
        ({"data": small(*SETS)}, "not 'quote', which"),
    ):
        with pytest.raises(ValueError, match=message):
            make(**options).load_data()
    with pytest.raises(ValueError, match="not 'dq'"):
        make(benchmarks=small(*SETS, "dq", "cq", "dr", "cr")).evaluators("test")
    with pytest.raises(ValueError, match=r"has no benchmark for validation .dq, cq, dr, cr.: name a source"):
        make(data=without(small(), "validation", "dq", "cq", "dr", "cr")).evaluators("validation")
    benchmarks = make(benchmarks=small("dq", "cq"), similarity="none").evaluators("test")
    assert [evaluator.name for evaluator in benchmarks] == ["benchmarks", "dr", "cr"]
    assert benchmarks[0].title == "tweets of one conversation, mean of dr, cr"


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


def test_rows_with_one_text_are_of_one_group(make, small):
    folder = small()
    path = folder / "quote" / "train-00000-of-00001.parquet"
    rows = Dataset.from_parquet(str(path)).to_list()
    shared = ("trams", "parks")  # two topics get a positive in common
    rows = [row | {"positive": "so true" if row["group"] in shared else row["positive"]} for row in rows]
    Dataset.from_list(rows).to_parquet(path)
    # five groups: one of twelve rows, four of six; six batches of five take six rows of each
    assert make(data=folder, batch_size=5).load_data().counts["pairs that an epoch leaves out"] == 6


def test_multiple_negatives_by_hand(make):
    loss = make(scale=2)._loss(torch.nn.Identity())
    assert isinstance(loss, MultipleNegativesRankingLoss) and not loss.gather_across_devices
    anchors, positives = torch.tensor([[1.0, 0.0], [0.0, 3.0]]), torch.tensor([[2.0, 0.0], [0.6, 0.8]])
    # cosines of the anchors with both positives: 1 and 0.6; 0 and 0.8
    expected = (-log(exp(2) / (exp(2) + exp(1.2))) - log(exp(1.6) / (1 + exp(1.6)))) / 2
    assert loss.compute_loss_from_embeddings([anchors, positives], None).item() == pytest.approx(expected)


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


def test_a_benchmark_of_few_queries_is_no_part_of_the_mean(make, small):
    folder = small()
    for name, queries in (("dq", 9), ("dr", 10), ("cr", 11)):
        rows = Dataset.from_list(queries * rankings("trams"))
        rows.to_parquet(folder / name / "test-00000-of-00001.parquet")
    evaluators = make(benchmarks=folder, similarity="none").evaluators("test")
    assert [(each.name, each.rows) for each in evaluators] == [("benchmarks", 21), ("dr", 10), ("cr", 11)]
