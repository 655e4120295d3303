"""Evaluators: similarities in, the numbers of `metrics/` out, a picture of both; and the loop over models."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm, pearsonr, spearmanr
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.evaluation import BaseEvaluator
from sklearn.metrics import roc_auc_score

from dataset_scripts.base.sources import source_name
from modeling.base.plots import densities
from modeling.base.vectors import pair_similarities

logger = logging.getLogger(__name__)
AUROC = "0.5 where the groups do not come apart, 1 where they do so fully"


class Evaluator(BaseEvaluator):
    """A sentence-transformers evaluator that a model card can describe and plot.

    Building one is cheap: nothing is embedded before `scores`. `name` is the prefix of its metrics, `title` what it
    measures, in words, `dataset` the name of the data for people, `dataset_id` its Hub id or short name.
    """

    rows: int = 0  # that are measured
    headline: tuple[str, ...] = ()  # keys of metrics for the tables of cards and runs, the most important first
    measures: Mapping[str, str] = {}  # key of a metric -> what it means, of all that help to read a table with room

    def __init__(self, name: str, title: str, dataset: str, dataset_id: str) -> None:
        super().__init__()
        self.name, self.title, self.dataset, self.dataset_id = name, title, dataset, dataset_id
        self.primary_metric = f"{name}_{self.headline[0]}"

    def __call__(self, model: SentenceTransformer, *args: Any, **kwargs: Any) -> dict[str, float | int | None]:
        return self.prefixed(self.metrics(self.scores(model)))

    def prefixed(self, of_keys: Mapping[str, Any]) -> dict[str, Any]:
        """What belongs to metric keys, with this evaluator's name in front of them."""
        return {f"{self.name}_{key}": value for key, value in of_keys.items()}

    @abstractmethod
    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> Any:
        """What metrics and plot are computed from; slow. None where the rows have nothing to measure.

        Vectors of a model that does not change are kept in the folder `cache`.
        """

    @abstractmethod
    def metrics(self, scores: Any) -> dict[str, float | int | None]:
        """The metrics of scores, without prefix; None where there is nothing to compute one from."""

    def intervals(self, scores: Any) -> dict[str, tuple[float, float]]:
        """Metric key (without prefix) -> the ends of its 95 % interval, of those that have one."""
        return {}

    def note(self, scores: Any) -> str:
        """The most important metric with its interval, for the panel of a model."""
        key = self.headline[0]
        value, ends = self.metrics(scores)[key], self.intervals(scores).get(key)
        name = "AUROC" if key == "auroc" else key.replace("_", " ")
        text = f"{name} -" if value is None else f"{name} {value:.3f}"
        return text + (f" ({ends[0]:.3f} to {ends[1]:.3f})" if ends else "")

    def draw(self, scores: dict[str, Any], path: Path) -> str | None:
        """Draws the scores of models (label -> scores); returns a caption, or None if there is nothing to draw."""
        return None


class PairEvaluator(Evaluator):
    """Cosines of pairs, `sentence1` and `sentence2` of the rows, that belong to named groups."""

    groups: tuple[str, ...] = ()  # names of the labels 0, 1, ..., from least similar to most similar
    target = "label"  # column of the labels
    prefix = "pairs"  # its name, unless it gets another

    def __init__(self, rows: Mapping[str, Sequence], name: str | None = None, **facts: str) -> None:
        super().__init__(name or self.prefix, **facts)
        self.columns = [texts(rows, column, self.dataset) for column in ("sentence1", "sentence2")]
        self.labels = np.asarray(rows[self.target])
        self.rows = len(self.labels)

    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> np.ndarray:
        """Cosines, shape (rows,)."""
        return pair_similarities(model, self.columns, cache)[0]

    def by_group(self, scores: Any) -> dict[str, np.ndarray]:
        """Group -> its cosines."""
        return {group: scores[self.labels == index] for index, group in enumerate(self.groups)}

    def intervals(self, scores: Any) -> dict[str, tuple[float, float]]:
        """That of AUROC, of the last group against the first, where it is one of the measures."""
        outer = [scores[self.labels == label] for label in (0, len(self.groups) - 1)]
        sizes = [len(each) for each in outer]
        if "auroc" not in self.measures or not all(sizes):
            return {}
        return {"auroc": auroc_interval(np.concatenate(outer), np.repeat([0, 1], sizes))[1:]}

    def draw(self, scores: dict[str, Any], path: Path) -> str | None:
        if not self.groups:
            return None
        groups = {label: self.by_group(values) for label, values in scores.items()}
        notes = {label: self.note(values) for label, values in scores.items()}
        densities(groups, path, f"{self.dataset}: {self.title}", notes)
        return f"Cosine similarity of {self.title}, by model: {', '.join(scores)} ({self.dataset})."


