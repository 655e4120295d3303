"""Simple-SD: the similarity of words and embeddings, less a tenth of that of the words alone."""

from __future__ import annotations

import numpy as np

from modeling.bipolar.baselines.features import PART, FeatureTables
from modeling.bipolar.baselines.linear_ranking import rank_linear
from modeling.bipolar.baselines.ranking import Ranking
from modeling.bipolar.candidates import Candidates

# 0.9 x4 + 0.9 x8 - 0.1 x1 - 0.1 x2, as printed
WEIGHTS = np.zeros(PART)
WEIGHTS[[3, 7]] = 0.9
WEIGHTS[[0, 1]] = -0.1


class SimpleSD:
    """Ranks by simultaneous similarity and dissimilarity; learns nothing.

    The sum of x1 and x2 is x4, so that as printed the score is 0.8 x4 + 0.9 x8.

    Args:
        tables: The features of splits.

    Source: Wachsmuth et al. (2018); weights as in Shi et al. (2023), section 3.1.
    """

    name = "Simple-SD"

    def __init__(self, tables: FeatureTables) -> None:
        self._tables = tables

    def fit(self, train_candidates: Candidates) -> None:
        """Does nothing."""

    def best(self, candidates: Candidates, setting: str) -> Ranking:
        """The best candidate of each point; exact."""
        return rank_linear(self._tables.of(candidates), WEIGHTS, setting, self.name)
