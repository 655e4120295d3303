"""Samples of pairs that use every item about equally often and need no chance."""

from __future__ import annotations

import math
from collections.abc import Iterator


def within(items: list[str], limit: int) -> Iterator[tuple[str, str]]:
    """Up to `limit` different pairs of one list, every item about equally often: neighbours, then every second ..."""
    size = len(items)
    for n in range(min(limit, size * (size - 1) // 2)):
        yield items[n % size], items[(n + 1 + n // size) % size]


def across(first: list[str], second: list[str], limit: int) -> Iterator[tuple[str, str]]:
    """Up to `limit` different pairs across two lists, every item of a list about equally often."""
    period = math.lcm(len(first), len(second))
    for n in range(min(limit, len(first) * len(second))):
        # both lists in step, shifted by one whenever the step would begin again
        yield first[n % len(first)], second[(n + n // period) % len(second)]
