"""sentence-transformers' trainer, with what many processes and interruptions need."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from sentence_transformers import SentenceTransformerTrainer
from torch import nn
from torch.utils.data import DataLoader
from transformers import TrainerCallback

from modeling.batching import embedding_in_chunks
from modeling.files import read_json, write_json


class Trainer(SentenceTransformerTrainer):
    """The library's trainer with less padding, exact resumption, and without its card callback.

    A loss that reads more than sentence embeddings says so by an attribute `sentence_embeddings_only = False`.
    """

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """Adds none: it writes raw training texts into every README. `modeling.cards` writes ours."""

    def compute_loss(self, model: nn.Module, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """The library's, with batches embedded in chunks where that pays."""
        if self.model.device.type != "cpu" or not getattr(self.loss, "sentence_embeddings_only", True):
            return super().compute_loss(model, inputs, *args, **kwargs)
        with embedding_in_chunks(self.model):
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
