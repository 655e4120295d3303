"""Pictures of grids: every measure over one axis, by the values of the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")  # runs where there is no screen

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullLocator

from dataset_scripts.base.files import write_text
from modeling.base.grids import (
    Figure,
    Finished,
    Point,
    by_kind,
    fold_seeds,
    grid_table,
    is_numeric,
    is_wide,
    main_axis,
    measures,
    short,
    shown,
    spread,
)
from modeling.base.plots import CYCLE, MARKERS, plain, save_figure

BASE = "#555555"
SAME = 1e-6  # figures of one encoder that differ by less do so by rounding


def write_grid(finished: Finished, folder: Path, name: str) -> tuple[str, list[Path]]:
    """Writes the table and the picture of a grid, named after its axes.

    Two grids of one recipe, such as one over the corpus size and one over the batch size, do not replace each other's.

    Args:
        finished: (values of the axes, facts of the run) per point, at least one.
        folder: Of the grid's runs.
        name: The recipe's.

    Returns:
        The table as Markdown, and the files.
    """
    table, points = grid_table(finished), fold_seeds(finished)
    stem, axes = ",".join(finished[0][0]), " and ".join(points[0].values)
    text, picture = folder / f"{stem}.md", folder / f"{stem}.png"
    split = finished[0][1]["evaluation_options"].get("evaluate_on", "test")  # absent in runs of before
    caption = plot_grid(points, picture, f"{name}, {split} data, over {axes}")
    write_text(text, table + (f"\n\n![{caption}]({picture.name})" if caption else "") + "\n")
    return table, [text, picture] if caption else [text]


def plot_grid(points: list[Point], path: Path, title: str) -> str | None:
    """Draws the measures of a grid over its axis.

    One axis: a panel per kind of measure, a line per measure. Several: a panel per measure, a line per combination of
    the other axes. The untrained encoder is dashed, a figure of the paper a ring, the deviation between seeds a band.

    Args:
        points: From `modeling.base.grids.fold_seeds`.
        path: PNG to write.
        title: Above the figure.

    Returns:
        A caption, or None where nothing was varied but the seed and nothing is drawn.
    """
    along = main_axis(points)
    if along is None:
        return None
    scale = Scale([point.values[along] for point in points], along)
    series: dict[str, list[Point]] = {}
    for point in points:
        others = [f"{axis}={shown(value)}" for axis, value in point.values.items() if axis != along]
        series.setdefault(", ".join(others), []).append(point)
    one = len(series) == 1
    panels = by_kind(measures(points)) if one else {metric: [metric] for metric in measures(points)}
    across = min(len(panels), 2 if len(panels) <= 4 else 3)
    down = -(-len(panels) // across)
    size = (max(4.6 * across, 6.5), 3.1 * down + 0.8)
    figure, axes = plt.subplots(down, across, figsize=size, squeeze=False, sharex=True, layout="constrained")
    for axis, (name, metrics) in zip(axes.flat, panels.items(), strict=False):
        lines = [(metric, label, found) for metric in metrics for label, found in series.items()]
        colours = _colours(len(lines))
        for number, (metric, label, found) in enumerate(lines):
            label = short(metric) if one else label
            style = {"color": colours[number], "marker": MARKERS[number % len(MARKERS)], "label": plain(label)}
            # side by side, where the points of several lines would hide each other
            aside = 0 if scale.numeric else min(0.08, 0.7 / len(lines)) * (number - (len(lines) - 1) / 2)
            _draw(axis, *scale.figures(found, metric, aside), scale.numeric, style)
        _draw_base(axis, scale, [(metric, found) for metric, _, found in lines], colours)
        axis.set_title(plain(name), fontsize="medium", loc="left")
        scale.apply(axis)
        if one and len(lines) > 1:
            _legend(axis)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    if not one:
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 4), frameon=False)
    key = _key(points, scale.numeric)
    save_figure(figure, path, f"{title}\n{key}")
    return f"{title} ({key})"


class Scale:
    """The horizontal axis: numbers where they lie, anything else in the order of the grid.

    Args:
        values: Of the axis; they may repeat.
        option: Its name.
    """

    def __init__(self, values: Sequence[Any], option: str) -> None:
        self.option, self.numeric = option, is_numeric(values)
        distinct = list({shown(value): value for value in values}.values())
        self.values = sorted(distinct) if self.numeric else distinct
        self.log = self.numeric and is_wide(self.values)
        self.label = f"{option} (log scale)" if self.log else option

    def place(self, value: Any) -> float:
        """Where a value lies on the axis."""
        return float(value) if self.numeric else [shown(v) for v in self.values].index(shown(value))

    def figures(self, found: list[Point], metric: str, aside: float = 0) -> tuple[list[float], list[Figure]]:
        """Where the figures of a measure lie, from left to right and moved aside, and the figures."""
        rows = [(self.place(p.values[self.option]), p.figures[metric]) for p in found if metric in p.figures]
        rows.sort(key=lambda row: row[0])
        return [place + aside for place, _ in rows], [figure for _, figure in rows]

    def apply(self, axis: plt.Axes) -> None:
        """Gives a panel this axis, with a tick at each value that was run, labelled as far as there is room."""
        places = np.array([self.place(value) for value in self.values])
        texts = [f"{v:,}" if isinstance(v, int) else f"{v:g}" for v in self.values] if self.numeric else [
            shown(value) for value in self.values
        ]  # fmt: skip
        if self.log:
            axis.set_xscale("log")
            axis.xaxis.set_minor_locator(NullLocator())
        scaled = np.log(places) if self.log else places
        shares = (scaled - scaled.min()) / (np.ptp(scaled) or 1)
        taken, labels = -np.inf, []
        for share, text in zip(shares, texts, strict=True):
            half = 0.0145 * (len(text) + 1)  # of a label's width, as a share of the axis
            free = share - half >= taken
            labels.append(plain(text) if free else "")
            taken = share + half if free else taken
        axis.set_xticks(places, labels)
        axis.set_xlabel(plain(self.label))
        axis.tick_params(labelbottom=True)  # also where another panel lies below
        if not self.numeric:
            axis.set_xlim(-0.5, len(places) - 0.5)
        axis.grid(axis="y", color="#e5e5e5", linewidth=0.8)
        axis.set_axisbelow(True)


def _colours(count: int) -> list[Any]:
    if count <= len(CYCLE):
        return list(CYCLE[:count])
    return [matplotlib.colormaps["viridis"](share) for share in np.linspace(0, 0.9, count)]


def _draw(axis: plt.Axes, places: list[float], figures: list[Figure], joined: bool, style: dict[str, Any]) -> None:
    """One measure over the axis, the spread of its seeds, and the paper's figures where it has some."""
    values, deviations = np.array([spread(figure.ours) for figure in figures], float).reshape(-1, 2).T
    axis.plot(places, values, linestyle="-" if joined else "none", markersize=5, **style)
    if joined:
        axis.fill_between(places, values - deviations, values + deviations, color=style["color"], alpha=0.18, lw=0)
    elif not np.isnan(deviations).all():
        axis.errorbar(places, values, deviations, fmt="none", ecolor=style["color"], capsize=3)
    printed = [np.nan if figure.paper is None else figure.paper for figure in figures]
    axis.plot(places, printed, "o", color=style["color"], markerfacecolor="none", markersize=9)


