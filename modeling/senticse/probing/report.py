"""The figures of the probes as tables: the paper's beside those of the models, by corpus."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from dataset_scripts.base.tables import markdown
from modeling.base.results import Paper
from modeling.senticse.probing.cells import FINE_TUNED, FROZEN
from modeling.senticse.probing.paper import Figure, PaperColumns
from modeling.senticse.probing.run import LEAST_MODELS, few_shot_kinds

TRAINED = {FROZEN: "classifier", FINE_TUNED: "encoder too"}
Table = tuple[str, list[str], list[list[str]]]  # title, header, rows


def cell(value: float | int | None) -> str:
    """A figure for a table: a count whole, a measure with three decimals, nothing for None."""
    return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def paper_columns(results: dict[str, Any]) -> PaperColumns:
    """The paper's figures for the corpora of these results."""
    return PaperColumns(
        Paper.read(Path(__file__).parents[1] / "paper.yaml"),
        {facts["name"]: facts["paper"] for facts in results["corpora"]},
    )


def percent(value: float) -> str:
    """A share as the paper prints it, in percent with two decimals."""
    return f"{100 * value:.2f}"


def tables(results: dict[str, Any], paper: PaperColumns) -> list[Table]:
    """The tables in the order of the paper's."""
    heads = [*paper.heads, *results["models"]]
    by_corpus = ByCorpus(results, paper)
    sgts = (
        by_corpus.rows(["spearman"], "sgts_{}_spearman", lambda found: found["sgts"]["spearman"])
        + by_corpus.rows(["of its ceiling"], None, lambda found: found["sgts"]["normalized"])
        + by_corpus.rows(["auroc"], None, lambda found: found["sgts"]["auroc"])
    )
    shots = [row for variant, k in few_shot_kinds(results) for row in by_corpus.few_shot(variant, k)]
    probes = by_corpus.rows([], "linear_probe_{}", lambda found: found["linear_probe"]["accuracy"], percent)
    ablations = _ablations(results, paper)
    shape = [
        row
        for measure in ("alignment", "uniformity")
        for row in by_corpus.rows([measure], f"{measure}_{{}}", lambda found, key=measure: found["geometry"][key])
    ]
    correlations = [
        [c["corpus"], c["k"], TRAINED[c["variant"]], str(c["points"]), cell(c["pearson"]), cell(c["spearman"])]
        for c in results["correlations"]
    ]
    made = [
        ("SgTS (table 3)", ["corpus", "measure", *heads], sgts),
        ("Few-shot accuracy, % (table 4)", ["corpus", "per class", "trained", *heads], shots),
        ("Linear probe, accuracy in % (table 5)", ["corpus", *heads], probes),
        ("Linear probe by the options of runs, accuracy in % (tables 7, 8, 9 and 14)",
         ["corpus", "model", "options", "printed in", "paper / ours"], ablations),
        ("Alignment and uniformity (table 15)", ["corpus", "measure", *heads], shape),
        ("SgTS and few-shot accuracy over models",
         ["corpus", "per class", "trained", "points", "Pearson", "Spearman"], correlations),
    ]  # fmt: skip
    return [table for table in made if table[2]]


class ByCorpus:
    """Rows of tables with a row per corpus, and one of their means where there are several.

    Args:
        results: See `modeling.senticse.probing.run.probe`.
        paper: The paper's columns.
    """

    def __init__(self, results: dict[str, Any], paper: PaperColumns) -> None:
        self.figures, self.paper = results["figures"], paper

    def rows(
        self, key: list[str], metric: str | None, get: Callable[[dict], Figure], show: Callable[[float], str] = cell
    ) -> list[list[str]]:
        """Rows of a measure: corpus, key, the paper's two columns, a column per model.

        Args:
            key: What stands between the corpus and the figures.
            metric: The paper's name of the measure, with {} for the corpus; None where it prints no such measure.
            get: The measure among the figures of a model on a corpus.
            show: A figure as text.
        """
        found = {
            corpus: [*(self.paper.of(metric, corpus) if metric else (None, None)), *map(get, models.values())]
            for corpus, models in self.figures.items()
        }
        if len(found) > 1:
            columns = zip(*found.values(), strict=True)
            found["mean"] = [None if None in column else float(np.mean(column)) for column in columns]
        return [[corpus, *key, *("" if v is None else show(v) for v in values)] for corpus, values in found.items()]

    def few_shot(self, variant: str, k: str) -> list[list[str]]:
        """Rows of a kind of few-shot classification; the deviation over draws stands beside each corpus's mean."""
        rows = self.rows(
            [k, TRAINED[variant]], f"few_shot_{k}_{{}}", lambda found: found["few_shot"][variant][k]["mean"], percent
        )
        for row, models in zip(rows, self.figures.values(), strict=False):
            deviations = [found["few_shot"][variant][k]["deviation"] for found in models.values()]
            first = len(row) - len(deviations)
            for column, deviation in enumerate(deviations, start=first):
                row[column] += "" if deviation is None else f" ± {percent(deviation)}"
        return rows


