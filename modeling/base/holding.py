"""Holding similarity: the options `keep`, `replay` and `replay_weight` that the systems share, and what they do.

Fine-tuning forgets what its rows do not show. Any loss can be held to the base's similarities, between the rows of a
batch (`keep`) and on generic texts that go along (`replay`).
"""

from __future__ import annotations

from datasets import Dataset
from sentence_transformers import SentenceTransformer
from torch import nn

from dataset_scripts.base.sources import load_split
from modeling.base.keep import KeepSimilarityLoss
from modeling.base.models import load_backbone
from modeling.base.recipe import Recipe
from modeling.base.replay import REPLAY_COLUMNS, add_replay
from modeling.base.system import System


def with_replay(system: System, rows: Dataset, counts: dict[str, int]) -> Dataset:
    """The rows with generic texts beside them, if the recipe names a source of such; see `modeling.base.replay`.

    Args:
        system: The system; its recipe has `replay`.
        rows: Training rows.
        counts: Facts for the card; the number of generic texts is added.
    """
    recipe = system.recipe
    if not recipe["replay"]:
        return rows
    base = load_backbone(system.backbone, recipe.max_length)
    texts = load_split(recipe["replay"], "examples", "train", system.cache)["text"]
    rows = add_replay(rows, texts, base, system.cache / "embeddings", recipe.seed)
    counts["generic texts for replay"] = len(set(rows[REPLAY_COLUMNS[0]]))
    return rows


def held(recipe: Recipe, model: SentenceTransformer, loss: nn.Module) -> nn.Module:
    """The loss, held to the base's similarities if the recipe asks for it; see `KeepSimilarityLoss`."""
    if not (recipe["keep"] or recipe["replay"]):
        return loss
    return KeepSimilarityLoss(model, loss, recipe["keep"], recipe["replay_weight"] if recipe["replay"] else None)
