"""SOS: the losses by hand, unit vectors or not, data, evaluators and the paper's figures."""

from functools import partial
from math import log, sqrt

import pytest
import torch
from sentence_transformers.sentence_transformer.losses import TripletLoss
from sentence_transformers.sentence_transformer.modules import Normalize

from modeling.sos.losses import PairSoftmaxLoss
from modeling.sos.system import SosSystem

UNIT = {"keep": 0, "replay": "none", "objective": "triplet", "margin": 0.5, "normalised": "true"}
TEXTS = ["we love the trams", "the trams are great for visitors", "we hate the trams"]


@pytest.fixture
def make(make_system, tiny_data):
    """A function that makes a system on the tiny encoder and data."""
    return partial(make_system, "sos-demo", opinions=tiny_data, **UNIT)


class Encoder(torch.nn.Module):
    """Stands for a model of two dimensions where a loss is given embeddings."""

    device = torch.device("cpu")

    def get_embedding_dimension(self):
        return 2


def test_softmax_loss_by_hand():
    loss = PairSoftmaxLoss(Encoder())
    assert loss.classifier.weight.shape == (2, 6)  # two classes, [u; v; |u - v|]
    with torch.no_grad():
        loss.classifier.bias.zero_()
        # evidence of two polarities is log 3 times the sum of |u - v|
        loss.classifier.weight.copy_(torch.tensor([[0, 0, 0, 0, log(3), log(3)], [0.0] * 6]))
    u, v = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    # the first pair does not differ: 1/2 for either class; the second differs by 1: 3/4 against 1/4
    value = loss.compute_loss_from_embeddings([u, v], torch.tensor([1, 0]))
    assert value.item() == pytest.approx((log(2) + log(4 / 3)) / 2)
    value = loss.compute_loss_from_embeddings([u, v], torch.tensor([0, 1]))
    assert value.item() == pytest.approx((log(2) + log(4)) / 2)


def test_triplet_loss_on_unit_vectors_and_on_others(make):
    anchor, near, far = (torch.tensor([row]) for row in ([1.0, 0.0], [0.6, 0.8], [0.0, 1.0]))
    loss = make(margin=0.6)._loss("triplets", None)
    assert isinstance(loss, TripletLoss)
    # Euclidean distances sqrt(0.8) = 0.894 and sqrt(2) = 1.414: 0.520 apart, 0.080 short of the margin
    value = loss.compute_loss_from_embeddings([anchor, near, far], None)
    assert value.item() == pytest.approx(0.6 - (sqrt(2) - sqrt(0.8)), rel=1e-4)
    # ten times as long they are 5.2 apart, 1.8 short of the paper's margin of 7
    wide = make(margin=7, normalised="false")._loss("triplets", None)
    value = wide.compute_loss_from_embeddings([10 * anchor, 10 * near, 10 * far], None)
    assert value.item() == pytest.approx(7 - 10 * (sqrt(2) - sqrt(0.8)), rel=1e-4)


def test_vectors_are_as_long_as_they_come_until_the_phase_is_over(make):
    system = make(normalised="false", margin=7)
    model = system.build_model()
    before = model.encode(TEXTS)
    phases = system.phases(model, system.load_data())
    next(phases)
    during = model.encode(TEXTS)
    lengths = (during**2).sum(axis=1) ** 0.5
    assert abs(lengths - 1).min() > 0.1
    assert during / lengths[:, None] == pytest.approx(before, abs=1e-5)  # the same cosines
    assert list(phases) == []
    assert isinstance(model[-1], Normalize)
    assert model.encode(TEXTS) == pytest.approx(before)


@pytest.mark.parametrize(
    ("objective", "kind", "rows", "columns"),
    [
        ("siamese", "pairs", 6 * 66, ["sentence1", "sentence2", "label"]),
        ("triplet", "triplets", 6 * 36, ["anchor", "positive", "negative"]),
    ],
)
def test_training_rows(make, tiny_data, second, objective, kind, rows, columns):
    data = make(objective=objective, max_train_rows=100, data=f"{tiny_data},{second}").load_data()
    assert data.train[kind].column_names == columns
    assert len(data.train[kind]) == 100
    assert data.counts == {f"{kind} of the sources": 2 * rows, f"{kind} in training": 100}
    assert data.sources == ["tiny-debates", "second-debates"]
    data = make(objective=objective, per_source=50, replay=tiny_data).load_data()
    assert data.counts[f"{kind} of the sources"] == data.counts[f"{kind} in training"] == 50
    assert data.sources == ["tiny-debates", "tiny-debates"]


def test_families_hold_both_polarities_of_one_product(make, tiny_data):
    system = make(objective="families", batch_size=24, keep=1)
    data = system.load_data()
    (phase,) = system.phases(system.build_model(), data)
    sides = {}
    for family, side, _ in phase.dataset["label"]:
        sides.setdefault(family, []).append(side)
    assert all(sorted(set(family)) == [-1, 1] and len(family) <= 8 for family in sides.values())
    assert sum(map(len, sides.values())) == data.counts["texts of tiny-debates"] > 0
    with pytest.raises(ValueError, match="--objective families compares unit vectors"):
        make(objective="families", normalised="false", margin=7)


def test_evaluators(make, tiny_data, second):
    validation, test = (make(reviews="none").evaluators(split) for split in ("validation", "test"))
    assert [evaluator.name for evaluator in validation] == ["triplets", "similarity"]
    names = ["triplets", "opinions_laptop", "opinions_restaurant", "similarity"]
    assert [evaluator.name for evaluator in test] == names
    assert [evaluator.rows for evaluator in test] == [36, 6, 6, 4]
    assert f"{validation[0].name}_{validation[0].headline[0]}" == SosSystem.PRIMARY
    assert test[1].dataset == "tiny-debates (test, laptop)"
    both = make(data=f"{tiny_data},{second}").evaluators("validation")[0]
    assert (both.rows, both.dataset) == (72, "tiny-debates, second-debates (validation)")
    both = make(reviews=f"{tiny_data},{second}", data="nowhere/to-be-found").evaluators("test")[0]
    assert both.rows == 72
    fewer = make(reviews=tiny_data, opinions="none", similarity="none", data="nowhere/to-be-found").evaluators("test")
    assert [evaluator.name for evaluator in fewer] == ["triplets"]
