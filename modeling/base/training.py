"""Training: the phases of a system under sentence-transformers' trainer, resumable at every checkpoint."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainingArguments
from sentence_transformers.base.evaluation import SequentialEvaluator
from transformers import EarlyStoppingCallback
from transformers.trainer_utils import get_last_checkpoint

from dataset_scripts.base.files import atomic_folder, read_json, write_json
from modeling.base.adapters import count_parameters
from modeling.base.batches import LengthGroupedBatchSampler
from modeling.base.processes import PATIENCE, process_state
from modeling.base.recipe import Recipe
from modeling.base.system import Data, Phase, System
from modeling.base.trainer import LOSS_WEIGHTS, ElapsedTime, Trainer, load_owned, loss_parameters, save_owned

logger = logging.getLogger(__name__)
WEIGHTS = "weights.safetensors"  # of a phase; absent where a later one has them


def train(system: System, model: SentenceTransformer, data: Data) -> list[dict[str, Any]]:
    """Trains all phases, or what an earlier, interrupted run left of them.

    Args:
        system: The system; its recipe names the run's folder.
        model: From `system.build_model()`; trained in place.
        data: From `system.load_data()`.

    Returns:
        Facts of each phase: name, rows, steps, seconds, rows per second, best score, log.
    """
    validation = SequentialEvaluator(system.evaluators("validation"))
    facts: list[dict[str, Any]] = []
    before: Path | None = None
    for number, phase in enumerate(system.phases(model, data), start=1):
        folder = system.recipe.run_dir / "phases" / f"{number}-{phase.name}"
        record = read_json(folder / "phase.json")
        if record is None:
            record = _train_phase(system, model, phase, folder, validation)
            if before is not None and process_state().is_main_process:
                # a phase has all that is trained: those of hundreds of epochs would fill the disk
                for path in before.glob("*.safetensors"):
                    path.unlink()
        elif (folder / WEIGHTS).is_file():
            logger.info("phase %s is complete, loading its weights", folder.name)
            _load_weights(model, folder / WEIGHTS)
            load_owned(loss_parameters(model, phase.loss), folder / LOSS_WEIGHTS)
        facts.append(record)
        before = folder
    return facts


def _train_phase(
    system: System, model: SentenceTransformer, phase: Phase, folder: Path, validation: SequentialEvaluator
) -> dict[str, Any]:
    recipe, state = system.recipe, process_state()
    checkpoints = recipe.run_dir / "checkpoints" / folder.name
    if state.is_main_process:
        remove_broken_checkpoints(checkpoints)
        _check_data(phase, recipe.run_dir / "data" / f"{folder.name}.json")
    state.wait_for_everyone()
    resume_from = get_last_checkpoint(str(checkpoints)) if checkpoints.is_dir() else None
    if resume_from:
        logger.info("resuming %s at %s", folder.name, Path(resume_from).name)
    elapsed = ElapsedTime(resume_from)
    trainer = Trainer(
        model=model,
        args=training_arguments(recipe, phase, checkpoints, system.PRIMARY),
        train_dataset=phase.dataset,
        loss=phase.loss,
        evaluator=validation,
        callbacks=[elapsed, *([EarlyStoppingCallback(recipe.patience)] if recipe.patience else [])],
    )
    trainer.train(resume_from_checkpoint=resume_from)
    seconds, steps, log = elapsed.seconds, trainer.state.global_step, trainer.state.log_history
    losses = [entry["loss"] for entry in log if "loss" in entry]
    rows = min(steps * recipe.batch_size * recipe.accumulation, int(len(phase.dataset) * trainer.state.epoch))
    record = {
        "name": phase.name,
        "rows": len(phase.dataset),
        "epochs": phase.epochs,
        "steps": steps,
        "resumed_at_step": int(Path(resume_from).name.rpartition("-")[2]) if resume_from else 0,
        "seconds": round(seconds, 1),
        "rows_per_second": round(rows / seconds, 1),
        "last_loss": losses[-1] if losses else None,
        "best_score": trainer.state.best_metric,
        "log": log,
    }
    if state.is_main_process:
        with atomic_folder(folder) as temporary:
            save_file(trainable_weights(model), temporary / WEIGHTS)
            save_owned(loss_parameters(model, phase.loss), temporary / LOSS_WEIGHTS)
            write_json(temporary / "phase.json", record)
        shutil.rmtree(checkpoints, ignore_errors=True)
    state.wait_for_everyone()
    trainer.accelerator.free_memory()
    return record


def training_arguments(
    recipe: Recipe, phase: Phase, folder: Path, primary: str
) -> SentenceTransformerTrainingArguments:
    """The library's arguments for one phase of a recipe.

    Raises:
        ValueError: If the batch cannot be divided between the processes.
    """
    processes = process_state().num_processes
    if recipe.batch_size % processes:
        raise ValueError(f"--batch_size {recipe.batch_size} cannot be divided between {processes} processes")
    steps = recipe.eval_steps if recipe.eval_steps < 1 else int(recipe.eval_steps)
    on_gpu = torch.cuda.is_available()
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        run_name=f"{recipe.name}-{phase.name}",
        seed=recipe.seed,
        data_seed=recipe.seed,
        num_train_epochs=phase.epochs,
        max_steps=recipe.max_steps,
        per_device_train_batch_size=recipe.batch_size // processes,
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
        save_strategy="steps",
        save_steps=steps,
        save_total_limit=2,
        load_best_model_at_end=recipe.keep_best or recipe.patience > 0,
        metric_for_best_model=f"eval_{primary}",
        greater_is_better=True,
        logging_steps=recipe.logging_steps,
        report_to=recipe.report_to,
        restore_callback_states_from_checkpoint=True,
        ddp_find_unused_parameters=False,
        ddp_timeout=int(PATIENCE.total_seconds()),
    )
    for name, value in phase.arguments.items():
        setattr(arguments, name, value)
    # one process per accelerator: torch's DataParallel would multiply the batch
    arguments._n_gpu = min(1, arguments.n_gpu)
    return arguments


def _check_data(phase: Phase, path: Path) -> None:
    """Records what a phase trains on, or makes sure that it still is what an interrupted run began with.

    Raises:
        ValueError: If the data changed in between.
    """
    digest = hashlib.sha256()
    for column in sorted(phase.dataset.column_names):
        for value in phase.dataset[column]:
            digest.update(f"{value}\0".encode("utf-8", "surrogatepass"))
    facts = {"rows": len(phase.dataset), "sha256": digest.hexdigest()}
    if (read_json(path) or facts) != facts:
        raise ValueError(f"the data of {path.stem} changed since this run began: --overwrite true begins it again")
    write_json(path, facts)


def _load_weights(model: SentenceTransformer, path: Path) -> None:
    """Loads what `trainable_weights` saved; another set of parameters is an error."""
    weights, expected = load_file(path), set(trainable_weights(model))
    if set(weights) != expected:
        raise ValueError(f"{path} has other parameters than the model: --overwrite true begins the run again")
    model.load_state_dict(weights, strict=False)


def remove_broken_checkpoints(folder: Path) -> None:
    """Deletes checkpoints that a killed process left half written, so that the run resumes at the one before."""
    for path in sorted(folder.glob("checkpoint-*")):
        try:
            state = json.loads((path / "trainer_state.json").read_text())
            if best := state.get("best_model_checkpoint"):
                # the folder may have been moved since
                state["best_model_checkpoint"] = str(folder / Path(best).name)
                write_json(path / "trainer_state.json", state)
            for weights in path.glob("*.safetensors"):
                load_file(weights)
            # unreadable optimiser states show as truncated zip archives
            torch.load(path / "optimizer.pt", weights_only=True, map_location="meta")
        except Exception as error:  # whatever is wrong with it, it cannot be resumed from
            logger.warning("discarding the incomplete %s (%s)", path.name, type(error).__name__)
            shutil.rmtree(path)


def trainable_weights(model: SentenceTransformer) -> dict[str, torch.Tensor]:
    """The parameters that training changes, on the CPU and contiguous, ready for safetensors."""
    return {
        name: parameter.detach().cpu().contiguous().clone()
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
    }


def parameter_facts(model: SentenceTransformer) -> dict[str, int]:
    """Trainable and total parameters, for report and card."""
    trainable, total = count_parameters(model)
    return {"trainable_parameters": trainable, "all_parameters": total}
