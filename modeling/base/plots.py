"""Pictures: one palette, the few kinds of panel that cards, tables and searches are made of, and one way to write them.

Figures come as tidy frames, a row each. Colours are Paul Tol's vibrant ones, which stay apart for colour-blind readers;
whatever is told apart by colour also differs by its dashes or its marker.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib

matplotlib.use("Agg")  # runs where there is no screen

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import gaussian_kde

from dataset_scripts.base.files import atomic_file

if TYPE_CHECKING:
    import pandas as pd

matplotlib.rcParams["svg.hashsalt"] = "opinion"  # the same figures give the same file
CYCLE = BLUE, ORANGE, TEAL, RED, CYAN, MAGENTA = ("#0077BB", "#EE7733", "#009988", "#CC3311", "#33BBEE", "#EE3377")
OTHER = "#8A8A8A"
MARKERS, DASHES = ("o", "^", "s", "D", "v", "P"), ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
# the colour that people expect of a party, by the names that corpora give it
PARTIES = {
    BLUE: ("d", "dem", "democrat", "democrats", "democratic"),
    RED: ("r", "rep", "gop", "republican", "republicans"),
    TEAL: ("i", "ind", "independent", "independents"),
}
PICTURES = {  # ending -> metadata without which the same figures give the same file
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".svg": {"Date": None, "Creator": None},
}
MOST_VALUES = 50_000  # of which a density is computed: of millions it would take minutes and look the same
FEWEST = 2  # values, of which not all are equal, from which there is a density


def group_colours(groups: Sequence[str]) -> dict[str, str]:
    """Group -> colour; Democrats blue and Republicans red where groups are called so, the same at every call."""
    party = {name: colour for colour, names in PARTIES.items() for name in names}
    colours = {group: party[group.lower()] for group in groups if group.lower() in party}
    free = [colour for colour in CYCLE if not colours or colour not in PARTIES]
    for number, group in enumerate(group for group in groups if group not in colours):
        colours[group] = free[number] if number < len(free) else OTHER
    return colours


def ordered_styles(groups: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Group -> colour and dashes, for groups from the one that should lie lowest to the one that should lie highest."""
    low, middle, high = (RED, "--"), (BLUE, ":"), (TEAL, "-")
    styles = {1: [high], 2: [low, high], 3: [low, middle, high]}.get(len(groups))
    styles = styles or [(CYCLE[n % len(CYCLE)], DASHES[n % len(DASHES)]) for n in range(len(groups))]
    return {group: {"color": colour, "linestyle": dash} for group, (colour, dash) in zip(groups, styles, strict=True)}


def model_style(number: int) -> dict[str, Any]:
    """Colour and dashes of the line of a model; the first, as a rule the untrained one, is grey."""
    colours = (OTHER, *CYCLE)
    return {"color": colours[number % len(colours)], "linestyle": ("--", "-", "-.", ":")[number % 4]}


