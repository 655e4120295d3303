"""Training speed in triplets per second: this project's trainer, the library's defaults, and padding to full length.

    python -m tests.benchmarks.training                    # the demonstration debates
    python -m tests.benchmarks.training --data data/kialo  # a folder written by python -m dataset_scripts

Three ways train the same encoder with the same loss on the same rows, in turns, for one epoch each:

- project: `modeling.base.training` with batches of texts of similar length, padded to their longest text;
- library: sentence-transformers' trainer with its default arguments, that is, random batches with the same padding;
- padded: a plain PyTorch loop over random batches in which every text is padded to 128 tokens.

All run in float32, without evaluation or checkpoints. The clock runs from the first batch's tokenisation to the last
optimiser step; loading, data preparation and a warm-up are outside.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

# torch and the libraries on it take seconds to import, so they are imported where they are needed
if TYPE_CHECKING:
    from datasets import Dataset
    from torch import nn
    from transformers import Trainer

    from modeling.base.recipe import Recipe
    from modeling.base.system import Phase

COLUMNS = ["anchor", "positive", "negative"]
# a LoRA adapter, at most 128 tokens and TripletLoss as in the recipe; no filter, and the same precision for all
SETTINGS = {"base_id": "benchmarks/base", "objective": "triplet", "margin": 0.4, "keep": 0, "epochs": 1,
            "keep_best": False, "bf16": False}  # fmt: skip


class Meter:
    """Counts the texts and token positions that an encoder processes, and the seconds between start and stop."""

    def __init__(self, encoder: nn.Module) -> None:
        self.texts = self.positions = 0
        self.seconds = 0.0
        # the library calls the encoder's forward method itself, which passes by hooks on the encoder as a whole
        encoder.get_input_embeddings().register_forward_pre_hook(self._count)

    def _count(self, module: nn.Module, inputs: tuple) -> None:
        texts, length = inputs[0].shape
        self.texts += texts
        self.positions += texts * length

    def start(self) -> None:
        """Starts the clock."""
        self.seconds = -_now()

    def stop(self) -> None:
        """Stops the clock."""
        self.seconds += _now()


def _now() -> float:
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def train_project(recipe: Recipe, phase: Phase, meter: Meter, folder: str) -> None:
    """Trains as `train.py` does."""
    from modeling.base.trainer import Trainer
    from modeling.base.training import training_arguments

    arguments = training_arguments(recipe, phase, Path(folder), "none")
    arguments.set_evaluate("no")
    arguments.set_save("no")
    arguments.disable_tqdm = True
    _run(Trainer(model=phase.loss.model, args=arguments, train_dataset=phase.dataset, loss=phase.loss), meter)


def train_library(recipe: Recipe, phase: Phase, meter: Meter, folder: str) -> None:
    """Trains as the library does if it is told no more than batch size, learning rate and number of epochs."""
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments

    arguments = SentenceTransformerTrainingArguments(
        output_dir=folder,
        num_train_epochs=1,
        per_device_train_batch_size=recipe.batch_size,
        learning_rate=recipe.learning_rate,
        seed=recipe.seed,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    model, rows = phase.loss.model, phase.dataset
    _run(SentenceTransformerTrainer(model=model, args=arguments, train_dataset=rows, loss=phase.loss), meter)


def _run(trainer: Trainer, meter: Meter) -> None:
    from transformers import PrinterCallback, TrainerCallback

    class Clock(TrainerCallback):
        def on_epoch_begin(self, *arguments: Any, **state: Any) -> None:
            meter.start()

        def on_epoch_end(self, *arguments: Any, **state: Any) -> None:
            meter.stop()

    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(Clock)
    trainer.train()


def train_padded(recipe: Recipe, phase: Phase, meter: Meter, folder: str) -> None:
    """Trains in a plain loop that pads every text to the maximal length, as the stance paper's own code does."""
    import torch
    from torch.utils.data import DataLoader

    model = phase.loss.model
    encoder, options = model[0].model, {"padding": "max_length", "truncation": True, "max_length": recipe.max_length}
    loss_function = torch.nn.TripletMarginLoss(margin=recipe["margin"])
    parameters = [parameter for parameter in encoder.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=recipe.learning_rate)

    def tokenize(rows: list[dict[str, str]]) -> list[dict[str, torch.Tensor]]:
        return [model.tokenizer([row[name] for row in rows], return_tensors="pt", **options) for name in COLUMNS]

    def embed(tokens: dict[str, torch.Tensor]) -> torch.Tensor:
        tokens = {name: tensor.to(model.device) for name, tensor in tokens.items()}
        states = encoder(**tokens).last_hidden_state
        mask = tokens["attention_mask"].unsqueeze(-1)
        return torch.nn.functional.normalize((states * mask).sum(dim=1) / mask.sum(dim=1), dim=1)

    encoder.train()
    meter.start()
    for batch in DataLoader(phase.dataset, recipe.batch_size, shuffle=True, collate_fn=tokenize):
        loss_function(*map(embed, batch)).backward()
        torch.nn.utils.clip_grad_norm_(parameters, recipe.max_grad_norm)
        optimizer.step()
        optimizer.zero_grad()
    meter.stop()


