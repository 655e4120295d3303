"""Pictures of the probes: texts of either polarity in a plane, and SgTS against few-shot accuracy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch

from modeling.base.plots import CYCLE, plain, save_figure

# of classes, which stay apart for colour-blind readers; the first two are negative and positive
CLASS_COLOURS = ("#d1495b", "#1b9e77", "#3d6fb4", "#b8860b")
MARKERS = "osD^vPX*"


def plot_components(models: dict[str, dict[str, Any]], classes: list[str], path: Path, title: str) -> None:
    """Draws texts by class in the plane of the first two principal components, one panel per model, three in a row.

    Args:
        models: Label of a model -> what `modeling.geometry.principal_components` gives.
        classes: Names of the classes.
        path: PNG to write.
        title: Above the figure.
    """
    across = min(len(models), 3)
    down = -(-len(models) // across)
    figure, axes = plt.subplots(
        down, across, figsize=(4 * max(across, 1.4), 3.6 * down), squeeze=False, constrained_layout=True
    )
    for axis, (label, found) in zip(axes.flat, models.items(), strict=False):
        points, labels = np.asarray(found["points"]), np.asarray(found["labels"])
        colours = np.array([CLASS_COLOURS[number % len(CLASS_COLOURS)] for number in labels])
        # in one cloud, so that no class hides the others; the more points, the smaller
        size = np.clip(5000 / len(points), 8, 24)
        axis.scatter(points[:, 0], points[:, 1], c=colours, s=size, alpha=0.5, linewidths=0)
        axis.set_title(plain(label))
        first, second = found["explained"]
        axis.set_xlabel(f"component 1 ({first:.0%} of variance)")
        axis.set_ylabel(f"component 2 ({second:.0%})")
    handles = [
        axes[0, 0].scatter([], [], color=CLASS_COLOURS[number % len(CLASS_COLOURS)], s=24, label=plain(name))
        for number, name in enumerate(classes)
    ]
    figure.legend(handles=handles, frameon=False, fontsize="small", loc="outside lower center", ncols=len(classes))
    for axis in axes.flat[len(models) :]:
        axis.set_visible(False)
    save_figure(figure, path, title)


def plot_correlation(panels: list[dict[str, Any]], path: Path, title: str) -> None:
    """Draws few-shot accuracy over SgTS, a point per model and corpus, one panel per kind of few-shot classification.

    Args:
        panels: `name`, and `points`: model, corpus, SgTS, accuracy in [0, 1].
        path: PNG to write.
        title: Above the figure.
    """
    across = min(len(panels), 2)
    down = -(-len(panels) // across)
    figure, axes = plt.subplots(
        down, across, figsize=(5 * max(across, 1.2), 3.8 * down), squeeze=False, sharex=True, constrained_layout=True
    )
    models = list(dict.fromkeys(point[0] for panel in panels for point in panel["points"]))
    corpora = list(dict.fromkeys(point[1] for panel in panels for point in panel["points"]))
    for axis, panel in zip(axes.flat, panels, strict=False):
        for model, corpus, score, accuracy in panel["points"]:
            axis.scatter(score, 100 * accuracy, s=36, alpha=0.85, marker=MARKERS[models.index(model) % len(MARKERS)],
                         color=CYCLE[corpora.index(corpus) % len(CYCLE)])  # fmt: skip
        axis.set_title(panel["name"])
        axis.set_xlabel("SgTS")
        axis.set_ylabel("accuracy, %")
        axis.tick_params(labelbottom=True)
    handles = [
        Patch(color=CYCLE[number % len(CYCLE)], label=plain(corpus)) for number, corpus in enumerate(corpora)
    ] + [
        axes[0, 0].scatter([], [], color="black", marker=MARKERS[number % len(MARKERS)], label=plain(model))
        for number, model in enumerate(models)
    ]
    figure.legend(handles=handles, frameon=False, fontsize="small", loc="outside lower center", ncols=4)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    save_figure(figure, path, title)
