"""The best candidate by a linear score of the features, exactly, with few exact Word Mover's distances."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np
from tqdm.auto import tqdm

from modeling.bipolar.baselines.features import AGGREGATES, FULL, METRICS, MOVERS, FeatureTable, aggregate
from modeling.bipolar.baselines.ranking import NONE, Ranking


def rank_linear(table: FeatureTable, weights: np.ndarray, setting: str, name: str) -> Ranking:
    """The candidate of each point whose weighted sum of features is the largest; of equal ones the first.

    Args:
        table: The features.
        weights: Of the first features, shape (8,) or (20,).
        setting: One of `SETTINGS`.
        name: For the progress bar.

    Returns:
        The same candidates as if all features had been computed; the counts say how many pairs of a part and a text
        there were, and how many exact distances they took.
    """
    weights = np.concatenate([weights, np.zeros(FULL - len(weights))]).reshape(len(METRICS), len(AGGREGATES))
    pools = table.candidates.of(setting)
    best = np.full(len(pools), NONE)
    before, exact = table.movers.computed, 0
    try:
        for row, pool in enumerate(tqdm(pools, f"{name}, {setting}", unit="point")):
            if len(pool):
                rest = cheap_scores(table, weights, row)[pool]
                bounds = [bound[:, pool] for bound in table.movers_bounds(row)]
                position, asked = best_first(
                    rest, *bounds, weights[MOVERS],
                    lambda side, position, row=row, pool=pool: table.movers_similarity(row, side, pool[position]),
                )  # fmt: skip
                best[row] = pool[position]
                exact += asked
    finally:
        table.movers.save()
    pairs = 2 * sum(len(pool) for pool in pools)
    counts = {"pairs": pairs, "distances needed": exact, "distances computed": table.movers.computed - before}
    return Ranking(best, counts=counts)


def cheap_scores(table: FeatureTable, weights: np.ndarray, row: int) -> np.ndarray:
    """What all features but Word Mover's add to the scores of a point's texts, shape (m,); weights of shape (5, 4)."""
    metrics = [metric for metric in range(len(METRICS)) if metric != MOVERS and weights[metric].any()]
    similarities = table.similarities(row, metrics)
    scores = np.zeros(similarities.shape[-1])
    for metric in metrics:
        scores += aggregate(*similarities[metric]) @ weights[metric]
    return scores


def best_first(
    rest: np.ndarray, lower: np.ndarray, upper: np.ndarray, weights: np.ndarray, exact: Callable[[int, int], float]
) -> tuple[int, int]:
    """The candidate with the largest score, found by computing exactly only what could still be the largest.

    The candidate with the largest upper bound of its score has the similarity with its conclusion computed, or that
    with its premises if it has the former; when the first of all has both, no other can be better.

    Args:
        rest: What is known of each score, shape (k,).
        lower, upper: Bounds of the two similarities, shapes (2, k).
        weights: Of their minimum, maximum, product and sum, shape (4,).
        exact: Side (0 or 1) and candidate -> the similarity.

    Returns:
        The candidate, the first of equal ones, and how many similarities were computed.
    """
    bounds = rest + highest(lower, upper, weights)
    heap = list(zip((-bounds).tolist(), [0] * len(rest), range(len(rest)), strict=True))
    heapq.heapify(heap)
    conclusions: dict[int, float] = {}
    asked = 0
    while True:
        _, sides, candidate = heap[0]
        if sides == 2:
            return candidate, asked
        found = exact(sides, candidate)
        asked += 1
        if sides == 0:
            conclusions[candidate] = found
            low, high = lower[1, candidate], upper[1, candidate]
            value = highest(np.array([[found], [low]]), np.array([[found], [high]]), weights)[0]
        else:
            value = aggregate(np.array(conclusions[candidate]), np.array(found)) @ weights
        heapq.heapreplace(heap, (-(rest[candidate] + value), sides + 1, candidate))


def highest(lower: np.ndarray, upper: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The largest weighted sum of minimum, maximum, product and sum of two numbers that lie between bounds.

    On either side of the diagonal, where the numbers are equal, the sum is linear in each number alone; so it is the
    largest at a corner of the rectangle or on the diagonal inside it, where it is a parabola: at its ends or its apex.

    Args:
        lower, upper: Shapes (2, k).
        weights: Shape (4,).

    Returns:
        Shape (k,).
    """
    points = [(lower[0], lower[1]), (lower[0], upper[1]), (upper[0], lower[1]), (upper[0], upper[1])]
    start, end = lower.max(axis=0), upper.min(axis=0)
    inside = start <= end
    apex = -(weights[0] + weights[1] + 2 * weights[3]) / (2 * weights[2]) if weights[2] < 0 else 0.0
    values = [aggregate(*point) @ weights for point in points]
    for diagonal in (start, end, np.clip(apex, start, np.maximum(start, end))):
        values.append(np.where(inside, aggregate(diagonal, diagonal) @ weights, -np.inf))
    return np.max(values, axis=0)
