"""Batches: of similar length, every row at most once, and the same for one process and for two."""

from itertools import chain

import numpy as np
import pytest
import torch
from accelerate.data_loader import BatchSamplerShard
from datasets import Dataset, Features, Value

from modeling.base import batches as batching
from modeling.base.batches import (
    DistinctBatchSampler,
    LengthGroupedBatchSampler,
    distinct_batches,
    embedding_in_chunks,
    text_lengths,
)
from modeling.base.models import load_backbone, resolve


def rows_of(lengths):
    return Dataset.from_dict({"text": ["x" * length for length in lengths], "label": [0] * len(lengths)})


def batches(lengths, size, epoch=0, seed=0):
    sampler = LengthGroupedBatchSampler(rows_of(lengths), size, seed=seed)
    sampler.set_epoch(epoch)
    result = list(sampler)
    assert len(result) == len(sampler)
    return result


def test_the_length_of_a_row_is_that_of_its_longest_text():
    rows = Dataset.from_dict({"a": ["xx", ""], "label": [70, 80], "b": ["yyy", "y"], "score": [0.5, 0.5]})
    assert text_lengths(rows).tolist() == [3, 1]  # of 2 and 3, of 0 and 1; numbers count for nothing
    large = Features({"a": Value("large_string"), "b": Value("large_string")})
    assert text_lengths(rows.select_columns(["a", "b"]).cast(large)).tolist() == [3, 1]


def test_one_window_is_cut_into_batches_of_neighbours():
    # eight rows are one window: sorted 8 7 | 6 5 | 4 3 | 2 1, whatever the shuffle was
    found = batches([3, 8, 1, 6, 2, 7, 5, 4], 2)
    lengths = np.array([3, 8, 1, 6, 2, 7, 5, 4])
    assert sorted(sorted(lengths[batch].tolist()) for batch in found) == [[1, 2], [3, 4], [5, 6], [7, 8]]


def test_a_window_holds_window_batches(monkeypatch):
    # windows of one batch do not mix: a batch is what the shuffle put there, longest first
    monkeypatch.setattr(batching, "WINDOW", 1)
    lengths = np.arange(1, 13)
    found = batches(lengths, 3)
    order = np.random.default_rng((0, 0)).permutation(12).reshape(4, 3)
    assert sorted(sorted(batch) for batch in found) == sorted(sorted(window) for window in order.tolist())
    assert all(lengths[batch].tolist() == sorted(lengths[batch], reverse=True) for batch in found)


def test_padding_saved():
    # 256 rows of lengths 1 ... 256 in batches of 8 are one window of 32 batches: eight neighbours span 7
    lengths = np.random.default_rng(7).permutation(256) + 1
    spans = [np.ptp(lengths[batch]) for batch in batches(lengths, 8)]
    assert spans == [7] * 32
    # eight of 256 at random span 257 x 7 / 9 = 200 on average
    random = [np.ptp(chosen) for chosen in np.random.default_rng(8).permutation(lengths).reshape(32, 8)]
    assert 170 < np.mean(random) < 230


def test_the_longest_batch_is_not_always_first():
    lengths = np.arange(64)
    first = {max(batches(lengths, 2, epoch)[0]) for epoch in range(8)}
    assert len(first) > 2


def test_incomplete_batch_is_dropped():
    for epoch in range(4):
        found = batches(range(1, 11), 4, epoch)  # 10 = 2 x 4 + 2
        assert [len(batch) for batch in found] == [4, 4]
        assert len(set(chain(*found))) == 8
    # another epoch leaves out other rows
    left_out = {frozenset(range(10)) - frozenset(chain(*batches(range(1, 11), 4, epoch))) for epoch in range(6)}
    assert len(left_out) > 1


def test_no_row_is_lost_where_batches_are_whole():
    assert sorted(chain(*batches(range(100, 112), 4))) == list(range(12))


def test_seed_and_epoch_alone_decide():
    lengths = list(range(1, 41))
    mine = batches(lengths, 4, epoch=1, seed=3)
    torch.manual_seed(99)
    np.random.seed(99)
    sampler = LengthGroupedBatchSampler(rows_of(lengths), 4, generator=torch.Generator().manual_seed(5), seed=3)
    sampler.set_epoch(1)
    assert list(sampler) == mine
    assert list(sampler) == mine  # asking twice changes nothing
    assert batches(lengths, 4, epoch=2, seed=3) != mine
    assert batches(lengths, 4, epoch=1, seed=4) != mine


