"""Pictures of groups of texts: alignment over thresholds, and two opposite statements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")  # runs where there is no screen

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.ticker import MaxNLocator, PercentFormatter
from scipy.stats import gaussian_kde

from modeling.base.plots import DASHES, MARKERS, OTHER, group_colours, plain, save_figure

if TYPE_CHECKING:
    import pandas as pd

    from modeling.search.questions import Axis

MOST_GROUPS = 6  # more cannot be told apart; the smaller ones are drawn as one
MOST_POINTS = 4000
MOST_SCORES = 50_000  # of which a density is computed: of millions it would take minutes and look the same
MOST_STATEMENTS = 12
FEWEST = 20  # texts from which a density is drawn


def plot_thresholds(table: pd.DataFrame, path: Path, title: str) -> None:
    """Draws, per statement, precision and retrieved rows over thresholds.

    Args:
        table: From `modeling.search.alignment.alignment_table`; the first `MOST_STATEMENTS` statements are drawn.
        path: PNG to write.
        title: Above the figure.
    """
    parts = [part for _, part in table.groupby(["statement", "target"], sort=False)][:MOST_STATEMENTS]
    groups = [name.removeprefix("retrieved_") for name in table.columns if name.startswith("retrieved_")][:MOST_GROUPS]
    colours = group_colours(groups)
    figure, axes = plt.subplots(
        len(parts), 2, figsize=(10, 3.3 * len(parts) + 0.4), squeeze=False, sharex=True, constrained_layout=True
    )
    highest = max(1, table["retrieved"].max())
    for part, (left, right) in zip(parts, axes, strict=True):
        target, base = part["target"].iloc[0], part["base_rate"].iloc[0]
        colour = colours.get(target, OTHER)
        left.fill_between(part["threshold"], part["low"], part["high"], color=colour, alpha=0.18, linewidth=0)
        left.plot(
            part["threshold"], part["precision"], "o-", color=colour, markersize=4, label="precision, 95 % interval"
        )
        left.axhline(base, color="black", linestyle=":", linewidth=1.2, label=f"base rate {base:.0%}")
        left.set(ylim=(-0.02, 1.02), ylabel=f"share of {plain(target)}")
        left.set_title(f"{_short(part['statement'].iloc[0], 60)} ({plain(target)})", fontsize="medium", loc="left")
        left.yaxis.set_major_formatter(PercentFormatter(1))
        left.legend(frameon=False, fontsize="small", loc="best")
        for number, group in enumerate(groups):
            counts = part[f"retrieved_{group}"]
            style = {"color": colours[group], "linestyle": DASHES[number], "marker": MARKERS[number], "markersize": 4}
            right.plot(part["threshold"], counts, label=plain(group), **style)
        right.set_yscale("symlog", linthresh=1)  # from thousands to none, and none is to be seen
        right.set_ylim(-0.1, highest * 1.5)
        right.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:,.0f}"))
        right.set_ylabel("rows retrieved")
        right.legend(frameon=False, fontsize="small", title="group")
    for axis in axes[-1]:
        axis.set_xlabel("lowest cosine similarity")
    save_figure(figure, path, title)


def plot_axis(axis: Axis, path: Path, title: str) -> None:
    """Draws the similarity of texts to two opposite sides, and the axis score, by group.

    Args:
        axis: From `modeling.search.axis.score_axis`; a seeded sample of `MOST_POINTS` rows is drawn, densities and
            means are of all.
        path: PNG to write.
        title: Above the figure.
    """
    names, series = _series(axis.texts)
    colours = group_colours([name for name in names if name not in ("other groups", "no group", "texts")])
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.6), constrained_layout=True)
    shown = axis.texts.sample(min(len(axis.texts), MOST_POINTS), random_state=0)  # shuffled: no group covers another
    numbers = series[shown.index.to_numpy()]
    ends = axis.texts["score"].min() - 0.05, axis.texts["score"].max() + 0.05
    points = [to_rgba(colours.get(names[number], OTHER), 0.4) for number in numbers]
    left.scatter(shown["positive"], shown["negative"], s=10, c=points, linewidths=0)
    for number, name in enumerate(names):
        colour, rows = colours.get(name, OTHER), axis.texts[series == number]
        mean = rows[["positive", "negative"]].mean()
        left.scatter(*mean, s=150, marker=MARKERS[number % 6], color=colour, edgecolors="black", linewidths=1.4,
                     zorder=5, label=f"{plain(name)} (n={len(rows):,}), mean marked")  # fmt: skip
        _density(right, rows["score"].to_numpy(float), ends, colour, DASHES[number % 6], name)
    _square(left, shown)
    left.set_xlabel("similarity to the positive side: " + _wordings(axis.positive))
    left.set_ylabel("similarity to the negative side: " + _wordings(axis.negative))
    left.legend(
        frameon=True,
        framealpha=0.9,
        fontsize="small",
        loc="upper left",
        markerscale=0.7,
        labelspacing=0.6,
        title="dotted: as similar to both sides",
        title_fontsize="small",
    )
    left.set_title(f"{len(shown):,} of {len(axis.texts):,} rows" if len(shown) < len(axis.texts) else
                   f"{len(shown):,} rows", fontsize="medium")  # fmt: skip
    right.axvline(0, color="black", linewidth=0.8, linestyle=":")
    right.set_ylim(bottom=0)
    right.set_xlabel("axis score (negative side < 0 < positive side)")
    right.set_ylabel("density (vertical lines: means)")
    right.set_title(_separation(axis), fontsize="medium")
    right.legend(frameon=False, fontsize="small")
    save_figure(figure, path, title)


def _series(texts: pd.DataFrame) -> tuple[list[str], np.ndarray]:
    """Names of what is drawn in one colour, the largest first, and the number of each row's."""
    counts = texts["group"].value_counts()
    large = [str(group) for group in counts[counts > 0].index[:MOST_GROUPS]]
    labels = texts["group"].astype(object)
    known = labels.isin(large)
    rest = np.where(labels.isna(), "no group" if large else "texts", "other groups")
    labels = np.where(known, labels.fillna(""), rest)
    names = [*large, *(name for name in ("other groups", "no group", "texts") if (labels == name).any())]
    return names, np.array([names.index(label) for label in labels])


