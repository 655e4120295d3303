"""Evaluators of sentiment: does an encoder place sentences of one polarity together?"""

from __future__ import annotations

import numpy as np

from metrics.sgts.sgts import sgts
from modeling.base.evaluation import AUROC, PairEvaluator


class SgtsEvaluator(PairEvaluator):
    """Sentiment-guided textual similarity (Kim et al., 2024, section 2).

    Labels are 1 for sentences of the same polarity and 0 for different ones. `spearman` is the paper's figure; against
    labels of two values it cannot reach 1, so `normalized` divides it by the highest value that it can have.
    """

    headline = ("spearman", "normalized", "auroc")
    measures = {
        "spearman": "agreement with the labels of pairs",
        "normalized": "spearman as a share of the highest value that it can have with two labels",
        "auroc": AUROC,
        "ceiling": "that highest value",
        "mean_same": "mean cosine within a polarity",
        "mean_different": "mean cosine across polarities",
        "n_same": "pairs of one polarity",
        "n_different": "pairs of two",
    }
    groups = ("different polarity", "same polarity")
    prefix = "sgts"

    def metrics(self, scores: np.ndarray) -> dict[str, float | int]:
        result = sgts(scores, self.labels)
        different, same = (values.astype(float) for values in self.by_group(scores).values())
        return result | {"mean_same": float(same.mean()), "mean_different": float(different.mean())}