def test_the_epoch_also_arrives_through_the_attribute_that_accelerate_uses():
    sampler = LengthGroupedBatchSampler(rows_of(range(1, 41)), 4)
    sampler.sampler.set_epoch(1)
    assert list(sampler) == batches(range(1, 41), 4, epoch=1)


def test_two_processes_see_the_rows_of_one(monkeypatch):
    lengths = np.random.default_rng(1).integers(5, 200, size=43)  # ten batches of four, three rows left over
    one = [batches(lengths, 4, epoch) for epoch in (0, 1)]
    monkeypatch.setenv("WORLD_SIZE", "2")
    for epoch in (0, 1):
        sampler = LengthGroupedBatchSampler(rows_of(lengths), 2)
        assert len(sampler) == 20
        sampler.set_epoch(epoch)
        # accelerate deals batches out in turn
        shards = [list(BatchSamplerShard(sampler, num_processes=2, process_index=process)) for process in (0, 1)]
        assert [len(shard) for shard in shards] == [10, 10]
        steps = [sorted(first + second) for first, second in zip(*shards, strict=True)]
        assert steps == [sorted(batch) for batch in one[epoch]]
        # each process gets every other text of the sorted batch: neither has the longer ones only
        assert shards[0][0] == one[epoch][0][::2]
        assert shards[1][0] == one[epoch][0][1::2]
    assert one[0] != one[1]


def test_too_few_rows(monkeypatch):
    assert len(batches([1, 2, 3, 4], 4)) == 1
    with pytest.raises(ValueError, match=r"3 training rows are fewer than one batch of 4: lower --batch_size"):
        batches([1, 2, 3], 4)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match=r"4 training rows are fewer than one batch of 8"):
        batches([1, 2, 3, 4], 4)


def test_embedding_in_chunks(tiny_base):
    model = load_backbone(resolve(str(tiny_base), "org/tiny"))
    # three words, then one, five, two and four: with [CLS] and [SEP] 5, 3, 7, 4 and 6 tokens
    texts = ["we love trams", "trams", "the trams are so good", "love trams", "the trams are good"]
    features = model.preprocess(texts)
    assert features["attention_mask"].sum(dim=1).tolist() == [5, 3, 7, 4, 6]
    whole = model(features)["sentence_embedding"]
    shapes = []
    model[0].register_forward_pre_hook(lambda module, inputs: shapes.append(tuple(inputs[0]["input_ids"].shape)))
    with embedding_in_chunks(model, rows=2):
        chunked = model(features)["sentence_embedding"]
    # the longest two, then two, then the shortest: 2 x 7 + 2 x 5 + 1 x 3 = 27 tokens instead of 5 x 7 = 35
    assert shapes == [(2, 7), (2, 5), (1, 3)]
    assert torch.allclose(chunked, whole, atol=1e-6)  # in the order of the texts
    assert features["input_ids"].shape == (5, 7)


def test_after_chunks_the_model_is_as_before(tiny_base):
    model = load_backbone(resolve(str(tiny_base), "org/tiny"))
    with pytest.raises(RuntimeError, match="interrupted"), embedding_in_chunks(model):
        assert "forward" in vars(model)
        raise RuntimeError("interrupted")
    assert "forward" not in vars(model)
    assert "token_embeddings" in model(model.preprocess(["trams"]))


def test_gradients_pass_through_chunks(tiny_base):
    model = load_backbone(resolve(str(tiny_base), "org/tiny"))
    features = model.preprocess(["we love trams", "trams", "the trams are so good"])
    weight = torch.linspace(-1, 1, 32)
    gradients = []
    for rows in (3, 1):
        model.zero_grad()
        with embedding_in_chunks(model, rows=rows):
            (model(features)["sentence_embedding"] @ weight).square().sum().backward()
        gradients.append(model[0].model.embeddings.word_embeddings.weight.grad.clone())
    assert gradients[0].abs().max() > 1e-3
    assert torch.allclose(*gradients, atol=1e-5)


def distinct(groups, size, epoch=0, seed=0):
    sampler = DistinctBatchSampler(rows_of([1] * len(groups)), size, seed=seed, groups=groups)
    sampler.set_epoch(epoch)
    result = list(sampler)
    assert len(result) == len(sampler)
    return result