WAYS = {"project": train_project, "library": train_library, "padded": train_padded}


def measure(way: str, rows: Dataset, **settings: Any) -> dict[str, float]:
    """Trains a fresh model for one epoch; returns triplets per second and token positions per triplet."""
    from transformers import set_seed

    from modeling.base.recipe import load_recipe
    from modeling.base.system import Data
    from modeling.stance.system import StanceSystem

    recipe = load_recipe("stance-demo", {name: str(value) for name, value in (SETTINGS | settings).items()})
    set_seed(recipe.seed)
    system = StanceSystem(recipe)
    model = system.build_model()
    meter = Meter(model[0].model)
    (phase,) = system.phases(model, Data({"triplets": rows}, []))
    with tempfile.TemporaryDirectory() as folder:
        WAYS[way](recipe, phase, meter, folder)
    seen = meter.texts // len(COLUMNS)
    if seen != len(rows):
        raise RuntimeError(f"{way} trained on {seen} of {len(rows)} rows, so the ways cannot be compared")
    return {"per_second": seen / meter.seconds, "positions": meter.positions / seen}


def compare(rows: Dataset, options: argparse.Namespace) -> list[dict[str, dict[str, float]]]:
    """Measures all ways in every round, in changing order, on a sample of rows of the round; drops the warm-up."""
    rounds = []
    for number in range(options.rounds + 1):
        steps = options.steps if number else options.warmup
        sample = rows.shuffle(seed=number).select(range(steps * options.batch_size))
        order = [list(WAYS)[(place + number) % len(WAYS)] for place in range(len(WAYS))]
        settings = {"base": options.base, "batch_size": options.batch_size, "seed": number}
        rounds.append({way: measure(way, sample, **settings) for way in order})
    return rounds[1:]


def table(rounds: list[dict[str, dict[str, float]]]) -> str:
    """Medians (and extremes) over the rounds; ratios are taken within a round, between runs on the same rows."""
    lines = ["| way | triplets/s | token positions per triplet | project is faster by |", "|---|---|---|---|"]
    for way in WAYS:
        speeds, positions = ([measured[way][key] for measured in rounds] for key in ("per_second", "positions"))
        ratios = [measured["project"]["per_second"] / measured[way]["per_second"] for measured in rounds]
        speed, ratio = (f"{statistics.median(v):.2f} ({min(v):.2f} to {max(v):.2f})" for v in (speeds, ratios))
        lines.append(f"| {way} | {speed} | {statistics.median(positions):.0f} | {ratio} |")
    return "\n".join(lines)


def main() -> None:
    """Measures and prints a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="demo", help="demo, or a folder or Hub id with triplets (default: demo)")
    parser.add_argument("--base", default="bundled", help="encoder: bundled (all-MiniLM-L6-v2), a folder or a Hub id")
    parser.add_argument("--batch_size", type=int, default=32, help="triplets per step (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=20, help="steps per measurement (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=3, help="steps of each way dropped first (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each way (default: %(default)s)")
    parser.add_argument("--threads", type=int, help="threads of torch (default: as torch chooses)")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write settings and all measurements to this file")
    options = parser.parse_args()
    if min(options.batch_size, options.steps, options.warmup, options.rounds) < 1:
        parser.error("--batch_size, --steps, --warmup and --rounds must be at least 1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # as in training
    warnings.filterwarnings("ignore", message=".*pin_memory.*")  # one of the library's defaults

    import datasets
    import torch
    import transformers

    from dataset_scripts.base.sources import load_source, source_name

    torch.set_num_threads(options.threads or torch.get_num_threads())
    datasets.disable_progress_bars()
    transformers.utils.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as cache:
        rows = load_source(options.data, "triplets", cache)["train"].select_columns(COLUMNS)
        if (needed := max(options.steps, options.warmup) * options.batch_size) > len(rows):
            parser.error(f"{needed} rows are needed but {options.data} has {len(rows)}: lower --steps or --batch_size")
        rounds = compare(rows, options)
    settings = {
        **{name: source_name(getattr(options, name)) for name in ("data", "base")},
        **{name: getattr(options, name) for name in ("batch_size", "steps", "rounds")},
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU",
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
    }
    print(", ".join(f"{name} {value}" for name, value in settings.items()), table(rounds), sep="\n\n")
    if options.json:
        options.json.write_text(json.dumps({"settings": settings, "rounds": rounds}, indent=2) + "\n")


if __name__ == "__main__":
    main()
