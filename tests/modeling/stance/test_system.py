"""Stance: the losses by hand, the filter, the phases, the evaluators and the paper's figures."""

from functools import partial
from math import sqrt

import numpy as np
import pytest
import torch
from datasets import Dataset
from sentence_transformers.sentence_transformer.losses import TripletLoss

from modeling.stance import system as module
from modeling.stance.losses import LinearContrastiveLoss
from modeling.stance.system import StanceSystem
from tests.tiny import pairs

# the paper's best setting, whatever the demonstration may choose one day
BEST = {"objective": "hybrid", "margin": 0.4, "keep": 0, "lora": "true"}
BEST |= {"filter_pairs": 0.5, "filter_triplets": 0.3}
PLAIN = {"filter_pairs": "none", "filter_triplets": "none"}


@pytest.fixture
def make(make_system):
    """A function that makes a system on the tiny encoder and data."""
    return partial(make_system, "stance-demo", **BEST)


def at_cosines(*cosines):
    """Two matrices whose rows have these cosines; the second has other lengths than one."""
    first = torch.tensor([[1.0, 0.0]] * len(cosines))
    second = torch.tensor([[cosine, sqrt(1 - cosine**2)] for cosine in cosines])
    return [first, 3 * second]


# distances 0.2, 1, 0.1 and 0.5: an agreeing pair that is near and one that is far, an opposing pair inside the margin
# of 0.4 and one beyond
COSINES, LABELS = (0.8, 0.0, 0.9, 0.5), torch.tensor([1, 1, 0, 0])


def test_without_dropout_a_text_has_one_vector_in_training(make):
    def spread(**options):
        model = make(**options).build_model().train()
        with torch.no_grad():
            one, other = (model(model.preprocess(["free trams"]))["sentence_embedding"] for _ in range(2))
        return (one - other).abs().max().item()

    assert spread(dropout=0) == 0 < spread()


def test_losses_of_pairs(make):
    loss = make()._loss("pairs", None)
    assert isinstance(loss, LinearContrastiveLoss)
    # (0.2 + 1 + (0.4 - 0.1) + 0) / 4
    assert loss.compute_loss_from_embeddings(at_cosines(*COSINES), LABELS).item() == pytest.approx(0.375)
    # with margin 1 both opposing pairs are too near: (0.2 + 1 + 0.9 + 0.5) / 4
    wide = LinearContrastiveLoss(None, margin=1.0)
    assert wide.compute_loss_from_embeddings(at_cosines(*COSINES), LABELS).item() == pytest.approx(0.65)


def test_loss_of_triplets(make):
    loss = make()._loss("triplets", None)
    assert isinstance(loss, TripletLoss)
    anchor = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    near, far = [0.6, 0.8], [0.0, 1.0]  # at Euclidean distances sqrt(0.8) = 0.894 and sqrt(2) = 1.414
    value = loss.compute_loss_from_embeddings([anchor, torch.tensor([near, far]), torch.tensor([far, near])], None)
    # 0.894 - 1.414 + 0.4 < 0 costs nothing; 1.414 - 0.894 + 0.4 = 0.920; the mean of both
    assert value.item() == pytest.approx((sqrt(2) - sqrt(0.8) + 0.4) / 2, rel=1e-5)


def test_hybrid_is_triplets_first_and_pairs_after(make, tiny_data, second):
    system = make(epochs=3, **PLAIN)
    state = dict(vars(system))
    data = system.load_data()
    phases = system.phases(None, data)
    assert vars(system) == state  # what phases need is in the data
    assert [(phase.name, len(phase.dataset), phase.epochs, type(phase.loss)) for phase in phases] == [
        ("triplets", 216, 1.5, TripletLoss),  # 6 topics x 36, for half of the epochs
        ("pairs", 396, 1.5, LinearContrastiveLoss),  # 6 topics x 66
    ]
    assert list(data.counts.values()) == [216, 216, 396, 396]  # before the filter and in training
    for objective, kind in (("siamese", "pairs"), ("triplet", "triplets")):
        system = make(objective=objective, epochs=3, data=f"{tiny_data},{second}", **PLAIN)
        data = system.load_data()
        assert [(phase.name, phase.epochs) for phase in system.phases(None, data)] == [(kind, 3)]
        assert data.counts[f"{kind} in training"] == {"pairs": 792, "triplets": 432}[kind]


def test_sources_are_sampled_so_that_one_does_not_drown_the_others(make, tiny_data, second):
    two = f"{tiny_data},{second}"
    for per_source, data, rows in ((50, tiny_data, 50), (50, two, 100), ("50,20", two, 70)):
        assert make(per_source=per_source, data=data, **PLAIN).load_data().counts["pairs in training"] == rows


@pytest.fixture
def similarities(monkeypatch):
    """Sets the base's cosines: first text of a row -> its pairwise cosines. Returns the blocks that were asked for."""
    asked, chosen = [], {}

    def fake(vectors, columns):
        asked.append(list(columns[0]))
        assert len(columns) in (2, 3)  # labels are no text
        return np.array([chosen[text] for text in columns[0]]).T

    monkeypatch.setattr(module, "pair_similarities", fake)
    return asked, chosen


def rows_of(names):
    return Dataset.from_dict({column: list(names) for column in ("anchor", "positive", "negative")})


