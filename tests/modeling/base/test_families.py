"""Families: the losses by hand, whole families in batches, how statements are divided, and a run."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from datasets import Dataset

from modeling.base import families as families_module
from modeling.base.families import SHELF, FamilyBatchSampler, FamilyTripletLoss, HeldFamiliesLoss, alike, family_rows


def angles(*degrees):
    radians = torch.deg2rad(torch.tensor(degrees, dtype=torch.float64))
    return torch.stack([radians.cos(), radians.sin()], dim=1)


def test_the_loss_by_hand():
    # chords of 0, 60, 90 and 60 degrees: 0, 1, root 2
    vectors = angles(0, 60, 90, 0, 0)
    labels = torch.tensor([[7, 1], [7, 1], [7, -1], [8, 1], [9, 0]])
    loss = FamilyTripletLoss(None, margin=1.0)
    # anchors 0 and 1 have the other one for them and text 2 against; text 2 has none of its side, family 8 nobody
    nearer = 2 * math.sin(math.radians(15))
    expected = ((1 + 1 - math.sqrt(2)) + (1 + 1 - nearer)) / 2
    assert loss.compute_loss_from_embeddings([vectors], labels).item() == pytest.approx(expected, rel=1e-6)
    # an anchor counts once, however many triplets it has
    vectors_of_two = angles(0, 60, 60, 90, 90)
    labels_of_two = torch.tensor([[1, 1], [1, 1], [1, 1], [1, -1], [1, -1]])
    twice = loss.compute_loss_from_embeddings([vectors_of_two], labels_of_two).item()
    root = math.sqrt(2)
    statement = 2 - root  # 4 equal triplets
    pro = ((1 + 1 - nearer) + (1 + 0 - nearer)) / 2  # the statement or its twin as positive
    con = 2 * max(0, 1 + 0 - nearer) / 3  # its twin, against both pros; the statement is far enough
    assert twice == pytest.approx((statement + 2 * pro + 2 * con) / 5, rel=1e-3)  # a chord of 0 is .001 in the loss
    alone = vectors[3:].requires_grad_()
    nothing = loss.compute_loss_from_embeddings([alone], labels[3:])
    nothing.backward()  # a batch without a triplet trains nothing and is no error
    assert nothing.item() == 0 and alone.grad.abs().sum() == 0


@pytest.mark.parametrize(("within", "keep"), [(False, 2 / 16), (True, 4 / 18)])
def test_what_is_held_by_hand(within, keep):
    # family 0: texts 0 and 1; family 1: text 2; families 2 and 3: generic, two texts alike and one
    labels = torch.tensor([[0, 1, 0], [0, -1, 1], [1, 1, 2], [2, 0, 3], [2, 0, 4]])
    before = torch.eye(5)
    after = torch.eye(5)
    after[0] = after[1]  # text 0 now lies on text 1
    after[4] = after[2]  # and the second generic text on text 2
    loss = HeldFamiliesLoss(None, None, before.numpy(), weight=1.0, replay_weight=2.0, within=within)
    parts = loss.compute_parts_from_embeddings(after, before, labels)
    # ordered pairs of two families with an opinion in them: 20 less the two within family 0 and the two generic ones
    assert parts["keep"].item() == pytest.approx(keep)
    assert parts["replay"].item() == 0  # the two generic texts are as far apart as before
    after[4] = after[3]
    assert loss.compute_parts_from_embeddings(after, before, labels)["replay"].item() == pytest.approx(2.0 * (1 + 1))


def families(sizes):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    rows = Dataset.from_dict({"text": [f"text {n}" for n in range(len(groups))]})
    return rows, groups.tolist()


def test_no_family_leaves_its_shelf_and_every_row_comes_once_or_more():
    sizes = np.random.default_rng(0).integers(2, 9, size=300)
    rows, groups = families(sizes)
    sampler = FamilyBatchSampler(rows, 4 * SHELF, groups=groups, seed=3)
    epochs = []
    for epoch in (0, 1, 0):
        sampler.set_epoch(epoch)
        epochs.append(list(sampler))
        shelves = np.array(epochs[-1]).reshape(-1, SHELF)
        whole = 0
        for family in range(len(sizes)):
            members = {row for row, group in enumerate(groups) if group == family}
            whole += sum(members <= set(shelf.tolist()) for shelf in shelves) >= 1
        assert len(epochs[-1]) == len(sampler) == len(rows) // (4 * SHELF)
        assert whole > 0.9 * len(sizes)  # the rest is what an incomplete batch would hold
    assert epochs[0] == epochs[2] != epochs[1]
    # batches that would divide families
    for sizes, batch, message in (([4] * 30, 20, "multiple of 12"), ([14] * 9, 24, "a family has 14 texts")):
        rows, groups = families(sizes)
        with pytest.raises(ValueError, match=message):
            FamilyBatchSampler(rows, batch, groups=groups)


def test_texts_that_the_base_finds_alike_make_groups(monkeypatch, tmp_path):
    # of two products each two texts on the soup and one on the bill: two texts lie at 0 degrees, and so on
    texts = {"good soup": 0, "bad soup": 5, "fair bill": 90, "tasty soup": 8, "cold soup": 2, "dear bill": 85}
    monkeypatch.setattr(families_module, "load_backbone", lambda *_: None)
    monkeypatch.setattr(families_module, "Vectors", lambda *_: lambda rows: angles(*map(texts.get, rows)).numpy())
    system = SimpleNamespace(backbone=None, cache=tmp_path, recipe=SimpleNamespace(max_length=8, seed=0, bf16=False))
    rows = Dataset.from_dict({"text": list(texts), "group": ["a"] * 3 + ["b"] * 3})
    grouped = alike(system, rows, 3).to_pandas().groupby("group")["text"].agg(set).tolist()
    assert sorted(grouped, key=len) == [
        {"fair bill", "dear bill"},
        {"good soup", "bad soup", "tasty soup", "cold soup"},
    ]


def test_statements_are_divided_into_families():
    texts = [(f"pro {n}", "S", 1) for n in range(7)] + [("con", "S", 0)]
    texts += [("only for it", "T", 1), ("also for it", "T", 1)]  # nobody is against it
    texts += [("one", "", 1), ("another", "", 1), ("a third", "", 0)]  # two camps, without a statement
    columns = {"text": 0, "statement": 1, "side": 2}
    rows = Dataset.from_dict({name: [row[at] for row in texts] for name, at in columns.items()} | {"group": ["g"] * 13})
    frame = family_rows(rows, per_statement=2, seed=0)
    by_family = [set(zip(part["text"], part["side"], strict=True)) for _, part in frame.groupby("family")]
    camps = {("one", 1), ("another", 1), ("a third", -1)}
    assert by_family[0] == camps and len(by_family) == 3
    for family in by_family[1:]:  # the statement with three of the seven texts for it each, and the one against it
        assert {("S", 1), ("con", -1)} < family and len(family) == 5
    assert len(by_family[1] | by_family[2]) == 2 + 6
