"""Vocabulary and negation by stance: do Pro and Con differ on the surface? (Ghafouri et al. 2024, appendix A.2)"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

STANCES = ("pro", "con")
NEGATIONS = frozenset({"no", "not", "never", "none", "cannot", "neither", "nor"})
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_COLOURS = {"pro": "#2e8b57", "con": "#c0392b"}


@dataclass(frozen=True)
class StanceStatistics:
    """Means over the texts of one stance.

    Attributes:
        texts: Number of texts with at least one word.
        lexical_diversity: Mean of unique words / all words of a text, in (0, 1].
        negations: Mean number of negation terms in a text.
    """

    texts: int
    lexical_diversity: float
    negations: float


def tokenize(text: str) -> list[str]:
    """Lower-case words: runs of letters and digits, held together by apostrophes and hyphens inside ("don't")."""
    return _WORD.findall(text.lower())


def lexical_diversity(words: list[str]) -> float:
    """Unique words / all words, in (0, 1].

    Raises:
        ZeroDivisionError: If there are no words.
    """
    return len(set(words)) / len(words)


def count_negations(words: list[str]) -> int:
    """Number of words that are a negation term or end in the term "n't" ("don't", also with a curly apostrophe)."""
    return sum(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in words)


def stance_statistics(stances: Iterable[str], texts: Iterable[str]) -> dict[str, StanceStatistics]:
    """Computes the means per stance.

    Args:
        stances: Stance of every text; others than "pro" and "con" are left out.
        texts: The texts, as many.

    Returns:
        Stance -> statistics, for those of "pro" and "con" that have a text.
    """
    sums: dict[str, list[float]] = {stance: [0, 0.0, 0] for stance in STANCES}
    for stance, text in zip(stances, texts, strict=True):
        if stance in sums and (words := tokenize(text)):
            total = sums[stance]
            total[0] += 1
            total[1] += lexical_diversity(words)
            total[2] += count_negations(words)
    return {
        stance: StanceStatistics(int(count), diversity / count, negations / count)
        for stance, (count, diversity, negations) in sums.items()
        if count
    }


def plot_statistics(statistics: dict[str, StanceStatistics], path: Path) -> None:
    """Draws the two means as bars, side by side, and writes them as PNG (figure 4 of the paper)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.2), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    panels = {"Lexical diversity": "lexical_diversity", "Negation terms per argument": "negations"}
    for axes, (title, attribute) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        names = [f"{stance.capitalize()}\n(n = {means.texts:,})" for stance, means in statistics.items()]
        values = [getattr(means, attribute) for means in statistics.values()]
        bars = axes.bar(names, values, width=0.6, color=[_COLOURS[stance] for stance in statistics])
        axes.bar_label(bars, fmt="%.3f", padding=3)
        axes.set_title(title, fontsize=11)
        axes.set_ylabel("mean over arguments", fontsize=9)
        axes.set_ylim(0, 1.15 * (max(values) or 1))
        axes.margins(x=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
