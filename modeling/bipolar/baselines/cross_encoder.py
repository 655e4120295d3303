"""The cross-encoder of Shi et al., section 4.2: point and candidate in one sequence, two classes, cross-entropy."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from huggingface_hub import constants
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments
from sentence_transformers.cross_encoder.losses import CrossEntropyLoss
from torch import nn
from tqdm.auto import tqdm
from transformers import set_seed
from transformers.utils import logging as transformers_logging

from modeling.base.adapters import PROBES, TOLERANCE
from modeling.base.models import load_backbone, resolve
from modeling.base.trainer import Trainer
from modeling.base.vectors import embed
from modeling.bipolar.baselines import fine_tuning
from modeling.bipolar.baselines.fine_tuning import FreshNegatives, Settings, candidates_of
from modeling.bipolar.baselines.ranking import reranked, shortlist
from modeling.bipolar.baselines.saving import publish
from modeling.bipolar.candidates import Candidates
from modeling.bipolar.negatives import hard_negatives, random_negatives

CLASSES = 2  # 0: another text, 1: a counter of the point


class PairTrainer(CrossEncoderTrainer):
    """The library's trainer of cross-encoders, without its card callback, which writes raw training texts."""

    add_model_card_callback = Trainer.add_model_card_callback


def build(settings: Settings) -> CrossEncoder:
    """The base with a new layer for two classes on its [CLS] token.

    Of a pair that is longer than `max_length` the longer text is cut, token by token, until both are of one length,
    then both in turn. Of the pairs in counterargs-18's clean training split 25 % fit into 256 tokens, which hold 68 %
    of all tokens; 512 hold 95 %.

    Raises:
        ValueError: If the base cannot be loaded.
    """
    backbone = resolve(settings.base, settings.base_id)
    load_backbone(backbone, settings.max_length)  # whether it is there, and has so many positions
    set_seed(settings.seed)  # of the new layer
    offline = constants.HF_HUB_OFFLINE
    library, level = logging.getLogger("sentence_transformers"), transformers_logging.get_verbosity()
    before = library.level
    library.setLevel(logging.ERROR)  # they report the new layer as missing, and the base as one of single texts
    transformers_logging.set_verbosity_error()
    try:
        return CrossEncoder(backbone.path, num_labels=CLASSES, max_length=settings.max_length, local_files_only=offline)
    finally:
        library.setLevel(before)
        transformers_logging.set_verbosity(level)


def train(settings: Settings, train_rows: Dataset, validation_rows: Dataset, out: Path, cache: Path) -> dict[str, Any]:
    """Trains a cross-encoder and writes it.

    Args:
        settings: See there.
        train_rows, validation_rows: Columns of `dataset_scripts.base.schema.COUNTERS`.
        out: Folder for the model, claimed by `fine_tuning.claim`.
        cache: Folder where vectors of the base are kept.

    Returns:
        The facts of the run, as in OUT/results.json.
    """
    candidates, model = candidates_of(train_rows), build(settings)
    points, counters, count = list(train_rows["point"]), list(train_rows["counter"]), len(train_rows)
    columns = {
        "point": points + points,
        "text": counters + [""] * count,  # the negatives, filled in as each epoch begins
        "label": [1] * count + [0] * count,
        "row": [-1] * count + list(range(count)),
    }
    trainer = PairTrainer(
        model=model,
        args=fine_tuning.training_arguments(
            CrossEncoderTrainingArguments,
            settings,
            fine_tuning.working_folder(out) / "checkpoints",
            2 * settings.batch_size,
        ),
        train_dataset=Dataset.from_dict(columns),
        loss=CrossEntropyLoss(model),
    )
    vectors = embed(encoder_of(settings), candidates.texts, cache) if settings.hard else None

    def draw(epoch: int) -> list[str]:
        seed = (settings.seed, epoch)
        if vectors is None:
            return random_negatives(candidates, seed)
        return hard_negatives(candidates, vectors, settings.hard, seed, settings.anchor, pool_size=settings.pool_size)

    facts = fine_tuning.train(trainer, FreshNegatives(trainer.data_collator, draw, "text")) | {"rows": count}
    as_one_logit(model)
    validation = candidates_of(validation_rows)
    return publish(
        out,
        settings,
        lambda folder: model.save_pretrained(str(folder), create_model_card=False),
        lambda folder: check(folder, model, validation, settings, cache),
        facts,
    )


