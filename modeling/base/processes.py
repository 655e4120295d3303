"""How many processes train together, and whether they are as many as were asked for."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import torch
from accelerate import PartialState

PATIENCE = timedelta(days=1)  # one process may embed or evaluate a corpus while the others wait


def process_state() -> PartialState:
    """The state of the process group.

    Without the flag for CPUs, processes that torchrun starts on a machine without an accelerator each believe to be
    alone, and all of them write the same files.
    """
    return PartialState(cpu=not torch.accelerator.is_available(), timeout=PATIENCE)


def check_world_size(asked: int | None) -> int:
    """Makes sure that as many processes run as were asked for.

    `accelerate launch --cpu --num_processes N` runs a single process without saying so.

    Args:
        asked: Number of processes; None takes what the launcher was told.

    Returns:
        The number of processes.

    Raises:
        ValueError: If another number of processes runs; the message names the command that works.
    """
    running = process_state().num_processes
    asked = asked or _asked_of_launcher()
    if asked is not None and asked != running:
        raise ValueError(
            f"{asked} processes were asked for but {running} run(s). On CPUs start them with "
            f"torchrun --nproc_per_node {asked} train.py ..."
        )
    return running


def _asked_of_launcher() -> int | None:
    """The number given to torchrun, or to the `accelerate launch` that started this process (Linux tells)."""
    if "WORLD_SIZE" in os.environ:
        return int(os.environ["WORLD_SIZE"])
    try:
        words = Path(f"/proc/{os.getppid()}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return None
    if "launch" not in words:
        return None
    for position, word in enumerate(words):
        name, _, value = word.replace("-", "_").partition("=")
        if name == "__num_processes":
            value = value or words[position + 1]
            return int(value) if value.isdigit() else None
    return None
