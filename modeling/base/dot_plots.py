"""Pictures of one figure for many methods: a dot for each, on a line of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # runs where there is no screen

import matplotlib.pyplot as plt

from modeling.base.plots import MARKERS, OTHER, group_colours, plain, save_figure

Figures = Mapping[tuple[str, str], float | None]


def plot_dots(
    methods: list[str],
    panels: Mapping[str, tuple[Figures, Figures]],
    path: Path,
    title: str,
    unit: str,
    intervals: Mapping[tuple[str, str], tuple[float, float]] | None = None,
    width: float = 3.2,
    origin: float = 0.0,
) -> None:
    """Draws a figure for each method and group: ours filled, the printed ones as rings.

    Args:
        methods: From top to bottom.
        panels: Title -> (ours, printed), each (method, group) -> figure; None or absent where there is none.
        path: PNG to write.
        title: Above the figure.
        unit: Of all figures, below each panel.
        intervals: (method, group) -> the ends of a line through our figure, in every panel.
        width: Of a panel, in inches.
        origin: Figure of what can do nothing, where a line is drawn.
    """
    groups = sorted({group for sides in panels.values() for side in sides for _, group in side})
    colours = group_colours(groups)
    size = (2 + width * len(panels), 1.5 + 0.34 * len(methods))
    figure, axes = plt.subplots(1, len(panels), figsize=size, sharex=True, sharey=True, squeeze=False)
    for axis, (name, sides) in zip(axes.flat, panels.items(), strict=True):
        for side, printed in zip(sides, (False, True), strict=True):
            for number, group in enumerate(groups):
                height = 0.14 * (number - (len(groups) - 1) / 2)  # so that equal figures do not hide each other
                found = {m: side[m, group] for m in methods if side.get((m, group)) is not None}
                for method in [] if printed else found:
                    if ends := (intervals or {}).get((method, group)):
                        axis.plot(ends, [methods.index(method) + height] * 2, color=colours[group], linewidth=1.2)
                axis.plot(
                    list(found.values()), [methods.index(method) + height for method in found],
                    MARKERS[number % len(MARKERS)], color=colours[group], label=_label(group, printed, bool(found)),
                    markerfacecolor="none" if printed else colours[group], markersize=8 if printed else 5,
                )  # fmt: skip
        axis.axvline(origin, color=OTHER, linewidth=0.8)
        axis.set_title(plain(name), fontsize="medium")
        axis.set_xlabel(unit)
        axis.grid(axis="y", color="#e5e5e5", linewidth=0.8)
        axis.set_axisbelow(True)
    axes[0, 0].set_yticks(range(len(methods)), [plain(method) for method in methods])
    axes[0, 0].set_ylim(len(methods) - 0.5, -0.5)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=max(len(handles), 1), frameon=False)
    figure.set_layout_engine("constrained")
    save_figure(figure, path, title)


def _label(group: str, printed: bool, drawn: bool) -> str:
    if not drawn:
        return "_"  # not in the legend
    return plain(f"{group}, paper" if printed else group)
