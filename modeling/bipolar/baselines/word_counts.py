"""Words of queries and texts, counted once, and the similarities that need no more than the counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix
from tqdm.auto import tqdm

from modeling.base.words import content_words


class WordCounts:
    """How often each word occurs in queries and in texts; words as in GloVe, lower case, without stop words.

    Args:
        queries: u of them.
        texts: m of them, ranked for each query.

    Attributes:
        words: The distinct words, V of them.
        queries, texts: Counts, sparse, shapes (u, V) and (m, V).
    """

    def __init__(self, queries: Sequence[str], texts: Sequence[str]) -> None:
        numbers: dict[str, int] = {}
        rows: list[np.ndarray] = []
        for text in tqdm([*queries, *texts], "words", unit="text", leave=False):
            rows.append(np.array([numbers.setdefault(word, len(numbers)) for word in content_words(text)], np.int64))
        self._tokens = rows[: len(queries)]
        self.words = list(numbers)
        self.queries = _counts(rows[: len(queries)], len(numbers))
        self.texts = _counts(rows[len(queries) :], len(numbers))

    def manhattan(self, query: int) -> np.ndarray:
        """Manhattan distances of normalised term frequencies to all texts, shape (m,), in [0, 2].

        |a - b| sums to 2 - 2 min(a, b), so that only words in both count. A text without words is infinitely far
        from all, as is a query without.
        """
        if self.queries.indptr[query] == self.queries.indptr[query + 1]:
            return np.full(self.texts.shape[0], np.inf)
        texts, ours, theirs = self._shared(query)
        shared = np.bincount(texts, np.minimum(ours, theirs), self.texts.shape[0])
        return np.where(self._empty, np.inf, np.maximum(2 - 2 * shared, 0))

    def cosine(self, query: int) -> np.ndarray:
        """Cosines of term frequencies with all texts, shape (m,), in [0, 1]; 0 where one has no words."""
        texts, ours, theirs = self._shared(query)
        dots = np.bincount(texts, ours * theirs, self.texts.shape[0])
        squares = np.square(self._query_shares.data[self._row(query)]).sum() * self._text_squares
        return np.divide(dots, np.sqrt(squares), out=np.zeros(len(dots)), where=squares > 0).clip(0, 1)

    def bm25(self, query: int) -> np.ndarray:
        """BM25 scores of all texts, shape (m,), at least 0; documents are the texts, k1 = 1.5, b = 0.75.

        Source: Robertson and Zaragoza (2009), as in `bm25s` (the formula of Lucene).
        """
        tokens = self._tokens[query]
        if not len(tokens) or not self.texts.nnz:
            return np.zeros(self.texts.shape[0])
        return self._index.get_scores_from_ids(tokens.tolist()).astype(float)

    def _shared(self, query: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each occurrence of a query's word in a text: the text, and the word's share of query and text."""
        row = self._row(query)
        words, shares = self._query_shares.indices[row], self._query_shares.data[row]
        columns = self._text_columns
        spans = [slice(columns.indptr[word], columns.indptr[word + 1]) for word in words]
        lengths = [span.stop - span.start for span in spans]
        if not spans:
            return np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
        texts = np.concatenate([columns.indices[span] for span in spans])
        return texts, np.repeat(shares, lengths), np.concatenate([columns.data[span] for span in spans])

    def _row(self, query: int) -> slice:
        return slice(self.queries.indptr[query], self.queries.indptr[query + 1])

    @cached_property
    def _query_shares(self) -> csr_matrix:
        return shares(self.queries)

    @cached_property
    def _text_columns(self):
        return shares(self.texts).tocsc()

    @cached_property
    def _text_squares(self) -> np.ndarray:
        return np.asarray(shares(self.texts).power(2).sum(axis=1)).ravel()

    @cached_property
    def _empty(self) -> np.ndarray:
        return np.diff(self.texts.indptr) == 0

    @cached_property
    def _index(self):
        import bm25s

        index = bm25s.BM25()
        tokens = [np.repeat(row.indices, row.data.astype(int)).tolist() for row in self.texts]
        vocabulary = {word: number for number, word in enumerate(self.words)}
        index.index(bm25s.tokenization.Tokenized(ids=tokens, vocab=vocabulary), show_progress=False)
        return index


def shares(counts: csr_matrix) -> csr_matrix:
    """Counts divided by their sum in each row, float64; rows without any stay empty."""
    found = counts.astype(float)
    sums = np.asarray(found.sum(axis=1)).ravel()
    found.data /= np.repeat(sums, np.diff(found.indptr))
    return found


def _counts(rows: list[np.ndarray], words: int) -> csr_matrix:
    lengths = np.cumsum([0, *(len(row) for row in rows)])
    indices = np.concatenate([*rows, np.zeros(0, np.int64)])
    found = csr_matrix((np.ones(len(indices), np.int64), indices, lengths), shape=(len(rows), words))
    found.sum_duplicates()  # which sorts the words of a row, too
    return found
