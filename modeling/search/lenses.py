"""Two lenses on a text: what it is about, by an encoder's base, and which side it takes, by the adapted encoder.

One vector of this size cannot hold both: training for sides moves topics together. How the two are weighed was chosen
on the validation data of three corpora by `python -m tests.benchmarks.hits`, which repeats the choice for any adapter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor

from modeling.base.adapters import read_fingerprint
from modeling.base.models import adapter_folder, base_of, in_runtime, load_backbone, load_model

Lens = Literal["both", "side", "topic"]
SIDE = 0.7  # weight of the side's cosine beside the topic's
CROWDED = 1.0  # weight of the crowding that is taken off
NEIGHBOURS, SAMPLE = 50, 5_000  # of which texts, at most, crowding is the mean cosine
ROWS = 4_096  # compared with the sample at once: 80 MB


class TwoLenses(SentenceTransformer):
    """An adapted encoder (`side`, taken over) beside its base: a text is tokenised once, and read by both.

    Vectors have 2 d numbers: the unit vector of the side, from the adapted encoder, then that of the topic.
    """

    lenses = 2

    def __init__(self, side: SentenceTransformer, topic: SentenceTransformer) -> None:
        super().__init__(modules=list(side), prompts=side.prompts, default_prompt_name=side.default_prompt_name)
        object.__setattr__(self, "topic", topic.to(self.device).eval())  # past Module's own method: it is no step

    def forward(self, input: dict[str, Tensor], **options: Any) -> dict[str, Tensor]:
        features = [each(dict(input), **options) for each in (super().forward, self.topic)]
        vectors = [torch.nn.functional.normalize(each["sentence_embedding"], dim=-1) for each in features]
        return features[0] | {"sentence_embedding": torch.cat(vectors, dim=-1)}

    def encode(self, *arguments: Any, normalize_embeddings: bool = True, **options: Any) -> Any:
        """As of any encoder; each lens has a unit vector, whatever is said of the whole."""
        return super().encode(*arguments, normalize_embeddings=False, **options)

    def get_embedding_dimension(self) -> int:
        return 2 * super().get_embedding_dimension()

    def state_dict(self, *arguments: Any, **options: Any) -> Mapping[str, Any]:
        """The weights of both, by which the encoder is told from others."""
        topic = {f"topic.{name}": tensor for name, tensor in self.topic.state_dict().items()}
        return super().state_dict(*arguments, **options) | topic


def load_lenses(source: str | Path, *runtime: str) -> SentenceTransformer:
    """Loads an adapted encoder beside its base; the model alone where there is no adapter, or heads are beside it.

    `runtime` are the backend and precision of `load_model`.
    """
    model = load_model(source, *runtime)
    try:
        folder = adapter_folder(source)
    except ValueError:  # a base, a merged or a foreign model
        return model
    if "modules" in read_fingerprint(folder):
        return model
    try:
        base = load_backbone(base_of(folder))
    except ValueError as error:
        raise ValueError(f"{source} needs its base for the topic; --lens side embeds without it. {error}") from error
    return TwoLenses(model, in_runtime(base, *runtime) if runtime else base)


def weigh(vectors: np.ndarray, side: float = SIDE, crowded: float = CROWDED) -> np.ndarray:
    """Vectors of statements, whose dot products with `with_crowding` of texts are their scores.

    score(q, t) = (cos_topic(q, t) + side cos_side(q, t) - crowded c(t)) / (1 + |side|), with the text's crowding c: the
    weighted mean of two cosines where the text is as crowded as texts are on average. Below 0 the weight of the side
    looks for the other side. Shape (n, 2 d) -> (n, 2 d + 1), float32.
    """
    of_side, of_topic = np.split(vectors, 2, axis=1)
    parts = [side * of_side, of_topic, np.full((len(vectors), 1), -crowded)]
    return (np.hstack(parts) / (1 + abs(side))).astype(np.float32)


def crowding(vectors: np.ndarray) -> np.ndarray:
    """How much a collection crowds around a text: its mean cosine with its nearest, less that of all texts.

    A text that is near to much of a collection is near to many statements, too, most of which it does not answer
    (Conneau et al., 2018, section 2.3, CSLS; there of 10 neighbours and half the weight). Of a sample of 5,000, copies
    of a text do not make it crowded, and a million texts take two minutes. Unit vectors of the topic, (m, d) -> (m,).
    """
    sample = np.sort(np.random.default_rng(0).choice(len(vectors), min(len(vectors), SAMPLE), replace=False))
    others, count = np.asarray(vectors[sample], np.float32).T, max(1, min(NEIGHBOURS, len(sample) - 1))
    result = np.empty(len(vectors), np.float32)
    for start in range(0, len(vectors), ROWS):
        cosines = np.asarray(vectors[start : start + ROWS], np.float32) @ others
        inside = np.flatnonzero((sample >= start) & (sample < start + ROWS))
        cosines[sample[inside] - start, inside] = -1  # a text is no neighbour of itself
        result[start : start + ROWS] = np.partition(cosines, -count, axis=1)[:, -count:].mean(axis=1)
    return result - result.mean()


def with_crowding(vectors: np.ndarray, block: int = 65_536) -> Iterator[np.ndarray]:
    """Vectors of texts by `TwoLenses`, shape (m, 2 d), with their crowding behind them, by blocks of rows."""
    crowded = crowding(vectors[:, vectors.shape[1] // 2 :])[:, None]
    for start in range(0, len(vectors), block):
        yield np.hstack([vectors[start : start + block], crowded[start : start + block]])