class SimilarityEvaluator(PairEvaluator):
    """Correlation of cosine and human judgement, the column `score`: the similarity that fine-tuning may forget."""

    headline = ("spearman",)
    measures = {
        "spearman": "agreement with people's judgement, in the order of pairs",
        "pearson": "agreement with people's judgement, linear in their score",
    }
    target = "score"
    prefix = "similarity"

    def metrics(self, scores: np.ndarray) -> dict[str, float]:
        judgements = self.labels.astype(float)
        return {
            "spearman": float(spearmanr(scores, judgements).statistic),
            "pearson": float(pearsonr(scores, judgements).statistic),
        }


def evaluate_models(
    evaluators: Sequence[Evaluator],
    models: Mapping[str, SentenceTransformer],
    caches: Mapping[str, Path],
    folder: Path | None,
) -> list[dict[str, Any]]:
    """Evaluates models, label -> encoder, and draws plots into `plots/` of a folder, if there is one.

    What has nothing to measure is left out; vectors are kept in the folder that `caches` has for a label. Returns facts
    per evaluator, for JSON, with full metric names; `figures` are label -> metric -> value, `intervals` of two ends.
    """
    evaluations = []
    for each in evaluators:
        scores = {}
        for label, model in models.items():
            logger.info("measuring %s of %s on %s", each.name, label, each.dataset)
            scores[label] = each.scores(model, caches[label])
        if any(values is None for values in scores.values()):
            logger.info("%s is left out: %s has no rows for it", each.name, each.dataset)
            continue
        facts = {key: getattr(each, key) for key in ("name", "title", "dataset", "dataset_id", "rows")}
        facts["headline"] = [f"{each.name}_{key}" for key in each.headline]
        facts["measures"] = each.prefixed(each.measures)
        facts["figures"] = {label: each.prefixed(each.metrics(values)) for label, values in scores.items()}
        facts["intervals"] = {label: each.prefixed(each.intervals(values)) for label, values in scores.items()}
        facts["plot"] = f"plots/{each.name}.png"
        facts["caption"] = each.draw(scores, folder / facts["plot"]) if folder else None
        evaluations.append(facts)
    return evaluations


def of_source(source: str | Sequence[str], split: str) -> dict[str, str]:
    """The `dataset` and `dataset_id` of an evaluator on a split of a source, or of several."""
    name = ", ".join(map(source_name, [source] if isinstance(source, str) else source))
    return {"dataset": f"{name} ({split})", "dataset_id": name}


def texts(rows: Mapping[str, Sequence], column: str, dataset: str) -> list[str]:
    """A column of the texts to evaluate on; a ValueError if there is none, or a row has no text in it."""
    columns = list(getattr(rows, "column_names", rows))
    if column not in columns:
        raise ValueError(f"{dataset}: there is no column {column!r}; it has {', '.join(columns)}")
    values = list(rows[column])
    if missing := [row for row, text in enumerate(values) if not isinstance(text, str)]:
        raise ValueError(
            f"{dataset}, row {missing[0]}: {column} is {values[missing[0]]!r}, no text ({len(missing):,} such rows): "
            "take them out of the data, or build it again with opinion corpus build"
        )
    return values


def auroc_interval(scores: np.ndarray, labels: np.ndarray) -> tuple[float, float, float]:
    """AUROC and the ends of its 95 % interval, which stays in [0, 1] and is never a point.

    Of `scores`, shape (n,), and `labels`, shape (n,), true or 1 for what should score higher; some of both.

    Source: Newcombe (2006), "Confidence intervals for an effect size measure based on the Mann-Whitney statistic",
    method 5: the values whose own standard error (Hanley and McNeil, 1982) makes the one that was found likely.
    """
    labels = np.asarray(labels, bool)
    auroc, ones, zeros = float(roc_auc_score(labels, scores)), int(labels.sum()), int((~labels).sum())
    half, quantile = (ones + zeros) / 2 - 1, norm.ppf(0.975)

    def beyond(true: float) -> float:
        inner = 1 + half * ((1 - true) / (2 - true) + true / (1 + true))
        return (true - auroc) ** 2 - quantile**2 * true * (1 - true) * inner / (ones * zeros)

    low = brentq(beyond, 0, min(auroc, 1 - 1e-9)) if auroc > 0 else 0.0
    high = brentq(beyond, max(auroc, 1e-9), 1) if auroc < 1 else 1.0
    return auroc, float(low), float(high)


def of_another_group(groups: np.ndarray, seed: int) -> np.ndarray:
    """For each row the number of a random row of another group; of each row's group, shape (n,), two at least."""
    order = np.argsort(groups, kind="stable")
    starts, sizes = np.searchsorted(groups[order], groups), np.bincount(groups)[groups]
    # a place among the rows of other groups: those that lie after the own group's are moved behind it
    place = (np.random.default_rng(seed).random(len(groups)) * (len(groups) - sizes)).astype(np.int64)
    return order[np.where(place >= starts, place + sizes, place)]
