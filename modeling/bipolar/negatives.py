"""Negatives for training: random texts that are no answer, and increasingly often the nearest ones.

Shi et al., appendix B.2: in epoch i a negative is mined with probability min(0.02 i, 1), else drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from sentence_transformers.util import dot_score, semantic_search

from modeling.bipolar.candidates import Candidates


def random_negatives(candidates: Candidates, seed: int | Sequence[int]) -> list[str]:
    """For each row a random text that is neither the point nor one of its counters, by `(seed, epoch)`."""
    generator, count = np.random.default_rng([*np.atleast_1d(seed), 0]), len(candidates.texts)
    negatives = []
    for row in range(len(candidates)):
        never = _forbidden(candidates, row)
        if count <= len(never):
            raise ValueError(f"there is no negative for row {row}: all {count} texts are its own or answers")
        # drawn again where forbidden: cheaper than a pool of each row's own
        while (drawn := int(generator.integers(count))) in never:
            pass
        negatives.append(candidates.texts[drawn])
    return negatives


def hard_negatives(
    candidates: Candidates, documents: np.ndarray, probability: float, seed: int | Sequence[int]
) -> list[str]:
    """For each row, with a probability, the nearest text that is neither the point nor one of its counters, by cosine.

    It is near to the row's counter, as the paper says ("closest to the positive one"). Documents are vectors of the m
    texts.
    """
    negatives = random_negatives(candidates, seed)
    mined = np.flatnonzero(np.random.default_rng([*np.atleast_1d(seed), 1]).random(len(candidates)) < probability)
    if len(mined):
        vectors, forbidden = _unit(documents), [_forbidden(candidates, row) for row in mined]
        most = 1 + max(map(len, forbidden))
        hits = semantic_search(vectors[candidates.counters[mined]], vectors, top_k=most, score_function=dot_score)
        for row, near, never in zip(mined, hits, forbidden, strict=True):
            nearest = next(hit["corpus_id"] for hit in near if hit["corpus_id"] not in never)
            negatives[row] = candidates.texts[nearest]
    return negatives


def _forbidden(candidates: Candidates, row: int) -> set[int]:
    return {int(candidates.points[row]), *candidates.answers[row]}


def _unit(vectors: np.ndarray) -> torch.Tensor:
    """Vectors of length 1."""
    vectors = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise ValueError("the model gives a vector that is not finite or has length 0: training diverged")
    return torch.from_numpy(vectors / lengths)
