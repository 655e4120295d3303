"""Who competes: the points of a split, its distinct texts, the four settings of candidates, and who comes first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from copy import copy

import numpy as np
import pandas as pd

SETTINGS = {
    "sdoc": "counters in the same debate of the side opposite to the point",
    "sda": "all arguments of the same debate",
    "epc": "all counters of the portal",
    "epa": "all arguments of the portal",
}
NONE = -1  # in a shortlist, where there is no candidate


class Points:
    """What asks, and what is right."""

    texts: list[str]  # distinct; m of them
    points: np.ndarray  # indices in `texts` of what asks, shape (n,)
    answers: list[frozenset[int]]  # those of what is right for each of them

    def __len__(self) -> int:
        return len(self.points)

    def of(self, setting: str) -> list[np.ndarray]:
        """The candidates of each point in one of `SETTINGS`: n arrays of indices in `texts`, ascending."""
        raise NotImplementedError

    def hits(self, texts: np.ndarray) -> np.ndarray:
        """Whether texts are answers, row by row: bools of the shape of their indices, (n,) or (n, K)."""
        return np.array([np.isin(row, list(own)) for row, own in zip(texts, self.answers, strict=True)])


class Candidates(Points):
    """Points and what is ranked for each of them (Wachsmuth et al., 2018, section 4).

    The rows are those of `dataset_scripts.base.schema.COUNTERS`, one per point and counter. Identical texts are one
    candidate, and a point is none for itself. A point that occurs with several counters has all of them as answers.

    Beside those of `Points` it has `counters` (indices in `texts`, shape (n,)), `groups` of debates, `conclusions` and
    `premises` of the points, some empty, and `seen`: whether an earlier split of the same corpus has the point, shape
    (n,) of bool.
    """

    def __init__(self, rows: Mapping[str, Sequence[str]]) -> None:
        if not len(rows["point"]):
            raise ValueError("there are no points to rank counter-arguments for")
        self.texts = list(dict.fromkeys([*rows["point"], *rows["counter"]]))
        number = {text: index for index, text in enumerate(self.texts)}
        points, counters = ([number[text] for text in rows[column]] for column in ("point", "counter"))
        pairs = list(zip(points, counters, strict=True))
        self.points, self.counters = np.array(points), np.array(counters)
        self.conclusions, self.premises, self.groups = (list(rows[n]) for n in ("conclusion", "premises", "group"))
        self.seen = np.array([bool(split) for split in rows["seen_in"]])
        debates = list(zip(rows["theme"], rows["debate"], strict=True))
        sides = list(zip(debates, rows["stance"], strict=True))  # a counter takes the side opposite to its row's point
        keys = {"sdoc": sides, "sda": debates, "epc": [None] * len(pairs), "epa": [None] * len(pairs)}
        alone = [pair[1:] for pair in pairs]
        self.answers = [frozenset(own.tolist()) for own in _pools(points, alone)]
        self._pools = {name: _pools(keys[name], alone if name in ("sdoc", "epc") else pairs) for name in SETTINGS}

    def of(self, setting: str) -> list[np.ndarray]:
        return [pool[pool != point] for pool, point in zip(self._pools[setting], self.points, strict=True)]

    def take(self, numbers: np.ndarray) -> Candidates:
        """The same with some of the points only; the candidates stay those of all."""
        taken = copy(self)
        for name in ("points", "counters", "seen"):
            setattr(taken, name, getattr(self, name)[numbers])
        for name in ("conclusions", "premises", "groups", "answers"):
            setattr(taken, name, [getattr(self, name)[number] for number in numbers])
        taken._pools = {setting: [pools[number] for number in numbers] for setting, pools in self._pools.items()}
        return taken


class Opinions(Points):
    """Short opinions, and what is ranked for each of them: the other texts for and against the same statement.

    Statements count for which there are at least two texts of either side, so that each text has one of its own side
    and two of the other among its candidates. A text that is on both sides of a statement is left out. The rows are of
    `dataset_scripts.base.schema.FAMILIES`; of a seeded sample of `limit` opinions all candidates stay.

    Of the candidates `answers` are on the other side. Beside the attributes of `Points` it has `groups`, the debate of
    each opinion, a number from 0, shape (n,).
    """

    def __init__(self, rows: Mapping[str, Sequence], limit: int | None = None) -> None:
        frame = pd.DataFrame({name: rows[name] for name in ("group", "statement", "text", "side")}).drop_duplicates()
        statement = ["group", "statement"]
        frame = frame[~frame.duplicated([*statement, "text"], keep=False)]
        of_side = frame.groupby(statement)["side"]
        frame = frame[np.minimum(of_side.transform("sum"), of_side.transform("size") - of_side.transform("sum")) >= 2]
        if frame.empty:
            raise ValueError("there is no statement with two texts of either side")
        frame = frame.assign(family=frame.groupby(statement).ngroup())
        asked = frame.iloc[sample(len(frame), limit)]
        frame = frame[frame["family"].isin(asked["family"])]
        numbers, texts = pd.factorize(frame["text"])
        frame, self.texts = frame.assign(number=numbers), texts.tolist()
        self.points, self.groups = frame["number"][asked.index].to_numpy(), pd.factorize(asked["group"])[0]
        families = dict(list(frame.groupby("family")))
        self._pools: list[np.ndarray] = []
        self.answers = []
        for row in asked.itertuples():
            others = families[row.family].query("text != @row.text")
            self._pools.append(others["number"].to_numpy())
            self.answers.append(frozenset(others["number"][others["side"] != row.side]))

    def of(self, setting: str) -> list[np.ndarray]:
        return self._pools


def sample(count: int, most: int | None) -> np.ndarray:
    """Numbers of points in ascending order: all, or a seeded sample, of which a larger one has all of a smaller."""
    if most is None or most >= count:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).permutation(count)[:most])


def shortlist(scores: np.ndarray, pools: Sequence[np.ndarray], size: int) -> tuple[np.ndarray, np.ndarray]:
    """The K candidates with the highest scores, in descending order; of equal ones the first in `Candidates.texts`.

    Of scores of each point and text, shape (n, m), and the points' candidates (`Candidates.of`) it gives indices of
    texts and their scores, shapes (n, K); `NONE` and -inf where a point has fewer than K candidates.
    """
    indices = np.full((len(pools), size), NONE, np.int64)
    values = np.full((len(pools), size), -np.inf, np.float32)
    for row, pool in enumerate(pools):
        own = scores[row, pool]
        near = np.arange(len(pool))
        if len(pool) > size:  # among ties at the border, the stable sort below has to see all
            near = np.flatnonzero(own >= np.partition(own, -size)[-size])
        order = near[np.argsort(-own[near], kind="stable")][:size]
        indices[row, : len(order)], values[row, : len(order)] = pool[order], own[order]
    return indices, values


def reranked(candidates: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The best of each shortlist by other scores, (n, K) twice -> (n,); of equal ones the one retrieved first."""
    first = np.where(candidates == NONE, -np.inf, scores).argmax(axis=1)
    return candidates[np.arange(len(candidates)), first]


def _pools(keys: list, members: list[tuple[int, ...]]) -> list[np.ndarray]:
    """For each row the members of all rows with its key, ascending; rows of one key share the array."""
    pools = defaultdict(set)
    for key, texts in zip(keys, members, strict=True):
        pools[key].update(texts)
    arrays = {key: np.array(sorted(pool)) for key, pool in pools.items()}
    return [arrays[key] for key in keys]
