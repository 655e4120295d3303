"""Pictures for model cards."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # runs where there is no screen

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import gaussian_kde

# green / red / blue as in the paper's figures, in shades that stay apart for colour-blind readers
COLOURS = {
    "agree": "#1b9e77",
    "oppose": "#d1495b",
    "entailment": "#1b9e77",
    "neutral": "#3d6fb4",
    "contradiction": "#d1495b",
}
DASHES = {"oppose": "--", "contradiction": "--", "neutral": ":"}


def plot_distributions(before: dict[str, np.ndarray], after: dict[str, np.ndarray], path: Path, title: str) -> None:
    """Draws the densities of similarities by group, two models side by side on the same axes.

    Args:
        before: Group -> cosine similarities of the base, in [-1, 1].
        after: The same for the trained model.
        path: PNG to write.
        title: Above the figure.
    """
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, sharex=True, constrained_layout=True)
    lowest = min(values.min() for groups in (before, after) for values in groups.values())
    grid = np.linspace(max(-1.0, min(-0.2, lowest - 0.1)), 1.0, 400)
    for axis, groups, label in zip(axes, (before, after), ("base", "trained"), strict=True):
        for name, values in groups.items():
            colour = COLOURS.get(name)
            density = gaussian_kde(values)(grid) if np.ptp(values) > 0 else np.zeros_like(grid)
            axis.plot(grid, density, DASHES.get(name, "-"), color=colour, label=f"{name} (n={len(values):,})")
            axis.fill_between(grid, density, color=colour, alpha=0.12)
            axis.axvline(values.mean(), color=colour, linewidth=0.8, linestyle=DASHES.get(name, "-"))
        axis.set_title(label)
        axis.set_xlabel("cosine similarity")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylim(bottom=0)  # of both; set before the second is drawn it would cut off a higher curve
    axes[0].set_ylabel("density")
    axes[0].legend(frameon=False, loc="upper left", fontsize="small")
    figure.suptitle(title)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120, metadata={"Software": None})
    plt.close(figure)
