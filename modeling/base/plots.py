"""Pictures: one palette, the few kinds of panel that cards, tables and searches are made of, and one way to write them.

Figures come as tidy frames, a row each; `path` is the PNG, PDF or SVG to write. Colours are Paul Tol's vibrant ones,
for colour-blind readers; whatever is told apart by colour also differs by its dashes or its marker.
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
from dataset_scripts.base.tables import check_output

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


def group_colours(groups: Sequence[str]) -> dict[str, str]:
    """Group -> colour; Democrats blue and Republicans red where groups are called so, the same at every call."""
    party = {name: colour for colour, names in PARTIES.items() for name in names}
    colours = {group: party[group.lower()] for group in groups if group.lower() in party}
    free = [colour for colour in CYCLE if not colours or colour not in PARTIES]
    for number, group in enumerate(group for group in groups if group not in colours):
        colours[group] = free[number] if number < len(free) else OTHER
    return colours


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
    for number, axis in enumerate(axes.flat):
        axis.set_visible(number < count)
        axis.tick_params(labelbottom=True)  # also where the panel below is empty
    return figure, list(axes.flat[:count])


def legend_below(figure: plt.Figure, handles: Mapping[str, Any]) -> None:
    """One legend for all panels, label -> what it stands for."""
    if handles:
        style = {"frameon": False, "fontsize": "small", "ncols": 4, "loc": "outside lower center"}
        figure.legend(handles.values(), map(plain, handles), **style)


def density(axis: plt.Axes, values: np.ndarray, grid: np.ndarray, label: str, style: Mapping[str, Any]) -> None:
    """Draws the density of values over a grid, with a line at their mean; of too few to tell, the line alone."""
    if len(values):
        axis.axvline(values.mean(), linewidth=0.8, **style)
    if len(values) < 2 or np.ptp(values) < 1e-6:
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

    `models` are label -> group -> cosine similarities, in [-1, 1], the groups in the order in which they should lie,
    the lowest first; `notes` are label -> what stands below it, such as how far the groups lie apart.
    """
    lowest = min(values.min() for groups in models.values() for values in groups.values() if len(values))
    grid = np.linspace(max(-1.0, min(-0.2, lowest - 0.1)), 1.0, 400)
    low, middle, high = (RED, "--"), (BLUE, ":"), (TEAL, "-")
    figure, axes = panels(len(models), sharex=True, sharey=True)
    for axis, (label, groups) in zip(axes, models.items(), strict=True):
        styles = {1: [high], 2: [low, high], 3: [low, middle, high]}.get(len(groups))
        styles = styles or [(CYCLE[n % len(CYCLE)], DASHES[n % len(DASHES)]) for n in range(len(groups))]
        for (name, values), (colour, dashes) in zip(groups.items(), styles, strict=True):
            density(axis, values, grid, f"{name} (n={len(values):,})", {"color": colour, "linestyle": dashes})
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
    panel: str | None = None,
    width: float = 3.2,
    origin: float = 0.0,
) -> None:
    """Draws a dot for each figure, on a line for each model: ours filled with its interval, the paper's as a ring.

    The frame has the columns `who` ("paper" or ours), `model`, `data` (told by colour and marker), `value`, perhaps
    `low` and `high`, and `panel`; rows without a value are left out. Each panel is `width` inches wide, with a line at
    `origin`, the value of what can do nothing, and the `unit` of all values below it.
    """
    frame = frame[frame["value"].notna()]
    models, groups = frame["model"].unique().tolist(), sorted(frame["data"].unique())
    count, colours, handles = frame[panel].nunique() if panel else 1, group_colours(groups), {}
    size = (width + 2 / count, 1.5 + 0.34 * len(models))
    figure, parts = _facets(frame, panel, size, across=count, sharex=True, sharey=True)
    for axis, part in parts:
        for (group, paper), rows in part.groupby(["data", part["who"] == "paper"]):
            number, colour = groups.index(group), colours[group]
            shift = 0.14 * (number - (len(groups) - 1) / 2)  # so that equal figures do not hide each other
            heights = [models.index(model) + shift for model in rows["model"]]
            if not paper and "low" in rows:
                axis.hlines(heights, rows["low"], rows["high"], color=colour, linewidth=1.2)
            style = {"markerfacecolor": "none", "markersize": 8} if paper else {"markersize": 5}
            (handles[f"{group}, paper" if paper else str(group)],) = axis.plot(
                rows["value"], heights, MARKERS[number % len(MARKERS)], color=colour, **style
            )
        axis.axvline(origin, color=OTHER, linewidth=0.8)
        axis.set(xlabel=unit, axisbelow=True)
        axis.grid(axis="y", color="#e5e5e5", linewidth=0.8)
    parts[0][0].set_yticks(range(len(models)), [plain(model) for model in models])
    parts[0][0].set_ylim(len(models) - 0.5, -0.5)
    legend_below(figure, handles)
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
) -> None:
    """Draws a point for each row, at `x` and `y`, a panel for each value of the column `panel`.

    `colour` and `marker` are the columns that are told by the colour and by the shape of points; None: all are round.
    """
    colours = group_colours(frame[colour].unique().tolist())
    kinds = frame[marker].unique().tolist() if marker else []
    shapes = {kind: MARKERS[number % len(MARKERS)] for number, kind in enumerate(kinds)}
    figure, parts = _facets(frame, panel, (4.2, 3.7))
    for axis, part in parts:
        part = part.sample(frac=1, random_state=0)  # shuffled: no group hides another
        for kind, rows in part.groupby(marker, sort=False) if marker else [(None, part)]:
            shades, size = rows[colour].map(colours), np.clip(5000 / len(rows), 8, 36)
            axis.scatter(rows["x"], rows["y"], c=shades, s=size, marker=shapes.get(kind, "o"), alpha=0.6, lw=0)
        axis.set(xlabel=xlabel, ylabel=ylabel)
    empty = parts[0][0].scatter
    handles = {str(each): empty([], [], color=shade) for each, shade in colours.items()}
    handles |= {str(each): empty([], [], color="black", marker=shape) for each, shape in shapes.items()}
    legend_below(figure, handles)
    save_figure(figure, path, title)


def save_figure(figure: plt.Figure, path: Path, title: str) -> None:
    """Writes a picture whole or not at all, without upper and right frames, and closes the figure."""
    check_output(path, list(PICTURES))
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


def _facets(
    frame: pd.DataFrame, panel: str | None, size: tuple[float, float], **options: Any
) -> tuple[plt.Figure, list[tuple[plt.Axes, pd.DataFrame]]]:
    """A figure with a panel for each value of a column, which is its title, and the rows of each."""
    parts = list(frame.groupby(panel, sort=False)) if panel else [("", frame)]
    figure, axes = panels(len(parts), size, **options)
    for axis, (name, _) in zip(axes, parts, strict=True):
        axis.set_title(plain(str(name)), fontsize="medium")
    return figure, [(axis, part) for axis, (_, part) in zip(axes, parts, strict=True)]
