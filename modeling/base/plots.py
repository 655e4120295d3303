"""Pictures for model cards."""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # runs where there is no screen

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import gaussian_kde

from dataset_scripts.base.files import atomic_file

# green / red / blue as in the paper's figures, in shades that stay apart for colour-blind readers
COLOURS = {
    "agree": "#1b9e77",
    "oppose": "#d1495b",
    "entailment": "#1b9e77",
    "neutral": "#3d6fb4",
    "contradiction": "#d1495b",
    "broadly similar": "#1b9e77",
    "broadly different": "#d1495b",
    "same polarity": "#1b9e77",
    "other polarity": "#d1495b",
    "different polarity": "#d1495b",
    "positives": "#1b9e77",
    "negatives": "#d1495b",
}
DASHES = dict.fromkeys(
    ("oppose", "contradiction", "broadly different", "other polarity", "different polarity", "negatives"), "--"
) | {"neutral": ":"}
# of models, where groups are no lines of their own
CYCLE = ("#555555", "#d95f02", "#3d6fb4", "#1b9e77", "#7b5ea7", "#b8860b")
LINES = ("--", "-", "-.", ":")
RANKS = 100  # texts that a person may read
LEAST = 5  # a share of fewer texts jumps with each of them


def plot_distributions(models: dict[str, dict[str, np.ndarray]], path: Path, title: str) -> None:
    """Draws the densities of similarities by group, one panel per model on the same axes, three in a row at most.

    Args:
        models: Label of a model -> group -> cosine similarities, in [-1, 1].
        path: PNG to write.
        title: Above the figure.
    """
    across = min(len(models), 3)
    down = -(-len(models) // across)
    size = (4.5 * max(across, 1.4), 3.4 * down)
    figure, axes = plt.subplots(
        down, across, figsize=size, sharey=True, sharex=True, squeeze=False, constrained_layout=True
    )
    lowest = min(values.min() for groups in models.values() for values in groups.values() if len(values))
    grid = np.linspace(max(-1.0, min(-0.2, lowest - 0.1)), 1.0, 400)
    for axis, (label, groups) in zip(axes.flat, models.items(), strict=False):
        for name, values in groups.items():
            colour = COLOURS.get(name)
            density = gaussian_kde(values)(grid) if len(values) and np.ptp(values) > 0 else np.zeros_like(grid)
            axis.plot(grid, density, DASHES.get(name, "-"), color=colour, label=f"{name} (n={len(values):,})")
            axis.fill_between(grid, density, color=colour, alpha=0.12)
            if len(values):
                axis.axvline(values.mean(), color=colour, linewidth=0.8, linestyle=DASHES.get(name, "-"))
        axis.set_title(label)
        axis.tick_params(labelbottom=True)  # also where the panel below is empty
        axis.set_xlabel("cosine similarity")
    for axis in axes.flat[len(models) :]:
        axis.set_visible(False)
    axes[0, 0].set_ylim(bottom=0)  # of all; set before the last is drawn it would cut off a higher curve
    axes[0, 0].legend(frameon=False, loc="best", fontsize="small")
    for axis in axes[:, 0]:
        axis.set_ylabel("density")
    save_figure(figure, path, title)


def plot_alignment(panels: list[tuple[str, float, np.ndarray, dict[str, np.ndarray]]], path: Path, title: str) -> None:
    """Draws, for each statement, the share of its own group among the texts it finds: by cosine and by rank.

    Ranks compare models whose cosines lie at other levels.

    Args:
        panels: (statement, threshold, whether each text is of its group, label of a model -> cosines), one per row.
        path: PNG to write.
        title: Above the figure.
    """
    figure, axes = plt.subplots(
        len(panels), 2, figsize=(9, 3 * len(panels)), sharey=True, squeeze=False, constrained_layout=True
    )
    for (statement, threshold, aligned, models), (by_cosine, by_rank) in zip(panels, axes, strict=True):
        for number, (label, cosines) in enumerate(models.items()):
            style = {"color": CYCLE[number % len(CYCLE)], "linestyle": LINES[number % len(LINES)], "label": label}
            order = np.argsort(-cosines, kind="stable")
            ranks = np.arange(1, len(order) + 1)
            shares = np.cumsum(aligned[order]) / ranks
            # of millions of points the first ones matter most
            drawn = np.unique(np.geomspace(min(LEAST, len(order)), len(order), 2000).round().astype(int)) - 1
            by_cosine.plot(cosines[order][drawn], shares[drawn], **style)
            by_rank.plot(ranks[LEAST - 1 : RANKS], shares[LEAST - 1 : RANKS], **style)
        by_cosine.axvline(threshold, color="black", linewidth=0.8, linestyle=":", label="threshold of the paper")
        for axis in (by_cosine, by_rank):
            axis.axhline(aligned.mean(), color="black", linewidth=0.8, label="share among all texts")
        by_cosine.set_title(statement, loc="left")
        by_cosine.set_ylabel("share of its group")
        by_cosine.set_xlabel(f"cosine from which texts count (at least {LEAST} do)")
        by_rank.set_xlabel("number of most similar texts")
    axes[0, 0].set_ylim(0, 1.02)
    axes[0, 0].legend(frameon=False, loc="lower left", fontsize="small")
    save_figure(figure, path, title)


def save_figure(figure: plt.Figure, path: Path, title: str) -> None:
    """Writes a PNG whole or not at all, and closes the figure.

    Args:
        figure: Gets the title; its upper and right frames go.
        path: PNG to write.
        title: Above the figure, as it stands: `$` starts no formula.
    """
    for axis in figure.axes:
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle(plain(title), fontsize="medium")
    with atomic_file(path) as temporary, warnings.catch_warnings():
        # the font has no emoji: boxes stand for them
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        figure.savefig(temporary, format="png", dpi=120, metadata={"Software": None})
    plt.close(figure)


def plain(text: str) -> str:
    """Text that matplotlib takes neither for mathematics nor for a label to be left out."""
    return text.replace("$", r"\$").lstrip("_")
