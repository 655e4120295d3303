"""One ranking of one split, computed when it is asked for and kept on disk from then on, with what it cost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dataset_scripts.base.files import atomic_file
from modeling.base.results import device
from modeling.bipolar.baselines.costs import Cost, Costs, Meter
from modeling.bipolar.baselines.data import Split
from modeling.bipolar.baselines.ranking import Ranking, shortlist
from modeling.bipolar.baselines.rerank import Reranker
from modeling.bipolar.baselines.retrieval import Retriever
from modeling.bipolar.candidates import SETTINGS

VERSION = 1  # of what the cells hold: one more where the same models give other rankings


@dataclass
class Cell:
    """What was computed.

    Attributes:
        arrays: Name -> array.
        costs: What each step cost.
        counts: What was counted on the way.
        device: Where it was computed.
        note: What a reader has to know.
    """

    arrays: dict[str, np.ndarray]
    costs: Costs
    counts: dict[str, int]
    device: str = ""
    note: str = ""


class Cells:
    """Rankings by retrievers, re-rankers and features.

    Args:
        folder: Where they are kept.
        size: K of the longest shortlist.
    """

    def __init__(self, folder: Path, size: int) -> None:
        self.folder, self.size = folder, size

    def retrieved(self, retriever: Retriever, split: Split) -> Cell:
        """`best_SETTING` of shape (n,), and `shortlist` of shape (n, K) in epa."""

        def compute() -> Cell:
            scores, counts, costs = retriever.scores(split.candidates)
            arrays = {}
            with Meter() as meter:
                for setting in SETTINGS:
                    found, values = shortlist(scores, split.candidates.of(setting), self.size)
                    arrays[f"best_{setting}"] = found[:, 0]
                    if setting == "epa":
                        arrays |= {"shortlist": found, "scores": values}
            return Cell(arrays, costs | {f"order of {retriever.key}": meter.cost}, counts)

        return self._kept([retriever.key, split.digest, self.size], compute)

    def reranked(self, reranker: Reranker, retriever: Retriever, split: Split, rows: np.ndarray) -> Cell:
        """`scores` of the shortlists of some points, shape (r, K)."""

        def compute() -> Cell:
            listed = self.retrieved(retriever, split).arrays["shortlist"][rows]
            scores, costs = reranker.scores(split.candidates, split.digest, rows, listed)
            return Cell({"scores": scores}, costs, {})

        return self._kept([reranker.key, retriever.key, split.digest, self.size, len(rows)], compute)

    def by_features(self, key: str, rank: Callable[[], Ranking], split: Split, setting: str, rows: np.ndarray) -> Cell:
        """`best` of some points in a setting, shape (r,)."""

        def compute() -> Cell:
            with Meter() as meter:
                ranking = rank()
            return Cell({"best": ranking.best}, {f"{key} {setting}": meter.cost}, ranking.counts, note=ranking.note)

        return self._kept([key, split.digest, setting, len(rows)], compute)

    def _kept(self, key: list[Any], compute: Callable[[], Cell]) -> Cell:
        name = hashlib.sha256(json.dumps([VERSION, *key]).encode()).hexdigest()[:24]
        path = self.folder / f"{str(key[0]).split('-')[0]}-{name}.npz"
        if not path.is_file():
            cell = compute()
            costs = {step: asdict(cost) for step, cost in cell.costs.items()}
            facts = {"costs": costs, "counts": cell.counts, "device": device(), "note": cell.note}
            with atomic_file(path) as temporary, temporary.open("wb") as file:
                np.savez(file, facts=np.array(json.dumps(facts)), **cell.arrays)
        with np.load(path) as stored:
            arrays = {key: stored[key] for key in stored.files if key != "facts"}
            facts = json.loads(str(stored["facts"]))
        costs = {step: Cost(**cost) for step, cost in facts.pop("costs").items()}
        return Cell(arrays, costs, **facts)
