"""Grids of runs: tables of their figures, as papers print them, "paper / ours"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dataset_scripts.base.files import write_text
from dataset_scripts.base.tables import markdown
from modeling.base.recipe import spell

SEED = "seed"  # runs that differ by it alone are taken together
Finished = list[tuple[dict[str, Any], dict[str, Any]]]


def write_grid(finished: Finished, folder: Path) -> tuple[str, Path]:
    """Writes the tables of a grid into a file named after its axes: grids of one recipe do not replace each other's.

    `finished` are (values of the axes, facts of the run as in its results.json) per point. Returns tables and file.
    """
    axes, facts = finished[0]
    seeds = " Ours is the mean over seeds ± their standard deviation." if SEED in axes else ""
    table = f"Paper: {facts['paper_setup']}. Each cell: paper / ours.{seeds}\n\n{grid_tables(finished)}"
    path = folder / f"{','.join(axes)}.md"
    write_text(path, f"{table}\n")
    return table, path


def grid_tables(finished: Finished) -> str:
    """The tables of a grid: its last axis is in the columns.

    Of several axes there is a table for each measure, with a row for each combination of the other axes, as papers
    print them; of one axis a table with a row for each measure.
    """
    *others, along = [axis for axis in finished[0][0] if axis != SEED] or [None]
    rows = []
    for values, results in finished:
        place = {
            "line": ", ".join(f"{axis}={spell(values[axis])}" for axis in others),
            "along": spell(values[along]) if along else "trained",
        }
        for each in results["evaluations"]:
            for metric in each["headline"]:
                paper = results["paper"].get(metric, {})
                figures = [paper.get("trained"), each["trained"].get(metric), paper.get("base"), each["base"][metric]]
                figures = dict(zip(("paper", "ours", "paper_base", "base"), figures, strict=True))
                rows.append({"metric": metric, "table": paper.get("table") or ""} | place | figures)
    frame = pd.DataFrame(rows).astype(dict.fromkeys(("paper", "ours", "paper_base", "base"), float))
    index, parts = "line" if others else "metric", []
    for metric, part in frame.groupby("metric", sort=False) if others else [("", frame)]:
        cells = {}
        for line, points in part.groupby(index, sort=False):
            base = points.groupby("along")["base"].mean()  # over seeds, which may draw other samples of the test data
            shown = base.mean() if np.ptp(base) < 1e-6 else np.nan
            cells[line] = {"base": _cell(points["paper_base"].iloc[0], shown)}
            for value, runs in points.groupby("along", sort=False):
                cells[line][value] = _cell(runs["paper"].iloc[0], runs["ours"].mean(), runs["ours"].std())
        table = pd.DataFrame.from_dict(cells, "index", columns=["base", *part["along"].unique()]).fillna("")
        table = table.rename_axis(f"{along} →" if along else "").reset_index()
        title = f"### {part['table'].max()}: {metric}\n\n".replace("### : ", "### ") if others else ""
        parts.append(title + markdown(table))
    return "\n\n".join(parts)


def _cell(paper: float, ours: float, deviation: float = np.nan) -> str:
    text = "" if np.isnan(ours) else f"{ours:.3f}" + ("" if np.isnan(deviation) else f" ± {deviation:.3f}")
    return f"{'' if np.isnan(paper) else f'{paper:.3f}'} / {text}".strip() if text or not np.isnan(paper) else ""
