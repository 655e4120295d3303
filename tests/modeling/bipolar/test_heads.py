"""The heads by themselves: where they start, and what they compute."""

import pytest
import torch
from torch import nn

from modeling.bipolar.heads import BipolarHeads

U = torch.tensor([[3.0, 4.0], [1.0, 0.0]])


def test_retrieval_starts_at_the_similarities_of_the_base():
    for shared in (True, False):
        heads = BipolarHeads(2, shared=shared, normalised=False)
        assert torch.equal(heads.queries(U), U) and torch.equal(heads.documents(U), U)
    unit = BipolarHeads(2)
    assert torch.allclose(unit.queries(U), torch.tensor([[0.6, 0.8], [1.0, 0.0]]))


def test_a_shared_head_is_one_and_others_are_two():
    shared, two = BipolarHeads(2), BipolarHeads(2, shared=False)
    # retrieval 2 x 2 + 2 each, LayerNorm 2 x 6, classifier 2 x 6 + 2
    assert sum(p.numel() for p in shared.parameters()) == 6 + 12 + 14
    assert sum(p.numel() for p in two.parameters()) == 2 * 6 + 12 + 14
    for heads in (shared, two):
        nn.init.constant_(heads.query.bias, 1.0)
    assert torch.equal(shared.documents(U), shared.queries(U))
    assert not torch.equal(two.documents(U), two.queries(U))


def test_the_classifier_by_hand():
    heads = BipolarHeads(1)
    heads.classifier.weight.data = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    heads.classifier.bias.data = torch.tensor([0.0, 2.0])
    # [u; v; |u - v|] = [1, 0, 1] has mean 2/3 and variance 2/9: normalised [0.7071, -1.4142, 0.7071]
    logits = heads.classify(torch.tensor([[1.0]]), torch.tensor([[0.0]]))
    assert torch.allclose(logits, torch.tensor([[0.7071, -0.7071 + 2]]), atol=1e-3)
    # the other way round it is [0, 1, 1]: the order of point and candidate counts
    logits = heads.classify(torch.tensor([[0.0]]), torch.tensor([[1.0]]))
    assert torch.allclose(logits, torch.tensor([[-1.4142, 1.4142 + 2]]), atol=1e-3)


def test_without_the_difference_the_classifier_sees_two_vectors():
    heads = BipolarHeads(1, difference=False)
    heads.classifier.weight.data = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    heads.classifier.bias.data.zero_()
    # [1, 0] has mean 0.5 and standard deviation 0.5
    assert torch.allclose(heads.classify(torch.ones(1, 1), torch.zeros(1, 1)), torch.tensor([[1.0, -1.0]]), atol=1e-3)


def test_heads_of_the_same_shape_are_built_from_their_description():
    config = {"dimension": 3, "shared": False, "difference": False, "normalised": False}
    heads = BipolarHeads(**config)
    assert heads.get_config_dict() == config
    other = BipolarHeads.from_config(config | {"fusion_weight": 0.1})
    assert {k: v.shape for k, v in other.state_dict().items()} == {k: v.shape for k, v in heads.state_dict().items()}
    with pytest.raises(ValueError, match="the heads lacks shared, normalised"):
        BipolarHeads.from_config({"dimension": 3, "difference": True})
    with pytest.raises(ValueError, match="dimension 0 must be positive"):
        BipolarHeads(0)
