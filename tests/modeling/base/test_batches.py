"""Batches: of similar length, of whole or distinct groups, every row at most once; and embedding in chunks."""

from functools import partial
from itertools import chain

import numpy as np
import pytest
import torch
from datasets import Dataset

from modeling.base import batches as batching
from modeling.base.batches import (
    DistinctBatchSampler,
    GroupedBatchSampler,
    LengthGroupedBatchSampler,
    distinct_batches,
    embedding_in_chunks,
)

GROUPS = [*"aaaabbcc"]


def batches(kind, size, lengths, epoch=0, seed=0, **arguments):
    rows = Dataset.from_dict({"text": ["x" * length for length in lengths], "label": [0] * len(lengths)})
    sampler = kind(rows, size, seed=seed, **arguments)
    sampler.set_epoch(epoch)
    result = list(sampler)
    assert len(result) == len(sampler)
    return result


def by_length(lengths, size, **arguments):
    return batches(LengthGroupedBatchSampler, size, lengths, **arguments)


def distinct(groups, size, **arguments):
    return batches(DistinctBatchSampler, size, [1] * len(groups), groups=groups, **arguments)


def test_a_window_is_cut_into_batches_of_neighbours(monkeypatch):
    # eight rows are one window: sorted 8 7 | 6 5 | 4 3 | 2 1, whatever the shuffle was
    lengths = np.array([3, 8, 1, 6, 2, 7, 5, 4])
    assert sorted(lengths[by_length(lengths, 2)].tolist()) == [[2, 1], [4, 3], [6, 5], [8, 7]]
    # windows of one batch do not mix: a batch is what the shuffle put there, longest first
    monkeypatch.setattr(batching, "WINDOW", 1)
    lengths = np.arange(1, 13)
    result = by_length(lengths, 3)
    order = np.random.default_rng((0, 0)).permutation(12).reshape(4, 3)
    assert sorted(sorted(batch) for batch in result) == sorted(sorted(window) for window in order.tolist())
    assert all(lengths[batch].tolist() == sorted(lengths[batch], reverse=True) for batch in result)


def test_incomplete_batches_are_dropped_other_rows_in_each_epoch():
    epochs = [by_length(range(1, 11), 4, epoch=epoch) for epoch in range(6)]  # 10 = 2 x 4 + 2
    assert all([len(batch) for batch in result] == [4, 4] and len(set(chain(*result))) == 8 for result in epochs)
    assert len({frozenset(chain(*result)) for result in epochs}) > 1


@pytest.mark.parametrize("make", [by_length, distinct])
def test_seed_and_epoch_alone_decide(make):
    values = list(range(1, 41))
    mine = make(values, 4, epoch=1, seed=3)
    torch.manual_seed(99)
    np.random.seed(99)
    assert make(values, 4, epoch=1, seed=3, generator=torch.Generator().manual_seed(5)) == mine
    assert make(values, 4, epoch=2, seed=3) != mine != make(values, 4, epoch=1, seed=4)


def test_batches_of_whole_groups():
    result = batches(GroupedBatchSampler, 4, [1] * 8, groups=["a", "b"] * 4)
    assert sorted(sorted(batch) for batch in result) == [[0, 2, 4, 6], [1, 3, 5, 7]]


def test_no_batch_has_two_rows_of_a_group():
    assert distinct_batches(np.array([4, 2, 2]), 2) == 4  # take 4 + 2 + 2 = 8 rows
    assert distinct_batches(np.array([10, 1, 1]), 2) == 2  # take 2 + 1 + 1 = 4 rows, 3 would take 5 of 6
    assert distinct_batches(np.array([10, 1, 1]), 4) == 0  # three groups do not fill a batch of four
    result = distinct(GROUPS, 3)
    assert len(result) == 2 and all(sorted(GROUPS[row] for row in batch) == ["a", "b", "c"] for batch in result)
    # in batches of two all eight rows are used: "a" is in each of the four
    result = distinct(GROUPS, 2, epoch=1)
    assert sorted(chain(*result)) == list(range(8))
    assert all(len({GROUPS[row] for row in batch}) == 2 and "a" in {GROUPS[row] for row in batch} for batch in result)


def test_too_little():
    with pytest.raises(ValueError, match=r"2 training rows are fewer than one batch of 3: lower --batch-size"):
        by_length([1, 2], 3)
    with pytest.raises(ValueError, match=r"a batch of 3 rows needs as many groups .* there are 2: lower --batch-size"):
        distinct([0, 0, 0, 1], 3)


def test_chunks_give_the_same_vectors_and_gradients(model):
    # three words, then one, five, two and four: with [CLS] and [SEP] 5, 3, 7, 4 and 6 tokens
    features = model.preprocess(["we love trams", "trams", "the trams are so good", "love trams", "the trams are good"])
    mask, weights = features["attention_mask"].bool(), model[0].model.embeddings.word_embeddings.weight
    weight = torch.linspace(-1, 1, 32)
    whole = model(dict(features))
    (whole["sentence_embedding"] @ weight).square().sum().backward()
    gradient, weights.grad = weights.grad.clone(), None
    shapes = []
    model[0].register_forward_pre_hook(lambda module, inputs: shapes.append(tuple(inputs[0]["input_ids"].shape)))
    with embedding_in_chunks(model, rows=2, tokens=True):
        chunked = model(dict(features))
    # the longest two, then two, then the shortest: 2 x 7 + 2 x 5 + 1 x 3 = 27 tokens instead of 5 x 7 = 35
    assert shapes == [(2, 7), (2, 5), (1, 3)]
    torch.testing.assert_close(chunked["sentence_embedding"], whole["sentence_embedding"])  # in the order of the texts
    torch.testing.assert_close(chunked["token_embeddings"][mask], whole["token_embeddings"][mask])
    (chunked["sentence_embedding"] @ weight).square().sum().backward()
    torch.testing.assert_close(weights.grad, gradient)


def test_after_chunks_the_model_is_as_before(model):
    with pytest.raises(RuntimeError, match="interrupted"), embedding_in_chunks(model):
        raise RuntimeError("interrupted")
    assert "forward" not in vars(model)
    model.forward = half = partial(type(model).forward, model)  # as accelerate does for half precision
    with embedding_in_chunks(model):
        assert model.forward is not half
    assert model.forward is half
