"""The loss of SOS^S: are two reviews of one polarity? Its triplets take sentence-transformers' TripletLoss."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.losses.merged_forward import embed_columns
from sentence_transformers.sentence_transformer.losses import SoftmaxLoss
from torch import Tensor


class PairSoftmaxLoss(SoftmaxLoss):
    """sentence-transformers' SoftmaxLoss over [u; v; |u - v|] for two classes, also computable from embeddings.

    Args:
        model: The encoder; the classifier is a parameter of the loss and no part of the published model.

    Inputs:
        +----------------------+------------------------------------------+
        | Texts                | Labels                                   |
        +======================+==========================================+
        | (sentence, sentence) | 1 if they are of one polarity, 0 of two  |
        +----------------------+------------------------------------------+
    """

    def __init__(self, model: SentenceTransformer) -> None:
        super().__init__(model, model.get_embedding_dimension(), num_labels=2)

    def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor) -> Tensor:
        return self.compute_loss_from_embeddings(embed_columns(self.model, sentence_features), labels)

    def compute_loss_from_embeddings(self, embeddings: list[Tensor], labels: Tensor) -> Tensor:
        """Cross-entropy of two matrices of shape (batch, dimension) and labels of shape (batch,)."""
        u, v = embeddings
        return self.loss_fct(self.classifier(torch.cat([u, v, (u - v).abs()], dim=1)), labels.view(-1))
