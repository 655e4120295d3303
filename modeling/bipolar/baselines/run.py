"""Ranks for every row and split that were asked for, and gathers the figures."""

from __future__ import annotations

import argparse
from importlib.metadata import version
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from dataset_scripts.base.sources import source_name
from modeling.base.results import environment
from modeling.bipolar.baselines.cells import Cell, Cells
from modeling.bipolar.baselines.costs import Cost
from modeling.bipolar.baselines.data import Split, load, sample
from modeling.bipolar.baselines.figures import figures, predicted, recall
from modeling.bipolar.baselines.models import BIPOLAR, load_models
from modeling.bipolar.baselines.paper import CORPUS, figure
from modeling.bipolar.baselines.ranking import reranked
from modeling.bipolar.baselines.rerank import ClassificationHead, PairScores, Reranker
from modeling.bipolar.baselines.retrieval import BM25, Cosine, RetrievalHead, Retriever
from modeling.bipolar.baselines.rows import FEATURES, FUSED, WORDS, Row, expand, model_labels
from modeling.bipolar.candidates import SETTINGS

PACKAGES = ("bm25s", "scikit-learn", "xgboost-cpu", "POT")


class Runner:
    """Everything that a command line asks for, loaded and checked.

    Args:
        arguments: See `modeling.bipolar.baselines.__main__`.

    Raises:
        ValueError: If data, models or libraries are missing or do not fit.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments, self.root = arguments, arguments.cache_dir
        self.folder = arguments.cache_dir / "counterarguments"
        self.splits = [load(arguments.data, name, arguments.evaluate_on, self.root) for name in arguments.split]
        self.labels = model_labels(arguments.models)
        self.rows = expand(arguments.rows, arguments.models, self.labels)
        if any(row.retriever == FEATURES for row in self.rows):
            from modeling.bipolar.baselines.features import check_libraries

            check_libraries()
        self._train: dict[str, Split] = {}
        self._features: dict[str, Any] = {}
        for split in self.splits:  # so that training data that are missing are known now
            if any(row.retriever == FEATURES and row.key != "simple-sd" for row in self.rows):
                self.train(split.name)
        words = BM25() if any(row.retriever == WORDS for row in self.rows) else None
        self.parts = self._parts(words)
        self.cells = Cells(self.folder, max(arguments.shortlists))

    def _parts(self, words: BM25 | None) -> dict[tuple[str, str, bool], Retriever | Reranker]:
        """(option, source, whether it re-ranks) -> what ranks."""
        vectors, parts = self.folder / "vectors", {}
        for (option, source), model in load_models(self.arguments.models).items():
            label = self.labels[source]
            if option == "cross_encoder":
                parts[option, source, True] = PairScores(model, label, self.folder / "pairs")
            elif option in BIPOLAR:
                parts[option, source, False] = RetrievalHead(model, label, vectors)
                parts[option, source, True] = ClassificationHead(model, label, vectors)
            else:
                parts[option, source, False] = Cosine(model, label, vectors)
        return parts | {(WORDS, "", False): words}

    def train(self, name: str) -> Split:
        """What models are learned from that rank for a split."""
        name = "clean" if self.arguments.train_split == "clean" else name
        if name not in self._train:
            self._train[name] = load(self.arguments.data, name, "train", self.root)
        return self._train[name]

    def features(self, split: Split) -> Any:
        """What ranks by features for a split."""
        from modeling.bipolar.baselines.feature_rows import FeatureRows

        if split.name not in self._features:
            keys = [row.key for row in self.rows if row.retriever == FEATURES]
            points = sample(len(split.candidates), self.arguments.max_points)
            self._features[split.name] = FeatureRows(split, points, lambda: self.train(split.name), keys, self.root)
        return self._features[split.name]

    def part(self, row: Row, option: str, reranks: bool) -> Any:
        """What retrieves or re-ranks for a row."""
        return self.parts[option, row.sources.get(option, ""), reranks]

    def rank(self, row: Row, split: Split) -> dict[str, Any]:
        """Predictions and facts of a row on a split.

        Returns:
            `points`: numbers of the points, shape (r,); `best`: measure -> texts, shape (r,); `recall`: K -> share of
            points, None where there is no shortlist; `cost`, `counts`, `notes`, `devices`.
        """
        if row.retriever == FEATURES:
            return self._by_features(row, split)
        retriever = self.part(row, row.retriever, False)
        retrieved = self.cells.retrieved(retriever, split)
        points, notes, cells = np.arange(len(split.candidates)), [], [retrieved]
        if not row.reranker:
            best = {setting: retrieved.arrays[f"best_{setting}"] for setting in SETTINGS}
        else:
            reranker = self.part(row, row.reranker, True)
            points = sample(len(points), self.arguments.max_points) if reranker.slow else points
            cells.append(self.cells.reranked(reranker, retriever, split, points))
            listed, scores = retrieved.arrays["shortlist"][points], cells[1].arrays["scores"]
            if row.joined == FUSED:
                weight = reranker.model.heads.fusion_weight
                if weight is None:
                    notes = ["the model has no weight that joins its scores: the classifier ranks alone"]
                else:
                    notes = [f"retrieval similarity + {weight:g} x log-odds"]
                    scores = retrieved.arrays["scores"][points] + weight * scores
            best = {f"@1/{k}": reranked(listed[:, :k], scores[:, :k]) for k in self.arguments.shortlists}
        listed = retrieved.arrays["shortlist"][points]
        found = self._found(points, best, cells) | {"notes": notes}
        return found | {"recall": recall(split, points, listed, self.arguments.shortlists)}

    def _by_features(self, row: Row, split: Split) -> dict[str, Any]:
        points, rankers = sample(len(split.candidates), self.arguments.max_points), self.features(split)
        cells = {
            setting: self.cells.by_features(
                rankers.key(row.key), lambda setting=setting: rankers.best(row.key, setting), split, setting, points
            )
            for setting in SETTINGS
        }
        best = {setting: cell.arrays["best"] for setting, cell in cells.items()}
        found = self._found(points, best, list(cells.values()))
        found["counts"] = {setting: cell.counts for setting, cell in cells.items() if any(cell.counts.values())}
        notes = {f"{cell.note} ({setting})" for setting, cell in cells.items() if cell.note}
        return found | {"notes": sorted(notes), "recall": None}

    def _found(self, points: np.ndarray, best: dict[str, np.ndarray], cells: list[Cell]) -> dict[str, Any]:
        steps = {step: cost for cell in cells for step, cost in cell.costs.items()}
        cost = sum(steps.values(), Cost())
        counts = {what: number for cell in cells for what, number in cell.counts.items()}
        devices = list(dict.fromkeys(cell.device for cell in cells))
        return {"points": points, "best": best, "cost": cost, "counts": counts, "notes": [], "devices": devices}


def evaluate(arguments: argparse.Namespace) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Ranks, row after row.

    Returns:
        The facts that the tables are written from; and the predictions, one for a row, split, measure and point.

    Raises:
        ValueError: See `Runner`.
    """
    runner = Runner(arguments)
    printed = CORPUS in source_name(arguments.data).lower() and arguments.evaluate_on == "test"
    measures = [*SETTINGS, *(f"@1/{k}" for k in arguments.shortlists)]
    rows, predictions = [], []
    todo = [row for row in runner.rows if row.sources is not None or not row.options]
    with tqdm(total=len(todo) * len(runner.splits), unit="row") as bar:
        for row in runner.rows:
            facts: dict[str, Any] = {
                "id": row.id, "key": row.key, "name": row.heading, "retriever": row.retriever,
                "reranker": row.reranker, "models": {o: runner.labels[s] for o, s in (row.sources or {}).items()},
                "paper": {m: value for m in measures if printed and (value := figure(row.key, m)) is not None},
                "splits": {},
            }  # fmt: skip
            for split in runner.splits if row in todo else []:
                bar.set_description(f"{row.heading}, {split.name}")
                found = runner.rank(row, split)
                facts["splits"][split.name] = figures(split, found)
                predictions += predicted(row.id, split, found)
                bar.update()
            rows.append(facts)
    results = {
        "data": source_name(arguments.data),
        "evaluated_on": arguments.evaluate_on,
        "splits": {split.name: split.facts() for split in runner.splits},
        "shortlists": list(arguments.shortlists),
        "max_points": arguments.max_points,
        "train_split": arguments.train_split,
        "paper": printed,
        "rows": rows,
        "environment": environment() | {name: found for name in PACKAGES if (found := _version(name))},
    }
    return results, predictions


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError

    try:
        return version(package)
    except PackageNotFoundError:
        return None
