"""The term that keeps similarity, by hand, and embedding in chunks."""

import copy

import pytest
import torch
from sentence_transformers.sentence_transformer.losses import TripletDistanceMetric, TripletLoss

from modeling.base.adapters import add_lora
from modeling.base.batches import embedding_in_chunks
from modeling.base.keep import KeepSimilarityLoss
from modeling.base.models import load_backbone, resolve

TEXTS = ["we love the trams every day", "good", "the town needs more parks and gardens for children in summer", "all"]


@pytest.fixture
def model(tiny_base):
    return load_backbone(resolve(str(tiny_base), "org/tiny"))


def columns(model, *texts):
    return [dict(model.preprocess(list(column))) for column in texts]


def test_keep_by_hand():
    # two rows of two columns; before: all texts of different rows are orthogonal or equal
    before = [torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])]
    # after: the second column of row 0 is turned to (0, 1); within row 0 that is free
    after = [torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[0.0, 1.0], [0.0, 1.0]])]
    # ordered pairs of texts of different rows: 4 texts, each with 2 of the other row: 8. The turned text goes from 0
    # to 1 with both texts of row 1, counted from either side: 4 squared differences of 1
    assert KeepSimilarityLoss.compute_keep_from_embeddings(after, before).item() == pytest.approx(4 / 8)
    only_inside = [before[0], torch.tensor([[1.0, 0.0], [0.0, 1.0]])]
    assert KeepSimilarityLoss.compute_keep_from_embeddings(only_inside, before).item() == 0
    one_row = [column[:1] for column in after]  # has no other row to compare with
    assert KeepSimilarityLoss.compute_keep_from_embeddings(one_row, [column[:1] for column in before]).item() == 0


@pytest.mark.parametrize("lora", [True, False])
def test_reference_is_the_untrained_encoder(model, lora):
    untouched = copy.deepcopy(model).eval()
    if lora:
        add_lora(model, rank=4)
    loss = KeepSimilarityLoss(model, TripletLoss(model, TripletDistanceMetric.EUCLIDEAN, 0.4), weight=2.0)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.3 * torch.randn_like(parameter))
    model.train()
    features = columns(model, TEXTS[:2], TEXTS[1:3], TEXTS[2:])
    with loss._reference() as reference:
        given = [reference(dict(column))["sentence_embedding"] for column in features]
    assert model.training
    expected = [untouched(dict(column))["sentence_embedding"] for column in features]
    for one, other in zip(given, expected, strict=True):
        torch.testing.assert_close(one, other)  # no dropout, no adapter
    parts = loss(features, None)
    assert set(parts) == {"task", "keep"} and parts["keep"] > 0.01
    sum(parts.values()).backward()
    assert all(p.grad is not None for name, p in model.named_parameters() if p.requires_grad and "pooler" not in name)


def test_keep_is_zero_before_training(model):
    add_lora(model, rank=4)
    loss = KeepSimilarityLoss(model, TripletLoss(model, TripletDistanceMetric.EUCLIDEAN, 0.4), weight=1.0)
    model.eval()
    parts = loss(columns(model, TEXTS[:2], TEXTS[1:3], TEXTS[2:]), None)
    assert parts["keep"].item() == pytest.approx(0, abs=1e-10)  # B is zero
    assert parts["task"].item() > 0


def test_chunks_give_the_same_vectors_and_gradients(model):
    model.eval()  # dropout draws would differ
    features = columns(model, TEXTS)[0]
    whole = model(dict(features))["sentence_embedding"]
    whole.sum().backward()
    weights = model[0].model.embeddings.word_embeddings.weight
    gradient, weights.grad = weights.grad.clone(), None
    widths = []
    model[0].register_forward_pre_hook(lambda module, inputs: widths.append(inputs[0]["input_ids"].shape[1]))
    with embedding_in_chunks(model, rows=2):
        chunked = model(dict(features))["sentence_embedding"]
    chunked.sum().backward()
    torch.testing.assert_close(chunked, whole)
    torch.testing.assert_close(weights.grad, gradient)
    # tokens with [CLS] and [SEP]: 8, 3, 13, 3; the two longest together, then the two shortest
    assert widths == [13, 3]
    assert "forward" not in vars(model)


