"""The paper's figures beside those of the probes: of the untrained RoBERTa, of SentiCSE, and of a run's own options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dataset_scripts.base.files import read_json
from modeling.base.results import Paper, applies

PAPER = "senticse"
CORPORA = ("imdb", "sst2", "yelp", "amazon", "mr")

Figure = float | None


def paper_corpus(source: str) -> str | None:
    """The paper's corpus that a source is named after, such as `sst2` for data/sst2."""
    return next((n for n in CORPORA if re.search(rf"(?<![a-z0-9]){n}(?![a-z0-9])", source.lower())), None)


class PaperColumns:
    """The paper's figures of the untrained RoBERTa and of SentiCSE, and of a model's own options where it prints them.

    Args:
        paper: The paper.
        corpora: Name of a corpus -> the paper's name of it, or None.
    """

    heads = ("paper, RoBERTa", "paper, SentiCSE")

    def __init__(self, paper: Paper, corpora: Mapping[str, str | None]) -> None:
        self.paper, self.corpora = paper, corpora

    def of(self, metric: str, corpus: str) -> list[Figure]:
        """The two columns; `metric` has {} in the place of the corpus."""
        base, own = (self._find(metric, corpus, base, self.paper.headline) for base in (True, False))
        return [base and base[0], own and own[0]]

    def of_options(self, metric: str, corpus: str, options: Mapping[str, Any]) -> tuple[float, str] | None:
        """The figure for a run's options, and the table that prints it."""
        return self._find(metric, corpus, False, options)

    def _find(self, metric: str, corpus: str, base: bool, options: Mapping[str, Any]) -> tuple[float, str] | None:
        name = metric.format(self.corpora[corpus])
        figures = self.paper.figures
        found = figures[(figures["metric"] == name) & (figures["model"] == ("base" if base else "trained"))]
        for row in found.itertuples():
            if set(row.settings) <= set(options) and applies(row.settings, options):
                return row.value, row.table
        return None


def run_options(model: str) -> dict[str, Any] | None:
    """The options of a run of the paper's system, where the model is one; they tell which ablation it is."""
    path = Path(model).expanduser()
    for folder in (path, path.parent):
        found = read_json(folder / "results.json") if path.is_dir() else None
        if found and found.get("system") == PAPER:
            return found["recipe"]
    return None
