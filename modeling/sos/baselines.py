"""Similarities of two opinions without training: ROUGE, tf-idf, and Word Mover's distance.

The measures that encoders of opinions have to beat (Tay et al., 2021, section 4). Left out are WMD with
sentiment-specific vectors (Tang et al., 2014), which no package has, and SPICE, which needs a scene-graph parser.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

import numpy as np
from rouge_score.rouge_scorer import RougeScorer
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from tqdm.auto import tqdm

from modeling.base.words import movers_distance, tokens, unit_vectors


def rouge(first: Sequence[str], second: Sequence[str], kind: str) -> np.ndarray:
    """F1 of the words (`rouge1`), pairs of words (`rouge2`) or longest common subsequence (`rougeL`) that texts share.

    Lin (2004). No stemming, no stop words; the tokeniser of `rouge-score`, which keeps a-z and 0-9 only.
    """
    scorer, pairs = RougeScorer([kind]), zip(first, second, strict=True)
    return np.array([scorer.score(*pair)[kind].fmeasure for pair in tqdm(pairs, kind, len(first), unit="pair")], float)


def tf_idf(first: Sequence[str], second: Sequence[str]) -> np.ndarray:
    """Cosines of tf-idf vectors, with scikit-learn's defaults; document frequencies are those of the distinct texts."""
    vectorizer = TfidfVectorizer()
    words = vectorizer.build_analyzer()
    texts = sorted(text for text in {*first, *second} if words(text))
    if not texts:
        return np.zeros(len(first))
    vectorizer.fit(texts)
    left, right = vectorizer.transform(first), vectorizer.transform(second)
    return np.asarray(left.multiply(right).sum(axis=1)).ravel().clip(0, 1)


def word_movers(
    first: Sequence[str],
    second: Sequence[str],
    vectors: Callable[[Collection[str]], Mapping[str, np.ndarray]] | None = None,
    stop_words: Collection[str] = (),
) -> np.ndarray:
    """exp(-WMD) of n texts and n others, without `stop_words` (Kusner et al., 2015; Tay et al., 2021, section 4).

    Words without one of the `vectors`, GloVe's if None, are left out; it is 0 where a text has no other. Vectors have
    unit length, as in gensim's `wmdistance`, distances are Euclidean, and the cheapest transport is found exactly, by
    POT.
    """
    bags = {text: Counter(word for word in tokens(text) if word not in stop_words) for text in {*first, *second}}
    known = unit_vectors(set().union(*bags.values()), vectors)
    words = {text: [word for word in sorted(bag) if word in known] for text, bag in bags.items()}

    def similarity(one: str, other: str) -> float:
        if not words[one] or not words[other]:
            return 0.0
        sides = [
            ([known[word] for word in words[text]], [bags[text][word] for word in words[text]]) for text in (one, other)
        ]
        return float(np.exp(-movers_distance(*sides[0], *sides[1])))

    pairs = tqdm(zip(first, second, strict=True), "WMD", len(first), unit="pair")
    return np.array([similarity(*pair) for pair in pairs], float)


# texts -> similarities in [0, 1], shape (pairs,), named as in the paper's tables, where they are there
BASELINES = {
    "ROUGE-1": partial(rouge, kind="rouge1"),
    "ROUGE-2": partial(rouge, kind="rouge2"),
    "ROUGE-L": partial(rouge, kind="rougeL"),
    "tf-idf": tf_idf,
    # as in its paper (section 5); scikit-learn's, of which "not" is one
    "WMD": partial(word_movers, stop_words=ENGLISH_STOP_WORDS),
    "WMD, all words": word_movers,
}
