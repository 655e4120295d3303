"""Vocabulary and negation by stance: do Pro and Con differ on the surface? (Ghafouri et al. 2024, appendix A.2)"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

PLOT = "plots/statistics.png"
COLOURS = {"pro": "#2e8b57", "con": "#c0392b"}
NEGATIONS = {"no", "not", "never", "none", "cannot", "neither", "nor"}
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True)
class StanceStatistics:
    """Means over the texts of one stance.

    Attributes:
        texts: Number of texts with at least one word.
        lexical_diversity: Mean of unique words / all words of a text, in (0, 1].
        negations: Mean number of negation terms in a text: those of `NEGATIONS`, and words that end in "n't".
    """

    texts: int
    lexical_diversity: float
    negations: float


def tokenize(text: str) -> list[str]:
    """Lower-case words: runs of letters and digits, held together by apostrophes and hyphens inside ("don't")."""
    return _WORD.findall(text.lower())


def stance_statistics(stances: Iterable[str], texts: Iterable[str]) -> dict[str, StanceStatistics]:
    """Stance -> means over its texts, for "pro" and "con" where they have a text with a word."""
    frame = pd.DataFrame({"stance": stances, "words": map(tokenize, texts)})
    frame = frame[frame["words"].astype(bool) & frame["stance"].isin(COLOURS)]
    frame["lexical_diversity"] = [len(set(words)) / len(words) for words in frame["words"]]
    frame["negations"] = [sum(w in NEGATIONS or w.endswith(("n't", "n’t")) for w in words) for words in frame["words"]]
    means = frame.groupby("stance").agg({"words": "size", "lexical_diversity": "mean", "negations": "mean"})
    return {
        stance: StanceStatistics(int(means["words"][stance]), *map(float, means.loc[stance].iloc[1:]))
        for stance in COLOURS
        if stance in means.index
    }


def plot_statistics(statistics: dict[str, StanceStatistics], path: Path) -> None:
    """Draws the two means as bars, side by side (figure 4 of the paper)."""
    from matplotlib.figure import Figure  # not for a corpus without stances

    figure = Figure(figsize=(7, 3.2), dpi=150, layout="constrained")
    panels = {"Lexical diversity": "lexical_diversity", "Negation terms per argument": "negations"}
    for axes, (title, attribute) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        names = [f"{stance.capitalize()}\n(n = {means.texts:,})" for stance, means in statistics.items()]
        values = [getattr(means, attribute) for means in statistics.values()]
        bars = axes.bar(names, values, width=0.6, color=[COLOURS[stance] for stance in statistics])
        axes.bar_label(bars, fmt="%.3f", padding=3)
        axes.set(title=title, ylabel="mean over arguments", ylim=(0, 1.15 * (max(values) or 1)))
        axes.margins(x=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
