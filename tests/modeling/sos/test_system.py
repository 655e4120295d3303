"""SOS: the losses by hand, unit vectors or not, data, evaluators and the paper's figures."""

from functools import partial
from math import log

import pytest
import torch

from modeling.sos.system import PairSoftmaxLoss, SosSystem

UNIT = {"keep": 0, "replay": "none", "objective": "triplet", "margin": 0.5, "normalised": "true"}


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


def test_training_rows(make, tiny_data, second):
    objective, kind, rows, columns = "siamese", "pairs", 6 * 66, ["sentence1", "sentence2", "label"]
    data = make(objective=objective, max_train_rows=100, data=f"{tiny_data},{second}").load_data()
    assert data.train[kind].column_names == columns
    assert len(data.train[kind]) == 100
    assert data.counts == {f"{kind} of the sources": 2 * rows, f"{kind} in training": 100}
    assert data.sources == ["tiny-debates", "second-debates"]
    data = make(objective=objective, per_source=50, replay=tiny_data).load_data()
    assert data.counts[f"{kind} of the sources"] == data.counts[f"{kind} in training"] == 50
    assert data.sources == ["tiny-debates", "tiny-debates"]


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