def test_filter_looks_at_the_least_similar_two_texts(make, similarities):
    similarities[1].update(a=(0.9, 0.8, 0.31), b=(0.9, 0.29, 0.9), c=(0.3, 0.9, 0.9), d=(0.4, 0.4, 0.4))
    rows = make()._filter(rows_of("abcd"), "triplets", 0.3, None)
    assert rows["anchor"] == ["a", "d"]  # 0.31 and 0.4 are above 0.3, 0.29 and 0.3 are not
    similarities[1].update(a=(0.6,), b=(0.5,), c=(-0.9,))
    rows = Dataset.from_dict({"sentence1": ["a", "b", "c"], "sentence2": ["x"] * 3, "label": [1, 0, 1]})
    assert make()._filter(rows, "pairs", 0.5, None)[:] == {"sentence1": ["a"], "sentence2": ["x"], "label": [1]}
    similarities[1].update({name: (0.1, 0.1, 0.1) for name in "abcd"})
    with pytest.raises(ValueError, match=r"--filter-triplets 0.3 drops all 4 rows of triplets: lower it, or use none"):
        make()._filter(rows_of("abcd"), "triplets", 0.3, None)


def test_filter_embeds_no_more_than_it_needs(make, similarities):
    similarities[1].update({name: (0.9, 0.9, 0.9) for name in "bcdef"} | {"a": (0.1, 0.9, 0.9)})
    different = {column: [f"{name}{column[1:]}" for name in "abcdef"] for column in ("positive", "negative")}
    rows = Dataset.from_dict({"anchor": list("abcdef")} | different)
    assert make(max_train_rows=3)._filter(rows, "triplets", None, None)["anchor"] == ["a", "b", "c"]
    assert similarities[0] == []
    assert make(max_train_rows=2)._filter(rows, "triplets", 0.3, None)["anchor"] == ["b", "c"]  # d is one too many
    assert similarities[0] == [["a", "b"], ["c", "d"]]  # of 18 texts, and two triplets have six
    # where the same six texts make up all rows, one block costs no more
    similarities[0].clear()
    assert make(max_train_rows=2)._filter(rows_of("abcdef"), "triplets", 0.3, None)["anchor"] == ["b", "c"]
    assert similarities[0] == [list("abcdef")]


def names(evaluators):
    return [evaluator.name for evaluator in evaluators]


def test_pairs_that_the_base_finds_similar(make, monkeypatch):
    # of 66 test pairs the first twelve are above 0.5: 6 agree, 6 oppose; exactly 0.5 is not above it
    monkeypatch.setattr(module, "pair_similarities", lambda *rest: np.array([[0.51] * 12 + [0.5] * 54]))
    system = make()
    _, filtered, _ = system.evaluators("test")
    assert filtered.scores(system.load_base()).shape == (12,)
    assert filtered.labels.tolist() == [row["label"] for row in pairs("gardens")[:12]]
    assert sum(filtered.labels) == 6 and filtered.rows == 12
    assert "base cosine above 0.5" in filtered.title


def test_what_is_for_testing_only(make, tiny_data, monkeypatch):
    system = make(inference=tiny_data, max_eval_rows=4, max_test_rows=5)
    testing, validating = system.evaluators("test"), system.evaluators("validation")
    assert names(testing) == ["stance", "stance_filtered", "similarity", "inference"]
    assert f"{testing[0].name}_{testing[0].headline[0]}" == StanceSystem.PRIMARY
    assert {evaluator.dataset for evaluator in testing} == {"tiny-debates (test)"}  # never a local path
    assert names(validating) == ["stance", "similarity"]
    assert [evaluator.rows for evaluator in (validating[0], testing[0], testing[3])] == [4, 5, 5]
    system = make(alignment=tiny_data, similarity="none")
    tweets, on_topic = system.evaluators("test")[-2:]
    assert names(system.evaluators("validation")) == ["stance"]
    assert [(query.text, query.target, query.threshold) for query in tweets.queries] == [
        ("Abortion is healthcare.", "D", 0.70),  # as printed in table 4
        ("Abortion is murder.", "R", 0.60),
    ]
    assert (tweets.name, tweets.dataset, tweets.rows) == ("alignment", "tiny-debates (test)", 12)
    assert on_topic.dataset == "tiny-debates (test, issue abort)"
    assert (on_topic.name, on_topic.rows, on_topic.on_topic) == ("alignment_on_topic", 6, True)  # every second one
    # a collection whose texts have no topic
    monkeypatch.setattr(module, "has_config", lambda source, config: False)
    assert names(system.evaluators("test")) == ["stance", "stance_filtered", "alignment"]


def test_targets_are_measured_on_their_test_split_at_the_end(make, monkeypatch):
    tweets = Dataset.from_dict({"text": ["a", "b"], "side": [0, 1], "group": ["fauci", "fauci"]})
    asked = []

    def rows(source, config, split, limit=None):
        asked.append((source, config, split, limit))
        return tweets if config == "families" else Dataset.from_list(pairs("trams"))

    for at_the_end, during in (("test", "validation"), ("validation", "train")):
        system = make(similarity="none", targets="org/tweets", evaluate_on=at_the_end, max_test_rows=9, max_eval_rows=9)
        monkeypatch.setattr(system, "rows", rows)
        *_, targets = system.evaluators(at_the_end)
        assert asked[-1] == ("org/tweets", "families", "test", None)
        assert (targets.name, targets.dataset, list(targets.statements)) == ("targets", "org/tweets (test)", ["fauci"])
        assert "targets" not in names(system.evaluators(during))


def test_topics_are_compared_where_there_are_several(make):
    with pytest.raises(ValueError, match="'org/tweets'"):
        make(alignment="org/tweets").evaluators("test")
    # the split for validation has one topic only, that for training six
    system = make(similarity="none", evaluate_on="validation")
    assert names(system.evaluators("validation")) == ["stance"]
    system.rows = lambda *arguments: Dataset.from_list([*pairs("trams"), *pairs("parks")])
    assert names(system.evaluators("validation")) == ["stance", "topic"]
