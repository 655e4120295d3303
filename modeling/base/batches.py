"""Batches of similar length, of whole groups or of distinct ones, the same for one process and for many."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.sampler import DefaultBatchSampler
from torch.nn.functional import pad

WINDOW = 32  # batches that are sorted by length together; more saves little padding and costs randomness


class _DealtBatchSampler(DefaultBatchSampler):
    """Batches in an order that depends on seed and epoch alone, dealt out to the processes.

    Global batches are formed first and then dealt out, so that N processes with batches of B / N see, step by step, the
    rows that one process with batches of B sees.

    Args:
        dataset: Rows whose string columns are texts.
        batch_size: Rows per process and forward pass.
        drop_last: Must be True: an incomplete batch cannot be dealt out evenly.
        valid_label_columns: Unused, part of the interface.
        generator: Unused: the order depends on seed and epoch alone, which makes a resumed run exact.
        seed: Seed of the order.

    Raises:
        ValueError: If there are fewer rows than one global batch has.
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int,
        drop_last: bool = True,
        valid_label_columns: list[str] | None = None,
        generator: torch.Generator | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(dataset, batch_size, drop_last, valid_label_columns, generator, seed)
        self.processes = int(os.environ.get("WORLD_SIZE", "1"))
        self.global_batch = batch_size * self.processes
        self.rows = len(dataset)
        if self.rows < self.global_batch:
            raise ValueError(
                f"{self.rows} training rows are fewer than one batch of {self.global_batch}: lower --batch_size, or "
                "check --data and the quality filter"
            )
        self.batches = self.rows // self.global_batch
        # accelerate hands the epoch to `sampler` when it divides batches between processes, not to the batch
        # sampler itself: without this every epoch would repeat the first one's order
        self.sampler = self

    def __len__(self) -> int:
        return self.batches * self.processes

    def __iter__(self) -> Iterator[list[int]]:
        random = np.random.default_rng((self.seed, self.epoch))
        batches = self.order(random, self.batches * self.global_batch).reshape(-1, self.global_batch)
        for batch in batches[random.permutation(len(batches))]:
            for process in range(self.processes):
                yield batch[process :: self.processes].tolist()

    def order(self, random: np.random.Generator, whole: int) -> np.ndarray:
        """The rows of the global batches, one batch after the other, shape (whole,)."""
        raise NotImplementedError


