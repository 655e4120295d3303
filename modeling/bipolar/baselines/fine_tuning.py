"""What training of the paper's bi-encoder and cross-encoder shares: settings, fresh negatives, resumption."""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from sentence_transformers.base.trainer import BaseTrainer
from sentence_transformers.base.training_args import BaseTrainingArguments
from transformers import TrainerCallback
from transformers.trainer_utils import get_last_checkpoint

from dataset_scripts.base.files import read_json, write_json
from dataset_scripts.base.sources import load_split
from modeling.base.batches import LengthGroupedBatchSampler
from modeling.base.models import resolve
from modeling.base.trainer import ElapsedTime
from modeling.base.training import remove_broken_checkpoints
from modeling.bipolar.candidates import Candidates

logger = logging.getLogger(__name__)
RESULTS = "results.json"


@dataclass(frozen=True)
class Settings:
    """What a training run of either model depends on.

    Attributes:
        kind: `bi-encoder` or `cross-encoder`.
        data: The corpus, as `dataset_scripts.base.sources.load_source` takes it.
        config: `counters` (clean split) or `counters_official`.
        base, base_id: The encoder, see `modeling.base.models.resolve`.
        epochs: Passes over the training points; negatives are drawn anew in each.
        max_steps: Optimiser steps at most; -1: as many as the epochs take.
        batch_size: Points per step; the cross-encoder reads two pairs of each.
        learning_rate: The peak of AdamW's, which rises over the first tenth of the steps and falls linearly.
        max_length: Tokens of a text, or of a pair of texts; the rest is not read.
        max_rows: Seeded sample of each split; all if None.
        seed: Of weights, order and negatives.
        hard: Bi-encoder: by how much the share of mined negatives grows in each epoch; if None the paper's 0.02, or
            1 / epochs where they are so few that the share would not reach 1. Cross-encoder: the share itself, 0 in
            the paper.
        anchor, pool_size: See `modeling.bipolar.negatives.hard_negatives`.
        margin: Of the triplet loss, on unit vectors. Bi-encoder only.
        shortlist, eval_points: How many candidates are re-ranked for how many points of the validation split at the
            end. Cross-encoder only.
    """

    kind: str
    data: str
    config: str = "counters"
    base: str = "bundled"
    base_id: str | None = None
    epochs: int = 4
    max_steps: int = -1
    batch_size: int = 16
    learning_rate: float = 5e-5
    max_length: int = 256
    max_rows: int | None = None
    seed: int = 42
    hard: float | None = 0.0
    anchor: str = "positive"
    pool_size: int = 1
    margin: float = 1.0
    shortlist: int = 10
    eval_points: int = 200