def _ablations(results: dict[str, Any], paper: PaperColumns) -> list[list[str]]:
    """Rows for the models that are runs with options whose figures the paper prints."""
    rows = []
    for corpus, models in results["figures"].items():
        for model, found in models.items():
            options = results["run_options"][model]
            if printed := options and paper.of_options("linear_probe_{}", corpus, options):
                value, table = printed
                named = ", ".join(f"{key} {options[key]}" for key in paper.paper.headline)
                ours = percent(found["linear_probe"]["accuracy"])
                rows.append([corpus, model, named, table, f"{percent(value)} / {ours}"])
    return rows


def render(results: dict[str, Any], paper: PaperColumns) -> str:
    """All tables as Markdown, with what their reader has to know."""
    parts = [f"Paper: {paper.paper.setup}. Its figures stand beside corpora of the same name.", _corpora(results)]
    parts += [f"### {title}\n\n{markdown(header, rows)}" for title, header, rows in tables(results, paper)]
    return "\n\n".join([*parts, _legend(results)])


def _corpora(results: dict[str, Any]) -> str:
    lines = []
    for facts in results["corpora"]:
        held_out = " (held out from train)" if facts["held_out"] else ""
        sampled = (
            f"; samples of at most {results['max_rows']:,} of each, balanced between classes"
            if facts["sampled"]
            else ""
        )
        lines.append(
            f"- {facts['name']}: {facts['train']:,} training, {facts['validation']:,} validation{held_out}, "
            f"{facts['test']:,} test sentences; {facts['pairs']:,} SgTS pairs of the {facts['pairs_split']} "
            f"split{sampled}."
        )
    return "\n".join(lines)


def _legend(results: dict[str, Any]) -> str:
    protocol = results["protocol"]
    lines = [
        "SgTS: Spearman correlation of cosine and equal polarity, whose ceiling is about .87; auroc: 0.5 is chance.",
        f"Few-shot: mean and standard deviation of {protocol['seeds']} draws, up to {protocol['validation']} other "
        "texts for validation. `classifier`: a logistic regression on frozen embeddings, all test texts.",
    ]
    if protocol["fine_tune_seeds"]:
        tested = ", ".join(f"{facts['tested']:,} of {facts['name']}" for facts in results["corpora"])
        lines.append(f"`encoder too`, as in the paper: {protocol['fine_tune_seeds']} draws, learning rate "
                     f"{protocol['learning_rate']:g}, test texts: {tested}.")  # fmt: skip
    else:
        lines.append("The paper's few-shot figures are of encoders trained too (--fine_tune true).")
    lines.append("Alignment: mean squared distance of two test texts of one class; uniformity: log of the mean of "
                 "exp(-2 d²) over all pairs; the lower, the closer together and the more evenly spread. "
                 "The paper does not say which pairs its alignment is of.")  # fmt: skip
    lines.append(f"Correlations need {LEAST_MODELS} models; the paper's are .7 (Pearson) and .96 (Spearman, figure 7).")
    return " ".join(lines)


def to_csv(results: dict[str, Any]) -> str:
    """Every figure on a line: corpus, model, measure, variant, per_class, seed, value."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["corpus", "model", "measure", "variant", "per_class", "seed", "value"])
    for corpus, models in results["figures"].items():
        for model, figures in models.items():
            writer.writerows([corpus, model, *line] for line in _lines(figures))
    return out.getvalue()


def _lines(figures: dict[str, Any]) -> Iterable[list[Any]]:
    for group in ("sgts", "geometry", "linear_probe"):
        for measure, value in figures[group].items():
            yield [f"{group}_{measure}", "", "", "", value]
    for variant, shots in figures["few_shot"].items():
        for k, summary in shots.items():
            for seed, accuracy in enumerate(summary["accuracies"]):
                yield ["few_shot_accuracy", variant, k, seed, accuracy]
