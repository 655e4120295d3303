"""Seeded splits by group, so that none has rows on both sides; samples of pairs that need no chance."""

import logging
import math
import random
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

logger = logging.getLogger(__name__)
SEED = 42
SPLITS = ("train", "validation", "test")
SPLIT_NAMES = {"train": "train", "dev": "validation", "test": "test"}  # as releases call them -> as we do
# the 9:1 split of Ghafouri et al. (2024, section 4.1) with the validation part taken from training
FRACTIONS = {"train": 0.85, "validation": 0.05, "test": 0.10}


def split_groups(groups: Iterable[str], fractions: dict[str, float] = FRACTIONS, seed: int = SEED) -> dict[str, str]:
    """Group -> its split, which depends on the set of groups and the seed alone; every split gets at least one group.

    The fractions, by split, are in (0, 1] and sum to 1; fewer groups than splits raise ValueError.
    """
    ordered = sorted(set(groups))
    if len(ordered) < len(fractions):
        raise ValueError(f"{len(ordered)} group(s) cannot be divided into {len(fractions)} splits: {list(fractions)}")
    random.Random(seed).shuffle(ordered)
    sizes = {name: max(1, round(share * len(ordered))) for name, share in fractions.items()}
    sizes[max(sizes, key=sizes.get)] += len(ordered) - sum(sizes.values())
    names = (name for name, size in sizes.items() for _ in range(size))
    return dict(zip(ordered, names, strict=True))


def split_or_train(groups: Collection[str], seed: int) -> dict[str, str]:
    """As `split_groups`; of fewer groups than splits all go to train, which is said."""
    if len(groups) >= len(FRACTIONS):
        return split_groups(groups, seed=seed)
    if groups:
        logger.warning("%d group(s) are too few for splits: all go to train", len(groups))
    return dict.fromkeys(groups, "train")


def linked_groups(keys: Sequence[Iterable[Hashable]]) -> list[int]:
    """The group of each item, from 0 in the order of its first one; those that share a key are of one group.

    Example:
        >>> linked_groups([["a", "b"], ["c"], ["b", "d"], ["d"]])
        [0, 1, 0, 0]
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    numbers: dict[Hashable, int] = {}
    edges = [(item, len(keys) + numbers.setdefault(key, len(numbers))) for item, of in enumerate(keys) for key in of]
    ends, size = np.array(edges, dtype=np.int64).reshape(-1, 2).T, len(keys) + len(numbers)
    graph = coo_array((np.ones(len(edges), dtype=np.int8), tuple(ends)), shape=(size, size))
    groups = connected_components(graph, directed=False)[1][: len(keys)].tolist()
    order = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    return [order[group] for group in groups]


def within(items: list[str], limit: int, ordered: bool = False) -> Iterator[tuple[str, str]]:
    """Up to `limit` different pairs of one list, every item about equally often: neighbours, then every second ...

    If `ordered`, (a, b) and (b, a) are two, and every item is about equally often in either place.
    """
    size = len(items)
    for n in range(min(limit, size * (size - 1) // (1 if ordered else 2))):
        yield items[n % size], items[(n + 1 + n // size) % size]


def across(first: list[str], second: list[str], limit: int) -> Iterator[tuple[str, str]]:
    """Up to `limit` different pairs across two lists, every item of a list about equally often."""
    period = math.lcm(len(first), len(second))
    for n in range(min(limit, len(first) * len(second))):
        # both lists in step, shifted by one whenever the step would begin again
        yield first[n % len(first)], second[(n + n // period) % len(second)]