class FreshNegatives(TrainerCallback):
    """Draws the negatives of an epoch as it begins, and puts them into the batches of the library's collator.

    Args:
        collate: The library's collator.
        draw: Number of the epoch, from 1 -> one text for each training point.
        column: Of the negatives.
    """

    def __init__(self, collate: Callable[..., dict[str, Any]], draw: Callable[[int], list[str]], column: str) -> None:
        self.collate, self.draw, self.column = collate, draw, column
        self.valid_label_columns = collate.valid_label_columns
        self.negatives: list[str] = []

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Called by the trainer."""
        self.negatives = self.draw(round(state.epoch or 0) + 1)

    def __call__(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        """Collates rows whose `row` is the number of the point, or -1 in one that needs no negative."""
        filled = []
        for row in rows:
            number = row["row"]
            texts = {name: value for name, value in row.items() if name != "row"}
            filled.append(texts if number < 0 else texts | {self.column: self.negatives[number]})
        return self.collate(filled)


def load_rows(settings: Settings, split: str, cache: Path) -> Dataset:
    """A split of the corpus, or a seeded sample of `max_rows`.

    Raises:
        ValueError: If the corpus has no such configuration or split, lacks columns, or is empty.
    """
    rows = load_split(settings.data, settings.config, split, cache)
    wanted = ("point", "counter", "conclusion", "premises", "stance", "theme", "debate", "seen_in")
    if missing := [name for name in wanted if name not in rows.column_names]:
        raise ValueError(f"{settings.data} ({settings.config}, {split}) has no column {', '.join(missing)}")
    if settings.max_rows and len(rows) > settings.max_rows:
        rows = rows.shuffle(seed=settings.seed).select(range(settings.max_rows))
    if not len(rows):
        raise ValueError(f"{settings.data} ({settings.config}, {split}) has no rows")
    return rows


def candidates_of(rows: Dataset) -> Candidates:
    """The points, texts and answers of rows."""
    return Candidates({name: list(rows[name]) for name in rows.column_names})


def working_folder(out: Path) -> Path:
    """Where a run keeps its options and checkpoints until the model is complete."""
    return out.with_name(f"{out.name}.partial")


def claim(settings: Settings, train: Dataset, out: Path, overwrite: bool) -> dict[str, Any] | None:
    """Makes the run's working folder, or makes sure that what is there is of the same options and data.

    Returns:
        The facts of a run that is complete already, else None.

    Raises:
        ValueError: If it is not; the message names the options that differ, and the cure.
    """
    digest = hashlib.sha256()
    for column in ("point", "counter"):
        for text in train[column]:
            digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    public = {"data": Path(settings.data).name, "base": resolve(settings.base, settings.base_id).hub_id}
    mine = asdict(settings) | public | {"rows_sha256": digest.hexdigest()}
    work, results = working_folder(out), read_json(out / RESULTS)
    begun, complete = read_json(work / "options.json"), results["options"] if results else None
    if complete == mine:
        return results
    theirs = begun or complete
    if theirs is None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"--out {out} exists and is no run of this command: choose another folder")
    if theirs not in (None, mine):
        # a run that failed before its first checkpoint, by a mistyped option say, holds nothing worth keeping
        if not overwrite and (complete or any(work.glob("checkpoints/checkpoint-*"))):
            other = {name: value for name, value in theirs.items() if mine.get(name) != value}
            raise ValueError(
                f"{out} is a run with other options ({other} instead of { {name: mine.get(name) for name in other} }): "
                "choose another --out, or --overwrite to discard it"
            )
        shutil.rmtree(work, ignore_errors=True)  # a complete model stays until the new one takes its place
    write_json(work / "options.json", mine)
    return None


def training_arguments(
    kind: type[BaseTrainingArguments], settings: Settings, folder: Path, batch_size: int, **more: Any
) -> BaseTrainingArguments:
    """The library's arguments, with a checkpoint after each epoch."""
    on_gpu = torch.cuda.is_available()
    arguments = kind(
        output_dir=str(folder),
        seed=settings.seed,
        data_seed=settings.seed,
        num_train_epochs=settings.epochs,
        max_steps=settings.max_steps,
        per_device_train_batch_size=batch_size,
        learning_rate=settings.learning_rate,
        warmup_steps=0.1,
        lr_scheduler_type="linear",
        use_cpu=not torch.accelerator.is_available(),
        bf16=on_gpu and torch.cuda.is_bf16_supported(),
        batch_sampler=LengthGroupedBatchSampler,
        dataloader_drop_last=True,
        dataloader_pin_memory=on_gpu,
        save_strategy="epoch",
        save_total_limit=1,
        logging_steps=10,
        logging_first_step=True,
        report_to="none",
        **more,
    )
    arguments._n_gpu = min(1, arguments.n_gpu)  # torch's DataParallel would multiply the batch
    return arguments


def train(trainer: BaseTrainer, negatives: FreshNegatives) -> dict[str, Any]:
    """Trains, or continues after the last epoch that an interrupted run completed.

    Returns:
        Facts: steps, seconds of all sessions together, and the trainer's log.
    """
    folder = Path(trainer.args.output_dir)
    remove_broken_checkpoints(folder, needs_best=False)
    resume_from = get_last_checkpoint(str(folder)) if folder.is_dir() else None
    if resume_from:
        logger.info("resuming at %s", Path(resume_from).name)
    elapsed = ElapsedTime(resume_from)
    trainer.data_collator = negatives
    trainer.add_callback(negatives)
    trainer.add_callback(elapsed)
    trainer.train(resume_from_checkpoint=resume_from)
    log = trainer.state.log_history
    losses = [round(entry["loss"], 4) for entry in log if "loss" in entry]
    return {
        "steps": trainer.state.global_step,
        "seconds": round(elapsed.seconds, 1),
        "first_loss": losses[0] if losses else None,
        "last_loss": losses[-1] if losses else None,
        "log": log,
    }
