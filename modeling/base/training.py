"""Training: the phases of a system under sentence-transformers' trainer, resumable, in one process or many."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from accelerate import PartialState
from datasets import List
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainingArguments
from sentence_transformers.base.evaluation import SequentialEvaluator
from torch import nn
from transformers import EarlyStoppingCallback
from transformers.trainer_utils import get_last_checkpoint

from dataset_scripts.base.files import atomic_folder, read_json, write_json
from modeling.base.batches import LengthGroupedBatchSampler
from modeling.base.recipe import Recipe
from modeling.base.system import Data, Phase, System
from modeling.base.trainer import (
    COMPLETE,
    LOSS_WEIGHTS,
    Trainer,
    load_owned,
    load_weights,
    loss_parameters,
    remove_broken_checkpoints,
    save_owned,
)

logger = logging.getLogger(__name__)
PATIENCE = timedelta(days=1)  # one process may embed or evaluate a corpus while the others wait
WEIGHTS = "weights.safetensors"  # of a phase; absent where a later one has them


def process_state() -> PartialState:
    """The state of the process group.

    Without the flag for CPUs, processes that torchrun starts on a machine without an accelerator each believe to be
    alone, and all of them write the same files.
    """
    return PartialState(cpu=not torch.accelerator.is_available(), timeout=PATIENCE)


def check_launch() -> None:
    """Refuses, by a ValueError with the command that works, to train alone where several processes were asked for.

    On CPUs `accelerate launch --num_processes N` starts a single one, unless `--multi_gpu` is given: then it takes
    torchrun, which needs no GPU.
    """
    # accelerate names the place to meet only where there are several; torchrun would say how many
    several = {"ACCELERATE_USE_CPU", "MASTER_ADDR"} <= set(os.environ) and "WORLD_SIZE" not in os.environ
    if several and process_state().num_processes == 1:
        raise ValueError(
            "several processes were asked for, but one runs. On CPUs start them with torchrun --nproc_per_node N "
            "train.py ... or accelerate launch --multi_gpu --num_processes N train.py ..."
        )


def train(system: System, model: SentenceTransformer, data: Data) -> list[dict[str, Any]]:
    """Trains a model in place in all phases, or what an earlier, interrupted run left of them.

    Returns:
        Facts of each phase: name, rows, steps, seconds, rows per second, best score, log.
    """
    phases, validation = system.recipe.run_dir / "phases", SequentialEvaluator(system.evaluators("validation"))
    records: list[dict[str, Any]] = []
    for number, phase in enumerate(system.phases(model, data), start=1):
        folder = phases / f"{number}-{phase.name}"
        record = read_json(folder / "phase.json")
        if record is None:
            record = _train_phase(system, model, phase, folder, validation)
            if process_state().is_main_process:
                # a phase has all that is trained: those of hundreds of epochs would fill the disk
                for path in phases.glob(f"{number - 1}-*/*.safetensors"):
                    path.unlink()
        elif (folder / WEIGHTS).is_file() or not any(phases.glob(f"{number + 1}-*")):
            logger.info("phase %s is complete, loading its weights", folder.name)
            weights = load_weights(folder / WEIGHTS)
            if set(weights) != set(trainable_weights(model)):
                raise ValueError(f"{folder} has other parameters than the model: --overwrite begins the run again")
            model.load_state_dict(weights, strict=False)
            load_owned(loss_parameters(model, phase.loss), folder / LOSS_WEIGHTS)
        records.append(record)
    return records


def _train_phase(
    system: System, model: SentenceTransformer, phase: Phase, folder: Path, validation: SequentialEvaluator
) -> dict[str, Any]:
    """Trains one phase, from its last whole checkpoint if there is one, and writes its weights and facts."""
    recipe, state = system.recipe, process_state()
    checkpoints = recipe.run_dir / "checkpoints" / folder.name
    if state.is_main_process:
        remove_broken_checkpoints(checkpoints, needs_best=recipe.keep_best or recipe.patience > 0)
        check_data(phase, recipe.run_dir / "data" / f"{folder.name}.json")
    state.wait_for_everyone()
    resume_from = get_last_checkpoint(str(checkpoints)) if checkpoints.is_dir() else None
    if resume_from:
        logger.info("resuming %s at %s", folder.name, Path(resume_from).name)
    trainer = Trainer(
        model=model,
        args=training_arguments(recipe, phase, checkpoints, system.PRIMARY),
        train_dataset=phase.dataset,
        loss=phase.loss,
        evaluator=validation,
        callbacks=[EarlyStoppingCallback(recipe.patience)] if recipe.patience else [],
        seconds=read_json(Path(resume_from) / COMPLETE)["seconds"] if resume_from else 0.0,
    )
    trainer.train(resume_from_checkpoint=resume_from)
    seconds, steps, log = trainer.seconds, trainer.state.global_step, trainer.state.log_history
    rows = min(steps * recipe.batch_size * recipe.accumulation, int(len(phase.dataset) * trainer.state.epoch))
    record = {
        "name": phase.name,
        "rows": len(phase.dataset),
        "epochs": phase.epochs,
        "steps": steps,
        "resumed_at_step": int(Path(resume_from).name.rpartition("-")[2]) if resume_from else 0,
        "seconds": round(seconds, 1),
        "rows_per_second": round(rows / seconds, 1),
        "last_loss": next((entry["loss"] for entry in reversed(log) if "loss" in entry), None),
        "best_score": trainer.state.best_metric,
        "log": log,
    }
    state.wait_for_everyone()  # another process may still read the best checkpoint
    if state.is_main_process:
        with atomic_folder(folder) as temporary:
            save_file(trainable_weights(model), temporary / WEIGHTS)
            save_owned(trainer.owned, temporary / LOSS_WEIGHTS)
            write_json(temporary / "phase.json", record)
        shutil.rmtree(checkpoints, ignore_errors=True)
    state.wait_for_everyone()
    trainer.accelerator.free_memory()
    return record


def training_arguments(
    recipe: Recipe, phase: Phase, folder: Path, primary: str
) -> SentenceTransformerTrainingArguments:
    """The library's arguments for one phase of a recipe; a ValueError if processes cannot share a batch equally."""
    processes = process_state().num_processes
    if recipe.batch_size % processes:
        raise ValueError(f"--batch-size {recipe.batch_size} cannot be divided between {processes} processes")
    steps = recipe.eval_steps if recipe.eval_steps < 1 else int(recipe.eval_steps)
    on_gpu = torch.cuda.is_available()
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        run_name=f"{recipe.name}-{phase.name}",
        seed=recipe.seed,
        data_seed=recipe.seed,
        num_train_epochs=phase.epochs,
        max_steps=recipe.max_steps,
        # a batch of all processes, of which each takes its part
        per_device_train_batch_size=recipe.batch_size,
        accelerator_config={"split_batches": True},
        gradient_accumulation_steps=recipe.accumulation,
        learning_rate=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
        warmup_steps=recipe.warmup,
        lr_scheduler_type=recipe.schedule,
        max_grad_norm=recipe.max_grad_norm,
        use_cpu=not torch.accelerator.is_available(),
        bf16=recipe.bf16 if recipe.bf16 is not None else on_gpu and torch.cuda.is_bf16_supported(),
        batch_sampler=LengthGroupedBatchSampler,
        dataloader_drop_last=True,
        dataloader_pin_memory=on_gpu,
        eval_strategy="steps",
        eval_steps=steps,
        save_steps=steps,
        save_total_limit=2,
        load_best_model_at_end=recipe.keep_best or recipe.patience > 0,
        metric_for_best_model=f"eval_{primary}",
        greater_is_better=True,
        logging_steps=recipe.logging_steps,
        report_to=recipe.report_to,
        project=recipe.system,  # where a tracker has projects: runs of one have the same measures
        restore_callback_states_from_checkpoint=True,
        ddp_find_unused_parameters=False,
        ddp_timeout=int(PATIENCE.total_seconds()),
    )
    for name, value in phase.arguments.items():
        setattr(arguments, name, value)
    # one process per accelerator: torch's DataParallel would multiply the batch
    arguments._n_gpu = min(1, arguments.n_gpu)
    return arguments


def check_data(phase: Phase, path: Path) -> None:
    """Records what a phase trains on; a ValueError if that is not what an interrupted run began with."""
    frame = phase.dataset.to_pandas()
    lists = [name for name, feature in phase.dataset.features.items() if isinstance(feature, List)]
    frame[lists] = frame[lists].map(tuple)  # which have hashes
    rows = pd.util.hash_pandas_object(frame, index=False)
    record = {"rows": len(rows), "sha256": hashlib.sha256(rows.to_numpy().tobytes()).hexdigest()}
    if (read_json(path) or record) != record:
        raise ValueError(f"the data of {path.stem} changed since this run began: --overwrite begins it again")
    write_json(path, record)


def trainable_weights(model: nn.Module) -> dict[str, torch.Tensor]:
    """The parameters that training changes, on the CPU and contiguous, ready for safetensors."""
    trainable = ((name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad)
    return {name: parameter.detach().cpu().contiguous().clone() for name, parameter in trainable}
