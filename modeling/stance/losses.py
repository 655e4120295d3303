"""The contrastive loss of stance-aware encoders."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn


class LinearContrastiveLoss(nn.Module):
    """Contrastive loss that is linear in the distance (Ghafouri et al., 2024, equation of section 3.3).

    `y D + (1 - y) max(m - D, 0)` with D = 1 - cos in [0, 2] and y = 1 for agreement, averaged over the batch.

    Args:
        model: The encoder.
        margin: Distance m beyond which opposing texts cost nothing, in (0, 2].

    Inputs:
        +----------------------+----------------------------+
        | Texts                | Labels                     |
        +======================+============================+
        | (sentence, sentence) | 1 if they agree, 0 oppose  |
        +----------------------+----------------------------+
    """

    def __init__(self, model: SentenceTransformer, margin: float) -> None:
        super().__init__()
        self.model, self.margin = model, margin

    def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor) -> Tensor:
        embeddings = [self.model(features)["sentence_embedding"] for features in sentence_features]
        return self.compute_loss_from_embeddings(embeddings, labels)

    def compute_loss_from_embeddings(self, embeddings: list[Tensor], labels: Tensor) -> Tensor:
        """The loss of two matrices of shape (batch, dimension) and labels of shape (batch,)."""
        distance = 1 - torch.cosine_similarity(*embeddings)
        agree = labels.to(distance.dtype)
        return (agree * distance + (1 - agree) * torch.relu(self.margin - distance)).mean()