class LengthGroupedBatchSampler(_DealtBatchSampler):
    """Shuffles, sorts windows of some batches by length, and shuffles the batches.

    Padding is dynamic, so a batch costs as much as its longest text: batches of similar length save most of it.
    `batch_size` is the size per process: N processes with batches of B / N see, step by step, the rows that one process
    with batches of B sees.

    Args and raises: As `_DealtBatchSampler`.
    """

    def __init__(self, dataset: Dataset, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        self.lengths = text_lengths(dataset)

    def order(self, random: np.random.Generator, whole: int) -> np.ndarray:
        order = random.permutation(self.rows)[:whole]
        size = WINDOW * self.global_batch
        windows = [order[start : start + size] for start in range(0, len(order), size)]
        # descending: the largest batch of a window first
        return np.concatenate([window[np.argsort(-self.lengths[window], kind="stable")] for window in windows])


class GroupedBatchSampler(_DealtBatchSampler):
    """Batches that hold whole groups as far as they fit.

    Where the rows of a batch are each other's negatives, those of one group are the hard ones. The rows that the last
    batch lacks are left out, others in each epoch.

    Args:
        dataset: The rows.
        groups: Group of each row.
        *args, **kwargs: As of `_DealtBatchSampler`.

    Raises:
        ValueError: If there are fewer rows than one global batch has, or not one group per row.
    """

    def __init__(self, dataset: Dataset, *args: Any, groups: Sequence[str], **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        numbers, sizes = _numbered(groups, len(dataset))
        self.members = np.split(np.argsort(numbers, kind="stable"), np.cumsum(sizes)[:-1])

    def order(self, random: np.random.Generator, whole: int) -> np.ndarray:
        shuffled = [random.permutation(self.members[i]) for i in random.permutation(len(self.members))]
        return np.concatenate(shuffled)[:whole]


class DistinctBatchSampler(_DealtBatchSampler):
    """Batches in which no two rows are of one group: the opposite of `GroupedBatchSampler`.

    Where the rows of a batch are each other's negatives, those that belong together would be false ones. Rows of one
    group are dealt to different batches, and what does not fit is left out, other rows in each epoch: of a group with
    more rows than there are batches the rest, and what an incomplete batch would hold.

    Args:
        dataset: The rows.
        groups: Group of each row, such as numbers from `dataset_scripts.base.splits.linked_groups`.
        *args, **kwargs: As of `_DealtBatchSampler`.

    Raises:
        ValueError: If there are fewer groups than one global batch has rows, or not one group per row.
    """

    def __init__(self, dataset: Dataset, *args: Any, groups: Sequence[Hashable], **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        self.groups, sizes = _numbered(groups, len(dataset))
        self.batches = distinct_batches(sizes, self.global_batch)
        if not self.batches:
            raise ValueError(f"a batch of {self.global_batch} rows needs as many groups that have nothing in common; "
                             f"there are {len(sizes)}: lower --batch_size, or check --data")  # fmt: skip

    def order(self, random: np.random.Generator, whole: int) -> np.ndarray:
        # groups in random order, the rows of each in random order, one behind the other
        order = np.lexsort((random.random(self.rows), random.permutation(int(self.groups.max()) + 1)[self.groups]))
        found = self.groups[order]
        starts = np.flatnonzero(np.r_[True, found[1:] != found[:-1]])
        place = np.arange(self.rows) - np.repeat(starts, np.diff(np.r_[starts, self.rows]))
        # dealt in turn, as many neighbours as there are batches come to different ones
        return order[place < self.batches][:whole].reshape(self.global_batch, self.batches).T.ravel()


def distinct_batches(sizes: np.ndarray, batch: int) -> int:
    """The most batches without two rows of one group.

    m batches take up to m rows of a group, so there are m if the sum of min(size, m) is at least m times `batch`; and
    then there are m - 1, too.

    Args:
        sizes: Rows of each group, shape (groups,).
        batch: Rows per batch, at least 1.
    """
    low, high = 0, int(sizes.sum()) // batch
    while low < high:
        middle = (low + high + 1) // 2
        if np.minimum(sizes, middle).sum() >= middle * batch:
            low = middle
        else:
            high = middle - 1
    return low


def _numbered(groups: Sequence[Hashable], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The groups as numbers from 0, shape (rows,), and how many rows each has."""
    if len(groups) != rows:
        raise ValueError(f"there are {len(groups)} groups for {rows} rows")
    _, numbers, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    return numbers, sizes


def text_lengths(dataset: Dataset) -> np.ndarray:
    """Characters of every row's longest text, shape (rows,): what a batch is padded to, a cheap stand-in for tokens."""
    columns = [name for name, feature in dataset.features.items() if "string" in getattr(feature, "dtype", "")]
    lengths = np.zeros(len(dataset), dtype=np.int64)
    for name in columns:
        column = np.fromiter((len(text) for text in dataset[name]), dtype=np.int64, count=len(dataset))
        lengths = np.maximum(lengths, column)
    return lengths


@contextmanager
def embedding_in_chunks(model: SentenceTransformer, rows: int = 16, tokens: bool = False) -> Iterator[None]:
    """Lets a model embed each batch in chunks of texts of similar length: the same vectors for less padding.

    The texts of a row differ in length, and a loss embeds several columns of a batch at once, so ordering rows alone
    leaves half of a batch padding. Pays on CPUs, where the cost of a forward pass is that of its tokens.

    Args:
        model: The encoder. While the block runs its output has `sentence_embedding` alone, or `token_embeddings` too.
        rows: Texts per chunk.
        tokens: Whether `token_embeddings` are wanted; those of padding mean nothing.
    """
    forward = model.forward

    def chunked(features: dict[str, torch.Tensor], **options: object) -> dict[str, torch.Tensor]:
        mask = features["attention_mask"]
        if not bool(mask[:, 0].all()):  # padded on the left: cutting columns off would cut words off
            return forward(features, **options)
        lengths = mask.sum(dim=1)
        order = lengths.argsort(descending=True, stable=True)
        back = order.argsort()
        parts, token_parts = [], []
        for chunk in order.split(rows):
            width = int(lengths[chunk[0]])
            part = {
                key: value[chunk, :width] if isinstance(value, torch.Tensor) and value.shape == mask.shape else value
                for key, value in features.items()
            }
            output = forward(part, **options)
            parts.append(output["sentence_embedding"])
            if tokens:
                token_parts.append(pad(output["token_embeddings"], (0, 0, 0, mask.shape[1] - width)))
        result = {"sentence_embedding": torch.cat(parts)[back]}
        return result | {"token_embeddings": torch.cat(token_parts)[back]} if tokens else result

    model.forward = chunked
    try:
        yield
    finally:
        del model.forward