def panels(
    count: int, size: tuple[float, float] = (4.5, 3.4), across: int = 3, **options: Any
) -> tuple[plt.Figure, list[plt.Axes]]:
    """A figure of `count` panels of this size in inches, at most `across` in a row; `options` are of `plt.subplots`."""
    across = min(count, across)
    down = -(-count // across)
    size = (size[0] * max(across, 1.4), size[1] * down + 0.4)
    figure, axes = plt.subplots(down, across, figsize=size, squeeze=False, layout="constrained", **options)
    for axis in axes.flat[count:]:
        axis.set_visible(False)
    for axis in axes.flat[:count]:
        axis.tick_params(labelbottom=True)  # also where the panel below is empty
    return figure, list(axes.flat[:count])


def legend_below(figure: plt.Figure, handles: Mapping[str, Any], columns: int = 4) -> None:
    """One legend for all panels, label -> what it stands for."""
    if handles:
        figure.legend(
            handles.values(),
            map(plain, handles),
            frameon=False,
            fontsize="small",
            ncols=columns,
            loc="outside lower center",
        )


def density(axis: plt.Axes, values: np.ndarray, grid: np.ndarray, label: str, style: Mapping[str, Any]) -> None:
    """Draws the density of values over a grid, with a line at their mean; of too few to tell, the line alone."""
    if len(values):
        axis.axvline(values.mean(), linewidth=0.8, **style)
    if len(values) < FEWEST or np.ptp(values) < 1e-6:
        axis.plot([], [], label=f"{plain(label)} (too few for a curve)", **style)
        return
    if len(values) > MOST_VALUES:
        values = np.random.default_rng(0).choice(values, MOST_VALUES, replace=False)
    heights = gaussian_kde(values)(grid)
    axis.plot(grid, heights, label=plain(label), **style)
    axis.fill_between(grid, heights, color=style["color"], alpha=0.12, linewidth=0)


def densities(
    models: Mapping[str, Mapping[str, np.ndarray]], path: Path, title: str, notes: Mapping[str, str] | None = None
) -> None:
    """Draws the densities of similarities by group, one panel per model on the same axes.

    Args:
        models: Label of a model -> group -> cosine similarities, in [-1, 1]; the groups in the order in which they
            should lie, the lowest first.
        path: PNG, PDF or SVG to write.
        title: Above the figure.
        notes: Label of a model -> what stands below it, such as the measure of how far the groups lie apart.
    """
    lowest = min(values.min() for groups in models.values() for values in groups.values() if len(values))
    grid = np.linspace(max(-1.0, min(-0.2, lowest - 0.1)), 1.0, 400)
    figure, axes = panels(len(models), sharex=True, sharey=True)
    for axis, (label, groups) in zip(axes, models.items(), strict=True):
        for name, style in ordered_styles(list(groups)).items():
            density(axis, groups[name], grid, f"{name} (n={len(groups[name]):,})", style)
        axis.set_title(plain(label) + (f"\n{plain(notes[label])}" if notes else ""), fontsize="medium")
        axis.set_xlabel("cosine similarity")
    axes[0].set_ylim(bottom=0)  # of all; set before the last is drawn it would cut off a higher curve
    axes[0].set_ylabel("density (vertical lines: means)")
    axes[0].legend(frameon=False, loc="best", fontsize="small")
    save_figure(figure, path, title)


def dots(
    frame: pd.DataFrame,
    path: Path,
    title: str,
    unit: str,
    group: str = "data",
    panel: str | None = None,
    width: float = 3.2,
    origin: float = 0.0,
) -> None:
    """Draws a dot for each figure, on a line for each model: ours filled with its interval, the paper's as a ring.

    Args:
        frame: Columns `who` ("paper" or ours), `model`, `value`, perhaps `low` and `high`, and those named below; rows
            without a value are left out.
        path: PNG, PDF or SVG to write.
        title: Above the figure.
        unit: Of all values, below each panel.
        group: Column of what has a colour and marker of its own.
        panel: Column of what has a panel of its own, titled as its values; None: there is one panel.
        width: Of a panel, in inches.
        origin: Value of what can do nothing, where a line is drawn.
    """
    frame = frame[frame["value"].notna()]
    models, groups = frame["model"].unique().tolist(), sorted(frame[group].unique())
    parts = list(frame.groupby(panel, sort=False)) if panel else [("", frame)]
    colours, handles = group_colours(groups), {}
    size = (width + 2 / len(parts), 1.5 + 0.34 * len(models))
    figure, axes = panels(len(parts), size, across=len(parts), sharex=True, sharey=True)
    for axis, (name, part) in zip(axes, parts, strict=True):
        for number, each in enumerate(groups):
            shift = 0.14 * (number - (len(groups) - 1) / 2)  # so that equal figures do not hide each other
            for paper, rows in part[part[group] == each].groupby(part["who"] == "paper"):
                heights = [models.index(model) + shift for model in rows["model"]]
                if not paper and "low" in rows:
                    axis.hlines(heights, rows["low"], rows["high"], color=colours[each], linewidth=1.2)
                fill = "none" if paper else colours[each]
                (handles[f"{each}, paper" if paper else str(each)],) = axis.plot(
                    rows["value"],
                    heights,
                    MARKERS[number % len(MARKERS)],
                    color=colours[each],
                    markerfacecolor=fill,
                    markersize=8 if paper else 5,
                )
        axis.axvline(origin, color=OTHER, linewidth=0.8)
        axis.set(xlabel=unit)
        axis.set_title(plain(str(name)), fontsize="medium")
        _gridded(axis)
    axes[0].set_yticks(range(len(models)), [plain(model) for model in models])
    axes[0].set_ylim(len(models) - 0.5, -0.5)
    legend_below(figure, handles)
    save_figure(figure, path, title)


def lines(frame: pd.DataFrame, path: Path, title: str, xlabel: str, ylabel: str, panel: str = "data") -> None:
    """Draws values over numbers, a line for each model: ours with its interval as a band, the paper's dotted.

    Args:
        frame: Columns `who` ("paper" or ours), `model`, `x`, `value`, perhaps `low` and `high`, and `panel`.
        path: PNG, PDF or SVG to write.
        title: Above the figure.
        xlabel, ylabel: What `x` and `value` are.
        panel: Column of what has a panel of its own.
    """
    frame = frame[frame["value"].notna()].sort_values("x", kind="stable")
    models, handles = frame["model"].unique().tolist(), {}
    parts = list(frame.groupby(panel, sort=False))
    figure, axes = panels(len(parts), (4.5, 4.2), sharey=True)
    for axis, (name, part) in zip(axes, parts, strict=True):
        for (model, who), rows in part.groupby(["model", "who"], sort=False):
            number, paper = models.index(model), who == "paper"
            colour, marker = CYCLE[number % len(CYCLE)], MARKERS[number % len(MARKERS)]
            style = {"linestyle": ":", "markerfacecolor": "none"} if paper else {"linestyle": DASHES[number % 4]}
            (handles[f"{model}, paper" if paper else model],) = axis.plot(
                rows["x"], rows["value"], color=colour, marker=marker, markersize=5, **style
            )
            if not paper and "low" in rows:
                axis.fill_between(rows["x"], rows["low"], rows["high"], color=colour, alpha=0.1, linewidth=0)
        axis.set(xlabel=xlabel, xticks=sorted(part["x"].unique()))
        axis.set_title(plain(str(name)), fontsize="medium")
        _gridded(axis)
    axes[0].set(ylabel=ylabel, ylim=(0, None))
    legend_below(figure, handles, 2)
    save_figure(figure, path, title)


def scatter(
    frame: pd.DataFrame,
    path: Path,
    title: str,
    xlabel: str,
    ylabel: str,
    colour: str,
    marker: str | None = None,
    panel: str = "model",
    colours: Mapping[str, str] | None = None,
) -> None:
    """Draws a point for each row, a panel for each value of a column.

    Args:
        frame: Columns `x`, `y` and those named below.
        path: PNG, PDF or SVG to write.
        title: Above the figure.
        xlabel, ylabel: What `x` and `y` are.
        colour: Column that is told by colour.
        marker: Column that is told by the shape of points; None: all are round.
        panel: Column of what has a panel of its own.
        colours: Value of the column `colour` -> colour; those of `group_colours` if None.
    """
    colours = colours or group_colours(frame[colour].unique().tolist())
    shapes = {
        each: MARKERS[number % len(MARKERS)] for number, each in enumerate(frame[marker].unique() if marker else [0])
    }
    parts = list(frame.groupby(panel, sort=False))
    figure, axes = panels(len(parts), (4.2, 3.7))
    for axis, (name, part) in zip(axes, parts, strict=True):
        part = part.sample(frac=1, random_state=0)  # shuffled: no group hides another
        for shape, rows in part.groupby(marker, sort=False) if marker else [(0, part)]:
            size = np.clip(5000 / len(rows), 8, 36)
            axis.scatter(
                rows["x"], rows["y"], c=rows[colour].map(colours), s=size, marker=shapes[shape], alpha=0.6, lw=0
            )
        axis.set(xlabel=xlabel, ylabel=ylabel)
        axis.set_title(plain(str(name)), fontsize="medium")
    handles = {str(each): axes[0].scatter([], [], color=each_colour) for each, each_colour in colours.items()}
    if marker:
        handles |= {str(each): axes[0].scatter([], [], color="black", marker=shape) for each, shape in shapes.items()}
    legend_below(figure, handles)
    save_figure(figure, path, title)


def check_picture(path: Path) -> None:
    """Refuses a file name whose ending is not that of a picture, before hours are spent on what goes into it."""
    if path.suffix.lower() not in PICTURES:
        raise ValueError(f"{path} has to end in {', '.join(list(PICTURES)[:-1])} or {list(PICTURES)[-1]}")


def save_figure(figure: plt.Figure, path: Path, title: str) -> None:
    """Writes a picture whole or not at all, and closes the figure.

    Args:
        figure: Gets the title; its upper and right frames go.
        path: PNG, PDF or SVG, by its ending.
        title: Above the figure, as it stands: `$` starts no formula.
    """
    check_picture(path)
    for axis in figure.axes:
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle(plain(title), fontsize="medium")
    ending = path.suffix.lower()
    with atomic_file(path) as temporary, warnings.catch_warnings():
        # the font has no emoji: boxes stand for them
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        figure.savefig(temporary, format=ending[1:], dpi=120, metadata=PICTURES[ending])
    plt.close(figure)


def plain(text: str) -> str:
    """Text that matplotlib takes neither for mathematics nor for a label to be left out."""
    return text.replace("$", r"\$").lstrip("_")


def _gridded(axis: plt.Axes) -> None:
    axis.grid(axis="y", color="#e5e5e5", linewidth=0.8)
    axis.set_axisbelow(True)
