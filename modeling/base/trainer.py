"""Names that the counter-argument baselines still import; they lie in `modeling.base.training`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from dataset_scripts.base.files import read_json, write_json
from modeling.base.training import LOSS_WEIGHTS, Trainer, loss_parameters

__all__ = ["LOSS_WEIGHTS", "ElapsedTime", "Trainer", "loss_parameters"]


class ElapsedTime(TrainerCallback):
    """Keeps the seconds of training beside every checkpoint, so that a resumed run knows its whole time."""

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
