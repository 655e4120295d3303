"""What `modeling.sos.baselines` says of similarity measures: tables beside the paper's figures, CSV files, a picture."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import yaml

from dataset_scripts.base.files import write_text
from dataset_scripts.base.tables import markdown, write_table
from modeling.sos.evaluation import BROADLY_DIFFERENT, agreement

if TYPE_CHECKING:
    from datasets import Dataset

# the paper of the benchmark; its figures stand beside those on data of that name only
PAPER = Path(__file__).parent / "paper.yaml"
TABLES = {
    "All pairs (tables 3 and 5)": ("pearson", "kendall"),
    "Broadly different pairs (tables 4 and 6)": ("pearson_different", "kendall_different"),
    "Broadly similar pairs (tables 4 and 6)": ("pearson_similar", "kendall_similar"),
    "Pairs that people and the measure place at opposite ends (table 9)": (
        "wrong_quartile_different",
        "wrong_quartile_similar",
    ),
}
Figures = dict[tuple[str, str, str], float | int | None]  # (method, domain, measure) -> figure


def evaluate(rows: Dataset, similarities: dict[str, np.ndarray]) -> Figures:
    """The metric `opinion_similarity` of each method on each domain, None for those that are undefined there."""
    scores, domains = np.asarray(rows["score"], float), np.asarray(rows["domain"])
    figures: Figures = {}
    for domain in dict.fromkeys(domains.tolist()):
        people = scores[domains == domain]
        for method, values in similarities.items():
            here = values[domains == domain]
            found = agreement(here, people) or dict.fromkeys(key for keys in TABLES.values() for key in keys)
            figures |= {(method, domain, key): value for key, value in found.items()}
    return figures


def paper_figures() -> Figures:
    """The printed figures of measures without training, and of the paper's untrained encoder, called SBERT there."""
    record = yaml.safe_load(PAPER.read_text(encoding="utf-8"))
    printed = dict(record["baselines"])
    printed["SBERT"] = {key: value for table in record["tables"] for key, value in table.get("base", {}).items()}
    figures: Figures = {}
    for method, values in printed.items():
        for key, value in values.items():
            _, domain, measure = key.split("_", 2)  # opinions_DOMAIN_MEASURE
            figures[method, domain, measure] = value
    return figures


def methods_of(*figures: Figures) -> list[str]:
    """Methods in the order of the tables: the first figures' order, then what only the others have."""
    return list(dict.fromkeys(method for side in figures for method, _, _ in side))


def render(name: str, rows: Dataset, ours: Figures, paper: Figures, notes: dict[str, dict[str, int]]) -> str:
    """The tables as Markdown; a cell is "paper / ours" where the paper has figures on these data."""
    domains = list(dict.fromkeys(domain for _, domain, _ in ours))
    counts = Counter(
        (row["domain"], row["score"] <= BROADLY_DIFFERENT) for row in rows.select_columns(["domain", "score"])
    )
    sizes = [f"{domain} {counts[domain, True]:,} broadly different and {counts[domain, False]:,} similar pairs"
             for domain in domains]  # fmt: skip
    parts = [f"{name}: {', '.join(sizes)}." + (" Cells: paper / ours." if paper else "")]
    for title, measures in TABLES.items():
        header = ["measure", *(f"{domain} {_short(measure)}" for domain in domains for measure in measures)]
        body = []
        for method in methods_of(paper, ours):
            keys = [(method, domain, measure) for domain in domains for measure in measures]
            if any(side.get(key) is not None for side in (paper, ours) for key in keys):
                body.append([method, *(_cell(paper, ours, key) for key in keys)])
        parts.append(f"### {title}\n\n{markdown(header, body)}")
    counted = [f"{method}: " + ", ".join(f"{number:,} {what}" for what, number in counts.items() if number)
               for method, counts in notes.items() if any(counts.values())]  # fmt: skip
    return "\n\n".join([*parts, *(["Counted: " + "; ".join(counted) + "."] if counted else [])])


def _short(measure: str) -> str:
    return measure.split("_")[-1] if measure.startswith("wrong") else measure.split("_")[0]


def _cell(paper: Figures, ours: Figures, key: tuple[str, str, str]) -> str:
    shown = ["-" if side.get(key) is None else f"{side[key]:.3f}" for side in (paper, ours)]
    return " / ".join(shown) if paper else shown[1]


def write(
    folder: Path,
    name: str,
    rows: Dataset,
    similarities: dict[str, np.ndarray],
    ours: Figures,
    paper: Figures,
    text: str,
) -> None:
    """Writes table.md, results.csv (long), similarities.csv (a row per pair, no texts) and pearson.png."""
    import pandas as pd

    from modeling.base.dot_plots import plot_dots

    keys = dict.fromkeys([*paper, *ours])
    results = [[*key, paper.get(key), ours.get(key)] for key in keys]
    write_table(pd.DataFrame(results, columns=["method", "domain", "measure", "paper", "ours"]), folder / "results.csv")
    pairs = pd.DataFrame({column: rows[column][:] for column in ("id", "domain", "score")} | similarities)
    write_table(pairs, folder / "similarities.csv")
    panels = {
        title: tuple({(m, d): value for (m, d, key), value in side.items() if key == measure} for side in (ours, paper))
        for title, measure in (("all pairs", "pearson"), ("broadly different", "pearson_different"),
                               ("broadly similar", "pearson_similar"))
    }  # fmt: skip
    title = f"Agreement with people's scores of opinion similarity ({name})"
    plot_dots(methods_of(paper, ours), panels, folder / "pearson.png", title, "Pearson correlation")
    write_text(folder / "table.md", f"{text}\n\n![{title}](pearson.png)\n")
