"""Invented debates of numbers, in which a counter repeats words of its point."""

import numpy as np

from modeling.bipolar.candidates import Candidates


def vectors(words):
    """A vector for each word that is a number, the same in every call."""
    return {word: np.random.default_rng(int(word)).normal(size=5) for word in words if word.isdigit()}


def embed(texts):
    """Sums of the vectors of words, of length 1."""
    sums = np.array([np.sum([*vectors(text.split()).values(), np.full(5, 1e-9)], axis=0) for text in texts])
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def columns_of(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


def row(conclusion, premises, counter, stance="pro", debate="trams"):
    facts = {"stance": stance, "theme": "town", "debate": debate, "group": debate, "seen_in": ""}
    texts = {"conclusion": conclusion, "premises": premises, "counter": counter}
    return texts | {"point": f"{conclusion}\n\n{premises}"} | facts


def debates(seed, number=8, points=6):
    """Candidates of debates of words of their own among a hundred; a point has both sides in turn."""
    rng, rows = np.random.default_rng(seed), []
    for debate in range(number):
        words = rng.permutation(100)[:30]
        for point in range(points):
            conclusion, premises = rng.choice(words, 3), rng.choice(words, 12)
            counter = [*rng.choice(premises, 6), *rng.choice(conclusion, 2), *rng.choice(words, 6)]
            parts = [" ".join(map(str, part)) for part in (conclusion, premises, counter)]
            rows.append(row(*parts, stance=("pro", "con")[point % 2], debate=str(debate)))
    return Candidates(columns_of(rows))