def _density(
    axes: plt.Axes, scores: np.ndarray, ends: tuple[float, float], colour: str, dashes: object, name: str
) -> None:
    label = f"{plain(name)}, mean {scores.mean():+.3f}"
    axes.axvline(scores.mean(), color=colour, linewidth=1, linestyle=dashes)
    if len(scores) < FEWEST or np.ptp(scores) < 1e-6:
        axes.plot([], [], linestyle=dashes, color=colour, label=f"{label} (too few for a curve)")
        return
    if len(scores) > MOST_SCORES:
        scores = np.random.default_rng(0).choice(scores, MOST_SCORES, replace=False)
    grid = np.linspace(*ends, 400)
    density = gaussian_kde(scores)(grid)
    axes.plot(grid, density, linestyle=dashes, color=colour, label=label)
    axes.fill_between(grid, density, color=colour, alpha=0.1, linewidth=0)


def _square(axes: plt.Axes, points: pd.DataFrame) -> None:
    """The same range on both axes, and the line on which a text is as similar to one side as to the other."""
    values = points[["positive", "negative"]].to_numpy()
    low, high = values.min() - 0.03, values.max() + 0.03
    axes.plot([low, high], [low, high], color="black", linewidth=0.8, linestyle=":", zorder=4)
    axes.annotate("nearer to the positive side", (0.97, 0.03), xycoords="axes fraction", ha="right", fontsize="small")
    axes.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6))


def _separation(axis: Axis) -> str:
    if "auroc" not in axis.facts:
        return ""
    return (
        f"AUROC of {axis.facts['first']} above {axis.facts['second']}: {axis.facts['auroc']:.2f} (0.5: no difference)"
    )


def _wordings(side: Sequence[str]) -> str:
    more = f" and {len(side) - 1} more" if len(side) > 1 else ""
    return f"\n{_short(side[0], 48)}{more}"


def _short(text: str, width: int) -> str:
    return plain(f'"{text}"' if len(text) <= width else f'"{text[: width - 3]}..."')
