"""The two losses of SentiCSE (Kim et al., 2024, section 3): on sentences and on the words that carry sentiment."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
import torch.nn.functional as F
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.losses.merged_forward import embed_columns, merge_feature_batches
from sentence_transformers.util.distributed import all_gather, is_dist_initialized
from torch import Tensor, nn

from modeling.senticse import Options
from modeling.senticse.words import MaskedLanguageHead, WordPolarity


class SenticseLoss(nn.Module):
    """Sentence-level contrast of polarities, and prediction of masked words that carry sentiment.

    Without `lambda_w` there is no word-level loss, nor its forward pass. A masked token costs nothing where the
    predicted word has the polarity of the original. (In the authors' code it costs something only where that has the
    opposite one, and a fifth of the chosen words stay unmasked.)

    Inputs are (positive, positive, negative, negative) without labels; `forward` returns the parts `sentence` and, with
    `lambda_w`, `word`. That needs `polarity`, which finds the words that carry sentiment, `head`, which predicts masked
    ones and is trained, but is no part of the encoder, and the id of the mask token.
    """

    def __init__(
        self,
        model: SentenceTransformer,
        options: Options,
        polarity: WordPolarity | None = None,
        head: MaskedLanguageHead | None = None,
        mask_id: int | None = None,
    ) -> None:
        super().__init__()
        self.model, self.options = model, options
        self.polarity, self.head, self.mask_id = polarity, head, mask_id
        self.sentence_embeddings_only = not options.lambda_w

    def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Any = None) -> dict[str, Tensor]:
        features = list(sentence_features)
        embeddings = embed_columns(self.model, [dict(column) for column in features], separate_first=False)
        return self.parts(features, embeddings)

    def parts(
        self, features: list[dict[str, Tensor]], embeddings: list[Tensor], labels: Any = None
    ) -> dict[str, Tensor]:
        """The parts, for the four columns' tokens and their vectors, four times shape (batch, dimension)."""
        if is_dist_initialized():  # the negatives of all processes, so that many see what one sees
            embeddings = [all_gather(column, with_grad=True) for column in embeddings]
        result = {"sentence": self.compute_sentence_from_embeddings(embeddings)}
        if self.options.lambda_w:
            result["word"] = self.options.lambda_w * self.predict_words(features)
        return result

    def compute_sentence_from_embeddings(self, embeddings: list[Tensor]) -> Tensor:
        """L_s (equations 5 to 7) of four matrices of shape (batch, dimension): p, p+, n and n+; at least 0."""
        positive, positive2, negative, negative2 = (F.normalize(column, dim=1) for column in embeddings)
        return (self._contrast(positive, positive2, negative) + self._contrast(negative, negative2, positive2)).mean()

    def _contrast(self, anchor: Tensor, partner: Tensor, others: Tensor) -> Tensor:
        """-log of the partner's share, shape (batch,); every row of `others` counts alpha times."""
        near = (anchor * partner).sum(dim=1, keepdim=True) / self.options.tau
        far = anchor @ others.T / self.options.tau + math.log(self.options.alpha)
        return (torch.logsumexp(torch.cat([near, far], dim=1), dim=1, keepdim=True) - near)[:, 0]

    def predict_words(self, features: list[dict[str, Tensor]]) -> Tensor:
        """L_w (equations 3 and 4) of the columns' texts, unweighted: of words that carry sentiment some are masked."""
        columns = [{key: column[key] for key in column if _per_token(column, key)} for column in features]
        merged = merge_feature_batches(columns)
        if merged is None:
            raise ValueError("the columns of a batch cannot be joined for the word-level loss: use --lambda_w 0")
        ids = merged["input_ids"]
        numbers = self.polarity.numbers(ids)
        polarity = self.polarity(ids, numbers) * merged["attention_mask"]
        # all tokens of a word share its lot, by torch's own generator, which a resumed run restores
        drawn = torch.rand(numbers.shape, device=numbers.device).gather(1, numbers) < self.options.masking
        chosen = (polarity != 0) & drawn
        rows = chosen.any(dim=1).nonzero()[:, 0]
        if not len(rows):  # all processes have to take part in every forward pass
            rows = torch.zeros(1, dtype=torch.long, device=chosen.device)
        numbers, polarity, chosen = numbers[rows], polarity[rows], chosen[rows]
        batch = {key: value[rows] for key, value in merged.items()}
        ids = batch["input_ids"]
        batch["input_ids"] = ids.masked_fill(chosen, self.mask_id)
        hidden = self.model(batch)["token_embeddings"]
        logits = self.head(hidden[chosen])
        predicted = self.polarity(ids.masked_scatter(chosen, logits.argmax(dim=1)), numbers)
        losses = F.cross_entropy(logits, ids[chosen], reduction="none") * (predicted != polarity)[chosen]
        tokens, processes = len(losses), 1
        if is_dist_initialized():  # gradients are averaged over processes, and one may have no masked word
            processes = torch.distributed.get_world_size()
            tokens = sum(all_gather(torch.tensor([tokens], device=losses.device)).tolist())
        return losses.sum() * processes / (max(1, tokens) if self.options.word_reduction == "mean" else 1)


def _per_token(column: dict[str, Tensor], key: str) -> bool:
    return isinstance(column[key], Tensor) and column[key].shape == column["input_ids"].shape
