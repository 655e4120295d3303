"""Linear probing: what a logistic regression reads off embeddings that do not change (Conneau and Kiela, 2018)."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

# inverse strength of the L2 penalty, on vectors with a mean variance of 1
GRID = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)


class Vectors(NamedTuple):
    """Embeddings with the classes of their texts.

    Attributes:
        vectors: Shape (n, dimension).
        labels: Shape (n,).
    """

    vectors: np.ndarray
    labels: np.ndarray


def linear_probe(train: Vectors, validation: Vectors, test: Vectors) -> dict[str, float]:
    """Accuracy of a logistic regression on frozen embeddings, its penalty chosen on the validation texts.

    As in SentEval (and so in SentiCSE, section 4.4) the penalty with the best validation accuracy is taken, the
    strongest of equal ones, and the regression is not fitted again with the validation texts. SentEval's grid suits
    encoders whose vectors are as long as BERT's. Here vectors are centred and multiplied by one number, so that their
    variance is 1 in the mean over dimensions, and a wider grid serves encoders of any scale alike.

    Args:
        train: What the regression is fitted to; at least two classes.
        validation: What chooses the penalty.
        test: What the accuracy is measured on.

    Returns:
        `accuracy` and `validation_accuracy`, in [0, 1], and `penalty`, the chosen value of `GRID`.
    """
    centre = train.vectors.mean(axis=0)
    scale = 1 / max(float(np.sqrt(train.vectors.var(axis=0).mean())), 1e-12)
    train, validation, test = (
        Vectors((part.vectors - centre) * scale, part.labels) for part in (train, validation, test)
    )
    best = None
    for penalty in GRID:
        with warnings.catch_warnings():
            # at the weakest penalties the last digits of the weights do not move the accuracy
            warnings.simplefilter("ignore", ConvergenceWarning)
            probe = LogisticRegression(C=penalty, max_iter=300).fit(*train)
        reached = float(probe.score(*validation))
        if best is None or reached > best[0]:
            best = reached, penalty, probe
    reached, penalty, probe = best
    return {"accuracy": float(probe.score(*test)), "validation_accuracy": reached, "penalty": penalty}
