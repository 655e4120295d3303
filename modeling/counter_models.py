"""The model of an index of counter-arguments: a Bipolar-encoder, or any other encoder without its heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from modeling.bipolar_encoder import BipolarEncoder


class WithoutHeads:
    """A plain encoder in the place of a `BipolarEncoder`: u = E = its embedding, ranked by their dot products.

    Args:
        encoder: Any SentenceTransformer.
    """

    def __init__(self, encoder: SentenceTransformer) -> None:
        self.encoder = encoder

    def encode(self, texts: Sequence[str], batch_size: int = 32) -> np.ndarray:
        """Unit vectors, shape (n, d), float32."""
        return self.encoder.encode(
            list(texts), batch_size=batch_size, normalize_embeddings=True, show_progress_bar=False
        )

    def retrieval_embeddings(self, u: np.ndarray, queries: bool = False) -> np.ndarray:
        """The vectors as they are."""
        return np.asarray(u, np.float32)

    def rank_embeddings(
        self, u_point: np.ndarray, u_candidates: np.ndarray, shortlist: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices of the `shortlist` nearest candidates, best first, and their cosines."""
        similarities = u_candidates @ u_point
        order = np.argsort(-similarities, kind="stable")[:shortlist]
        return order, similarities[order]


def load_counter_model(name: str) -> BipolarEncoder | WithoutHeads:
    """A model by its name, with heads where it has them; see `modeling.loading.load_model`.

    Raises:
        ValueError: If there is no such model, or one of its heads is missing or another model's.
    """
    from modeling.bipolar_encoder import BipolarEncoder, encoder_of, heads_of
    from modeling.loading import load_model

    model = load_model(name)
    heads = heads_of(model)
    return WithoutHeads(model) if heads is None else BipolarEncoder(encoder_of(model), heads)


def behaviour(model: BipolarEncoder | WithoutHeads) -> dict[str, Any]:
    """What tells models apart: u, E and the scores of fixed sentences, side by side, and how many tokens are read."""
    from modeling import embeddings

    facts = embeddings.behaviour(model.encoder)
    u = np.array(facts["probes"], np.float32)
    scores = []
    for vector in u:
        order, found = model.rank_embeddings(vector, u, len(u))
        scores.append(found[np.argsort(order)])
    wide = [u, model.retrieval_embeddings(u), model.retrieval_embeddings(u, queries=True), np.array(scores)]
    return facts | {"probes": np.round(np.hstack(wide).astype(float), 5).tolist()}
