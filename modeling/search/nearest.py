"""Exact search among vectors that lie on disk."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

BLOCK = 65_536  # vectors that are multiplied or added at once: 100 MB of MiniLM's


def exact(
    embeddings: Callable[[slice], np.ndarray], count: int, queries: np.ndarray, top: int
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and dot products of the `top` of `count` vectors for each query, two of shape (n, top), best first.

    `embeddings` gives the vectors by their numbers; all are compared, in blocks.
    """
    numbers, dots = np.empty((len(queries), 0), np.int64), np.empty((len(queries), 0), np.float32)
    for start in range(0, count, BLOCK):
        block = queries @ embeddings(slice(start, min(start + BLOCK, count))).T
        best = np.argpartition(-block, min(top, block.shape[1]) - 1, axis=1)[:, :top]
        numbers = np.hstack([numbers, start + best])
        dots = np.hstack([dots, np.take_along_axis(block, best, 1)])
        best = np.lexsort([numbers, -dots])[:, :top]
        numbers, dots = np.take_along_axis(numbers, best, 1), np.take_along_axis(dots, best, 1)
    return numbers, dots
