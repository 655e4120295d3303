"""The two heads of the Bipolar-encoder: retrieval embeddings, and a classifier of (point, counter) pairs."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import normalize

SHAPE = ("dimension", "shared", "difference", "normalised")


class BipolarHeads(nn.Module):
    """Retrieval and classification heads on one text embedding u (Shi et al., section 4.2).

    Args:
        dimension: Length d of the encoder's embedding u.
        shared: One retrieval head, as in the paper, or one for queries (points) and one for documents (candidates).
        difference: Whether the classifier sees |u - v| beside u and v.
        normalised: Whether retrieval embeddings are of unit length; in the paper they are as they are.

    `fusion_weight` is what the classifier's log-odds weigh beside the similarity by default: a number from 0; None for
    the classifier alone, as in the paper; "learned" in training, until validation data chose one.
    """

    def __init__(self, dimension: int, shared: bool = True, difference: bool = True, normalised: bool = True) -> None:
        super().__init__()
        self.dimension, self.shared, self.difference, self.normalised = dimension, shared, difference, normalised
        self.fusion_weight: float | str | None = None
        self.query = _identity(dimension)
        if not shared:
            self.document = _identity(dimension)
        width = (3 if difference else 2) * dimension
        self.norm = nn.LayerNorm(width)
        self.classifier = nn.Linear(width, 2)

    def queries(self, u: torch.Tensor) -> torch.Tensor:
        """Retrieval embeddings of points: (n, d) -> (n, d)."""
        return self._retrieval(self.query, u)

    def documents(self, u: torch.Tensor) -> torch.Tensor:
        """Retrieval embeddings of candidates: (n, d) -> (n, d)."""
        return self._retrieval(self.query if self.shared else self.document, u)

    def classify(self, u: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """Logits of (no counter, counter) for pairs of a point u and a candidate v: twice (n, d) -> (n, 2)."""
        parts = (u, v, (u - v).abs()) if self.difference else (u, v)
        return self.classifier(self.norm(torch.cat(parts, dim=-1)))

    def _retrieval(self, head: nn.Linear, u: torch.Tensor) -> torch.Tensor:
        return normalize(head(u), dim=-1) if self.normalised else head(u)

    def get_config_dict(self) -> dict[str, int | bool]:
        """The arguments that build heads of this shape again."""
        return {name: getattr(self, name) for name in SHAPE}


def _identity(dimension: int) -> nn.Linear:
    """A linear layer that changes nothing, so that training starts at the base's similarities."""
    layer = nn.Linear(dimension, dimension)
    nn.init.eye_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer
