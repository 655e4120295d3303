"""Holding similarity: the terms by hand, what they are measured against, and the texts that go along."""

import copy

import pytest
import torch
from sentence_transformers.sentence_transformer.losses import TripletDistanceMetric, TripletLoss

from modeling.base import keep
from modeling.base.adapters import add_lora
from modeling.base.keep import KeepSimilarityLoss, neighbours

TEXTS = ["we love the trams every day", "good", "the town needs more parks and gardens for children in summer", "all"]


def columns(model, *texts):
    return [dict(model.preprocess(list(column))) for column in texts]


def triplet_loss(model):
    return TripletLoss(model, TripletDistanceMetric.EUCLIDEAN, 0.4)


def test_keep_and_replay_by_hand():
    # two rows of two columns; before: all texts of different rows are orthogonal or equal
    before = [torch.eye(2), torch.eye(2)]
    # after: the second column of row 0 is turned to (0, 1); within row 0 that is free
    after = [torch.eye(2), torch.tensor([[0.0, 1.0], [0.0, 1.0]])]
    # ordered pairs of texts of different rows: 4 texts, each with 2 of the other row: 8. The turned text goes from 0
    # to 1 with both texts of row 1, counted from either side: 4 squared differences of 1
    assert KeepSimilarityLoss.compute_keep_from_embeddings(after, before).item() == pytest.approx(4 / 8)
    assert KeepSimilarityLoss.compute_keep_from_embeddings(before, before).item() == 0
    one_row = [column[:1] for column in after]  # has no other row to compare with
    assert KeepSimilarityLoss.compute_keep_from_embeddings(one_row, [column[:1] for column in before]).item() == 0
    # replay, ordered pairs of different texts: 12. The turned text lost its partner and gained two texts, seen from
    # either side: 6 changes. Of the two pairs within rows one changed: 1 / 2
    assert KeepSimilarityLoss.compute_replay_from_embeddings(after, before).item() == pytest.approx(6 / 12 + 1 / 2)
    assert KeepSimilarityLoss.compute_replay_from_embeddings(before, before).item() == 0


@pytest.mark.parametrize("lora", [True, False])
def test_reference_is_the_untrained_encoder(model, lora):
    untouched = copy.deepcopy(model).eval()
    if lora:
        add_lora(model, rank=4)
    loss = KeepSimilarityLoss(model, triplet_loss(model), weight=2.0)
    features = columns(model, TEXTS[:2], TEXTS[1:3], TEXTS[2:])
    model.eval()
    assert loss(features, None)["keep"].item() == pytest.approx(0, abs=1e-10)  # nothing is trained yet
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.3 * torch.randn_like(parameter))
    model.train()
    with loss._reference() as reference:
        vectors = [reference(dict(column))["sentence_embedding"] for column in features]
    assert model.training
    for one, column in zip(vectors, features, strict=True):
        torch.testing.assert_close(one, untouched(dict(column))["sentence_embedding"])  # no dropout, no adapter
    parts = loss(features, None)
    assert set(parts) == {"task", "keep"} and parts["keep"] > 0.01
    sum(parts.values()).backward()
    assert all(p.grad is not None for name, p in model.named_parameters() if p.requires_grad and "pooler" not in name)


def test_replayed_columns_are_held_and_hidden_from_the_loss(model):
    add_lora(model, rank=4)
    loss = KeepSimilarityLoss(model, triplet_loss(model), weight=0.0, replay_weight=3.0)
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            parameter.data.normal_(std=0.3)
    model.eval()
    texts = (TEXTS[:2], TEXTS[1:3], TEXTS[2:], TEXTS[:2], TEXTS[2:])
    parts = loss(columns(model, *texts), None)
    assert set(parts) == {"task", "replay"} and parts["replay"] > 0
    triplets = [model(column)["sentence_embedding"] for column in columns(model, *texts[:3])]
    torch.testing.assert_close(parts["task"], loss.loss.compute_loss_from_embeddings(triplets, None))


def test_every_replayed_text_is_used_once_before_any_comes_again_with_a_near_one(model, tmp_path, monkeypatch):
    texts = ["trams are good", "parks are bad", "we love kites", "trams are good"]
    one, other = pairs = neighbours(texts, 7, model, tmp_path, seed=0)
    assert sorted(one[:3]) == sorted(set(texts)) == sorted(one[3:6]) and len(other) == 7
    assert all(text != neighbour for text, neighbour in zip(one, other, strict=True))
    assert neighbours(texts[::-1], 7, model, tmp_path, seed=0) == pairs
    with pytest.raises(ValueError, match="at least two different texts, got 1"):
        neighbours(texts[:1] * 2, 7, model, tmp_path, seed=0)
    monkeypatch.setattr(keep, "NEIGHBOURS", 1)  # the nearest alone
    texts = ["we love the trams every day", "we love the trams every night", "awful", "awful ."]
    neighbour = dict(zip(*neighbours(texts, 4, model, tmp_path, seed=0), strict=True))
    assert neighbour[texts[0]] == texts[1] and neighbour[texts[2]] == texts[3]
