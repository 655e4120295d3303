"""Vocabulary and negation by stance: do Pro and Con differ on the surface? (Ghafouri et al. 2024, appendix A.2)"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

PLOT = "plots/statistics.png"
COLOURS = {"pro": "#2e8b57", "con": "#c0392b"}
NEGATIONS = {"no", "not", "never", "none", "cannot", "neither", "nor"}
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def tokenize(text: str) -> list[str]:
    """Lower-case words: runs of letters and digits, held together by apostrophes and hyphens inside ("don't")."""
    return _WORD.findall(text.lower())


def is_negation(word: str) -> bool:
    """Whether a word of `tokenize` is one of `NEGATIONS`, or ends in "n't"."""
    return word in NEGATIONS or word.endswith(("n't", "n’t"))


def stance_statistics(stances: Iterable[str], texts: Iterable[str]) -> dict[str, dict[str, float]]:
    """Stance -> means over the texts of "pro" and of "con", each if it has a text with a word.

    `texts` counts those with a word; `lexical_diversity` is the mean of unique words / all words of a text, in (0, 1],
    `negations` the mean number in a text of words that are one (`is_negation`).
    """
    frame = pd.DataFrame({"stance": stances, "texts": map(tokenize, texts)})
    frame = frame[frame["texts"].astype(bool) & frame["stance"].isin(COLOURS)]
    frame["lexical_diversity"] = [len(set(words)) / len(words) for words in frame["texts"]]
    frame["negations"] = [sum(map(is_negation, words)) for words in frame["texts"]]
    means = frame.groupby("stance").agg({"texts": "size", "lexical_diversity": "mean", "negations": "mean"})
    return means.reindex([stance for stance in COLOURS if stance in means.index]).to_dict("index")


def plot_statistics(statistics: Mapping[str, Mapping[str, float]], path: Path) -> None:
    """Draws the two means as bars, side by side (figure 4 of the paper)."""
    from matplotlib.figure import Figure  # not for a corpus without stances

    figure = Figure(figsize=(7, 3.2), dpi=150, layout="constrained")
    panels = {"Lexical diversity": "lexical_diversity", "Negation terms per argument": "negations"}
    for axes, (title, measure) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        names = [f"{stance.capitalize()}\n(n = {means['texts']:,})" for stance, means in statistics.items()]
        values = [means[measure] for means in statistics.values()]
        bars = axes.bar(names, values, width=0.6, color=[COLOURS[stance] for stance in statistics])
        axes.bar_label(bars, fmt="%.3f", padding=3)
        axes.set(title=title, ylabel="mean over arguments", ylim=(0, 1.15 * (max(values) or 1)))
        axes.margins(x=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
