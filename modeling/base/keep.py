"""Losses held to the base's similarities, between texts of different rows (`keep`) and on generic ones (`replay`)."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from datasets import Dataset, concatenate_datasets
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import semantic_search
from sentence_transformers.util.distributed import all_gather, is_dist_initialized
from torch import Tensor, nn

from modeling.base.models import load_backbone
from modeling.base.recipe import Recipe
from modeling.base.system import System
from modeling.base.vectors import Vectors, precision

REPLAY_COLUMNS = ["replay", "replay_neighbour"]
TEXTS = 16_000  # more need minutes to embed; a run of 3,000 steps sees each of them about six times
NEIGHBOURS = 20  # pairs of graded similarity, not only the closest


def hold(recipe: Recipe, model: SentenceTransformer, loss: nn.Module) -> nn.Module:
    """The loss, held to the base's similarities if the recipe asks for it; see `KeepSimilarityLoss`."""
    if not (recipe["keep"] or recipe["replay"]):
        return loss
    return KeepSimilarityLoss(model, loss, recipe["keep"], recipe["replay_weight"] if recipe["replay"] else None)


def with_replay(system: System, rows: Dataset, counts: dict[str, int]) -> Dataset:
    """The rows with generic texts beside them, whose number is added to `counts`, if the recipe names a source."""
    if not system.recipe["replay"]:
        return rows
    columns = replayed(system, len(rows), counts)
    return concatenate_datasets([rows, Dataset.from_dict(dict(zip(REPLAY_COLUMNS, columns, strict=True)))], axis=1)


def replayed(system: System, pairs: int, counts: dict[str, int]) -> tuple[list[str], list[str]]:
    """So many pairs of the recipe's generic texts, see `neighbours`; their number is added to `counts`."""
    recipe = system.recipe
    base = load_backbone(system.backbone, recipe.max_length)
    texts = system.rows(recipe["replay"], "examples", "train")["text"]
    with precision(recipe.bf16):
        columns = neighbours(texts, pairs, base, system.cache / "embeddings", recipe.seed)
    counts["generic texts for replay"] = len(set(columns[0]))
    return columns


def neighbours(
    texts: Sequence[str], pairs: int, base: SentenceTransformer, cache: Path, seed: int
) -> tuple[list[str], list[str]]:
    """So many pairs of a text and one of the 20 that the base finds most like it, as two columns.

    Every text comes once before any comes again. A seeded sample of 16,000 texts is used; fewer than two different ones
    are a ValueError.
    """
    distinct = sorted(set(texts))
    if len(distinct) < 2:
        raise ValueError(f"--replay needs at least two different texts, got {len(distinct)}")
    random = np.random.default_rng(seed)
    if len(distinct) > TEXTS:
        distinct = [distinct[i] for i in np.sort(random.choice(len(distinct), TEXTS, replace=False))]
    # in double precision, so that another machine finds the same neighbours
    vectors = torch.from_numpy(np.asarray(Vectors(base, cache)(distinct), dtype=np.float64))
    hits = semantic_search(vectors, vectors, top_k=min(NEIGHBOURS + 1, len(vectors)))
    nearest = [[hit["corpus_id"] for hit in row if hit["corpus_id"] != i] for i, row in enumerate(hits)]
    neighbour = [others[random.integers(len(others))] for others in nearest]
    passes = -(-pairs // len(distinct))
    order = np.concatenate([random.permutation(len(distinct)) for _ in range(passes)])[:pairs]
    return [distinct[i] for i in order], [distinct[neighbour[i]] for i in order]


class MarginLoss(nn.Module):
    """A loss with a margin in sentence-transformers' form, of sentence embeddings alone, which can be held.

    A subclass writes `compute_loss_from_embeddings(embeddings, labels)`: a matrix for each column of texts -> the loss.
    """

    def __init__(self, model: SentenceTransformer, margin: float) -> None:
        super().__init__()
        self.model, self.margin = model, margin

    def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor) -> Tensor:
        embeddings = [self.model(features)["sentence_embedding"] for features in sentence_features]
        return self.compute_loss_from_embeddings(embeddings, labels)


