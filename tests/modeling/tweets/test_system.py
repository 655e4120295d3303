"""Twitter4SSE: the sets, no batch with a conversation twice, both losses by hand, evaluators, the paper's figures."""

import shutil
from functools import partial
from math import exp, log, sqrt

import numpy as np
import pytest
import torch
from datasets import Dataset
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss, TripletLoss
from sentence_transformers.sentence_transformer.losses import multiple_negatives_ranking as library
from sentence_transformers.sentence_transformer.modules import Normalize
from transformers import BertweetTokenizer, RobertaConfig, RobertaModel

from modeling.base.adapters import lora_targets
from modeling.base.batches import DistinctBatchSampler
from modeling.base.models import load_backbone, resolve
from modeling.base.recipe import load_recipe
from modeling.tweets.system import SETS, TweetsSystem
from tests.tiny import TOPICS, arguments, rankings

TEXTS = ["we love the trams", "the trams are great for visitors", "we hate the trams"]


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
    assert "quote pairs of the sources" not in counts
    message = "--sets: .*small-archive has no coquote pairs to train on; --sets all takes what there is"
    with pytest.raises(ValueError, match=message):
        make(data=folder, sets="reply,coquote").load_data()
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


def test_two_processes_take_the_step_of_one(make, monkeypatch):
    torch.manual_seed(1)
    columns = [torch.randn(6, 4, requires_grad=True) for _ in range(2)]
    alone = make()._loss(torch.nn.Identity()).compute_loss_from_embeddings(columns, None)
    wanted = torch.autograd.grad(alone, columns)
    monkeypatch.setattr("modeling.tweets.system.is_dist_initialized", lambda: True)
    loss = make()._loss(torch.nn.Identity())
    assert loss.gather_across_devices
    losses = []
    for rank in (0, 1):
        mine = [column[3 * rank : 3 * rank + 3] for column in columns]
        gathered = iter(columns)  # anchors, then positives of both processes
        monkeypatch.setattr(library, "all_gather_with_grad", lambda tensor, gathered=gathered: next(gathered))
        monkeypatch.setattr(library, "get_rank", lambda rank=rank: rank)
        losses.append(loss.compute_loss_from_embeddings(mine, None))
    # gathering adds the gradients of all processes up, and the wrapper of the model divides by their number
    both = sum(losses) / 2
    assert both.item() == pytest.approx(alone.item())
    for ours, theirs in zip(torch.autograd.grad(both, columns), wanted, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_triplet_loss_by_hand(make):
    anchor, near, far = (torch.tensor([row]) for row in ([1.0, 0.0], [0.6, 0.8], [0.0, 1.0]))
    loss = make(objective="triplet", margin=0.6)._loss(None)
    assert isinstance(loss, TripletLoss)
    # Euclidean distances sqrt(0.8) and sqrt(2)
    value = loss.compute_loss_from_embeddings([anchor, near, far], None)
    assert value.item() == pytest.approx(0.6 - (sqrt(2) - sqrt(0.8)), rel=1e-4)


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


@pytest.fixture
def bertweet(tmp_path):
    """A folder with a plain model of BERTweet's kind: positions for 128 tokens, and its own tokeniser."""
    folder = tmp_path / "bertweet"
    folder.mkdir()
    words = [word for text in arguments("trams", "pro") for word in text.split()]
    (folder / "vocab.txt").write_text("".join(f"{word} 9\n" for word in dict.fromkeys(words)), encoding="utf-8")
    (folder / "bpe.codes").write_text("", encoding="utf-8")
    BertweetTokenizer(str(folder / "vocab.txt"), str(folder / "bpe.codes")).save_pretrained(folder)
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = RobertaConfig(vocab_size=60, max_position_embeddings=130, pad_token_id=1, **sizes)
    RobertaModel(config).save_pretrained(folder)
    return folder


def test_bertweet_gets_mean_pooling_and_reads_128_tokens(bertweet):
    backbone = resolve(str(bertweet), load_recipe("tweets-bertweet").base)
    model = load_backbone(backbone, load_recipe("tweets-bertweet").max_length)
    assert model[1].pooling_mode == "mean" and isinstance(model[2], Normalize)
    assert lora_targets(model) == ["query", "key", "value", "attention.output.dense"]
    tokens = model.preprocess(TEXTS[:2])
    vectors = model[0]({**tokens})["token_embeddings"]
    mask = tokens["attention_mask"][..., None]
    mean = (vectors * mask).sum(1) / mask.sum(1)
    assert model.encode(TEXTS[:2]) == pytest.approx((mean / mean.norm(dim=1, keepdim=True)).detach().numpy(), abs=1e-5)
    untrained = load_backbone(backbone)  # its own limit, where a text is longer than all positions
    assert untrained.max_seq_length == 128
    assert np.isfinite(untrained.encode(["we love " * 100])).all()


# Figures as printed in table 1: DQ, CQ, DR, CR, Avg, PIT, TURL, STSb
METRICS = [f"{name}_ndcg" for name in ("dq", "cq", "dr", "cr", "benchmarks")]
METRICS += [f"{name}_pearson" for name in ("pit", "turl", "similarity")]
TRIPLET = {"sets": "quote", "objective": "triplet", "normalised": "false", "margin": 5}


@pytest.mark.parametrize(
    ("options", "printed"),
    [
        ({}, [83.7, 72.1, 84.2, 68.3, 77.1, 66.1, 67.1, 72.4]),
        ({"sets": "quote"}, [80.8, 68.9, 81.7, 65.0, 74.1, 67.4, 66.0, 72.4]),
        ({"sets": "coreply"}, [79.3, 69.0, 81.7, 67.5, 74.4, 62.1, 64.3, 67.3]),
        (TRIPLET, [67.7, 60.8, 71.5, 56.9, 64.2, 53.1, 43.4, 44.7]),
        ({"sets": "reply,quote"}, [None] * 8),
    ],
)
def test_figures_of_the_paper(make, options, printed):
    system = make(**options)
    figures = system.paper.printed(system.recipe)
    ours = [value and pytest.approx(value / 100) for value in printed]
    assert [figures[metric]["trained"] for metric in METRICS] == ours
    base = [46.9, 42.5, 56.7, 44.1, 47.5, 38.5, 48.2, 48.2]
    assert [100 * figures[metric]["base"] for metric in METRICS] == pytest.approx(base)
    assert [figures[metric]["data"] for metric in METRICS] == ["twitter4sse"] * 5 + ["pit2015", "turl", "stsb"]
    assert len(system.paper.figures) == 8 * 7
    paper = load_recipe("tweets-bertweet")
    assert system.paper.printed(paper) == system.paper.printed(make().recipe)
