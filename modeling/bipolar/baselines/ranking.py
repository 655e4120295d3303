"""Which candidates come first: by a matrix of scores, in each setting, and in shortlists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

NONE = -1  # where there is no candidate


@dataclass(frozen=True)
class Ranking:
    """The best candidate of each point.

    Attributes:
        best: Indices in `Candidates.texts`, shape (n,); -1 for a point without any candidate.
        note: What a reader of the table has to know, a sentence or empty.
        counts: What was counted on the way -> how many.
    """

    best: np.ndarray
    note: str = ""
    counts: dict[str, int] = field(default_factory=dict)


def shortlist(scores: np.ndarray, pools: Sequence[np.ndarray], size: int) -> tuple[np.ndarray, np.ndarray]:
    """The candidates with the highest scores, in descending order; of equal ones the first in `Candidates.texts`.

    Args:
        scores: Of each point and text, shape (n, m); the higher, the better.
        pools: The candidates of each point, n arrays of indices in ascending order (`Candidates.of`).
        size: How many, K.

    Returns:
        Indices of texts and their scores, shapes (n, K) of int64 and float32. Where a point has fewer than K
        candidates, -1 and -inf fill the row.
    """
    found = np.full((len(pools), size), NONE, np.int64)
    values = np.full((len(pools), size), -np.inf, np.float32)
    for row, pool in enumerate(pools):
        here = scores[row, pool]
        if len(pool) > size:  # among ties at the border, the stable sort below has to see all
            border = np.partition(here, -size)[-size]
            kept = np.flatnonzero(here >= border)
        else:
            kept = np.arange(len(pool))
        order = kept[np.argsort(-here[kept], kind="stable")][:size]
        found[row, : len(order)], values[row, : len(order)] = pool[order], here[order]
    return found, values


def best(scores: np.ndarray, pools: Sequence[np.ndarray]) -> np.ndarray:
    """The candidate with the highest score of each point, shape (n,); see `shortlist`."""
    return shortlist(scores, pools, 1)[0][:, 0]


def reranked(candidates: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The best of each shortlist by other scores, shape (n,); of equal ones the one retrieved first.

    Args:
        candidates: Shortlists as from `shortlist`, shape (n, K), -1 where there is none.
        scores: The other scores, shape (n, K); those of absent candidates do not matter.
    """
    chosen = np.where(candidates == NONE, -np.inf, scores).argmax(axis=1)
    return candidates[np.arange(len(candidates)), chosen]
