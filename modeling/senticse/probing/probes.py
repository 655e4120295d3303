"""The probes of SentiCSE: what a classifier reads off embeddings, from many or few texts, and their shape by class.

Few-shot classification follows section 4.4 and table 12 (after Gunel et al., 2021): k texts per class and 500 others
for validation are drawn from the training texts, the accuracy on the test texts is averaged over seeds.
"""

from __future__ import annotations

import copy
import logging
import tempfile
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from sentence_transformers import SentenceTransformer
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from torch import nn
from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, TrainingArguments, set_seed

from dataset_scripts.base.schema import SENTENCES

CLASSES = SENTENCES["label"].names
# inverse strength of the L2 penalty, on vectors with a mean variance of 1
GRID = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
EVALUATE_EVERY, PATIENCE = 20, 5  # steps; evaluations without improvement
PAIRED = 10_000  # texts at most whose pairs are all compared: a minute for 384 dimensions on one core
POINTS = 1_000  # at most in a picture
BLOCK = 1024


class Vectors(NamedTuple):
    """Embeddings of shape (n, dimension) with the classes of their texts, shape (n,)."""

    vectors: np.ndarray
    labels: np.ndarray


def linear_probe(train: Vectors, validation: Vectors, test: Vectors) -> float:
    """Accuracy in [0, 1] of a logistic regression on frozen embeddings, its penalty chosen on the validation texts.

    As in SentEval (and so in SentiCSE, section 4.4) the penalty with the best validation accuracy is taken, the
    strongest of equal ones, and the regression is not fitted again with the validation texts. Vectors are centred, and
    scaled to a mean variance of 1, so that one grid serves encoders of any scale alike.
    """
    centre = train.vectors.mean(axis=0)
    scale = 1 / max(float(np.sqrt(train.vectors.var(axis=0).mean())), 1e-12)
    parts = [Vectors((part.vectors - centre) * scale, part.labels) for part in (train, validation, test)]
    train, validation, test = parts
    with warnings.catch_warnings():
        # at the weakest penalties the last digits of the weights do not move the accuracy
        warnings.simplefilter("ignore", ConvergenceWarning)
        probes = [LogisticRegression(C=penalty, max_iter=300).fit(*train) for penalty in GRID]
    best = int(np.argmax([probe.score(*validation) for probe in probes]))
    return float(probes[best].score(*test))


def draw(labels: np.ndarray, k: int, seed: int, validation: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """Draws row numbers of k texts of each of `CLASSES`, and of others for validation; the same for all models.

    A ValueError if a class has fewer than k texts, or none is left for validation.
    """
    generator, shots = np.random.default_rng(seed), []
    for number, name in enumerate(CLASSES):
        rows = np.flatnonzero(labels == number)
        if len(rows) < k:
            has = f"{k} training texts per class were asked for, class {name!r} has {len(rows)}"
            raise ValueError(f"{has}: lower --shots")
        shots.append(generator.permutation(rows)[:k])
    train = np.concatenate(shots)
    rest = generator.permutation(np.setdiff1d(np.arange(len(labels)), train))[:validation]
    if not len(rest):
        leave = f"{k} texts per class leave none of {len(labels)} training texts to validate on"
        raise ValueError(f"{leave}: lower --shots")
    return train, rest


def fine_tuned(
    model: SentenceTransformer,
    train: pd.DataFrame,
    test: pd.DataFrame,
    k: int,
    seed: int,
    validation: int,
    learning_rate: float,
) -> float:
    """Accuracy in [0, 1] after a copy of the encoder and a linear head were trained on k texts per class.

    AdamW with a linearly falling learning rate, batches of 16, at most 100 epochs; the accuracy on the validation texts
    is taken every 20 steps, training stops after five without an improvement, and the best state is tested.
    """
    shots, rest = (train.iloc[rows] for rows in draw(train["label"].to_numpy(), k, seed, validation))
    set_seed(seed)
    # it tells, with each checkpoint, how it orders their folders
    logging.getLogger("transformers.trainer_utils").setLevel(logging.ERROR)
    classifier = Classifier(copy.deepcopy(model), len(CLASSES))
    # checkpoints of the best states, which nobody needs later
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder,
            seed=seed,
            learning_rate=learning_rate,
            weight_decay=0.01,
            num_train_epochs=100,
            per_device_train_batch_size=16,
            per_device_eval_batch_size=64,
            eval_strategy="steps",
            eval_steps=EVALUATE_EVERY,
            save_strategy="best",
            save_total_limit=1,
            save_only_model=True,
            load_best_model_at_end=True,
            metric_for_best_model="accuracy",
            remove_unused_columns=False,
            logging_strategy="no",
            disable_tqdm=True,
            report_to="none",
            dataloader_pin_memory=False,
        )
        trainer = Trainer(
            classifier,
            arguments,
            data_collator=classifier.collate,
            train_dataset=_rows(shots),
            eval_dataset=_rows(rest),
            compute_metrics=lambda result: {
                "accuracy": float((result.predictions.argmax(1) == result.label_ids).mean())
            },
            callbacks=[EarlyStoppingCallback(PATIENCE)],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        figures = trainer.evaluate(_rows(test))
    if not np.isfinite(figures["eval_loss"]):
        raise ValueError(f"{k}-shot training of seed {seed} ended in values that are no numbers: lower --learning-rate")
    return figures["eval_accuracy"]


def _rows(texts: pd.DataFrame) -> list[tuple[str, int]]:
    """(text, class) by length, so that batches of an evaluation have little padding; training shuffles them anyway."""
    return sorted(zip(texts["text"], texts["label"].tolist(), strict=True), key=lambda row: len(row[0]))


class Classifier(nn.Module):
    """A sentence encoder under a linear layer, both trained.

    The layer starts at zero: with so few steps at such a learning rate a random start would still be in the result.
    """

    def __init__(self, encoder: SentenceTransformer, classes: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(encoder.get_embedding_dimension(), classes, device=encoder.device)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, features: dict[str, torch.Tensor], labels: torch.Tensor) -> dict[str, torch.Tensor]:
        """Loss and logits of shape (n, classes)."""
        logits = self.head(self.encoder(features)["sentence_embedding"].float())
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}

    def collate(self, rows: Sequence[tuple[str, int]]) -> dict:
        """A batch of (text, class)."""
        features = self.encoder.preprocess([text for text, _ in rows])
        return {"features": features, "labels": torch.tensor([label for _, label in rows])}


