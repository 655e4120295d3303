"""A paper's own table of models: its rows, and below them one for each model that was evaluated here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean
from typing import Any

ELSEWHERE = "*"


@dataclass(frozen=True)
class Summary:
    """The block `summary:` of a paper's YAML file.

    Attributes:
        title: Where it is printed, e.g. "Table 1".
        note: What its columns are, and which of them are measured on other data than ours.
        scale: Factor between our figures and the printed ones.
        columns: Head -> our metric keys; a figure is their mean, and there is none unless all were measured.
        data: Head -> part of the name of the data that the paper measures on; no entry: its data is not to be had.
        rows: Name of a model -> its printed figures, in the order of `columns`; None for an empty cell.
    """

    title: str
    note: str
    scale: float
    columns: dict[str, list[str]]
    data: dict[str, str]
    rows: dict[str, list[float | None]]

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Summary:
        """Reads the block; one metric key may stand without brackets.

        Raises:
            ValueError: If a row has not as many figures as there are columns, or `data` names no column.
        """
        columns = {head: [keys] if isinstance(keys, str) else keys for head, keys in record["columns"].items()}
        for name, values in record["rows"].items():
            if len(values) != len(columns):
                raise ValueError(f"summary: the row {name!r} has {len(values)} figures for {len(columns)} columns")
        if unknown := set(record.get("data", {})) - set(columns):
            raise ValueError(f"summary: data of {', '.join(sorted(unknown))}, of which there is no column")
        return cls(record["title"], record["note"], record["scale"], columns, record.get("data", {}), record["rows"])


def summarise(
    summary: Summary | None, evaluations: list[dict[str, Any]], heads: Mapping[str, str]
) -> dict[str, Any] | None:
    """The paper's table with our rows, as facts.

    Args:
        summary: The paper's; None where it has no such table.
        evaluations: From `modeling.base.report.evaluate_models`.
        heads: Label of a model in `evaluations` -> its name in the table.

    Returns:
        `title`, `note`, `columns`; `rows`, each with `of` (paper or ours), `model` and `values`, one per column, None
        where not measured; `measured_on`, data -> column -> rows; `elsewhere`, the columns on other data than the
        paper's. None without a table.
    """
    if summary is None:
        return None
    source = {metric: e for e in evaluations for figures in e["figures"].values() for metric in figures}
    rows = [{"of": "paper", "model": name, "values": values} for name, values in summary.rows.items()]
    for label, head in heads.items():
        found = {metric: value for e in evaluations for metric, value in e["figures"][label].items()}
        rows.append({"of": "ours", "model": head, "values": [_value(summary, found, k) for k in summary.columns]})
    measured_on: dict[str, dict[str, int]] = {}
    elsewhere = []
    for head, keys in summary.columns.items():
        used = [source[key] for key in keys if key in source]
        for evaluation in used if len(keys) == 1 else []:
            measured_on.setdefault(evaluation["dataset"], {})[head] = evaluation["rows"]
        if any(summary.data.get(head, "") not in e["dataset_id"].lower() for e in used):
            elsewhere.append(head)
    facts = {"title": summary.title, "note": summary.note, "columns": list(summary.columns), "rows": rows}
    return facts | {"measured_on": measured_on, "elsewhere": elsewhere}


def _value(summary: Summary, found: Mapping[str, float | None], head: str) -> float | None:
    values = [found.get(key) for key in summary.columns[head]]
    return None if None in values else summary.scale * mean(values)


def render_summary(facts: Mapping[str, Any]) -> str:
    """The table as Markdown, with what it was measured on; from `summarise`."""
    from modeling.base.report import text_table

    rows = []
    for row in facts["rows"]:
        marks = [ELSEWHERE if row["of"] == "ours" and head in facts["elsewhere"] else "" for head in facts["columns"]]
        cells = [
            "" if value is None else f"{value:.1f}{mark}" for value, mark in zip(row["values"], marks, strict=True)
        ]
        rows.append([row["of"], row["model"], *cells])
    places = "; ".join(
        f"{', '.join(f'{head} ({count:,})' for head, count in heads.items())} on {place}"
        for place, heads in facts["measured_on"].items()
    )
    lines = [f"### {facts['title']} of the paper, and ours below it", facts["note"]]
    lines.append(text_table(["", "model", *facts["columns"]], rows))
    if places:
        other = f" {ELSEWHERE} other data than the paper's." if facts["elsewhere"] else ""
        lines.append(f"Ours, with the number of rows: {places}.{other}")
    return "\n\n".join(lines)
