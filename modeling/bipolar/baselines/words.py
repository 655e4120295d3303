"""The 20 features of a point and a candidate: five similarities of conclusion and premises, aggregated in four ways.

And the best candidate by a linear score of them, found exactly with few exact Word Mover's distances.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from tqdm.auto import tqdm

from modeling.base.words import content_words, movers_distance, unit_vectors
from modeling.bipolar.candidates import NONE, Candidates

if TYPE_CHECKING:
    import bm25s

# in the order of the features: x1-x4 are the four aggregates of the first, x5-x8 those of the second, and so on
METRICS = ("Manhattan", "Word Mover's", "cosine of words", "BM25", "cosine of embeddings")
AGGREGATES = ("min", "max", "product", "sum")
PART, FULL = 8, 20  # how many features the two sets of the paper have
MOVERS, EMBEDDINGS = 1, 4  # where these similarities stand among the metrics
BLOCK = 64  # words of a query whose distances to the vocabulary are in memory at once: 8 MB of float64 at 16,000 words
SLACK = 1e-6  # by which bounds are widened, so that rounding makes none of them false

Embed = Callable[[Sequence[str]], np.ndarray]
WordVectors = Callable[[Collection[str]], Mapping[str, np.ndarray]]


def inverse(distances: np.ndarray | float) -> np.ndarray | float:
    """1 / (1 + d): 1 for equal texts, 0 for an infinite distance. The paper does not say which inverse it takes."""
    return 1 / (1 + distances)


def aggregate(conclusion: np.ndarray, premises: np.ndarray) -> np.ndarray:
    """Minimum, maximum, product and sum of two similarities of the same shape, along a new last axis."""
    pair = np.broadcast_arrays(conclusion, premises)
    return np.stack([np.minimum(*pair), np.maximum(*pair), pair[0] * pair[1], pair[0] + pair[1]], axis=-1)


class Words:
    """Similarities of u queries to m texts by counts of their words: as in GloVe, lower case, without stop words.

    `queries` and `texts` are shares of each of the V distinct `words`, sparse, shapes (u, V) and (m, V).
    """

    def __init__(self, queries: Sequence[str], texts: Sequence[str]) -> None:
        tokens = [content_words(text) for text in tqdm([*queries, *texts], "words", unit="text", leave=False)]
        self._tokens = tokens[: len(queries)], tokens[len(queries) :]
        self.words = list(dict.fromkeys(chain.from_iterable(tokens))) or [""]
        counter = CountVectorizer(analyzer=list, vocabulary={word: number for number, word in enumerate(self.words)})
        self.queries, self.texts = (_shares(counter.transform(side)) for side in self._tokens)
        self._columns, self._directions = self.texts.tocsc(), normalize(self.texts)
        self._empty = np.diff(self.texts.indptr) == 0

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

    def cosine(self, query: int) -> np.ndarray:
        """Cosines of term frequencies with all texts, shape (m,), in [0, 1]; 0 where one has no words."""
        return (self._directions @ normalize(self.queries[[query]]).T).toarray().ravel().clip(0, 1)

    def bm25(self, query: int) -> np.ndarray:
        """BM25 scores of all texts, shape (m,), at least 0; k1 = 1.5, b = 0.75 (Robertson and Zaragoza, 2009)."""
        if not self._tokens[0][query] or not self.texts.nnz:
            return np.zeros(self.texts.shape[0])
        return self._index.get_scores(self._tokens[0][query]).astype(float)

    @cached_property
    def _index(self) -> bm25s.BM25:
        import bm25s  # an optional library

        index = bm25s.BM25()
        index.index(self._tokens[1], show_progress=False)
        return index


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
        self.distances: dict[tuple[int, int], float] = {}  # the exact ones that were computed

    def bounds(self, query: int) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of the distances of a query to all texts, shapes (m,).

        The lower one is the largest of three: the distance of the centroids, and the relaxed distances of either
        direction, where each word goes to its nearest in the other text (Kusner et al., 2015, section 4). The upper one
        is the cost of a transport that is allowed: each word is spread over the other text in proportion.
        """
        words, weights = _row(self.queries, query)
        size = self.texts.shape[0]
        if not len(words) or not self.texts.nnz:
            return np.full(size, np.inf), np.full(size, np.inf)
        full = np.flatnonzero(~self._empty)
        nearest, mean, outward = np.full(len(self.vectors), np.inf), np.zeros(len(self.vectors)), np.zeros(size)
        for first in range(0, len(words), BLOCK):
            block, share = words[first : first + BLOCK], weights[first : first + BLOCK]
            costs = np.sqrt(np.maximum(2 - 2 * self.vectors[block] @ self.vectors.T, 0))
            costs[np.arange(len(block)), block] = 0  # which rounding would leave at 1e-8
            nearest = np.minimum(nearest, costs.min(axis=0))
            mean += share @ costs
            for word, weight in zip(costs.astype(np.float32), share, strict=True):  # to the nearest in each text
                outward[full] += weight * np.minimum.reduceat(word[self._words], self.texts.indptr[full])
        centroid = np.linalg.norm(self._centroids - weights @ self.vectors[words], axis=1)
        lower = np.maximum.reduce([self.texts @ nearest, outward, centroid])
        upper = np.maximum(self.texts @ mean, lower) + SLACK
        lower = np.maximum(lower - SLACK, 0)
        return np.where(self._empty, np.inf, lower), np.where(self._empty, np.inf, upper)

    def distance(self, query: int, text: int) -> float:
        """The exact distance of a query to a text."""
        if (query, text) not in self.distances:
            self.distances[query, text] = self._compute(query, text)
        return self.distances[query, text]

    def _compute(self, query: int, text: int) -> float:
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