def test_how_many_batches_without_two_of_a_group():
    # three groups of 4, 2 and 2 rows in batches of two: 4 take 4 + 2 + 2 = 8 rows
    assert distinct_batches(np.array([4, 2, 2]), 2) == 4
    # in batches of three: 2 take 2 + 2 + 2 = 6 rows, 3 would take 3 + 2 + 2 = 7 of 9
    assert distinct_batches(np.array([4, 2, 2]), 3) == 2
    # one of ten rows and two alone: 2 take 2 + 1 + 1 = 4 rows, 3 would take 5 of 6
    assert distinct_batches(np.array([10, 1, 1]), 2) == 2
    assert distinct_batches(np.array([10, 1, 1]), 4) == 0  # three groups do not fill a batch of four
    assert distinct_batches(np.ones(100), 7) == 14


@pytest.mark.parametrize("epoch", range(4))
def test_no_batch_has_two_rows_of_a_group(epoch):
    groups = ["a"] * 4 + ["b"] * 2 + ["c"] * 2
    found = distinct(groups, 3, epoch)
    assert len(found) == 2 and all(sorted(groups[row] for row in batch) == ["a", "b", "c"] for batch in found)
    assert len(set(chain(*found))) == 6
    # in batches of two all eight rows are used: "a" is in each of the four
    found = distinct(groups, 2, epoch)
    assert sorted(chain(*found)) == list(range(8))
    assert all(len({groups[row] for row in batch}) == 2 and "a" in {groups[row] for row in batch} for batch in found)


def test_other_rows_are_left_out_in_another_epoch():
    groups = [0] * 20 + list(range(1, 11))  # 5 batches of 3 take 5 of the twenty and the ten others
    assert distinct_batches(np.bincount(groups), 3) == 5
    left_out = {frozenset(range(30)) - frozenset(chain(*distinct(groups, 3, epoch))) for epoch in range(5)}
    assert len(left_out) == 5 and {len(rows) for rows in left_out} == {15}
    assert all(max(rows) < 20 for rows in left_out)


def test_large_groups_among_many():
    random = np.random.default_rng(3)
    groups = np.concatenate([random.integers(400, size=900), np.full(150, 400)])
    found = np.array(distinct(groups.tolist(), 10))
    assert len(found) == distinct_batches(np.bincount(groups), 10) == 100  # min(150, 100) + 900 rows
    assert all(len(set(batch)) == 10 for batch in groups[found])
    assert len(np.unique(found)) == 1000 and (groups[found] == 400).sum() == 100


def test_two_processes_see_the_distinct_rows_of_one(monkeypatch):
    groups = [0] * 9 + list(np.arange(30) // 2 + 1)  # batches of four: 9 of the first group and 30 others
    one = [distinct(groups, 4, epoch) for epoch in (0, 1)]
    assert [len(batches) for batches in one] == [9, 9]
    monkeypatch.setenv("WORLD_SIZE", "2")
    for epoch in (0, 1):
        sampler = DistinctBatchSampler(rows_of([1] * 39), 2, groups=groups)
        sampler.set_epoch(epoch)
        shards = [list(BatchSamplerShard(sampler, num_processes=2, process_index=process)) for process in (0, 1)]
        steps = [sorted(first + second) for first, second in zip(*shards, strict=True)]
        assert steps == [sorted(batch) for batch in one[epoch]]
        assert all(len({groups[row] for row in step}) == 4 for step in steps)
    assert one[0] != one[1]


def test_seed_and_epoch_alone_decide_on_distinct_batches():
    groups = list(np.arange(40) // 2)
    mine = distinct(groups, 4, epoch=1, seed=3)
    np.random.seed(99)
    assert distinct(groups, 4, epoch=1, seed=3) == mine
    assert distinct(groups, 4, epoch=2, seed=3) != mine
    assert distinct(groups, 4, epoch=1, seed=4) != mine


def test_too_few_groups():
    with pytest.raises(ValueError, match=r"a batch of 3 rows needs as many groups .* there are 2: lower --batch_size"):
        distinct([0, 0, 0, 1], 3)
    with pytest.raises(ValueError, match="there are 2 groups for 3 rows"):
        DistinctBatchSampler(rows_of([1, 1, 1]), 1, groups=[0, 1])
