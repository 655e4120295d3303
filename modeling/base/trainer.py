"""sentence-transformers' trainer, with what many processes and interruptions need, and checkpoints one can trust."""

from __future__ import annotations

import hashlib
import logging
import shutil
import time
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import broadcast
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformerTrainer
from torch import nn
from torch.utils.data import DataLoader

from dataset_scripts.base.files import read_json, write_json
from modeling.base.batches import embedding_in_chunks

logger = logging.getLogger(__name__)
LOSS_WEIGHTS = "loss.safetensors"
COMPLETE = "complete.json"  # of a checkpoint, written last: seconds of training so far, and digests of its files


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