class FeatureTable:
    """Features of the points and texts of a split (Shi et al., 2023, table 1), for all settings and rankers.

    `x1`-`x4` are the minimum, maximum, product and sum of two similarities of a candidate, with the point's conclusion
    and with its premises; so are `x5`-`x8` and so on, by `METRICS`, distances inverted. A conclusion, premises or
    candidate without words are similar to nothing: 0. The paper takes the embedding of BERT's [CLS] and ConceptNet
    Numberbatch's words; here it is any encoder's, and GloVe's.

    `embed` gives unit vectors of texts, shape (texts, d); without it there are the first `PART` features only.
    """

    def __init__(self, candidates: Candidates, embed: Embed | None = None, vectors: WordVectors | None = None) -> None:
        queries: dict[str, int] = {}
        pairs = zip(candidates.conclusions, candidates.premises, strict=True)
        # which queries (distinct conclusions and premises) are those of each point, shape (n, 2)
        self.parts = np.array([[queries.setdefault(part, len(queries)) for part in pair] for pair in pairs])
        self.candidates = candidates
        self.words = Words(list(queries), candidates.texts)
        self.movers = WordMovers(self.words, vectors)
        self._bounds: dict[int, np.ndarray] = {}
        self._vectors = [_embed_words(embed, texts) for texts in (list(queries), candidates.texts)] if embed else None

    def similarities(self, row: int, metrics: Collection[int]) -> np.ndarray:
        """Similarities of the two parts of a point with all texts, shape (5, 2, m); NaN for others and Word Mover's."""
        compute = {
            0: lambda query: inverse(self.words.manhattan(query)),
            2: self.words.cosine,
            3: self.words.bm25,
            EMBEDDINGS: lambda query: self._vectors[1] @ self._vectors[0][query],
        }
        values = np.full((len(METRICS), 2, len(self.candidates.texts)), np.nan)
        for side, query in enumerate(self.parts[row]):
            for metric in compute.keys() & set(metrics):
                values[metric, side] = compute[metric](query)
        return values

    def movers_bounds(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of Word Mover's similarity of the two parts of a point with all texts, two of shape (2, m)."""
        for query in self.parts[row]:
            if query not in self._bounds:
                self._bounds[query] = np.array(self.movers.bounds(query), np.float32)
        nearest, farthest = np.stack([self._bounds[query] for query in self.parts[row]], axis=1).astype(float)
        return inverse(farthest), inverse(nearest)

    def movers_similarity(self, row: int, texts: Sequence[int], side: int, place: int) -> float:
        """The exact Word Mover's similarity of a point's conclusion (side 0) or premises (1) with one of the texts."""
        return inverse(self.movers.distance(int(self.parts[row, side]), int(texts[place])))

    def features(self, row: int, texts: Sequence[int] | np.ndarray, size: int = FULL) -> np.ndarray:
        """The first features (`PART` or `FULL`) of a point with some texts, exactly: `x1`, ..., shape (k, size)."""
        values = self.similarities(row, range(size // len(AGGREGATES)))[:, :, texts]
        exact = [[self.movers_similarity(row, texts, side, place) for place in range(len(texts))] for side in (0, 1)]
        values[MOVERS] = exact
        return aggregate(values[:, 0], values[:, 1]).transpose(1, 0, 2).reshape(len(texts), -1)[:, :size]

    def cheap_scores(self, row: int, weights: np.ndarray) -> np.ndarray:
        """What all features but Word Mover's add to linear scores of a point's texts, shape (m,); see `by_metric`."""
        metrics = [metric for metric in range(len(METRICS)) if metric != MOVERS and weights[metric].any()]
        values = self.similarities(row, metrics)
        return sum((aggregate(*values[metric]) @ weights[metric] for metric in metrics), np.zeros(values.shape[-1]))


def by_metric(weights: np.ndarray) -> np.ndarray:
    """Weights of the first features, shape (8,) or (20,), as a table of metrics and aggregates, shape (5, 4)."""
    return np.pad(weights, (0, FULL - len(weights))).reshape(len(METRICS), len(AGGREGATES))


def rank_linear(table: FeatureTable, weights: np.ndarray, setting: str, rows: Sequence[int]) -> np.ndarray:
    """The text of each of r points whose weighted sum of 8 or 20 features is the largest; of equals the first.

    `NONE` for a point without candidates; the same as if all features had been computed.
    """
    weights, pools, best = by_metric(weights), table.candidates.of(setting), np.full(len(rows), NONE)
    for place, row in enumerate(rows):
        pool = pools[row]
        if len(pool):
            rest = table.cheap_scores(row, weights)[pool]
            lower, upper = (bound[:, pool] for bound in table.movers_bounds(row))
            exact = partial(table.movers_similarity, row, pool)
            best[place] = pool[best_first(rest, lower, upper, weights[MOVERS], exact)]
    return best


def best_first(
    rest: np.ndarray, lower: np.ndarray, upper: np.ndarray, weights: np.ndarray, exact: Callable[[int, int], float]
) -> int:
    """The candidate with the largest score, the first of equals, computing exactly only what could still be it.

    Args:
        rest: What is known of each score, shape (k,).
        lower, upper: Bounds of the two similarities, shapes (2, k), that `exact` computes of side and candidate.
        weights: Of their minimum, maximum, product and sum, shape (4,).
    """
    bounds = rest + highest(lower, upper, weights)
    best, score = NONE, -np.inf
    for candidate in np.argsort(-bounds, kind="stable"):
        if bounds[candidate] < score:
            break
        conclusion = exact(0, candidate)
        ends = [np.array([[conclusion], [bound[1, candidate]]]) for bound in (lower, upper)]
        if rest[candidate] + highest(*ends, weights)[0] < score:
            continue
        own = rest[candidate] + aggregate(conclusion, exact(1, candidate)) @ weights
        if own > score or (own == score and candidate < best):
            best, score = candidate, own
    return best


def highest(lower: np.ndarray, upper: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The largest weighted sum of minimum, maximum, product and sum of two numbers between bounds of shape (2, k).

    On either side of the diagonal, where the numbers are equal, the sum is linear in each number alone; so it is the
    largest at a corner of the rectangle or on the diagonal inside it, where it is a parabola: at its ends or its apex.
    A simpler bound, each aggregate at the end that its weight favours, takes a hundred times as many distances where
    logistic regression gives aggregates weights that cancel each other.
    """
    corners = [(lower[0], lower[1]), (lower[0], upper[1]), (upper[0], lower[1]), (upper[0], upper[1])]
    start, end = lower.max(axis=0), upper.min(axis=0)
    apex = -(weights[0] + weights[1] + 2 * weights[3]) / (2 * weights[2]) if weights[2] < 0 else 0.0
    values = [aggregate(*corner) @ weights for corner in corners]
    for diagonal in (start, end, np.clip(apex, start, np.maximum(start, end))):
        values.append(np.where(start <= end, aggregate(diagonal, diagonal) @ weights, -np.inf))
    return np.max(values, axis=0)


def _shares(counts: csr_matrix) -> csr_matrix:
    """Counts divided by their sum in each row; rows without any stay empty."""
    result = counts.astype(float)
    result.data /= np.repeat(np.asarray(result.sum(axis=1)).ravel(), np.diff(result.indptr))
    return result


def _row(matrix: csr_matrix, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns and values of a row, as copies."""
    own = matrix[[row]]
    return own.indices, own.data


def _embed_words(embed: Embed, texts: list[str]) -> np.ndarray:
    """Vectors of texts; 0 for those that are blank, which are similar to nothing."""
    vectors = np.array(embed(texts), np.float32)
    vectors[[not text.strip() for text in texts]] = 0
    return vectors
