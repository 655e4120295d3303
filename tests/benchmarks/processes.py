"""Time and memory of a function and of all processes that it starts."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import psutil

PERIOD = 0.2  # seconds between two looks at the memory


@dataclass
class Measured:
    """What a function returned, and what it took.

    Attributes:
        value: What it returned.
        peak: Bytes in memory, the most at any look, all processes together; pages that several share count once.
        largest: The most that any of the processes below it had.
    """

    value: Any
    peak: int
    largest: int


def measured(function: Callable[..., Any], *arguments: Any) -> Measured:
    """Calls a function of a module in a fresh process and looks at the memory of that and all below it."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        process = psutil.Process(pool.submit(os.getpid).result())
        done, peak, largest = threading.Event(), 0, 0

        def look() -> None:
            nonlocal peak, largest
            while not done.wait(PERIOD):
                found = [memory(each) for each in tree(process)]
                peak, largest = max(peak, sum(found)), max(largest, *found[1:], 0)

        watch = threading.Thread(target=look)
        watch.start()
        try:
            return Measured(pool.submit(function, *arguments).result(), peak, largest)
        finally:
            done.set()
            watch.join()


class Beside:
    """Calls a function in a process of its own while the block runs; its last argument is the event that ends it.

    Attributes:
        value: What it returned, after the block.
    """

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.value: Any = None
        self._call = function, arguments

    def __enter__(self) -> Beside:
        context = multiprocessing.get_context("spawn")
        self._manager = context.Manager()
        self._stop = self._manager.Event()
        self._pool = ProcessPoolExecutor(1, mp_context=context)
        function, arguments = self._call
        self._future = self._pool.submit(function, *arguments, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self.value = self._future.result()
        self._pool.shutdown()
        self._manager.shutdown()


def memory(process: psutil.Process) -> int:
    """Bytes that a process has in memory, its part of shared pages where the system tells; 0 if it has ended."""
    try:
        info = process.memory_full_info()
    except psutil.Error:
        return 0
    return getattr(info, "pss", info.rss)


def tree(process: psutil.Process) -> list[psutil.Process]:
    """A process and all below it."""
    try:
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []


class Clock:
    """Seconds of the processor that this process and all below it have used since the last call.

    Those that ended between two calls are known by what their parents waited for.
    """

    def __init__(self) -> None:
        self._before = self._used()

    def lap(self) -> float:
        """Seconds since the last call, or since the beginning."""
        before, self._before = self._before, self._used()
        return self._before - before

    @staticmethod
    def _used() -> float:
        total = 0.0
        for process in tree(psutil.Process()):
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            total += times.user + times.system + times.children_user + times.children_system
        return total
