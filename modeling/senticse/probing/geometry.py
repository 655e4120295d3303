"""The shape of embeddings by class: alignment, uniformity, and the two directions of largest variance."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA

PAIRED = 10_000  # texts at most whose pairs are all compared: a minute for 384 dimensions on one core
DRAWN = 1_000  # points at most in a picture
BLOCK = 1024


def alignment(vectors: np.ndarray, labels: np.ndarray) -> float:
    """Mean squared distance of two different texts of one class; 0 if each class is one point.

    Wang and Isola (2020), section 4.1.1, with alpha = 2 and texts of equal polarity as the positive pairs. Over all
    such pairs; by |x - y|^2 = 2 - 2 x.y and |sum x|^2 = n + sum over pairs of x.y no pair is formed.

    Args:
        vectors: Unit vectors, shape (n, dimension).
        labels: Classes, shape (n,).

    Returns:
        In [0, 4]; lower is closer together.

    Raises:
        ValueError: If no class has two texts.
    """
    pairs = total = 0.0
    for label in np.unique(labels):
        members = np.asarray(vectors[labels == label], dtype=np.float64)
        n = len(members)
        pairs += n * (n - 1)
        total += 2 * n * (n - 1) - 2 * (float(np.square(members.sum(axis=0)).sum()) - float(np.square(members).sum()))
    if not pairs:
        raise ValueError("alignment needs a class with two texts")
    return max(total / pairs, 0.0)


def uniformity(vectors: np.ndarray, seed: int = 0) -> float:
    """Logarithm of the mean of exp(-2 |x - y|^2) over all pairs of texts; 0 if all are one point.

    Wang and Isola (2020), section 4.1.2, with t = 2. Of more than `PAIRED` texts a seeded sample is compared.

    Args:
        vectors: Unit vectors, shape (n, dimension), n at least 2.
        seed: Seed of that sample.

    Returns:
        In [-8, 0]; lower is more evenly spread over the sphere.

    Raises:
        ValueError: If there is one text only.
    """
    if len(vectors) < 2:
        raise ValueError("uniformity needs two texts")
    if len(vectors) > PAIRED:
        vectors = vectors[np.sort(np.random.default_rng(seed).permutation(len(vectors))[:PAIRED])]
    vectors = np.asarray(vectors, dtype=np.float32)
    total = 0.0
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK]
        kernel = np.exp(4 * np.clip(block @ vectors[start:].T, -1, 1) - 4, dtype=np.float64)
        total += float(np.triu(kernel, 1).sum())  # each pair once, no text with itself
    n = len(vectors)
    return float(np.log(total / (n * (n - 1) / 2)))


def principal_components(vectors: np.ndarray, labels: np.ndarray, seed: int = 0) -> dict[str, Any]:
    """The two directions of largest variance, as for the figure of the paper that shows classes apart or mixed.

    Args:
        vectors: Shape (n, dimension), n at least 2.
        labels: Classes, shape (n,). The first direction is turned so that the last class lies to the right.
        seed: Seed of the sample of points.

    Returns:
        `explained`, the share of the variance that each direction has, in [0, 1]; and of at most `DRAWN` texts
        `points`, shape (m, 2), and `labels`.
    """
    reduced = PCA(n_components=2, svd_solver="full" if len(vectors) < 500 else "covariance_eigh").fit(vectors)
    points = reduced.transform(vectors)
    last = labels == labels.max()
    if points[last, 0].mean() < points[:, 0].mean():
        points[:, 0] *= -1
    drawn = np.sort(np.random.default_rng(seed).permutation(len(points))[:DRAWN])
    return {
        "explained": [float(share) for share in reduced.explained_variance_ratio_],
        "points": np.round(points[drawn], 4).tolist(),
        "labels": labels[drawn].tolist(),
    }
