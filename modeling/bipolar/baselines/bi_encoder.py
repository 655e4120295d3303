"""The bi-encoder of Shi et al., section 4.1: two encoders, one of points and one of counters, and a triplet loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainingArguments
from sentence_transformers.base.evaluation import BaseEvaluator
from sentence_transformers.base.modules import Router
from sentence_transformers.sentence_transformer.losses import TripletDistanceMetric, TripletLoss
from sentence_transformers.sentence_transformer.modules import Normalize

from dataset_scripts.base.files import read_json, write_json
from modeling.base.adapters import PROBES, TOLERANCE
from modeling.base.models import load_backbone, resolve
from modeling.base.trainer import Trainer
from modeling.base.vectors import CHUNK
from modeling.bipolar.baselines import fine_tuning
from modeling.bipolar.baselines.fine_tuning import FreshNegatives, Settings, candidates_of
from modeling.bipolar.baselines.ranking import shortlist
from modeling.bipolar.baselines.saving import publish
from modeling.bipolar.candidates import Candidates
from modeling.bipolar.negatives import RATE, hard_negatives, hard_probability, random_negatives

METRIC = "validation_accuracy@1"
ROUTES = {"anchor": "query", "positive": "document", "negative": "document"}


def build(settings: Settings) -> SentenceTransformer:
    """Two copies of the base, `encode_query` and `encode_document`, that give unit vectors.

    The paper takes BERT's [CLS] as it is; here the base's own pooling stays, and vectors have length 1, so that the
    triplet loss's Euclidean distance and the ranking's dot product have one order.
    """
    backbone = resolve(settings.base, settings.base_id)
    routes = [
        [module for module in load_backbone(backbone, settings.max_length) if not isinstance(module, Normalize)]
        for _ in range(2)
    ]
    return SentenceTransformer(modules=[Router.for_query_document(*routes), Normalize()])


def train(settings: Settings, train_rows: Dataset, validation_rows: Dataset, out: Path) -> dict[str, Any]:
    """Trains a bi-encoder and writes it; keeps the epoch with the best accuracy@1 on the validation split.

    Args:
        settings: See there.
        train_rows, validation_rows: Columns of `dataset_scripts.base.schema.COUNTERS`.
        out: Folder for the model, claimed by `fine_tuning.claim`.

    Returns:
        The facts of the run, as in OUT/results.json.
    """
    candidates, model = candidates_of(train_rows), build(settings)
    evaluator, work = RetrievalAccuracy(candidates_of(validation_rows)), fine_tuning.working_folder(out)
    before = read_json(work / "before.json")
    if before is None:
        before = evaluator(model)[METRIC]
        write_json(work / "before.json", before)
    numbers = list(range(len(train_rows)))
    columns = {"anchor": train_rows["point"], "positive": train_rows["counter"], "row": numbers}
    trainer = Trainer(
        model=model,
        args=fine_tuning.training_arguments(
            SentenceTransformerTrainingArguments,
            settings,
            work / "checkpoints",
            settings.batch_size,
            router_mapping=ROUTES,
            eval_strategy="epoch",
            load_best_model_at_end=True,
            metric_for_best_model=f"eval_{METRIC}",
            greater_is_better=True,
        ),
        train_dataset=Dataset.from_dict({name: list(values) for name, values in columns.items()}),
        loss=TripletLoss(model, TripletDistanceMetric.EUCLIDEAN, settings.margin),
        evaluator=evaluator,
    )
    rate = max(RATE, 1 / settings.epochs) if settings.hard is None else settings.hard
    negatives = FreshNegatives(
        trainer.data_collator, lambda epoch: draw(model, candidates, settings, rate, epoch), "negative"
    )
    facts = fine_tuning.train(trainer, negatives) | {"rows": len(train_rows), "accuracy@1 before training": before}
    return publish(
        out,
        settings,
        lambda folder: model.save_pretrained(str(folder), create_model_card=False),
        lambda folder: check(folder, model, evaluator),
        facts,
    )


def draw(model: SentenceTransformer, candidates: Candidates, settings: Settings, rate: float, epoch: int) -> list[str]:
    """The negatives of an epoch: random, and increasingly often the nearest by the model as it is (appendix B.2)."""
    probability, seed = hard_probability(epoch, rate), (settings.seed, epoch)
    if not probability:
        return random_negatives(candidates, seed)
    points = None
    if settings.anchor == "point":
        points = encode(model, [candidates.texts[index] for index in candidates.points], "query")
    vectors = encode(model, candidates.texts, "document")
    return hard_negatives(candidates, vectors, probability, seed, settings.anchor, points, settings.pool_size)


class RetrievalAccuracy(BaseEvaluator):
    """Accuracy in the setting epa, of both encoders of a bi-encoder: how many points have a counter of theirs among the
    first 1, 10 or 50 of all texts.

    The library's InformationRetrievalEvaluator would rank a point for itself.

    Args:
        candidates: Of the rows that are measured.
    """

    def __init__(self, candidates: Candidates) -> None:
        super().__init__()
        self.candidates, self.name, self.primary_metric = candidates, "validation", METRIC

    def __call__(
        self, model: SentenceTransformer, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        texts, points = self.candidates.texts, self.candidates.points
        asked, places = np.unique(points, return_inverse=True)
        queries = encode(model, [texts[index] for index in asked], "query")[places]
        scores = queries @ encode(model, texts, "document").T
        found, _ = shortlist(scores, self.candidates.of("epa"), 50)
        right = np.array([np.isin(row, list(own)) for row, own in zip(found, self.candidates.answers, strict=True)])
        return {f"{self.name}_accuracy@{k}": float(right[:, :k].any(axis=1).mean()) for k in (1, 10, 50)}


def encode(model: SentenceTransformer, texts: list[str], task: str) -> np.ndarray:
    """Vectors of texts by one of the two encoders, `query` or `document`; with a bar where it takes long."""
    method = model.encode_query if task == "query" else model.encode_document
    return method(texts, batch_size=64, show_progress_bar=len(texts) > CHUNK)


def check(folder: Path, model: SentenceTransformer, evaluator: RetrievalAccuracy) -> dict[str, float]:
    """Loads what was written, compares it with the model in memory, and measures it.

    Raises:
        ValueError: If either encoder gives other vectors than it does in memory, or both give the same.
    """
    loaded = SentenceTransformer(str(folder), local_files_only=True)
    queries, documents = (
        [getattr(each, f"encode_{task}")(list(PROBES), show_progress_bar=False) for each in (model, loaded)]
        for task in ("query", "document")
    )
    for task, (live, read) in (("points", queries), ("counters", documents)):
        if not np.abs(live - read).max() <= TOLERANCE:  # also true of NaN
            raise ValueError(f"{folder}: the encoder of {task} does not reproduce the trained one")
    if np.abs(queries[1] - documents[1]).max() == 0:
        raise ValueError(
            "the two encoders are still the same, so nothing was trained: the learning rate of the first step is 0, "
            "so take more --epochs, --max_steps or rows"
        )
    return {name.removeprefix("validation_"): value for name, value in evaluator(loaded).items()}
