"""sentence-transformers' trainer, with what many processes and interruptions need."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import broadcast
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformerTrainer
from torch import nn
from torch.utils.data import DataLoader
from transformers import TrainerCallback

from dataset_scripts.base.files import read_json, write_json
from modeling.base.batches import embedding_in_chunks

LOSS_WEIGHTS = "loss.safetensors"


def loss_parameters(model: nn.Module, loss: nn.Module) -> dict[str, nn.Parameter]:
    """The trainable parameters that a loss owns and the encoder does not have."""
    encoder = {id(parameter) for parameter in model.parameters()}
    named = loss.named_parameters()
    return {name: each for name, each in named if each.requires_grad and id(each) not in encoder}


def save_owned(owned: dict[str, nn.Parameter], path: Path) -> None:
    """Writes what a loss owns; no file if that is nothing."""
    if owned:
        save_file({name: each.detach().cpu().contiguous() for name, each in owned.items()}, path)


def load_owned(owned: dict[str, nn.Parameter], path: Path) -> None:
    """Reads what `save_owned` wrote into the parameters of a loss.

    Raises:
        ValueError: If there is no such file, though the loss owns something.
    """
    if owned and not path.is_file():
        raise ValueError(f"{path} is missing: --overwrite true begins the run again")
    stored = load_file(path) if owned else {}
    for name, parameter in owned.items():
        parameter.data.copy_(stored[name])


class Trainer(SentenceTransformerTrainer):
    """The library's trainer with less padding, exact resumption, and without its card callback.

    A loss that reads more than sentence embeddings says so by an attribute `sentence_embeddings_only = False`. What a
    loss owns, such as the classifier of a softmax loss, is trained like the encoder: the library neither writes it into
    checkpoints nor averages its gradients over processes.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.accelerator.num_processes > 1:
            for parameter in self.loss_parameters().values():
                parameter.data.copy_(broadcast(parameter.data))

    def loss_parameters(self) -> dict[str, nn.Parameter]:
        """The trainable parameters that the loss owns and the encoder does not have."""
        return loss_parameters(self.model, self.loss)

    def training_step(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        """The library's; gradients of what the loss owns are averaged over processes, as those of the encoder are."""
        loss = super().training_step(*args, **kwargs)
        if self.accelerator.num_processes > 1 and self.accelerator.sync_gradients:
            for parameter in self.loss_parameters().values():
                if parameter.grad is not None:
                    parameter.grad.copy_(self.accelerator.reduce(parameter.grad, reduction="mean"))
        return loss

    def _save_checkpoint(self, model: nn.Module, trial: Any) -> None:
        # before the library's files: a checkpoint counts as complete by what is written last
        if self.is_world_process_zero() and (owned := self.loss_parameters()):
            folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
            folder.mkdir(parents=True, exist_ok=True)
            save_owned(owned, folder / LOSS_WEIGHTS)
        super()._save_checkpoint(model, trial)

    def _load_from_checkpoint(self, checkpoint_path: str) -> None:
        super()._load_from_checkpoint(checkpoint_path)
        load_owned(self.loss_parameters(), Path(checkpoint_path) / LOSS_WEIGHTS)

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """Adds none: it writes raw training texts into every README. `modeling.base.cards` writes ours."""

    def compute_loss(self, model: nn.Module, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """The library's, with batches embedded in chunks where that pays."""
        if self.model.device.type != "cpu":
            return super().compute_loss(model, inputs, *args, **kwargs)
        with embedding_in_chunks(self.model, tokens=not getattr(self.loss, "sentence_embeddings_only", True)):
            return super().compute_loss(model, inputs, *args, **kwargs)

    def get_train_dataloader(self) -> DataLoader:
        """The library's; the epoch reaches the sampler also when a resumed run skips batches between processes.

        Otherwise the rest of a resumed epoch would be trained in the order of the first one.
        """
        loader = super().get_train_dataloader()
        shard = loader.batch_sampler
        if not hasattr(shard, "set_epoch"):
            shard.set_epoch = shard.batch_sampler.set_epoch
        return loader

    def _load_best_model(self) -> None:
        # the library's catches every error, and processes that do not write may read before the writer has finished
        self.accelerator.wait_for_everyone()
        self._load_from_checkpoint(self.state.best_model_checkpoint)


class ElapsedTime(TrainerCallback):
    """Keeps the seconds of training beside every checkpoint, so that a resumed run knows its whole time.

    Args:
        resume_from: The checkpoint at which the run continues, if any.
    """

    def __init__(self, resume_from: str | None = None) -> None:
        self.before = (read_json(Path(resume_from) / "elapsed.json") or 0.0) if resume_from else 0.0
        self.started = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds of this and all earlier sessions."""
        return self.before + time.perf_counter() - self.started

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Called by the trainer after it has written a checkpoint."""
        if state.is_world_process_zero:
            write_json(Path(args.output_dir) / f"checkpoint-{state.global_step}" / "elapsed.json", self.seconds)
