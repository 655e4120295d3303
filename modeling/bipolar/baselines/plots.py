"""Pictures of counter-argument retrieval: accuracy of rows with intervals, and accuracy over the shortlist's length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.ticker import FixedLocator, NullLocator

from modeling.base.dot_plots import plot_dots
from modeling.base.plots import CYCLE, LINES, plain, save_figure

MARKERS = "osD^vPX*"


def draw(results: dict[str, Any], folder: Path) -> list[str]:
    """Draws the pictures into `plots/`; returns them as Markdown."""
    lines = []
    rows = [row for row in results["rows"] if row["splits"]]
    name = f"{results['data']} ({results['evaluated_on']})"
    if rows or any(row["paper"] for row in results["rows"]):
        title = f"Accuracy@1 among all arguments (epa), 95 % intervals: {name}"
        plot_accuracy(results, folder / "plots" / "accuracy.png", title)
        lines.append(f"![{title}](plots/accuracy.png)")
    if any(row["reranker"] for row in rows) and len(results["shortlists"]) > 1:
        title = f"Accuracy@1 over the number of re-ranked candidates: {name}"
        plot_shortlists(results, folder / "plots" / "shortlists.png", title)
        lines.append(f"![{title}](plots/shortlists.png)")
    return lines


def plot_accuracy(results: dict[str, Any], path: Path, title: str) -> None:
    """Draws accuracy@1 in epa of every row with its interval, after re-ranking the longest shortlist where it does.

    Args:
        results: See `modeling.bipolar.baselines.run.evaluate`.
        path: PNG to write.
        title: Above the figure.
    """
    longest = f"@1/{max(results['shortlists'])}"
    ours: dict[tuple[str, str], float] = {}
    intervals: dict[tuple[str, str], tuple[float, float]] = {}
    printed: dict[tuple[str, str], float] = {}
    for row in results["rows"]:
        measure = longest if row["reranker"] else "epa"
        for split, facts in row["splits"].items():
            for group, figures in ((split, facts["accuracy"]), (f"{split}, unseen", facts["unseen"])):
                if figures:
                    found = figures[measure]
                    ours[row["name"], group] = 100 * found["accuracy"]
                    if found["low"] is not None:
                        intervals[row["name"], group] = (100 * found["low"], 100 * found["high"])
        if (value := row["paper"].get(measure)) is not None and "official" in results["splits"]:
            printed[row["name"], "official"] = value
    names = [row["name"] for row in results["rows"] if any(key[0] == row["name"] for key in [*ours, *printed])]
    plot_dots(names, {"": (ours, printed)}, path, title, "accuracy@1, %", intervals, width=8.0)


def plot_shortlists(results: dict[str, Any], path: Path, title: str) -> None:
    """Draws accuracy over K, a line for each row that re-ranks, a panel for each split; the paper's as dotted lines.

    Args:
        results: See `modeling.bipolar.baselines.run.evaluate`.
        path: PNG to write.
        title: Above the figure.
    """
    rows, splits, shortlists = results["rows"], list(results["splits"]), results["shortlists"]
    drawn = [row for row in rows if row["reranker"] and (row["splits"] or row["paper"])]
    figure, axes = plt.subplots(
        1, len(splits), figsize=(1 + 4.5 * len(splits), 4.6), sharey=True, squeeze=False, constrained_layout=True
    )
    handles = {}
    for axis, split in zip(axes.flat, splits, strict=True):
        for number, row in enumerate(drawn):
            style = {"color": CYCLE[number % len(CYCLE)], "marker": MARKERS[number % len(MARKERS)]}
            if found := row["splits"].get(split):
                values = [found["accuracy"][f"@1/{k}"] for k in shortlists]
                accuracies = [100 * value["accuracy"] for value in values]
                (handles[row["name"]],) = axis.plot(
                    shortlists, accuracies, linestyle=LINES[number % len(LINES)], linewidth=1.6, **style
                )
                if all(value["low"] is not None for value in values):
                    low, high = ([100 * value[end] for value in values] for end in ("low", "high"))
                    axis.fill_between(shortlists, low, high, color=style["color"], alpha=0.1, linewidth=0)
            printed = [row["paper"].get(f"@1/{k}") for k in shortlists]
            if split == "official" and any(value is not None for value in printed):
                (line,) = axis.plot(shortlists, printed, linestyle=":", linewidth=1, markerfacecolor="none", **style)
                handles[f"{row['name']}, paper"] = line
        axis.set_title(f"{split} split")
        axis.set_xlabel("re-ranked candidates K")
        axis.xaxis.set_major_locator(FixedLocator(shortlists))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.grid(axis="y", color="#e5e5e5", linewidth=0.8)
    axes[0, 0].set_ylabel("accuracy@1, %")
    axes[0, 0].set_ylim(bottom=0)
    figure.legend(handles.values(), map(plain, handles), frameon=False, fontsize="small", loc="outside lower center",
                  ncols=2)  # fmt: skip
    save_figure(figure, path, title)
