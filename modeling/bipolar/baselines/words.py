"""Simple-SD (Wachsmuth et al., 2018), which learns nothing: a counter-argument repeats the words of its point."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from tqdm.auto import tqdm

from modeling.base.words import content_words, movers_distance, unit_vectors
from modeling.bipolar.candidates import NONE, SETTINGS, Candidates

MANHATTAN, MOVERS = 0.8, 0.9  # weights of the similarities
BLOCK = 64  # words of a query whose distances to the vocabulary are in memory at once: 8 MB of float64 at 16,000 words
SLACK = 1e-6  # by which bounds are widened, so that rounding makes none of them false

WordVectors = Callable[[Collection[str]], Mapping[str, np.ndarray]]


class SimpleSD:
    """Ranks by 0.9 x4 + 0.9 x8 - 0.1 x1 - 0.1 x2 (Shi et al., 2023, section 3.1 and table 1).

    x1 to x4 are the minimum, maximum, product and sum of a candidate's similarities to the point's conclusion and to
    its premises by the Manhattan distance of word frequencies, x8 is the sum of those by Word Mover's distance. As x4
    is x1 + x2, that is 0.8 x4 + 0.9 x8. A distance d is a similarity of 1 / (1 + d), 0 where a text has no words. The
    paper does not say which inverse it takes, and has ConceptNet Numberbatch's vectors, where these are GloVe's.
    """

    def __init__(self, candidates: Candidates, vectors: WordVectors | None = None) -> None:
        pairs = list(zip(candidates.conclusions, candidates.premises, strict=True))
        self.queries = list(dict.fromkeys(chain.from_iterable(pairs)))
        numbers = {part: number for number, part in enumerate(self.queries)}
        self.parts = [[numbers[part] for part in pair] for pair in pairs]  # of each point
        self.texts, self.vectors = candidates.texts, vectors
        self.pools = {setting: candidates.of(setting) for setting in SETTINGS}

    @cached_property
    def words(self) -> Words:
        return Words(self.queries, self.texts)

    @cached_property
    def movers(self) -> WordMovers:
        return WordMovers(self.words, self.vectors)

    def best(self, row: int) -> list[int]:
        """The candidate of a point with the highest score in each of `SETTINGS`, of equals the first, or `NONE`."""
        queries = self.parts[row]
        known = MANHATTAN * sum(1 / (1 + self.words.manhattan(query)) for query in queries)
        most = [MOVERS / (1 + self.movers.lower(query)) for query in queries]
        return [self._best(queries, self.pools[setting][row], known, most) for setting in SETTINGS]

    def _best(self, queries: list[int], pool: np.ndarray, known: np.ndarray, most: list[np.ndarray]) -> int:
        """Computes only those Word Mover's distances by which a candidate could still be the best."""
        best, highest, bounds = NONE, -np.inf, known + sum(most)
        for text in pool[np.argsort(-bounds[pool], kind="stable")]:
            if bounds[text] < highest:
                break
            score = known[text] + MOVERS / (1 + self.movers.distance(queries[0], text))
            if score + most[1][text] < highest:
                continue
            score += MOVERS / (1 + self.movers.distance(queries[1], text))
            if score > highest or (score == highest and text < best):
                best, highest = int(text), score
        return best


class Words:
    """Words of u queries and m texts: as in GloVe, lower case, without stop words.

    `queries` and `texts` are shares of each of the V distinct `words`, sparse, shapes (u, V) and (m, V).
    """

    def __init__(self, queries: Sequence[str], texts: Sequence[str]) -> None:
        tokens = [content_words(text) for text in tqdm([*queries, *texts], "words", unit="text", leave=False)]
        self.words = list(dict.fromkeys(chain.from_iterable(tokens))) or [""]
        counter = CountVectorizer(analyzer=list, vocabulary={word: number for number, word in enumerate(self.words)})
        sides = tokens[: len(queries)], tokens[len(queries) :]
        self.queries, self.texts = (_shares(counter.transform(side)) for side in sides)
        self._columns, self._empty = self.texts.tocsc(), np.diff(self.texts.indptr) == 0

    def manhattan(self, query: int) -> np.ndarray:
        """Manhattan distances of shares to all texts, shape (m,), in [0, 2]; infinite where one has no words.

        |a - b| sums to 2 - 2 min(a, b), so that only words in both count.
        """
        own = self.queries[[query]]
        if not own.nnz:
            return np.full(self.texts.shape[0], np.inf)
        common = self._columns[:, own.indices]
        common.data = np.minimum(common.data, np.repeat(own.data, np.diff(common.indptr)))
        return np.where(self._empty, np.inf, np.maximum(2 - 2 * np.asarray(common.sum(axis=1)).ravel(), 0))


class WordMovers:
    """Word Mover's distances (Kusner et al., 2015), in [0, 2]; infinite where a text has no word with a vector.

    `vectors` gives a vector for each word that has one, brought to unit length; GloVe's 50 dimensions if None.
    """

    def __init__(self, words: Words, vectors: WordVectors | None = None) -> None:
        known = unit_vectors(set(words.words), vectors)
        columns = [number for number, word in enumerate(words.words) if word in known]
        self.vectors = np.array([known[words.words[number]] for number in columns]) if columns else np.zeros((0, 1))
        self.queries, self.texts = _shares(words.queries[:, columns]), _shares(words.texts[:, columns])
        self._empty = np.diff(self.texts.indptr) == 0
        self._words = self.texts.indices.astype(np.int64)  # by which numpy selects twice as fast as by int32
        self._centroids = self.texts @ self.vectors
        self.distance = cache(self._distance)  # points have queries in common, and settings texts

    def lower(self, query: int) -> np.ndarray:
        """Lower bounds of the distances of a query to all texts, shape (m,).

        The largest of three: the distance of the centroids, and the relaxed distances of either direction, where each
        word goes to its nearest in the other text (Kusner et al., 2015, section 4).
        """
        words, weights = _row(self.queries, query)
        size = self.texts.shape[0]
        if not len(words) or not self.texts.nnz:
            return np.full(size, np.inf)
        full = np.flatnonzero(~self._empty)
        nearest, outward = np.full(len(self.vectors), np.inf), np.zeros(size)
        for first in range(0, len(words), BLOCK):
            block, share = words[first : first + BLOCK], weights[first : first + BLOCK]
            costs = np.sqrt(np.maximum(2 - 2 * self.vectors[block] @ self.vectors.T, 0))
            costs[np.arange(len(block)), block] = 0  # which rounding would leave at 1e-8
            nearest = np.minimum(nearest, costs.min(axis=0))
            for word, weight in zip(costs.astype(np.float32), share, strict=True):  # to the nearest in each text
                outward[full] += weight * np.minimum.reduceat(word[self._words], self.texts.indptr[full])
        centroid = np.linalg.norm(self._centroids - weights @ self.vectors[words], axis=1)
        lower = np.maximum.reduce([self.texts @ nearest, outward, centroid])
        return np.where(self._empty, np.inf, np.maximum(lower - SLACK, 0))

    def _distance(self, query: int, text: int) -> float:
        """The exact distance of a query to a text."""
        (ours, our_shares), (theirs, their_shares) = _row(self.queries, query), _row(self.texts, text)
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


def _shares(counts: csr_matrix) -> csr_matrix:
    """Counts divided by their sum in each row; rows without any stay empty."""
    result = counts.astype(float)
    result.data /= np.repeat(np.asarray(result.sum(axis=1)).ravel(), np.diff(result.indptr))
    return result


def _row(matrix: csr_matrix, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns and values of a row, as copies."""
    own = matrix[[row]]
    return own.indices, own.data
