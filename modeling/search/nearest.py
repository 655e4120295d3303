"""Exact search among vectors that lie on disk."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

BLOCK = 65_536  # vectors of which the best are chosen, or that are added, at once: 100 MB of MiniLM's
ROWS = 2_048  # that are multiplied at once: in single precision they stay in the processor's cache


def exact(
    embeddings: Callable[[slice], np.ndarray], count: int, queries: np.ndarray, top: int
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and dot products of the `top` of `count` vectors for each query, two of shape (n, top), best first.

    `embeddings` gives the vectors by their numbers; all are compared, in blocks.
    """
    numbers, products = np.empty((len(queries), 0), np.int64), np.empty((len(queries), 0), np.float32)
    for start in range(0, count, BLOCK):
        block = dots(embeddings, start, min(start + BLOCK, count), queries)
        best = np.argpartition(-block, min(top, block.shape[1]) - 1, axis=1)[:, :top]
        numbers = np.hstack([numbers, start + best])
        products = np.hstack([products, np.take_along_axis(block, best, 1)])
        best = np.lexsort([numbers, -products])[:, :top]
        numbers, products = np.take_along_axis(numbers, best, 1), np.take_along_axis(products, best, 1)
    return numbers, products


def dots(embeddings: Callable[[slice], np.ndarray], start: int, stop: int, queries: np.ndarray) -> np.ndarray:
    """Dot products of each query with the vectors from `start` on, shape (n, stop - start), float32."""
    products = np.empty((len(queries), stop - start), np.float32)
    for first in range(start, stop, ROWS):
        last = min(first + ROWS, stop)
        np.matmul(queries, embeddings(slice(first, last)).T, out=products[:, first - start : last - start])
    return products
