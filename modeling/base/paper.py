"""A published paper: its setup and figures, and for which of our runs each of them is the figure to compare with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml


@dataclass(frozen=True)
class Paper:
    """The file `paper.yaml` in the room of a system.

    `figures` have the columns `table` (where it is printed), `model` ("base" for the untrained encoder, or "trained"),
    `data` (part of the name of the corpus it was measured on), `metric` (our key of it), `value`, and `settings` (the
    options under which it was obtained; `data` of them are corpora, each part of the name of one of ours).

    `summary`, its own table of models, has `title`, `note`, `scale` (between our figures and the printed ones),
    `columns` (head -> our metric, or several to take the mean of), `data` (head -> part of the name of its data) and
    `rows` (model -> figures, in the order of the columns).
    """

    setup: str  # what its figures were measured on
    citation: str  # BibTeX
    link: str  # arXiv, by which the Hub lists models of a paper, or the ACL's anthology
    base: str  # Hub id of the encoder that it trains
    headline: dict[str, Any]  # the setting it recommends, with all options that its figures depend on
    headline_name: str  # the same in words
    figures: pd.DataFrame
    summary: dict[str, Any] | None  # None where it has none that is shown

    @classmethod
    def read(cls, path: Path) -> Paper:
        """Reads a `paper.yaml`; a ValueError if a row of a table has not as many figures as columns or points."""
        record = yaml.safe_load(path.read_text(encoding="utf-8"))
        rows = [row for table in record["tables"] for row in _figures(table)]
        figures = pd.DataFrame(rows, columns=["table", "model", "data", "metric", "value", "settings"])
        headline, summary = record["headline"], record.get("summary")
        for name, values in summary["rows"].items() if summary else ():
            if len(values) != len(summary["columns"]):
                raise ValueError(f"{path}: {name!r} has {len(values)} figures for {len(summary['columns'])} columns")
        facts = (record[key] for key in ("setup", "citation", "link", "base"))
        return cls(*facts, headline["settings"], headline["name"], figures, summary)

    def printed(self, settings: Any) -> dict[str, dict[str, Any]]:
        """What it prints for settings, a recipe's or a mapping's: metric -> `table`, `data`, `base` and `trained`."""
        result: dict[str, dict[str, Any]] = {}
        for row in self.figures.itertuples():
            if _applies(row.settings, settings):
                empty = {"table": row.table, "data": row.data, "base": None, "trained": None}
                result.setdefault(row.metric, empty)[row.model] = row.value
        return result

    def beside(self, evaluations: Sequence[Mapping[str, Any]], base: str, settings: Any) -> dict[str, dict[str, Any]]:
        """Those of `printed` that ours may stand beside: of the encoder `base`, a Hub id, and of the same data."""
        if base.rpartition("/")[2].lower() != self.base.rpartition("/")[2].lower():
            return {}
        data = {metric: each["dataset_id"].lower() for each in evaluations for metric in each["measures"]}
        printed = self.printed(settings)
        return {metric: each for metric, each in printed.items() if metric in data and each["data"] in data[metric]}


def _figures(table: Mapping[str, Any]) -> Iterator[tuple]:
    """The figures of a table: of one metric at points of an axis, or of several metrics."""
    label, data, base = table["table"], table.get("data", ""), table.get("base", {})
    rows = [(row["settings"], row["values"]) for row in table["rows"]]
    if "axis" in table:
        axis, metric, points = (table[key] for key in ("axis", "metric", "points"))
        rows = [(row, zip(points, values, strict=True)) for row, values in rows]
        rows = [(row | {axis: point}, {metric: value}) for row, values in rows for point, value in values]
        base = {metric: base}
    for model, settings, values in [("base", {}, base), *(("trained", *row) for row in rows)]:
        for metric, value in values.items():
            yield label, model, data, metric, value, settings


def _applies(settings: Mapping[str, Any], options: Any) -> bool:
    """Whether options, a recipe's or a mapping's, have all of a figure's settings; see `Paper.figures`."""
    for key, value in settings.items():
        if key == "data":  # a source for each corpus, with the corpus in its name, and no other
            names = [Path(source).name for source in options[key]]
            if len(names) != len(value) or not all(any(corpus in name for name in names) for corpus in value):
                return False
        elif options[key] != value:
            return False
    return True
