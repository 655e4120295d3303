"""Few-shot classification: a handful of labelled texts per class, on frozen embeddings or with the encoder trained.

The protocol is that of SentiCSE, section 4.4 and table 12 (after Gunel et al., 2021): k texts per class and 500 others
for validation are drawn from the training texts, the accuracy on the test texts is averaged over seeds.
"""

from __future__ import annotations

import copy
import logging
import tempfile
from collections.abc import Sequence

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch import nn
from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, TrainingArguments, set_seed

from modeling.senticse.probing.data import Corpus, Texts
from modeling.senticse.probing.linear_probe import Vectors, linear_probe

BATCH, EPOCHS, WEIGHT_DECAY = 16, 100, 0.01
EVALUATE_EVERY, PATIENCE = 20, 5  # steps; evaluations without improvement
EVALUATION_BATCH = 64


def draw(
    labels: np.ndarray, classes: Sequence[str], k: int, seed: int, validation: int = 500
) -> tuple[np.ndarray, np.ndarray]:
    """Draws k texts of each class, and others for validation, without replacement.

    Args:
        labels: Class of each training text, shape (n,).
        classes: Names of the classes.
        k: Texts per class.
        seed: Seed of the draw; the same for all models.
        validation: Texts to validate on; as many as are left where that is fewer.

    Returns:
        Row numbers of the k texts of each class, and those of the validation texts.

    Raises:
        ValueError: If a class has fewer than k texts, or none is left for validation.
    """
    generator = np.random.default_rng(seed)
    chosen = []
    for number, name in enumerate(classes):
        rows = np.flatnonzero(labels == number)
        if len(rows) < k:
            raise ValueError(
                f"{k} training texts per class were asked for, class {name!r} has {len(rows)}: lower --shots"
            )
        chosen.append(generator.permutation(rows)[:k])
    train = np.concatenate(chosen)
    rest = generator.permutation(np.setdiff1d(np.arange(len(labels)), train))[:validation]
    if not len(rest):
        raise ValueError(
            f"{k} texts per class leave none of {len(labels)} training texts to validate on: lower --shots"
        )
    return train, rest


def frozen(
    train: Vectors, test: Vectors, classes: Sequence[str], k: int, seed: int, validation: int
) -> dict[str, float]:
    """Accuracy of a logistic regression on the frozen embeddings of k texts per class, see `linear_probe`."""
    shots, rest = (Vectors(train.vectors[rows], train.labels[rows])
                   for rows in draw(train.labels, classes, k, seed, validation))  # fmt: skip
    return linear_probe(shots, rest, test)


def fine_tuned(
    model: SentenceTransformer, corpus: Corpus, test: Texts, k: int, seed: int, validation: int, learning_rate: float
) -> dict[str, float]:
    """Accuracy after encoder and linear head were trained on k texts per class.

    AdamW with a linearly falling learning rate, batches of 16, at most 100 epochs; the accuracy on the validation texts
    is taken every 20 steps, training stops after five without an improvement, and the best state is tested.

    Args:
        model: The encoder; a copy is trained.
        corpus: Whose training texts are drawn from.
        test: Texts to test on.
        k: Texts per class.
        seed: Seed of the draw, of the head and of dropout.
        validation: Number of validation texts.
        learning_rate: The highest learning rate.

    Returns:
        `accuracy`, `validation_accuracy`, both in [0, 1], and `steps`, those of the state that was tested.
    """
    shots, rest = (corpus.train.take(rows) for rows in draw(corpus.train.labels, corpus.classes, k, seed, validation))
    set_seed(seed)
    # it tells, with each state that is kept, how it orders their folders
    logging.getLogger("transformers.trainer_utils").setLevel(logging.ERROR)
    classifier = Classifier(copy.deepcopy(model), len(corpus.classes))
    # checkpoints of the best states, which nobody needs later
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            classifier,
            _arguments(folder, seed, learning_rate),
            data_collator=classifier.collate,
            train_dataset=_rows(shots),
            eval_dataset=_rows(rest),
            compute_metrics=lambda found: {"accuracy": float((found.predictions.argmax(1) == found.label_ids).mean())},
            callbacks=[EarlyStoppingCallback(PATIENCE)],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        tested = trainer.evaluate(_rows(test))
        state = trainer.state
    if not np.isfinite(tested["eval_loss"]):
        raise ValueError(f"{k}-shot training of seed {seed} ended in values that are no numbers: lower --learning_rate")
    return {
        "accuracy": tested["eval_accuracy"],
        "validation_accuracy": state.best_metric,
        "steps": state.best_global_step,
    }


def _arguments(folder: str, seed: int, learning_rate: float) -> TrainingArguments:
    return TrainingArguments(
        folder,
        seed=seed,
        learning_rate=learning_rate,
        weight_decay=WEIGHT_DECAY,
        num_train_epochs=EPOCHS,
        per_device_train_batch_size=BATCH,
        per_device_eval_batch_size=EVALUATION_BATCH,
        eval_strategy="steps",
        eval_steps=EVALUATE_EVERY,
        save_strategy="best",
        save_total_limit=1,
        save_only_model=True,
        load_best_model_at_end=True,
        metric_for_best_model="accuracy",
        greater_is_better=True,
        remove_unused_columns=False,
        label_names=["labels"],
        logging_strategy="no",
        disable_tqdm=True,
        report_to="none",
        dataloader_pin_memory=False,
    )


def _rows(texts: Texts) -> list[tuple[str, int]]:
    """(text, class) by length, so that batches of an evaluation have little padding; training shuffles them anyway."""
    return sorted(zip(texts.texts, texts.labels.tolist(), strict=True), key=lambda row: len(row[0]))


class Classifier(nn.Module):
    """A sentence encoder under a linear layer.

    The layer starts at zero: with so few steps at such a learning rate a random start would still be in the result.

    Args:
        encoder: Its sentence embeddings are what is classified; trained too.
        classes: Number of classes.
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
