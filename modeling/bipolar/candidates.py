"""Who competes: the points of a split, its distinct texts, and the four settings of candidates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property

import numpy as np

SETTINGS = {
    "sdoc": "counters in the same debate of the side opposite to the point",
    "sda": "all arguments of the same debate",
    "epc": "all counters of the portal",
    "epa": "all arguments of the portal",
}


class Candidates:
    """Points and what is ranked for each of them (Wachsmuth et al., 2018, section 4).

    Identical texts are one candidate, and a point is no candidate for itself. A point that occurs with several counters
    has all of them as answers.

    Args:
        rows: Columns of `dataset_scripts.base.schema.COUNTERS`, one row per point and counter.

    Attributes:
        texts: The distinct texts, points and counters; m of them.
        points: Index in `texts` of the point of each row, shape (n,).
        counters: That of its counter, shape (n,).
        conclusions: Its conclusion, n texts, some empty.
        premises: Its premises, n texts, some empty.
        answers: Indices in `texts` of its counters, n sets.
        seen: Whether an earlier split of the same corpus has the point, shape (n,) of bool.
    """

    def __init__(self, rows: Mapping[str, Sequence[str]]) -> None:
        numbers: dict[str, int] = {}
        points = [numbers.setdefault(text, len(numbers)) for text in rows["point"]]
        counters = [numbers.setdefault(text, len(numbers)) for text in rows["counter"]]
        if not points:
            raise ValueError("there are no points to rank counter-arguments for")
        self.texts = list(numbers)
        self.points = np.array(points)
        self.conclusions, self.premises = list(rows["conclusion"]), list(rows["premises"])
        self.seen = np.array([bool(split) for split in rows["seen_in"]])
        self.counters = np.array(counters)
        self._debates = [f"{theme}/{debate}" for theme, debate in zip(rows["theme"], rows["debate"], strict=True)]
        self._stances = list(rows["stance"])
        answers: dict[int, set[int]] = defaultdict(set)
        for point, counter in zip(points, counters, strict=True):
            answers[point].add(counter)
        self.answers = [frozenset(answers[point]) for point in points]

    def __len__(self) -> int:
        return len(self.points)

    def of(self, setting: str) -> list[np.ndarray]:
        """The candidates of each row in a setting: n arrays of indices in `texts`, ascending.

        Raises:
            ValueError: If the setting is none of `SETTINGS`.
        """
        if setting not in SETTINGS:
            raise ValueError(f"unknown setting {setting!r}; there are {', '.join(SETTINGS)}")
        if setting == "epa":
            pools = [self._everything] * len(self)
        elif setting == "epc":
            pools = [self._all_counters] * len(self)
        elif setting == "sda":
            pools = [self._of_debates[debate] for debate in self._debates]
        else:
            pools = [self._opposing[key] for key in zip(self._debates, self._stances, strict=True)]
        return [pool[pool != point] for pool, point in zip(pools, self.points, strict=True)]

    def take(self, numbers: np.ndarray) -> Candidates:
        """The same with some of the points only; the candidates stay those of all."""
        taken = copy(self)
        # computed from all points before these are fewer
        taken.__dict__ |= {
            name: getattr(self, name) for name in ("_everything", "_all_counters", "_of_debates", "_opposing")
        }
        taken.points, taken.counters, taken.seen = self.points[numbers], self.counters[numbers], self.seen[numbers]
        for name in ("conclusions", "premises", "answers", "_debates", "_stances"):
            setattr(taken, name, [getattr(self, name)[number] for number in numbers])
        return taken

    @cached_property
    def _everything(self) -> np.ndarray:
        return np.arange(len(self.texts))

    @cached_property
    def _all_counters(self) -> np.ndarray:
        return np.unique(self.counters)

    @cached_property
    def _of_debates(self) -> dict[str, np.ndarray]:
        members: dict[str, list[int]] = defaultdict(list)
        for debate, point, counter in zip(self._debates, self.points, self.counters, strict=True):
            members[debate] += [point, counter]
        return {debate: np.unique(found) for debate, found in members.items()}

    @cached_property
    def _opposing(self) -> dict[tuple[str, str], np.ndarray]:
        """(debate, stance of the point) -> counters; that of a point takes the other side."""
        members: dict[tuple[str, str], list[int]] = defaultdict(list)
        for debate, stance, counter in zip(self._debates, self._stances, self.counters, strict=True):
            members[debate, stance].append(counter)
        return {key: np.unique(found) for key, found in members.items()}
