"""Similarities of two opinions without training: ROUGE, tf-idf, and Word Mover's distance.

The measures that encoders of opinions have to beat (Tay et al., 2021, section 4). Left out are WMD with
sentiment-specific vectors (Tang et al., 2014), which no package has, and SPICE, which needs a scene-graph parser.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import DefaultTokenizer
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from tqdm.auto import tqdm

from modeling.base.words import movers_distance, tokens, unit_vectors


class Similarities(NamedTuple):
    """Similarities in [0, 1], shape (pairs,), never NaN, and what was counted on the way.

    `pairs without words` have a text without any (known) word and similarity 0.
    """

    values: np.ndarray
    counts: dict[str, int]


def rouge(first: Sequence[str], second: Sequence[str], kind: str) -> Similarities:
    """F1 of the words (`rouge1`), pairs of words (`rouge2`) or longest common subsequence (`rougeL`) that texts share.

    Lin (2004). No stemming, no stop words; the tokeniser of `rouge-score`, which keeps a-z and 0-9 only.
    """
    tokenizer = DefaultTokenizer(use_stemmer=False)
    scorer = RougeScorer([kind], tokenizer=tokenizer)
    pairs = zip(first, second, strict=True)
    values = [scorer.score(*pair)[kind].fmeasure for pair in tqdm(pairs, kind, len(first), unit="pair")]
    wordless = {text for text in {*first, *second} if not tokenizer.tokenize(text)}
    return Similarities(np.array(values, float), {"pairs without words": _touching(first, second, wordless)})


def tf_idf(first: Sequence[str], second: Sequence[str]) -> Similarities:
    """Cosines of tf-idf vectors, with scikit-learn's defaults; document frequencies are those of the distinct texts."""
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
    """exp(-WMD) of n texts and n others, without `stop_words` (Kusner et al., 2015; Tay et al., 2021, section 4).

    Words without one of the `vectors`, GloVe's if None, are left out and counted. Vectors have unit length, as in
    gensim's `wmdistance`, distances are Euclidean, and the cheapest transport is found exactly, by POT.
    """
    bags = {text: Counter(word for word in tokens(text) if word not in stop_words) for text in {*first, *second}}
    vocabulary = set().union(*bags.values())
    known = unit_vectors(vocabulary, vectors)
    words = {text: [word for word in sorted(bag) if word in known] for text, bag in bags.items()}

    def similarity(one: str, other: str) -> float:
        if not words[one] or not words[other]:
            return 0.0
        sides = [
            ([known[word] for word in words[text]], [bags[text][word] for word in words[text]]) for text in (one, other)
        ]
        return float(np.exp(-movers_distance(*sides[0], *sides[1])))

    pairs = tqdm(zip(first, second, strict=True), "WMD", len(first), unit="pair")
    values = np.array([similarity(*pair) for pair in pairs], float)
    counts = {
        "pairs without words": _touching(first, second, {text for text, here in words.items() if not here}),
        "words": len(vocabulary),
        "words without a vector": len(vocabulary - known.keys()),
    }
    return Similarities(values, counts)


def content_word_movers(first: Sequence[str], second: Sequence[str]) -> Similarities:
    """`word_movers` without stop words, as in its paper (section 5); scikit-learn's, of which "not" is one."""
    return word_movers(first, second, stop_words=ENGLISH_STOP_WORDS)


def _touching(first: Sequence[str], second: Sequence[str], texts: set[str]) -> int:
    return sum(one in texts or other in texts for one, other in zip(first, second, strict=True))


# named as in the paper's tables, where they are there
BASELINES = {
    "ROUGE-1": partial(rouge, kind="rouge1"),
    "ROUGE-2": partial(rouge, kind="rouge2"),
    "ROUGE-L": partial(rouge, kind="rougeL"),
    "tf-idf": tf_idf,
    "WMD": content_word_movers,
    "WMD, all words": word_movers,
}
