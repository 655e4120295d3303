"""Grids of runs: their figures in one frame, tables as papers print them, "paper / ours", and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dataset_scripts.base.files import write_text
from dataset_scripts.base.tables import markdown
from modeling.base.plots import CYCLE, MARKERS, OTHER, legend_below, panels, plain, save_figure
from modeling.base.recipe import spell

SEED = "seed"
WIDEST = 8  # an axis whose values span more than this factor is logarithmic
Finished = list[tuple[dict[str, Any], dict[str, Any]]]


def write_grid(finished: Finished, folder: Path, name: str) -> tuple[str, list[Path]]:
    """Writes tables and picture of a grid, named after its axes: two grids of one recipe do not replace each other's.

    Args:
        finished: (values of the axes, facts of the run as in its results.json) per point, at least one.
        folder: Of the grid's runs.
        name: The recipe's.

    Returns:
        The tables as Markdown, and the files.
    """
    points, along = grid_frame(finished)
    axes, facts = finished[0]
    text, picture = (folder / f"{','.join(axes)}{ending}" for ending in (".md", ".png"))
    note = " Ours is the mean over seeds ± their standard deviation." if points["runs"].max() > 1 else ""
    table = f"Paper: {facts['paper_setup']}. Each cell: paper / ours.{note}\n\n{grid_tables(points, along)}"
    if not along:
        write_text(text, f"{table}\n")
        return table, [text]
    split = facts["evaluation_options"].get("evaluate_on", "test")
    title = f"{name}, {split} data, over {' and '.join(axis for axis in axes if axis != SEED)}"
    plot_grid(points, along, picture, title)
    write_text(text, f"{table}\n\n![{title}]({picture.name})\n")
    return table, [text, picture]


def grid_frame(finished: Finished) -> tuple[pd.DataFrame, str | None]:
    """The figures of a grid, runs that differ by nothing but their seed taken together.

    Returns:
        A row for each metric and point: `metric`, `table` (where the paper prints it), `along` (value of the main
        axis), `line` (values of the others), `value`, `deviation` (NaN of one run), `runs`, `paper`, `base` (NaN where
        it differs between points of a seed) and `paper_base`; and the main axis: the numeric one with the most values,
        or else the one with the most. None where nothing but the seed varies.
    """
    axes = pd.DataFrame([values for values, _ in finished]).drop(columns=SEED, errors="ignore")
    sizes = {axis: axes[axis].map(spell).nunique() for axis in axes}
    along = max(axes, key=lambda axis: (sizes[axis] > 1, _is_numeric(axes[axis]), sizes[axis]), default=None)
    rows = []
    for values, results in finished:
        others = {axis: value for axis, value in values.items() if axis not in (along, SEED)}
        for evaluation in results["evaluations"]:
            for metric in evaluation["headline"]:
                paper = results["paper"].get(metric, {})
                place = {
                    "metric": metric,
                    "table": paper.get("table") or "",
                    "along": values[along] if along and _is_numeric(axes[along]) else spell(values.get(along)),
                    "line": ", ".join(f"{axis}={spell(value)}" for axis, value in others.items()),
                    SEED: values.get(SEED),
                }
                ours = {"value": evaluation["trained"].get(metric), "base": evaluation["base"].get(metric)}
                rows.append(place | ours | {"paper": paper.get("trained"), "paper_base": paper.get("base")})
    frame = pd.DataFrame(rows).astype(dict.fromkeys(("value", "base", "paper", "paper_base"), float))
    by_seed = frame.groupby(["metric", SEED], sort=False, dropna=False)["base"].agg(["mean", np.ptp])
    base = by_seed["mean"].where(by_seed["ptp"] < 1e-6).groupby("metric", sort=False)
    base = base.mean().where(base.count() == base.size())
    points = frame.groupby(["metric", "line", "along"], sort=False, dropna=False, as_index=False).agg(
        table=("table", "first"),
        value=("value", "mean"),
        deviation=("value", "std"),
        runs=("value", "size"),
        paper=("paper", "first"),
        paper_base=("paper_base", "first"),
    )
    return points.assign(base=points["metric"].map(base)), along


def grid_tables(points: pd.DataFrame, along: str | None) -> str:
    """The grid as Markdown, the main axis in the columns.

    Of several axes a table for each measure, with a row for each combination of the other axes, as papers print them;
    of one axis a table with a row for each measure.
    """
    cells = points.assign(
        cell=[_cell(*row) for row in zip(points["paper"], points["value"], points["deviation"], strict=True)],
        base=[_cell(*row) for row in zip(points["paper_base"], points["base"], strict=True)],
    )
    parts = []
    several = (points["line"] != "").any()
    for metric, rows in cells.groupby("metric", sort=False) if several else [("", cells)]:
        index = "line" if several else "metric"
        table = rows.pivot(index=index, columns="along", values="cell")
        table = table.loc[rows[index].unique(), rows["along"].unique()]
        if not along:
            table.columns = ["trained"]
        table.insert(0, "base", rows.drop_duplicates(index).set_index(index)["base"])
        table = table.rename_axis(index=(along and f"{along} →") or "", columns=None).reset_index()
        title = f"{rows['table'].max()}: {metric}".removeprefix(": ")
        parts.append(f"### {title}\n\n{markdown(table)}" if several else markdown(table))
    return "\n\n".join(parts)


def plot_grid(points: pd.DataFrame, along: str, path: Path, title: str) -> None:
    """Draws a panel for each measure over the main axis, a line for each combination of the others.

    Bars are deviations between seeds, rings the paper's figures, and the grey line is the untrained encoder.
    """
    numeric = pd.api.types.is_numeric_dtype(points["along"])
    ticks = sorted(points["along"].unique()) if numeric else points["along"].unique().tolist()
    names, handles = points["line"].unique().tolist(), {}
    figure, axes = panels(points["metric"].nunique(), (4.6, 3.1), sharex=True)
    for axis, (metric, rows) in zip(axes, points.groupby("metric", sort=False), strict=True):
        for line, part in rows.groupby("line", sort=False):
            number = names.index(line)
            part = part.sort_values("along") if numeric else part
            # side by side, where the points of several lines would hide each other
            aside = 0 if numeric else 0.08 * (number - (len(names) - 1) / 2)
            places = part["along"] if numeric else [ticks.index(value) + aside for value in part["along"]]
            style = {"color": CYCLE[number % len(CYCLE)], "marker": MARKERS[number % len(MARKERS)]}
            handles[line or "ours"] = axis.errorbar(
                places, part["value"], part["deviation"], ls="-" if numeric else "none", ms=5, capsize=3, **style
            )
            if part["paper"].notna().any():
                (handles["paper"],) = axis.plot(places, part["paper"], "o", color=style["color"], mfc="none", ms=9)
        if rows["base"].notna().all():
            handles["untrained base"] = axis.axhline(rows["base"].iloc[0], color=OTHER, linestyle="--", linewidth=1.1)
        if numeric and ticks[0] > 0 and ticks[-1] > WIDEST * ticks[0] and not _even(ticks):
            axis.set_xscale("log")
            axis.minorticks_off()
        places = ticks if numeric else range(len(ticks))
        axis.set_xticks(places, [plain(spell(value)) for value in ticks], rotation=90 if len(ticks) > 6 else 0)
        axis.set_xlabel(plain(along))
        axis.set_title(plain(metric), fontsize="medium")
        axis.grid(axis="y", color="#e5e5e5", linewidth=0.8)
    legend_below(figure, handles)
    save_figure(figure, path, title)


def _is_numeric(values: pd.Series) -> bool:
    """Whether all are numbers, which true and false are not."""
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values.tolist())


def _even(ticks: list[float]) -> bool:
    return len(ticks) > 2 and np.ptp(np.diff(ticks)) < 1e-9


def _cell(paper: float, ours: float, deviation: float = np.nan) -> str:
    text = "" if np.isnan(ours) else f"{ours:.3f}" + ("" if np.isnan(deviation) else f" ± {deviation:.3f}")
    return f"{'' if np.isnan(paper) else f'{paper:.3f}'} / {text}".strip() if text or not np.isnan(paper) else ""