def _draw_base(axis: plt.Axes, scale: Scale, lines: list[tuple[str, list[Point]]], colours: Sequence[Any]) -> None:
    """The untrained encoder in the colour of its line, or once in grey where it is the same for all lines."""
    rows = [scale.figures(found, metric) for metric, found in lines]
    if len({metric for metric, _ in lines}) < len(lines):
        every = [value for _, figures in rows for figure in figures for value in figure.base.values()]
        if every and np.ptp(every) < SAME:
            rows, colours = rows[:1], [BASE]
    for (places, figures), colour in zip(rows, colours, strict=True):
        values = np.array([spread(list(figure.base.values()))[0] for figure in figures], float)
        known = values[np.isfinite(values)]
        style = {"color": colour, "linestyle": "--", "linewidth": 1.1, "zorder": 1.5}
        if len(known) and np.ptp(known) < SAME:
            axis.axhline(known[0], **style)
        else:
            axis.plot(places, values, **style)


def _legend(axis: plt.Axes) -> None:
    """Beside the panel, in the order in which the lines end."""
    handles, labels = axis.get_legend_handles_labels()
    ends = [([v for v in handle.get_ydata() if np.isfinite(v)] or [-np.inf])[-1] for handle in handles]
    order = np.argsort([-end for end in ends], kind="stable")
    axis.legend([handles[i] for i in order], [labels[i] for i in order], frameon=False, fontsize="small",
                loc="center left", bbox_to_anchor=(1.0, 0.5))  # fmt: skip


def _key(points: list[Point], joined: bool) -> str:
    """What dashes, rings and bands are, of those that are drawn."""
    figures = [figure for point in points for figure in point.figures.values()]
    parts = ["dashed: untrained base"]
    if any(figure.paper is not None for figure in figures):
        parts.append("rings: paper")
    if (runs := max(point.runs for point in points)) > 1:
        parts.append(f"{'bands' if joined else 'bars'}: ± one standard deviation of {runs} seeds around their mean")
    return "; ".join(parts)
