"""Replay: texts that have nothing to do with a task, on which training holds the base's similarities.

What a loss says of argumentative texts changes how an encoder sees all others. Generic sentences that go along in
every batch, in pairs that the base finds alike, show it where it must not move.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from datasets import Dataset, concatenate_datasets
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import semantic_search

from modeling.base.vectors import embed

REPLAY_COLUMNS = ["replay", "replay_neighbour"]
TEXTS = 16_000  # more need minutes to embed; a run of 3,000 steps sees each of them about six times
NEIGHBOURS = 20  # pairs of graded similarity, not only the closest


def add_replay(rows: Dataset, texts: Sequence[str], base: SentenceTransformer, cache: Path, seed: int) -> Dataset:
    """Gives every training row a generic text and one of the 20 texts that the base finds most like it.

    Args:
        rows: Training rows.
        texts: Generic texts, at least two; a seeded sample of 16,000 is used.
        base: The untrained encoder.
        cache: Folder of vectors, see `embed`.
        seed: Seed of sample, neighbour and order.

    Returns:
        The rows with the columns `replay` and `replay_neighbour`.

    Raises:
        ValueError: If there are fewer than two different texts.
    """
    distinct = sorted(set(texts))
    if len(distinct) < 2:
        raise ValueError(f"--replay needs at least two different texts, got {len(distinct)}")
    random = np.random.default_rng(seed)
    if len(distinct) > TEXTS:
        distinct = [distinct[i] for i in np.sort(random.choice(len(distinct), TEXTS, replace=False))]
    neighbour = _neighbours(embed(base, distinct, cache), random)
    # every text once before any comes again
    passes = -(-len(rows) // len(distinct))
    order = np.concatenate([random.permutation(len(distinct)) for _ in range(passes)])[: len(rows)]
    columns = ([distinct[i] for i in order], [distinct[i] for i in neighbour[order]])
    return concatenate_datasets([rows, Dataset.from_dict(dict(zip(REPLAY_COLUMNS, columns, strict=True)))], axis=1)


def _neighbours(vectors: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """For each unit vector the index of another, drawn from the nearest ones."""
    given = torch.from_numpy(np.array(vectors, dtype=np.float64))  # so that another machine finds the same ones
    found = semantic_search(given, given, top_k=min(NEIGHBOURS + 1, len(given)))
    others = [[hit["corpus_id"] for hit in hits if hit["corpus_id"] != i] for i, hits in enumerate(found)]
    return np.array([near[random.integers(len(near))] for near in others])
