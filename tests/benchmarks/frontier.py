"""Draws a table of experiments as the frontier between two measures, and prints it as Markdown.

    python -m tests.benchmarks.frontier model_cards/stance/experiments.csv --x stsb --y auroc --label experiment

An experiment is on the frontier if no other is better in both measures. Rows of the same `--series` are joined.
"""

import argparse
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from modeling.base.report import text_table


def on_frontier(points: np.ndarray) -> np.ndarray:
    """Whether each point of shape (n, 2) is not beaten: no other is at least as good in both and better in one."""
    no_worse = (points[:, None] >= points[None]).all(axis=2)
    better = (points[:, None] > points[None]).any(axis=2)
    return ~(no_worse & better).any(axis=0)


def draw(table: pd.DataFrame, x: str, y: str, label: str, series: str, path: Path) -> None:
    """Writes the picture."""
    figure, axis = plt.subplots(figsize=(8.5, 5.5), constrained_layout=True)
    best = table[table["frontier"]].sort_values(x)
    axis.plot(best[x], best[y], color="#bbbbbb", linewidth=6, alpha=0.5, label="frontier", zorder=0)
    for name, rows in table.groupby(series, sort=False):
        axis.plot(rows[x], rows[y], "o-", linewidth=1, markersize=5, label=name)
    for _, row in table.iterrows():
        axis.annotate(row[label], (row[x], row[y]), xytext=(5, 4), textcoords="offset points", fontsize=7)
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="CSV with one experiment a row; the picture goes beside it")
    parser.add_argument("--x", default="stsb", help="column, higher is better (default: %(default)s)")
    parser.add_argument("--y", default="auroc", help="column, higher is better (default: %(default)s)")
    parser.add_argument("--label", default="experiment", help="column of the names (default: %(default)s)")
    parser.add_argument("--series", default="series", help="column of what belongs together (default: %(default)s)")
    arguments = parser.parse_args()
    printed = pd.read_csv(arguments.table, dtype=str, keep_default_na=False)  # figures as they were written
    table = printed.astype({arguments.x: float, arguments.y: float})
    table["frontier"] = on_frontier(table[[arguments.x, arguments.y]].to_numpy())
    path = arguments.table.with_suffix(".png")
    draw(table, arguments.x, arguments.y, arguments.label, arguments.series, path)
    shown = printed.assign(frontier=table["frontier"].map({True: "yes", False: ""}))
    print(text_table(list(shown.columns), shown.to_numpy().tolist()))
    print(f"\nwritten: {path}")


if __name__ == "__main__":
    main()
