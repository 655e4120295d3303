"""Triplets per second in training: this project's trainer, the library's defaults, and padding to full length.

    python -m tests.benchmarks.training                    # the demonstration debates
    python -m tests.benchmarks.training --data data/kialo  # a folder built by `opinion corpus build`

Three ways train the same encoder with the same loss on the same rows, in turns: `project`, batches of texts of similar
length padded to their longest one; `library`, sentence-transformers' trainer as it is; `padded`, a plain loop in which
every text is padded to 128 tokens. float32, no evaluation, no checkpoints; the clock is that of transformers'
trainer, from the first batch's tokenisation to the last optimiser step.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import typer

COLUMNS = ["anchor", "positive", "negative"]
SETTINGS = {
    "base_id": "benchmarks/base",
    "objective": "triplet",
    "margin": 0.4,
    "keep": 0,
    "epochs": 1,
    "keep_best": False,
    "bf16": False,
}


def timed(trainer: Any) -> float:
    """Seconds of an epoch."""
    from transformers import PrinterCallback

    trainer.remove_callback(PrinterCallback)
    return trainer.train().metrics["train_runtime"]


def project(recipe: Any, phase: Any, folder: str) -> float:
    """As `train.py` does."""
    from modeling.base.training import Trainer, training_arguments

    arguments = training_arguments(recipe, phase, Path(folder), "none")
    arguments.set_evaluate("no")
    arguments.set_save("no")
    arguments.disable_tqdm = True
    return timed(Trainer(model=phase.loss.model, args=arguments, train_dataset=phase.dataset, loss=phase.loss))


def library(recipe: Any, phase: Any, folder: str) -> float:
    """As the library does if it is told no more than batch size and learning rate."""
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments

    arguments = SentenceTransformerTrainingArguments(
        output_dir=folder,
        num_train_epochs=1,
        per_device_train_batch_size=recipe.batch_size,
        learning_rate=recipe.learning_rate,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    model, rows = phase.loss.model, phase.dataset
    return timed(SentenceTransformerTrainer(model=model, args=arguments, train_dataset=rows, loss=phase.loss))


def padded(recipe: Any, phase: Any, folder: str) -> float:
    """In a plain loop that pads every text to the maximal length, as the stance paper's own code does."""
    import torch
    from torch.utils.data import DataLoader

    model, loss_function = phase.loss.model, torch.nn.TripletMarginLoss(margin=recipe["margin"])
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=recipe.learning_rate)
    options = {"padding": "max_length", "truncation": True, "max_length": recipe.max_length, "return_tensors": "pt"}
    model.train()
    begin = time.perf_counter()
    for batch in DataLoader(phase.dataset, recipe.batch_size, shuffle=True, collate_fn=list):
        columns = [model.tokenizer([row[name] for row in batch], **options).to(model.device) for name in COLUMNS]
        loss_function(*(model(dict(column))["sentence_embedding"] for column in columns)).backward()
        torch.nn.utils.clip_grad_norm_(parameters, recipe.max_grad_norm)
        optimizer.step()
        optimizer.zero_grad()
    return time.perf_counter() - begin


WAYS = {"project": project, "library": library, "padded": padded}


def measure(way: str, rows: Any, **settings: Any) -> float:
    """Trains a fresh model for one epoch; triplets per second."""
    from transformers import set_seed

    from modeling.base.recipe import load_recipe
    from modeling.base.rooms import get_system
    from modeling.base.system import Data

    recipe = load_recipe("stance-demo", {name: str(value) for name, value in (SETTINGS | settings).items()})
    set_seed(recipe.seed)
    system = get_system(recipe.system)(recipe)
    (phase,) = system.phases(system.build_model(), Data({"triplets": rows}, []))
    with tempfile.TemporaryDirectory() as folder:
        return len(rows) / WAYS[way](recipe, phase, folder)


def main(
    data: str = "demo", batch_size: int = 32, steps: int = 20, rounds: int = 3, threads: int | None = None
) -> None:
    """Prints medians and extremes over the rounds, after one of warm-up; ratios are taken within a round."""
    import torch

    from dataset_scripts.base.sources import load_split
    from modeling.base.run import quiet

    quiet()
    torch.set_num_threads(threads or torch.get_num_threads())
    with tempfile.TemporaryDirectory() as cache:
        rows = load_split(data, "triplets", "train", Path(cache)).select_columns(COLUMNS)
    measured = []
    for number in range(rounds + 1):
        sample = rows.shuffle(seed=number).select(range((steps if number else 3) * batch_size))
        order = [list(WAYS)[(place + number) % len(WAYS)] for place in range(len(WAYS))]
        measured.append({way: measure(way, sample, batch_size=batch_size, seed=number) for way in order})
    for way in WAYS:
        speeds = [each[way] for each in measured[1:]]
        ratios = [each["project"] / each[way] for each in measured[1:]]
        print(
            f"{way:8} {statistics.median(speeds):6.1f} triplets/s ({min(speeds):.1f} to {max(speeds):.1f}); "
            f"project is {statistics.median(ratios):.2f} times as fast ({min(ratios):.2f} to {max(ratios):.2f})"
        )


if __name__ == "__main__":
    typer.run(main)
