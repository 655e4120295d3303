"""Training: the phases of a system, resumable, in one process or many, under the library's trainer, mended for that."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from accelerate import PartialState
from accelerate.utils import broadcast
from datasets import List
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.base.evaluation import SequentialEvaluator
from torch import nn
from torch.utils.data import DataLoader
from transformers import EarlyStoppingCallback
from transformers.trainer_utils import get_last_checkpoint

from dataset_scripts.base.files import atomic_folder, read_json, write_json
from modeling.base.batches import LengthGroupedBatchSampler, embedding_in_chunks
from modeling.base.recipe import Recipe
from modeling.base.system import Data, Phase, System

logger = logging.getLogger(__name__)
PATIENCE = timedelta(days=1)  # one process may embed or evaluate a corpus while the others wait
WEIGHTS = "weights.safetensors"  # of a phase; absent where a later one has them
LOSS_WEIGHTS = "loss.safetensors"
COMPLETE = "complete.json"  # of a checkpoint, written last: seconds of training so far, and digests of its files


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
    # otherwise accelerate goes on computing in the precision of training, and the files do not give the same vectors
    trainer.accelerator.unwrap_model(model, keep_fp32_wrapper=False)
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


class Trainer(SentenceTransformerTrainer):
    """The library's trainer, exact after interruptions, in many processes as in one, and with less padding.

    What a loss owns, such as the classifier of a softmax loss, is trained like the encoder: the library neither writes
    it into checkpoints nor averages its gradients over processes. A loss that reads more than sentence embeddings says
    so by an attribute `sentence_embeddings_only = False`. `seconds` are those of training before this session.
    """

    def __init__(self, *args: Any, seconds: float = 0.0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._began = time.perf_counter() - seconds
        self.owned = loss_parameters(self.model, self.loss)
        if self.accelerator.num_processes > 1:
            for parameter in self.owned.values():
                parameter.data.copy_(broadcast(parameter.data))

    @property
    def seconds(self) -> float:
        """Seconds of training in this and all earlier sessions."""
        return time.perf_counter() - self._began

    def training_step(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        """The library's; gradients of what the loss owns are averaged over processes, as those of the encoder are."""
        loss = super().training_step(*args, **kwargs)
        if self.accelerator.num_processes > 1 and self.accelerator.sync_gradients:
            for parameter in self.owned.values():
                if parameter.grad is not None:
                    parameter.grad.copy_(self.accelerator.reduce(parameter.grad, reduction="mean"))
        return loss

    def _save_checkpoint(self, model: nn.Module, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        self.accelerator.wait_for_everyone()  # each process writes the state of its random numbers
        if self.is_world_process_zero():
            folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
            save_owned(self.owned, folder / LOSS_WEIGHTS)
            write_json(folder / COMPLETE, {"seconds": self.seconds, "files": _digests(folder)})

    def _load_from_checkpoint(self, checkpoint_path: str) -> None:
        super()._load_from_checkpoint(checkpoint_path)
        load_owned(self.owned, Path(checkpoint_path) / LOSS_WEIGHTS)

    def _load_best_model(self) -> None:
        # the library's catches every error, and processes that do not write may read before the writer has finished
        self.accelerator.wait_for_everyone()
        self._load_from_checkpoint(self.state.best_model_checkpoint)

    def get_train_dataloader(self) -> DataLoader:
        """The library's; the epoch reaches the sampler also when a resumed run skips batches between processes.

        Otherwise the rest of a resumed epoch would be trained in the order of the first one.
        """
        loader = super().get_train_dataloader()
        shard = loader.batch_sampler
        if not hasattr(shard, "set_epoch"):
            shard.set_epoch = shard.batch_sampler.set_epoch
        return loader

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """Adds none: it writes raw training texts into every README. `modeling.base.cards` writes ours."""

    def compute_loss(self, model: nn.Module, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """The library's, with batches embedded in chunks where that pays."""
        if self.model.device.type != "cpu":
            return super().compute_loss(model, inputs, *args, **kwargs)
        with embedding_in_chunks(self.model, tokens=not getattr(self.loss, "sentence_embeddings_only", True)):
            return super().compute_loss(model, inputs, *args, **kwargs)


def loss_parameters(model: nn.Module, loss: nn.Module) -> dict[str, nn.Parameter]:
    """The trainable parameters that a loss owns and the encoder does not have."""
    encoder = {id(parameter) for parameter in model.parameters()}
    return {name: each for name, each in loss.named_parameters() if each.requires_grad and id(each) not in encoder}


def save_owned(owned: dict[str, nn.Parameter], path: Path) -> None:
    """Writes what a loss owns; no file if that is nothing."""
    if owned:
        save_file({name: each.detach().cpu().contiguous() for name, each in owned.items()}, path)


def load_owned(owned: dict[str, nn.Parameter], path: Path) -> None:
    """Reads what `save_owned` wrote into the parameters of a loss; a ValueError as `load_weights`."""
    weights = load_weights(path) if owned else {}
    for name, parameter in owned.items():
        parameter.data.copy_(weights[name])


def load_weights(path: Path) -> dict[str, torch.Tensor]:
    """Reads a file of weights; one that is missing or damaged is a ValueError with the cure."""
    try:
        return load_file(path)
    except (SafetensorError, FileNotFoundError) as error:
        raise ValueError(f"{path} is missing or damaged ({error}): --overwrite begins the run again") from None


def remove_broken_checkpoints(folder: Path, needs_best: bool) -> None:
    """Deletes checkpoints that a run cannot continue from, so that it does from the one before.

    `needs_best`: whether one is of use only together with the best one so far, which it names.
    """
    for path in sorted(folder.glob("checkpoint-*"), key=lambda path: (len(path.name), path.name)):
        try:
            record = read_json(path / COMPLETE)
            if record is None:
                raise ValueError(f"{COMPLETE} is missing: the run ended while it was written")
            digests = _digests(path)
            if damaged := [name for name, digest in record["files"].items() if digests.get(name) != digest]:
                raise ValueError(f"{', '.join(damaged)} is damaged")
            best = read_json(path / "trainer_state.json").get("best_model_checkpoint")
            if needs_best and best and not Path(best).is_dir():
                raise ValueError(f"the best one so far, {Path(best).name}, is gone")
        except Exception as error:  # whatever is wrong with it, it cannot be continued from
            logger.warning("discarding %s (%s)", path, error)
            shutil.rmtree(path)


def _digests(folder: Path) -> dict[str, str]:
    """Path within the folder -> SHA-256, of all files but the one that this is written to."""
    digests = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != COMPLETE:
            with path.open("rb") as file:
                digests[str(path.relative_to(folder))] = hashlib.file_digest(file, "sha256").hexdigest()
    return digests
