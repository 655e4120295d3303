"""The losses of the Bipolar-encoder: triplets as in its paper, or ranking among the arguments of a batch."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.util.distributed import all_gather, is_dist_initialized
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, triplet_margin_loss

from modeling.bipolar import Options
from modeling.bipolar.heads import BipolarHeads


class BipolarLoss(nn.Module):
    """Trains an encoder with a retrieval and a classification head (Shi et al., 2023, section 5.2).

    `triplet`, the paper's: the triplet loss of the retrieval embeddings with Euclidean distance, and the cross-entropy
    of the classifier on the pairs (point, counter; 1) and (point, negative; 0).

    `ranking`, ours: the counter among all arguments of the batch, other counters, negatives and the other points, by
    the cross-entropy of scaled similarities (as in MultipleNegativesRankingLoss); and the same for the classifier's
    log-odds among the counter and the `hardest` of these arguments.

    The model embeds u, on which the heads work, which the loss owns; of the options it takes objective, task, margin,
    scale and hardest.
    Inputs are (point, counter), with `ranking` only, or (point, counter, negative); `forward` returns the parts
    `retrieval` and `classification`, as far as the task has them.
    """

    def __init__(self, model: SentenceTransformer, heads: BipolarHeads, options: Options) -> None:
        super().__init__()
        self.model, self.heads, self.options = model, heads, options

    def forward(
        self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor | None = None
    ) -> dict[str, Tensor]:
        features = list(sentence_features)
        embeddings = [self.model(dict(column))["sentence_embedding"] for column in features]
        keys = [text_keys(column) for column in features]
        if is_dist_initialized():  # the arguments of all processes compete, so that many see what one sees
            embeddings = [all_gather(column, with_grad=True) for column in embeddings]
            keys = [all_gather(column) for column in keys]
        return self.compute_loss_from_embeddings(embeddings, keys)

    def compute_loss_from_embeddings(self, embeddings: list[Tensor], keys: list[Tensor]) -> dict[str, Tensor]:
        """The parts, of u of points, counters and perhaps negatives, (batch, d) each, and their `text_keys`."""
        task, triplets = self.options.task, self.options.objective == "triplet"
        parts = self._triplet(*embeddings) if triplets else self._ranking(embeddings, keys)
        return parts if task == "joint" else {task: parts[task]}

    def _triplet(self, point: Tensor, counter: Tensor, negative: Tensor) -> dict[str, Tensor]:
        heads, ones = self.heads, torch.ones(len(point), dtype=torch.long, device=point.device)
        embeddings = heads.queries(point), heads.documents(counter), heads.documents(negative)
        right = cross_entropy(heads.classify(point, counter), ones)
        wrong = cross_entropy(heads.classify(point, negative), 0 * ones)
        return {"retrieval": triplet_margin_loss(*embeddings, self.options.margin), "classification": right + wrong}

    def _ranking(self, embeddings: list[Tensor], keys: list[Tensor]) -> dict[str, Tensor]:
        point, counter, *negatives = embeddings
        rows = torch.arange(len(point), device=point.device)
        arguments = torch.cat([counter, *negatives, point])
        names = torch.cat([keys[1], *keys[2:], keys[0]])
        # neither the point itself nor another copy of its counter is a wrong answer
        barred = (names[None, :] == keys[0][:, None]) | (names[None, :] == keys[1][:, None])
        right = rows[:, None]  # the counters come first among the arguments
        barred = barred.scatter(1, right, value=False)
        similarities = self.heads.queries(point) @ self.heads.documents(arguments).T
        similarities = similarities.masked_fill(barred, -torch.inf)
        parts = {"retrieval": cross_entropy(self.options.scale * similarities, rows)}
        if self.options.task != "retrieval":
            wrong = similarities.detach().scatter(1, right, value=-torch.inf)
            hardest = wrong.topk(min(self.options.hardest, len(arguments) - 1))
            told = torch.cat([right, hardest.indices], dim=1)  # the answer first
            logits = self.heads.classify(point[:, None].expand(*told.shape, -1), arguments[told])
            odds = logits[..., 1] - logits[..., 0]
            odds[:, 1:] = odds[:, 1:].masked_fill(hardest.values.isinf(), -torch.inf)
            parts["classification"] = cross_entropy(odds, torch.zeros_like(rows))
        return parts


def text_keys(features: dict[str, Tensor]) -> Tensor:
    """A number for each text of a batch, equal for equal tokens however long a padding follows (not where it leads)."""
    tokens = features["input_ids"] * features["attention_mask"]
    # a polynomial in the tokens modulo 2**64: two of the texts of a batch hardly ever agree by chance
    return (tokens * torch.full_like(tokens[0], 6364136223846793005).cumprod(0)).sum(dim=1)
