"""Batches of similar length, of whole groups or of distinct ones, the same for one process and for many."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.sampler import DefaultBatchSampler
from torch.nn.functional import pad

WINDOW = 32  # batches that are sorted by length together; more saves little padding and costs randomness


class LengthGroupedBatchSampler(DefaultBatchSampler):
    """Shuffles, sorts windows of some batches by length, and shuffles the batches.

    Padding is dynamic, so a batch costs as much as its longest text: batches of similar length save most of it. The
    order depends on seed and epoch alone, which makes a resumed run exact. Batches are those of all processes together;
    accelerate gives each its part (`split_batches`), so that many see, step by step, the rows that one sees. What an
    incomplete batch would hold is left out; a ValueError if that is all.
    """

    def __init__(self, dataset: Dataset, batch_size: int, drop_last: bool = True, **kwargs: Any) -> None:
        super().__init__(dataset, batch_size, drop_last, **kwargs)
        self.dataset, self.rows, self.batches = dataset, len(dataset), len(dataset) // batch_size
        if not self.batches:
            raise ValueError(
                f"{self.rows} training rows are fewer than one batch of {batch_size}: lower --batch-size, or check "
                "--data and the quality filter"
            )
        # accelerate hands the epoch to `sampler` when it divides batches between processes, not to the batch
        # sampler itself: without this every epoch would repeat the first one's order
        self.sampler = self

    def __len__(self) -> int:
        return self.batches

    def __iter__(self) -> Iterator[list[int]]:
        random = np.random.default_rng((self.seed, self.epoch))
        batches = self.order(random)[: self.batches * self.batch_size].reshape(-1, self.batch_size)
        yield from batches[random.permutation(len(batches))].tolist()

    @cached_property
    def lengths(self) -> np.ndarray:
        """Characters of each row's longest text, shape (rows,): what it is padded to, a cheap stand-in for tokens."""
        lengths = np.zeros(self.rows, dtype=np.int64)
        for name, feature in self.dataset.features.items():
            if "string" in getattr(feature, "dtype", ""):
                lengths = np.maximum(lengths, np.fromiter(map(len, self.dataset[name]), np.int64, self.rows))
        return lengths

    def order(self, random: np.random.Generator) -> np.ndarray:
        """The rows of the batches, one batch after the other, shape (at least batches * batch_size,)."""
        order = random.permutation(self.rows)[: self.batches * self.batch_size]
        windows = np.arange(len(order)) // (WINDOW * self.batch_size)
        return order[np.lexsort((-self.lengths[order], windows))]  # which leaves ties as they are


class GroupedBatchSampler(LengthGroupedBatchSampler):
    """Batches that hold whole groups, `groups` of each row, as far as they fit, whatever their lengths.

    Where the rows of a batch are each other's negatives, those of one group are the hard ones.
    """

    def __init__(self, dataset: Dataset, *args: Any, groups: Sequence[Hashable], **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if len(groups) != len(dataset):
            raise ValueError(f"there are {len(groups)} groups for {len(dataset)} rows")
        _, self.groups, self.sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)

    @cached_property
    def members(self) -> list[np.ndarray]:
        """The rows of each group."""
        return np.split(np.argsort(self.groups, kind="stable"), np.cumsum(self.sizes)[:-1])

    def order(self, random: np.random.Generator) -> np.ndarray:
        members = self.members
        return np.concatenate([random.permutation(members[group]) for group in random.permutation(len(members))])


class DistinctBatchSampler(GroupedBatchSampler):
    """Batches in which no two rows are of one group: the opposite of `GroupedBatchSampler`.

    Where the rows of a batch are each other's negatives, those that belong together would be false ones. What does not
    fit is left out, other rows in each epoch: of a group with more rows than there are batches the rest, and what an
    incomplete batch would hold. Fewer groups than a batch has rows are a ValueError.
    """

    def __init__(self, dataset: Dataset, *args: Any, groups: Sequence[Hashable], **kwargs: Any) -> None:
        super().__init__(dataset, *args, groups=groups, **kwargs)
        self.batches = distinct_batches(self.sizes, self.batch_size)
        if not self.batches:
            raise ValueError(
                f"a batch of {self.batch_size} rows needs as many groups that have nothing in common; there are "
                f"{len(self.sizes)}: lower --batch-size, or check --data"
            )

    def order(self, random: np.random.Generator) -> np.ndarray:
        # groups in random order, the rows of each in random order, one behind the other
        order = np.lexsort((random.random(self.rows), random.permutation(len(self.sizes))[self.groups]))
        groups = self.groups[order]
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        place = np.arange(self.rows) - np.repeat(starts, np.diff(starts, append=self.rows))
        # dealt in turn, as many neighbours as there are batches come to different ones
        order = order[place < self.batches][: self.batches * self.batch_size]
        return order.reshape(self.batch_size, self.batches).T.ravel()


def distinct_batches(sizes: np.ndarray, batch: int) -> int:
    """The most batches of `batch` rows without two of one group, for groups of `sizes` rows, shape (groups,).

    m batches take up to m rows of a group, so there are m if the sum of min(size, m) is at least m times `batch`; and
    then there are m - 1, too.
    """
    most = int(sizes.sum()) // batch
    return bisect_left(range(1, most + 1), True, key=lambda m: bool(np.minimum(sizes, m).sum() < m * batch))


@contextmanager
def embedding_in_chunks(model: SentenceTransformer, rows: int = 16, tokens: bool = False) -> Iterator[None]:
    """Lets a model embed each batch in chunks of texts of similar length: the same vectors for less padding.

    The texts of a row differ in length, and a loss embeds several columns of a batch at once, so ordering rows alone
    leaves half of a batch padding. Pays on CPUs, where the cost of a forward pass is that of its tokens. The output has
    `sentence_embedding` and, if asked, `token_embeddings`, of which those of padding mean nothing.
    """
    forward = model.forward

    def chunked(features: dict[str, torch.Tensor], **options: object) -> dict[str, torch.Tensor]:
        mask = features["attention_mask"]
        if not bool(mask[:, 0].all()):  # padded on the left: cutting columns off would cut words off
            return forward(features, **options)
        lengths = mask.sum(dim=1)
        order = lengths.argsort(descending=True, stable=True)
        back = order.argsort()
        parts: dict[str, list[torch.Tensor]] = {"sentence_embedding": []} | ({"token_embeddings": []} if tokens else {})
        for chunk in order.split(rows):
            width = int(lengths[chunk[0]])
            part = {
                key: value[chunk, :width] if isinstance(value, torch.Tensor) and value.shape == mask.shape else value
                for key, value in features.items()
            }
            output = forward(part, **options)
            parts["sentence_embedding"].append(output["sentence_embedding"])
            if tokens:
                parts["token_embeddings"].append(pad(output["token_embeddings"], (0, 0, 0, mask.shape[1] - width)))
        return {name: torch.cat(chunks)[back] for name, chunks in parts.items()}

    own = vars(model).get("forward")  # accelerate puts one there, which computes in half precision
    model.forward = chunked
    try:
        yield
    finally:
        del model.forward
        if own is not None:
            model.forward = own
