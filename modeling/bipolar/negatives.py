"""Negatives for training: random texts that are no answer, and increasingly often the nearest ones.

Shi et al., appendix B.2: in epoch i a negative is mined with probability min(0.02 i, 1), else drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from sentence_transformers.util import dot_score, semantic_search

from modeling.bipolar.candidates import Candidates

RATE = 0.02  # of the paper, per epoch
ANCHORS = ("positive", "point")


def hard_probability(epoch: int, rate: float = RATE) -> float:
    """The probability of a mined negative in an epoch, counted from 1 (Shi et al., appendix B.2)."""
    return min(epoch * rate, 1.0)


def random_negatives(candidates: Candidates, seed: int | Sequence[int], setting: str = "epa") -> list[str]:
    """For each row a random text that is neither the point nor one of its counters.

    Args:
        candidates: Of the training rows, n of them.
        seed: Another one gives other texts; `(seed, epoch)` redraws in each epoch.
        setting: Of whose candidates texts are drawn: `epa` all, `sda` those of the same debate. Where such a setting
            leaves a row nothing, its negative is one of all.

    Returns:
        n texts.

    Raises:
        ValueError: If all texts are answers of a row.
    """
    return [candidates.texts[index] for index in _random(candidates, seed, setting)]


def hard_negatives(
    candidates: Candidates,
    text_vectors: np.ndarray,
    probability: float,
    seed: int | Sequence[int],
    anchor: str = "positive",
    point_vectors: np.ndarray | None = None,
    pool_size: int = 1,
) -> list[str]:
    """For each row, with a probability, the nearest text that is neither the point nor one of its counters.

    Args:
        candidates: Of the training rows, n of them, with m texts.
        text_vectors: Of all texts as candidates, shape (m, d); of any length but 0, their cosines are compared.
        probability: Of a mined negative, in [0, 1], see `hard_probability`; the other negatives are random.
        seed: As of `random_negatives`; with probability 0 the same seed gives the same texts.
        anchor: To what the text is near: the `positive`, the row's counter, as the paper says ("closest to the positive
            one"), or the `point`, where a retriever would find it.
        point_vectors: Of the rows' points as queries, shape (n, d), where another encoder embeds them; those in
            `text_vectors` if None. Only the anchor `point` reads them.
        pool_size: From how many of the nearest texts one is drawn.

    Returns:
        n texts.

    Raises:
        ValueError: If an argument is out of range, a shape does not fit, or vectors have NaN or length 0.
    """
    if anchor not in ANCHORS:
        raise ValueError(f"the anchor of hard negatives is {anchor!r}: it must be one of {', '.join(ANCHORS)}")
    if not 0 <= probability <= 1 or pool_size < 1:
        raise ValueError(f"probability {probability} must be in [0, 1] and pool_size {pool_size} at least 1")
    negatives = _random(candidates, seed)
    generator = np.random.default_rng([*np.atleast_1d(seed), 1])
    mined = np.flatnonzero(generator.random(len(candidates)) < probability)
    if len(mined):
        texts = _unit(text_vectors, len(candidates.texts), "text_vectors")
        if anchor == "positive":
            anchors = texts[candidates.counters[mined]]
        elif point_vectors is None:
            anchors = texts[candidates.points[mined]]
        else:
            anchors = _unit(point_vectors, len(candidates), "point_vectors")[mined]
        forbidden = [_forbidden(candidates, row) for row in mined]
        hits = semantic_search(anchors, texts, top_k=pool_size + max(map(len, forbidden)), score_function=dot_score)
        for row, near, never in zip(mined, hits, forbidden, strict=True):
            pool = [hit["corpus_id"] for hit in near if hit["corpus_id"] not in never][:pool_size]
            negatives[row] = pool[generator.integers(len(pool))]
    return [candidates.texts[index] for index in negatives]


def _random(candidates: Candidates, seed: int | Sequence[int], setting: str = "epa") -> np.ndarray:
    """Indices in `candidates.texts`, shape (n,)."""
    generator = np.random.default_rng([*np.atleast_1d(seed), 0])
    everything = np.arange(len(candidates.texts))
    pools = [everything] * len(candidates) if setting == "epa" else candidates.of(setting)
    negatives = np.empty(len(candidates), dtype=np.int64)
    for row, pool in enumerate(pools):
        never = _forbidden(candidates, row)
        if setting != "epa":
            pool = pool[~np.isin(pool, list(never))]
            pool = pool if len(pool) else everything
        if len(everything) <= len(never):
            raise ValueError(f"there is no negative for row {row}: all {len(everything)} texts are its own or answers")
        # drawn again where forbidden: cheaper than a pool of each row's own
        while (drawn := pool[generator.integers(len(pool))]) in never:
            pass
        negatives[row] = drawn
    return negatives


def _forbidden(candidates: Candidates, row: int) -> set[int]:
    return {int(candidates.points[row]), *candidates.answers[row]}


def _unit(vectors: np.ndarray, count: int, name: str) -> torch.Tensor:
    """Vectors of length 1."""
    vectors = np.asarray(vectors, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != count:
        raise ValueError(f"{name} has the shape {vectors.shape}: there must be {count} rows")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise ValueError(f"{name} has a vector that is not finite or has length 0")
    return torch.from_numpy(vectors / lengths)
