"""What computing cost: seconds, and memory at its peak."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
import torch
from torch import nn

from dataset_scripts.base.files import read_json, write_json

MEMORY = ("MB: the most that the process held while the row was computed above what it held before, with the "
          "weights of its models")  # fmt: skip


@dataclass(frozen=True)
class Cost:
    """Seconds, and bytes: `peak` above the beginning, which of parts one after the other is the larger; and `weights`
    of the models, which add up."""

    seconds: float = 0.0
    peak: int = 0
    weights: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.seconds + other.seconds, max(self.peak, other.peak), self.weights + other.weights)

    @property
    def memory(self) -> int:
        """Bytes."""
        return self.peak + self.weights


# name of a step -> what it cost; steps that two parts of a row share are counted once
Costs = dict[str, Cost]


def weights(model: nn.Module, key: str) -> Costs:
    """Bytes of a model's parameters and buffers; `key` tells models apart."""
    size = sum(each.numel() * each.element_size() for each in [*model.parameters(), *model.buffers()])
    return {f"weights of {key}": Cost(weights=size)}


class Meter:
    """Seconds and peak memory of a block; after it `cost` has both."""

    def __enter__(self) -> Meter:
        self.begin, self._held = time.perf_counter(), _reset_peak()
        return self

    def __exit__(self, *_: object) -> None:
        self.cost = Cost(time.perf_counter() - self.begin, max(0, _peak() - self._held))


@contextmanager
def metered(path: Path) -> Iterator[None]:
    """Adds the cost of a block to what the file has of it, also if the block is interrupted and goes on later."""
    meter = Meter()
    try:
        with meter:
            yield
    finally:
        write_json(path, asdict(read_cost(path) + meter.cost))


def read_cost(path: Path) -> Cost:
    """The cost in a file; none where there is no file."""
    return Cost(**(read_json(path) or {}))


def _reset_peak() -> int:
    """Begins a new high-water mark where the system can (Linux); returns what the process holds, in bytes."""
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return _peak()  # the mark of the whole process: what the block adds to it
    return psutil.Process().memory_info().rss + _on_gpu()


def _peak() -> int:
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        held = 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
    except (OSError, StopIteration):
        import resource  # Windows has none

        mark = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        held = mark if sys.platform == "darwin" else 1024 * mark
    return held + _on_gpu()


def _on_gpu() -> int:
    return torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0