def encoder_of(settings: Settings) -> SentenceTransformer:
    """The bi-encoder that retrieves and mines: the base as it is, read as far as the cross-encoder reads."""
    return load_backbone(resolve(settings.base, settings.base_id), settings.max_length)


def as_one_logit(model: CrossEncoder) -> None:
    """Makes one logit of the two of a trained cross-encoder, in place: their difference.

    Its sigmoid is the softmax's probability of class 1, and the library's `rank` serves models with one logit only.
    """
    # the new layer is `classifier`, or for some architectures the last layer in it
    layer = [each for each in model.modules() if isinstance(each, nn.Linear) and each.out_features == CLASSES][-1]
    with torch.no_grad():
        layer.weight = nn.Parameter(layer.weight[1:] - layer.weight[:1])
        layer.bias = nn.Parameter(layer.bias[1:] - layer.bias[:1])
    layer.out_features = 1
    model.config.num_labels = 1
    model.model.num_labels = 1
    model.activation_fn = nn.Sigmoid()


def check(
    folder: Path, model: CrossEncoder, candidates: Candidates, settings: Settings, cache: Path
) -> dict[str, float]:
    """Loads what was written, compares it with the model in memory, and lets it re-rank.

    Raises:
        ValueError: If it gives other scores than in memory.
    """
    loaded = CrossEncoder(str(folder), local_files_only=True)
    pairs = [(one, other) for one in PROBES for other in PROBES]
    live, read = (each.predict(pairs, show_progress_bar=False) for each in (model, loaded))
    if read.shape != (len(pairs),) or not np.abs(live - read).max() <= TOLERANCE:  # also true of NaN
        raise ValueError(f"{folder}: the written cross-encoder does not reproduce the trained one")
    return reranking(loaded, candidates, settings, cache)


def reranking(model: CrossEncoder, candidates: Candidates, settings: Settings, cache: Path) -> dict[str, float]:
    """Accuracy@1 in the setting epa after re-ranking what the base retrieves, on a seeded sample of the points.

    Returns:
        The share of points whose best candidate is a counter of theirs, retrieved and re-ranked, the share that has
        one in the shortlist, and how many points were measured.
    """
    vectors = embed(encoder_of(settings), candidates.texts, cache)
    rows = np.random.default_rng(settings.seed).permutation(len(candidates))[: settings.eval_points]
    everything = candidates.of("epa")
    pools = [everything[row] for row in rows]
    found, _ = shortlist(vectors[candidates.points[rows]] @ vectors.T, pools, settings.shortlist)
    scores = np.full(found.shape, -np.inf, np.float32)
    for place, row in enumerate(tqdm(rows, "re-ranking", unit="point")):
        inside = found[place] >= 0
        point = candidates.texts[candidates.points[row]]
        pairs = [(point, candidates.texts[index]) for index in found[place][inside]]
        scores[place, inside] = model.predict(pairs, show_progress_bar=False)
    answers = [candidates.answers[row] for row in rows]

    def share(best: np.ndarray) -> float:
        return float(np.mean([int(index) in answer for index, answer in zip(best, answers, strict=True)]))

    return {
        f"accuracy@1/{settings.shortlist}, re-ranked": share(reranked(found, scores)),
        "accuracy@1 of the untrained encoder that retrieves": share(found[:, 0]),
        f"accuracy@{settings.shortlist} of it, the upper limit": float(
            np.mean([bool(answer & set(row.tolist())) for row, answer in zip(found, answers, strict=True)])
        ),
        "points measured": len(rows),
    }
