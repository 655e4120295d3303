"""Runs the probes over models and corpora, and gathers their figures."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from scipy.stats import pearsonr, spearmanr
from tqdm.auto import tqdm

from modeling.base.models import labels, load_model
from modeling.base.results import environment
from modeling.senticse.probing.cells import FINE_TUNED, FROZEN, Cell, Prober, Protocol, cells
from modeling.senticse.probing.data import Corpus, load_corpus
from modeling.senticse.probing.few_shot import draw
from modeling.senticse.probing.paper import paper_corpus, run_options

LEAST_MODELS = 3  # two points always lie on a line


def probe(arguments: argparse.Namespace) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Measures the models of a command line.

    Returns:
        The facts that the tables are written from; and corpus -> model -> its principal components.

    Raises:
        ValueError: If a model or a corpus cannot be loaded or does not fit the options; before anything takes long.
    """
    fine_tuned = (arguments.fine_tune_seeds or arguments.seeds) if arguments.fine_tune else 0
    protocol = Protocol(arguments.shots, arguments.seeds, fine_tuned, arguments.validation, arguments.max_test,
                        arguments.learning_rate)  # fmt: skip
    corpora = load_corpora(arguments, protocol)
    names = labels(list(dict.fromkeys(arguments.models)))
    models = {label: load_model(model) for model, label in names.items()}
    probers = {
        corpus.name: {
            label: Prober(label, model, corpus, protocol, arguments.cache_dir) for label, model in models.items()
        }
        for corpus in corpora.values()
    }
    found = run_cells(probers, protocol)
    results = {
        "models": list(models),
        "corpora": [
            corpus.facts() | {"tested": min(len(corpus.test), protocol.max_test), "paper": paper_corpus(corpus.name)}
            for corpus in corpora.values()
        ],
        "classes": {corpus.name: corpus.classes for corpus in corpora.values()},
        "protocol": vars(protocol),
        "max_rows": arguments.max_rows,
        "figures": {
            name: {label: figures(cells, protocol) for label, cells in of.items()} for name, of in found.items()
        },
        "run_options": {label: run_options(model) for model, label in names.items()},
    }
    components = {name: {label: cells["components"] for label, cells in of.items()} for name, of in found.items()}
    return results | {"correlations": correlations(results), "environment": environment()}, components


def load_corpora(arguments: argparse.Namespace, protocol: Protocol) -> dict[str, Corpus]:
    """Source -> corpus; each is known to have texts enough for every draw."""
    corpora = {}
    for source, name in labels(arguments.sentiment).items():
        corpora[source] = corpus = load_corpus(source, name, arguments.cache_dir, arguments.max_rows)
        for k in protocol.shots:
            try:
                draw(corpus.train.labels, corpus.classes, k, 0, protocol.validation)
            except ValueError as error:
                raise ValueError(f"--sentiment {source}: {error}") from error
    return corpora


def run_cells(probers: dict[str, dict[str, Prober]], protocol: Protocol) -> dict[str, dict[str, dict[str, Any]]]:
    """Corpus -> model -> cell -> what was measured; what is kept from before is not measured again."""
    todo = [(corpus, label, cell) for corpus, of in probers.items() for label in of for cell in cells(protocol)]
    found: dict[str, dict[str, dict[str, Any]]] = {
        corpus: {label: {} for label in of} for corpus, of in probers.items()
    }
    pending = []
    for corpus, label, cell in todo:
        stored = probers[corpus][label].stored(cell)
        if stored is None:
            pending.append((corpus, label, cell))
        found[corpus][label][str(cell)] = stored
    with tqdm(total=len(todo), initial=len(todo) - len(pending), unit="figure", disable=not pending) as bar:
        for corpus, label, cell in pending:
            bar.set_description(f"{label}, {corpus}, {cell}")
            found[corpus][label][str(cell)] = probers[corpus][label].measure(cell)
            bar.update()
    return found


def figures(cells: dict[str, dict[str, Any]], protocol: Protocol) -> dict[str, Any]:
    """What the tables show of a model on a corpus: measure -> values; few-shot: variant -> k -> mean and deviation."""
    few_shot = {}
    for variant, seeds in ((FROZEN, protocol.seeds), (FINE_TUNED, protocol.fine_tune_seeds)):
        if seeds:
            few_shot[variant] = {
                str(k): few_shot_summary([cells[str(Cell(variant, k, seed))] for seed in range(seeds)])
                for k in protocol.shots
            }
    return {measure: cells[measure] for measure in ("sgts", "geometry", "linear_probe")} | {"few_shot": few_shot}


def few_shot_summary(draws: list[dict[str, float]]) -> dict[str, Any]:
    """Accuracies of the draws, their mean, and their standard deviation (None for one draw)."""
    accuracies = [draw["accuracy"] for draw in draws]
    deviation = float(np.std(accuracies, ddof=1)) if len(accuracies) > 1 else None
    return {"accuracies": accuracies, "mean": float(np.mean(accuracies)), "deviation": deviation}


def correlations(results: dict[str, Any]) -> list[dict[str, Any]]:
    """SgTS against few-shot accuracy, a point per model: per corpus, and over the points of all corpora.

    `pearson` and `spearman` are None for fewer than three models, and where either is the same for all.
    """
    found = []
    for variant, k in few_shot_kinds(results):
        points = {
            corpus: [(f["sgts"]["spearman"], f["few_shot"][variant][k]["mean"]) for f in models.values()]
            for corpus, models in results["figures"].items()
        }
        if len(points) > 1:
            points["all"] = [point for pairs in points.values() for point in pairs]
        for corpus, pairs in points.items():
            scores, accuracies = zip(*pairs, strict=True)
            enough = len(results["models"]) >= LEAST_MODELS and np.ptp(scores) > 0 and np.ptp(accuracies) > 0
            values = [float(test(scores, accuracies).statistic) if enough else None for test in (pearsonr, spearmanr)]
            found.append({"corpus": corpus, "k": k, "variant": variant, "points": len(pairs),
                          "pearson": values[0], "spearman": values[1]})  # fmt: skip
    return found


def few_shot_kinds(results: dict[str, Any]) -> list[tuple[str, str]]:
    """(variant, number of texts per class) of what was measured."""
    kinds = next(iter(next(iter(results["figures"].values())).values()))["few_shot"]
    return [(variant, k) for variant, shots in kinds.items() for k in shots]
