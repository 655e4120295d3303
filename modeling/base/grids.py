"""The finished points of a grid, runs that differ by their seed taken together; and the table of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isclose
from statistics import mean, stdev
from typing import Any

from dataset_scripts.base.tables import markdown

SEED = "seed"
WIDEST = 8  # an axis whose values span more than this factor is logarithmic
# until panels are told apart by what the evaluators say that their measures mean
KINDS = (
    "auroc",
    "p99_other",
    "kl",
    "kl_paper",
    "spearman",
    "pearson",
    "kendall",
    "pearson_different",
    "pearson_similar",
    "wrong_quartile_different",
    "wrong_quartile_similar",
    "triplets_accuracy",
    "ordered",
    "precision",
    "precision_at",
    "base_rate",
    "contrast_auroc",
    "accuracy_epa",
    "retrieval",
    "classification",
    "accuracy_epc",
    "accuracy_sda",
    "accuracy_sdoc",
    "accuracy_epa_unseen",
    "normalized",
    "ndcg",
    "map",
    "mrr",
    "accuracy_at",
)
MOST_LINES = 6  # more cannot be told apart in one panel
Finished = list[tuple[dict[str, Any], dict[str, Any]]]


@dataclass
class Figure:
    """A measure at one point of a grid.

    Attributes:
        ours: Of each run in which it could be computed, one per seed.
        base: Seed -> the untrained encoder's in the same runs; they differ where a sample of the test data was drawn.
        paper: The printed figure for the settings of this point, on the same data.
        paper_base: The same of the paper's untrained encoder.
    """

    ours: list[float] = field(default_factory=list)
    base: dict[int | None, float] = field(default_factory=dict)
    paper: float | None = None
    paper_base: float | None = None


@dataclass
class Point:
    """Runs that differ by nothing but their seed.

    Attributes:
        values: Axis -> value, in the order of the command line, without the seed.
        runs: How many there are.
        figures: Metric -> figure; all measures that the runs show in their own tables.
    """

    values: dict[str, Any]
    runs: int = 0
    figures: dict[str, Figure] = field(default_factory=dict)


def fold_seeds(finished: Finished) -> list[Point]:
    """The points of a grid in the order of its runs.

    Args:
        finished: (values of the axes, facts of the run as in its results.json).
    """
    points: dict[str, Point] = {}
    for values, results in finished:
        own = {axis: value for axis, value in values.items() if axis != SEED}
        point = points.setdefault(str(own), Point(own))
        point.runs += 1
        for evaluation in results["evaluations"]:
            for metric in evaluation["headline"]:
                figure = point.figures.setdefault(metric, Figure())
                if evaluation["trained"].get(metric) is not None:
                    figure.ours.append(evaluation["trained"][metric])
                if evaluation["base"].get(metric) is not None:
                    figure.base[values.get(SEED)] = evaluation["base"][metric]
                paper = results["paper"].get(metric, {})
                figure.paper, figure.paper_base = paper.get("trained"), paper.get("base")
    return list(points.values())


def measures(points: list[Point]) -> list[str]:
    """All metrics of a grid, in the order of the runs' own tables."""
    return list(dict.fromkeys(metric for point in points for metric in point.figures))


def spread(values: list[float]) -> tuple[float | None, float | None]:
    """Mean and sample standard deviation; None of no values, and no deviation of one."""
    if not values:
        return None, None
    return (mean(values), stdev(values)) if len(values) > 1 else (values[0], None)


def grid_table(finished: Finished) -> str:
    """The grid as Markdown, "paper / ours" per point and measure; a cell without a figure stays empty.

    Ours is the mean and, with several seeds, the deviation between them. The first row is the base's.
    """
    points = fold_seeds(finished)
    axes, metrics = list(points[0].values), measures(points)
    seeds = max(point.runs for point in points) > 1
    header = [*(axes or [""]), *(["seeds"] if seeds else []), *metrics]
    none = Figure()
    rows = [_base_row(points, metrics, len(header) - len(metrics))]
    for point in points:
        row = [shown(point.values[axis]) for axis in axes] or ["trained"]
        row += [str(point.runs)] if seeds else []
        rows.append(row + [_cell(f.paper, f.ours) for f in (point.figures.get(metric, none) for metric in metrics)])
    note = " Ours is the mean over seeds ± their standard deviation." if seeds else ""
    return f"Paper: {finished[0][1]['paper_setup']}. Each cell: paper / ours.{note}\n\n" + markdown(header, rows)


def _base_row(points: list[Point], metrics: list[str], width: int) -> list[str]:
    """The base's row; where its figures differ between points of one seed there is no one figure."""
    cells = []
    for metric in metrics:
        figures = [point.figures[metric] for point in points if metric in point.figures]
        found = {(seed, round(value, 6)) for figure in figures for seed, value in figure.base.items()}
        by_seed = dict(sorted(found, key=str))
        values = list(by_seed.values()) if len(by_seed) == len(found) else []
        if len(set(values)) == 1:  # as where no sample is drawn: there is no deviation to speak of
            values = values[:1]
        cells.append(_cell(figures[0].paper_base, values))
    return ["base", *[""] * (width - 1), *cells]


def cell(value: float | int | None) -> str:
    """A figure for a table: a count whole, a measure with three decimals, nothing for None."""
    return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _cell(paper: float | None, ours: list[float]) -> str:
    value, deviation = spread(ours)
    text = cell(value) + ("" if deviation is None else f" ± {deviation:.3f}")
    return f"{cell(paper)} / {text}".strip() if paper is not None or text else ""


def main_axis(points: list[Point]) -> str | None:
    """The axis to draw along: of those that vary, the numeric one with the most values; None where there is no axis."""

    def rank(axis: str) -> tuple[bool, bool, int]:
        values = [point.values[axis] for point in points]
        count = len(set(map(shown, values)))
        return count > 1, is_numeric(values), count

    return max(points[0].values, key=rank, default=None)


def is_numeric(values: Sequence[Any]) -> bool:
    """Whether all values are numbers; true and false are not."""
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def is_wide(values: Sequence[float]) -> bool:
    """Whether rising values are better drawn on a logarithmic scale; steps of one size never are."""
    even = len(values) > 2 and all(isclose(b - a, values[1] - values[0]) for a, b in pairwise(values))
    return values[0] > 0 and values[-1] > WIDEST * values[0] and not even


def kind(metric: str) -> str:
    """What a metric is, without whose and at which cut-off: the longest name in the legend that it ends with."""
    key = re.sub(r"_\d+$", "", metric)
    return max((name for name in KINDS if key.endswith(f"_{name}")), key=len, default=key.rpartition("_")[2])


def short(metric: str) -> str:
    """A metric without its kind, for the legend of a panel of that kind."""
    return metric.replace(f"_{kind(metric)}", "", 1)


def by_kind(metrics: Sequence[str]) -> dict[str, list[str]]:
    """Title of a panel -> its metrics: those of one kind, as many as can be told apart; one alone by its own name."""
    kinds: dict[str, list[str]] = {}
    for metric in metrics:
        kinds.setdefault(kind(metric), []).append(metric)
    parts = [found[i : i + MOST_LINES] for found in kinds.values() for i in range(0, len(found), MOST_LINES)]
    return {part[0] if len(part) == 1 else _numbered(part, kinds): part for part in parts}


def _numbered(part: list[str], kinds: Mapping[str, list[str]]) -> str:
    name = kind(part[0])
    number = kinds[name].index(part[0]) // MOST_LINES + 1
    return name if number == 1 else f"{name} ({number})"


def shown(value: Any) -> str:
    """A value of an axis as it stands in tables and pictures."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