def alignment(vectors: np.ndarray, labels: np.ndarray) -> float:
    """Mean squared distance of two different texts of one class, in [0, 4]; 0 if each class is one point.

    Wang and Isola (2020), section 4.1.1, with alpha = 2 and texts of equal polarity as the positive pairs, of unit
    vectors. By |x - y|^2 = 2 - 2 x.y and |sum x|^2 = n + sum over pairs of x.y no pair is formed.
    """
    pairs = total = 0.0
    for label in np.unique(labels):
        members = np.asarray(vectors[labels == label], dtype=np.float64)
        n = len(members)
        pairs += n * (n - 1)
        total += 2 * n * (n - 1) - 2 * (float(np.square(members.sum(axis=0)).sum()) - float(np.square(members).sum()))
    return max(total / pairs, 0.0)


def uniformity(vectors: np.ndarray, seed: int = 0) -> float:
    """Logarithm of the mean of exp(-2 |x - y|^2) over all pairs of texts, in [-8, 0]; 0 if all are one point.

    Wang and Isola (2020), section 4.1.2, with t = 2, of unit vectors; a seeded sample of more than `PAIRED`.
    """
    if len(vectors) > PAIRED:
        vectors = vectors[np.sort(np.random.default_rng(seed).permutation(len(vectors))[:PAIRED])]
    vectors, total = np.asarray(vectors, dtype=np.float32), 0.0
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK]
        kernel = np.exp(4 * np.clip(block @ vectors[start:].T, -1, 1) - 4, dtype=np.float64)
        total += float(np.triu(kernel, 1).sum())  # each pair once, no text with itself
    n = len(vectors)
    return float(np.log(total / (n * (n - 1) / 2)))


def principal_components(vectors: np.ndarray, labels: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
    """At most `POINTS` texts on the two directions of largest variance (columns `x`, `y`, `label`), and its shares.

    The first direction is turned so that the last class lies to the right.
    """
    reduced = PCA(n_components=2, svd_solver="full" if len(vectors) < 500 else "covariance_eigh").fit(vectors)
    points = pd.DataFrame(reduced.transform(vectors), columns=["x", "y"]).assign(label=labels)
    if points.loc[labels == labels.max(), "x"].mean() < points["x"].mean():
        points["x"] *= -1
    drawn = np.sort(np.random.default_rng(0).permutation(len(points))[:POINTS])
    return points.iloc[drawn], reduced.explained_variance_ratio_
