"""The model of an index of counter-arguments: a Bipolar-encoder, or any other encoder without its heads."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from modeling.bipolar.encoder import BipolarEncoder


class WithoutHeads:
    """A plain encoder in the place of a `BipolarEncoder`: u = E = its embedding, ranked by their dot products.

    Args:
        encoder: Any SentenceTransformer.
        tasks: Whether it embeds questions and documents in different ways, by two encoders or by prompts. Arguments
            that are asked are then its queries, and the collection its documents (see `document_encoder`).
    """

    def __init__(self, encoder: SentenceTransformer, tasks: bool = False) -> None:
        self.encoder, self.tasks = encoder, tasks

    def encode(self, texts: Sequence[str], batch_size: int = 32) -> np.ndarray:
        """Unit vectors of arguments that are asked, shape (n, d), float32."""
        encode = self.encoder.encode_query if self.tasks else self.encoder.encode
        return encode(list(texts), batch_size=batch_size, normalize_embeddings=True, show_progress_bar=False)

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
    """A model by its name, with heads where it has them; see `modeling.base.models.load_model`.

    Raises:
        ValueError: If there is no such model, or one of its heads is missing or another model's.
    """
    from modeling.base.models import load_model
    from modeling.bipolar.encoder import BipolarEncoder, encoder_of, heads_of
    from modeling.bipolar.evaluation import tells_tasks

    model = load_model(name)
    heads = heads_of(model)
    return WithoutHeads(model, tells_tasks(model)) if heads is None else BipolarEncoder(encoder_of(model), heads)


def asks_differently(model: BipolarEncoder | WithoutHeads) -> bool:
    """Whether a text has one vector as a question and another in the collection."""
    return isinstance(model, WithoutHeads) and model.tasks


def document_encoder(model: BipolarEncoder | WithoutHeads) -> Any:
    """What embeds the texts of a collection: the encoder, or of one that tells tasks apart its way for documents."""
    encoder = model.encoder
    if not asks_differently(model):
        return encoder
    return SimpleNamespace(
        encode=encoder.encode_document,
        get_embedding_dimension=encoder.get_embedding_dimension,
        max_seq_length=encoder.max_seq_length,
    )


def behaviour(model: BipolarEncoder | WithoutHeads) -> dict[str, Any]:
    """What tells models apart: u, E and the scores of fixed sentences, side by side, and how many tokens are read.

    Of a model that tells tasks apart, u is that of documents, and E and the scores are of both.
    """
    from modeling.base import vectors as embeddings
    from modeling.base.adapters import PROBES

    facts = embeddings.behaviour(document_encoder(model))
    u = np.array(facts["probes"], np.float32)
    points = model.encode(PROBES) if asks_differently(model) else u
    scores = []
    for vector in points:
        order, found = model.rank_embeddings(vector, u, len(u))
        scores.append(found[np.argsort(order)])
    wide = [u, model.retrieval_embeddings(u), model.retrieval_embeddings(points, queries=True), np.array(scores)]
    return facts | {"probes": np.round(np.hstack(wide).astype(float), 5).tolist()}
