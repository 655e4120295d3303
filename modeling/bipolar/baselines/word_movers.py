"""Word Mover's distances: bounds for all texts of a query at once, and exact ones where they are needed."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from dataset_scripts.base.files import atomic_file
from modeling.base.words import movers_distance, unit_vectors
from modeling.bipolar.baselines.word_counts import WordCounts, shares

BLOCK = 64  # words of a query whose distances to the vocabulary are in memory at once: 8 MB of float64 at 16,000 words
SLACK = 1e-6  # by which bounds are widened, so that rounding makes none of them false
SAVE_EVERY = 60  # seconds
_KEPT = np.dtype([("query", "<i4"), ("text", "<i4"), ("distance", "<f8")])


class WordMovers:
    """Word Mover's distances of queries to texts, in [0, 2]; infinite where one has no word with a vector.

    Vectors have unit length; the rest is as in `modeling.base.words.word_movers`.

    Args:
        counts: The words.
        vectors: Words -> a vector for each that has one; GloVe's 50 dimensions if None.
        folder: Where exact distances are kept, in a file of these words and vectors; None keeps them in memory.

    Attributes:
        computed: How many exact distances were computed, not counting those read from the file.

    Source: Kusner et al. (2015).
    """

    def __init__(
        self,
        counts: WordCounts,
        vectors: Callable[[Collection[str]], Mapping[str, np.ndarray]] | None = None,
        folder: Path | None = None,
    ) -> None:
        known = unit_vectors(set(counts.words), vectors)
        columns = [number for number, word in enumerate(counts.words) if word in known]
        self.vectors = np.array([known[counts.words[number]] for number in columns]) if columns else np.zeros((0, 1))
        self.queries, self.texts = shares(counts.queries[:, columns]), shares(counts.texts[:, columns])
        self.words_without_vector = len(counts.words) - len(columns)
        self.computed = 0
        self._empty = np.diff(self.texts.indptr) == 0
        self._words = self.texts.indices.astype(np.int64)  # by which numpy selects twice as fast as by int32
        self._centroids = self.texts @ self.vectors
        self._path = folder / f"{self.key}.npy" if folder else None
        self._distances = self._read()
        self._saved, self._saved_at = len(self._distances), time.monotonic()

    @cached_property
    def key(self) -> str:
        """A digest of words, counts and vectors: of other ones it is another."""
        digest = hashlib.sha256(np.round(self.vectors, 6).tobytes())
        for matrix in (self.queries, self.texts):
            for part in (np.array(matrix.shape), matrix.indptr, matrix.indices, np.round(matrix.data, 9)):
                digest.update(np.ascontiguousarray(part).astype(float).tobytes())
        return digest.hexdigest()[:24]

    def bounds(self, query: int) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of the distances of a query to all texts, shapes (m,).

        The lower one is the largest of three: the distance of the centroids, and the relaxed distances of either
        direction, where each word goes to its nearest in the other text (Kusner et al., 2015, section 4). The upper one
        is the cost of a transport that is allowed: each word is spread over the other text in proportion.
        """
        start, end = self.queries.indptr[query : query + 2]
        words, weights = self.queries.indices[start:end], self.queries.data[start:end]
        size = self.texts.shape[0]
        if not len(words) or not self.texts.nnz:
            return np.full(size, np.inf), np.full(size, np.inf)
        full = np.flatnonzero(~self._empty)
        nearest, mean, outward = np.full(len(self.vectors), np.inf), np.zeros(len(self.vectors)), np.zeros(size)
        for first in range(0, len(words), BLOCK):
            block, share = words[first : first + BLOCK], weights[first : first + BLOCK]
            costs = self._costs(block)
            nearest = np.minimum(nearest, costs.min(axis=0))
            mean += share @ costs
            for word, weight in zip(costs.astype(np.float32), share, strict=True):  # to the nearest in each text
                outward[full] += weight * np.minimum.reduceat(word[self._words], self.texts.indptr[full])
        centroid = np.linalg.norm(self._centroids - weights @ self.vectors[words], axis=1)
        lower = np.maximum.reduce([self.texts @ nearest, outward, centroid])
        upper = np.maximum(self.texts @ mean, lower)
        return (
            np.where(self._empty, np.inf, np.maximum(lower - SLACK, 0)),
            np.where(self._empty, np.inf, upper + SLACK),
        )

    def _costs(self, words: np.ndarray) -> np.ndarray:
        """Euclidean distances of some words to all, shape (k, V)."""
        costs = np.sqrt(np.maximum(2 - 2 * self.vectors[words] @ self.vectors.T, 0))
        costs[np.arange(len(words)), words] = 0  # which rounding would leave at 1e-8
        return costs

    def distance(self, query: int, text: int) -> float:
        """The exact distance of a query to a text."""
        key = (query, text)
        if key not in self._distances:
            self._distances[key] = self._compute(query, text)
            self.computed += 1
            if time.monotonic() - self._saved_at > SAVE_EVERY:
                self.save()
        return self._distances[key]

    def _compute(self, query: int, text: int) -> float:
        sides = []
        for matrix, row in ((self.queries, query), (self.texts, text)):
            start, end = matrix.indptr[row : row + 2]
            sides.append((matrix.indices[start:end], matrix.data[start:end].copy()))
        (ours, our_shares), (theirs, their_shares) = sides
        if not len(ours) or not len(theirs):
            return np.inf
        # What both texts have stays where it is: moving it away and something else to its place is no shorter, by the
        # triangle inequality. The transport is of what is left.
        _, left, right = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
        common = np.minimum(our_shares[left], their_shares[right])
        our_shares[left] -= common
        their_shares[right] -= common
        ours, our_shares = ours[our_shares > 0], our_shares[our_shares > 0]
        theirs, their_shares = theirs[their_shares > 0], their_shares[their_shares > 0]
        if not len(ours) or not len(theirs):
            return 0.0
        moved = movers_distance(self.vectors[ours], our_shares, self.vectors[theirs], their_shares)
        return float(our_shares.sum() * moved)

    def save(self) -> None:
        """Writes the distances that were computed since the last time."""
        self._saved_at = time.monotonic()
        if self._path is None or len(self._distances) == self._saved:
            return
        rows = np.fromiter(((*key, value) for key, value in self._distances.items()), _KEPT, len(self._distances))
        with atomic_file(self._path) as temporary, temporary.open("wb") as file:
            np.save(file, rows)
        self._saved = len(rows)

    def _read(self) -> dict[tuple[int, int], float]:
        if self._path is None or not self._path.is_file():
            return {}
        rows = np.load(self._path)
        pairs = zip(rows["query"].tolist(), rows["text"].tolist(), strict=True)
        return dict(zip(pairs, rows["distance"].tolist(), strict=True))
