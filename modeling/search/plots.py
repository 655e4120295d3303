"""A picture of texts between two opposite statements, by group."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgba
from matplotlib.ticker import MaxNLocator

from modeling.base.plots import DASHES, MARKERS, OTHER, density, group_colours, panels, plain, save_figure

if TYPE_CHECKING:
    from modeling.search.questions import Axis

MOST_GROUPS = 6  # more cannot be told apart; the smaller ones are drawn as one
MOST_POINTS = 4000
WIDTH = 62  # characters of a line of a label


def plot_axis(axis: Axis, path: Path, title: str) -> None:
    """Draws the similarity of texts, at most `MOST_POINTS`, to two opposite sides, and the axis score, by group."""
    labels = _groups(axis.texts)
    groups = set(axis.texts["group"].dropna())
    names = sorted(labels.value_counts().index, key=lambda name: name not in groups)  # those that are none last
    colours = group_colours([name for name in names if name in groups])
    figure, (left, right) = panels(2, (6.2, 5.6 + 0.2 * max(len(axis.positive), len(axis.negative))))
    points = axis.texts.sample(min(len(axis.texts), MOST_POINTS), random_state=0)  # shuffled: no group covers another
    shades = [to_rgba(colours.get(name, OTHER), 0.4) for name in labels[points.index]]
    left.scatter(points["positive"], points["negative"], s=10, c=shades, linewidths=0)
    grid = np.linspace(axis.texts["score"].min() - 0.15, axis.texts["score"].max() + 0.15, 400)
    for number, name in enumerate(names):
        rows, colour = axis.texts[labels == name], colours.get(name, OTHER)
        style = {"marker": MARKERS[number % 6], "edgecolors": "black", "linewidths": 1.4, "zorder": 5}
        label = f"{plain(name)} (n={len(rows):,}), mean marked"
        left.scatter(rows["positive"].mean(), rows["negative"].mean(), s=150, color=colour, label=label, **style)
        scores = rows["score"].to_numpy(float)
        style = {"color": colour, "linestyle": DASHES[number % 6]}
        density(right, scores, grid, f"{name}, mean {scores.mean():+.3f}", style)
    values = points[["positive", "negative"]].to_numpy()
    low, high = values.min() - 0.03, values.max() + 0.03
    left.plot([low, high], [low, high], color="black", linewidth=0.8, linestyle=":", label="as similar to both sides")
    left.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    left.set_xlabel("similarity to the side for\n" + _label(axis.positive))
    left.set_ylabel("similarity to the side against\n" + _label(axis.negative))
    for ticks in (left.xaxis, left.yaxis):
        ticks.set_major_locator(MaxNLocator(6))
    left.legend(framealpha=0.9, fontsize="small", loc="upper left", markerscale=0.7, labelspacing=0.6)
    shown = f"{len(points):,} of " if len(points) < len(axis.texts) else ""
    left.set_title(f"{shown}{len(axis.texts):,} rows", fontsize="medium")
    right.axvline(0, color="black", linewidth=0.8, linestyle=":")
    right.set_ylim(0, 1.25 * right.get_ylim()[1])  # room for the legend
    right.set(xlabel="axis score (against < 0 < for)", ylabel="density (vertical lines: means)")
    notes = [axis.separation, *([axis.verdict] if axis.measured is not None else [])]
    right.set_title(plain("\n".join(fill(note, WIDTH) for note in notes)), fontsize="medium")
    right.legend(frameon=False, fontsize="small")
    save_figure(figure, path, title)


def _groups(texts: pd.DataFrame) -> pd.Series:
    """What each row is drawn as: its group, if it is one of the largest."""
    counts = texts["group"].value_counts()
    large = [str(group) for group in counts[counts > 0].index[:MOST_GROUPS]]
    rest = np.where(texts["group"].isna(), "no group" if large else "texts", "other groups")
    return texts["group"].astype(object).where(texts["group"].isin(large), rest)


def _label(statements: Sequence[str]) -> str:
    """Statements as a label, whole, each in lines of its own."""
    return plain("\n".join(fill(f'"{statement}"', WIDTH) for statement in statements))