class KeepSimilarityLoss(nn.Module):
    """Adds to a loss the change of the similarities that training should leave alone.

    A loss on the texts of one row says nothing of texts of different rows, and an encoder that is free there forgets
    topical similarity. `keep` is the mean squared difference between the cosines of texts of different rows and those
    that the untrained encoder gives, a relational form of distillation (Park et al., 2019, section 3.2.1, with cosines
    for distances).

    With replay, the last two columns of a row are generic texts of some similarity that the loss does not see: the
    same squared difference over all pairs of them, and once more over the two of a row, which are the pairs of high
    similarity and would drown among the others.

    Args:
        model: The encoder in training, with a LoRA adapter or without.
        loss: A loss with `compute_loss_from_embeddings(embeddings, labels)`; or, if it has several parts, with
            `parts(features, embeddings, labels)`, which returns them by name.
        weight: Weight of the term on the texts of the task, at least 0.
        replay_weight: Weight of the term on the last two columns; None where there are no such columns.
    """

    def __init__(
        self, model: SentenceTransformer, loss: nn.Module, weight: float, replay_weight: float | None = None
    ) -> None:
        super().__init__()
        self.model, self.loss, self.weight, self.replay_weight = model, loss, weight, replay_weight
        self.sentence_embeddings_only = getattr(loss, "sentence_embeddings_only", True)
        self._encoder = (model,)  # in a tuple: the trainer puts the distributed wrapper in place of `model`
        adapted = getattr(model[0].model, "_hf_peft_config_loaded", False)
        self._frozen = () if adapted else (copy.deepcopy(model).eval().requires_grad_(False),)

    def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor) -> dict[str, Tensor]:
        features = list(sentence_features)
        embeddings = [self.model(dict(column))["sentence_embedding"] for column in features]
        end = len(embeddings) if self.replay_weight is None else len(embeddings) - 2
        start = 0 if self.weight else end  # columns that are not held need not be embedded again
        with self._reference() as reference:
            before = [reference(dict(column))["sentence_embedding"] for column in features[start:]]
        if hasattr(self.loss, "parts"):
            parts = dict(self.loss.parts(features[:end], embeddings[:end], labels))
        else:
            parts = {"task": self.loss.compute_loss_from_embeddings(embeddings[:end], labels)}
        if is_dist_initialized():  # rows of all processes, so that many see what one sees
            embeddings = [all_gather(column, with_grad=True) for column in embeddings]
            before = [all_gather(column) for column in before]
        if self.weight:
            parts["keep"] = self.weight * self.compute_keep_from_embeddings(embeddings[:end], before[:end])
        if self.replay_weight is not None:
            parts["replay"] = self.replay_weight * self.compute_replay_from_embeddings(embeddings[end:], before[-2:])
        return parts

    @staticmethod
    def compute_replay_from_embeddings(embeddings: list[Tensor], before: list[Tensor]) -> Tensor:
        """The unweighted term of two columns of unit vectors, each of shape (batch, dimension)."""
        now, then = torch.cat(embeddings), torch.cat(before)
        change = (now @ now.T - then @ then.T).square()
        pairs = change.diagonal(len(embeddings[0]))  # text i of the first column and text i of the second
        return change.sum() / max(1, change.numel() - len(change)) + pairs.mean()

    @staticmethod
    def compute_keep_from_embeddings(embeddings: list[Tensor], before: list[Tensor]) -> Tensor:
        """The unweighted term of k columns of unit vectors, each of shape (batch, dimension)."""
        rows = torch.arange(len(embeddings[0]), device=embeddings[0].device).repeat(len(embeddings))
        apart = rows[:, None] != rows[None, :]
        now, then = torch.cat(embeddings), torch.cat(before)
        change = (now @ now.T - then @ then.T)[apart].square()
        return change.sum() / max(1, len(change))

    @contextmanager
    def _reference(self) -> Iterator[SentenceTransformer]:
        """The untrained encoder, without dropout: a frozen copy, or the encoder with its adapter switched off."""
        with torch.no_grad():
            if self._frozen:
                yield self._frozen[0]
                return
            (encoder,) = self._encoder
            training = encoder.training
            encoder.eval()
            encoder.disable_adapters()
            try:
                yield encoder
            finally:
                encoder.enable_adapters()
                encoder.train(training)