def test_replay_by_hand():
    # two rows; before: the two texts of a row have cosine 1, texts of different rows 0
    before = [torch.eye(2), torch.eye(2)]
    # the neighbour in row 0 is turned by a right angle, onto the texts of row 1
    after = [torch.eye(2), torch.tensor([[0.0, 1.0], [0.0, 1.0]])]
    # ordered pairs of different texts: 12. It lost its partner and gained two texts, seen from either side: 6 changes.
    # Of the two pairs within rows one changed: 1 / 2
    assert KeepSimilarityLoss.compute_replay_from_embeddings(after, before).item() == pytest.approx(6 / 12 + 1 / 2)
    assert KeepSimilarityLoss.compute_replay_from_embeddings(before, before).item() == 0


def test_replay_columns_are_held_and_hidden_from_the_loss(model):
    add_lora(model, rank=4)
    task = TripletLoss(model, TripletDistanceMetric.EUCLIDEAN, 0.4)
    loss = KeepSimilarityLoss(model, task, weight=0.0, replay_weight=3.0)
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            parameter.data.normal_(std=0.3)
    model.eval()
    texts = (TEXTS[:2], TEXTS[1:3], TEXTS[2:], TEXTS[:2], TEXTS[2:])
    parts = loss(columns(model, *texts), None)
    assert set(parts) == {"task", "replay"}
    triplets = [model(column)["sentence_embedding"] for column in columns(model, *texts[:3])]
    torch.testing.assert_close(parts["task"], task.compute_loss_from_embeddings(triplets, None))
    assert parts["replay"] > 0
    assert loss.get_config_dict() == {"weight": 0.0, "loss": "TripletLoss", "replay_weight": 3.0}


def test_a_loss_of_several_parts_is_given_the_features_of_its_own_columns(model):
    add_lora(model, rank=4)

    class Parts(torch.nn.Module):
        def parts(self, features, embeddings, labels):
            tokens = sum(column["input_ids"].shape[1] for column in features)
            return {"tokens": torch.tensor(float(tokens)), "columns": torch.tensor(float(len(embeddings)))}

    loss = KeepSimilarityLoss(model, Parts(), weight=0.0, replay_weight=1.0)
    # 8, 13 and 3 tokens; the last two columns are replayed
    parts = loss(columns(model, TEXTS[:1], TEXTS[2:3], TEXTS[3:], TEXTS[:1], TEXTS[2:3]), None)
    assert {name: part.item() for name, part in parts.items()} == {"tokens": 24, "columns": 3, "replay": 0}


def test_what_is_not_held_is_embedded_once(model):
    add_lora(model, rank=4)
    passes = []
    model[0].register_forward_pre_hook(lambda *arguments: passes.append(1))
    for weight, expected in ((0.0, 3 + 2 + 2), (1.0, 5 + 5)):  # two columns are replayed
        passes.clear()
        task = TripletLoss(model, TripletDistanceMetric.EUCLIDEAN, 0.4)
        KeepSimilarityLoss(model, task, weight, replay_weight=1.0)(columns(model, *[TEXTS[:2]] * 5), None)
        assert len(passes) == expected


def test_chunks_give_the_same_token_embeddings_where_they_are_wanted(model):
    model.eval()
    features = columns(model, TEXTS)[0]
    mask = features["attention_mask"].bool()
    whole = model(dict(features))["token_embeddings"]
    with embedding_in_chunks(model, rows=2, tokens=True):
        chunked = model(dict(features))["token_embeddings"]
    assert chunked.shape == whole.shape
    torch.testing.assert_close(chunked[mask], whole[mask])
