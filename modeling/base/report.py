"""What is said of models: any of them evaluated, tables, plots; and of a finished run, results.json."""

from __future__ import annotations

import importlib.metadata
import logging
import platform
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer

from modeling.base.evaluation import Evaluator, evaluate_models
from modeling.base.models import resolve
from modeling.base.summary import render_summary, summarise
from modeling.base.system import Data, System

logger = logging.getLogger(__name__)
PACKAGES = ("sentence-transformers", "transformers", "peft", "accelerate", "datasets", "torch")


def evaluate_run(
    system: System,
    evaluators: list[Evaluator],
    data: Data,
    phases: list[dict[str, Any]],
    parameters: dict[str, int],
) -> dict[str, Any]:
    """Evaluates the base and the merged files, as loaded from disk, on the test split, and draws the plots.

    Returns:
        The facts that cards and reports are written from.
    """
    recipe = system.recipe
    folder = recipe.run_dir / "merged"
    models = {"base": system.load_base(), "trained": system.load_trained()}
    shutil.rmtree(folder / "plots", ignore_errors=True)  # of an earlier evaluation with other evaluators
    cache = Path(recipe.cache_dir).expanduser() / "embeddings"
    # the vectors of a model that is evaluated once would fill the disk over the runs of a grid
    with tempfile.TemporaryDirectory() as passing:
        evaluations = evaluate_models(evaluators, models, {"base": cache, "trained": Path(passing)}, folder)
    base = resolve(recipe.base, recipe.base_id).hub_id
    return {
        "name": recipe.name,
        "system": recipe.system,
        "base_model": base,
        "recipe": public_options(system),
        "evaluation_options": evaluation_options(system),
        "sources": data.sources,
        "counts": data.counts,
        **parameters,
        "phases": phases,
        "summary": summarise(system.PAPER.summary, evaluations, {"base": f"{base} (base)", "trained": recipe.name}),
        # of two models, so that their figures need no further level
        "evaluations": [
            {key: value for key, value in evaluation.items() if key != "figures"} | evaluation["figures"]
            for evaluation in evaluations
        ],
        "demonstrations": [row | row.pop("cosines") for row in demonstrate(system, models)],
        "paper": paper_figures(system),
        "paper_setup": system.PAPER.setup,
        "environment": environment(),
    }


def evaluation_options(system: System) -> dict[str, Any]:
    """Options that change figures, card or saved files, but not what is trained."""
    sources = system.recipe.options.sources()
    only_test = [key for key, source in sources.items() if source.only_test]
    options = ("max_test_rows", "evaluate_on", "lora_scale", "license", *only_test)
    return {key: None if system.recipe[key] is None else str(system.recipe[key]) for key in options}


def public_options(system: System) -> dict[str, Any]:
    """The options that made the weights, without anything that names a local path."""
    hidden = {"name", "system", "base", "base_id", "data", "options", "max_eval_rows"}
    own = system.recipe.options
    options = {key: value for key, value in system.recipe.identity().items() if key not in hidden}
    options["lora_scale"] = system.recipe.lora_scale  # not part of the training, but of the files
    return options | {key: value for key, value in own.model_dump().items() if key not in own.sources()}


def demonstrate(system: System, models: Mapping[str, SentenceTransformer]) -> list[dict[str, Any]]:
    """The system's demonstration pairs with their `cosines`, label of a model -> cosine."""
    rows = []
    for first, second, shows in system.DEMONSTRATIONS:
        cosines = {}
        for label, model in models.items():
            sides = (model.encode_query, model.encode_document) if system.ASYMMETRIC else (model.encode, model.encode)
            cosines[label] = float(
                model.similarity(*(f([text]) for f, text in zip(sides, (first, second), strict=True)))
            )
        rows.append({"first": first, "second": second, "shows": shows, "cosines": cosines})
    return rows


def paper_figures(system: System, settings: Mapping[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    """The paper's figures for these settings, those of the recipe if None: metric -> table, data, base, trained."""
    figures: dict[str, dict[str, Any]] = {}
    for result in system.PAPER.results:
        if result.applies(settings or system.recipe):
            entry = figures.setdefault(
                result.metric, {"table": result.table, "data": result.data, "base": None, "trained": None}
            )
            entry["base" if result.of_base else "trained"] = result.value
    return figures


def environment() -> dict[str, str]:
    """Versions and hardware, for the card."""
    return {"python": platform.python_version(), "device": device()} | {
        name: importlib.metadata.version(name) for name in PACKAGES
    }


def device() -> str:
    """What computes: the name of a GPU, or how many threads of the CPU."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else f"CPU ({torch.get_num_threads()} threads)"


def comparison_rows(results: dict[str, Any]) -> list[list[str]]:
    """Rows of the table `measure | data | rows | paper base | base | paper | ours`; unknown cells are empty."""
    rows = []
    for evaluation in results["evaluations"]:
        for metric in evaluation["headline"]:
            paper = printed(results["paper"], metric, evaluation)
            rows.append(
                [metric, evaluation["dataset"], cell(evaluation["rows"]), cell(paper.get("base")),
                 cell(evaluation["base"][metric]), cell(paper.get("trained")), cell(evaluation["trained"][metric])]
            )  # fmt: skip
    return rows


def printed(paper: dict[str, dict[str, Any]], metric: str, evaluation: dict[str, Any]) -> dict[str, Any]:
    """The paper's figures of a metric (see `paper_figures`); empty if they are on other data: no comparison."""
    found = paper.get(metric, {})
    return found if found.get("data", "") in evaluation["dataset_id"].lower() else {}


def cell(value: float | int | None) -> str:
    """A figure for a table: a count whole, a measure with three decimals, nothing for None."""
    return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def demonstration_rows(results: dict[str, Any]) -> list[list[str]]:
    """Rows of the table `relation | first | second | base | ours`."""
    rows = results["demonstrations"]
    return [[r["shows"], r["first"], r["second"], f"{r['base']:.2f}", f"{r['trained']:.2f}"] for r in rows]


HEADER = ["measure", "data", "rows", "paper, base", "base", "paper", "ours"]


def legend(results: dict[str, Any], shown: str = "headline") -> str:
    """What the measures mean that a table of these results shows: `headline` or `measures` of the evaluations."""
    keys: dict[str, list[str]] = {}
    for evaluation in results["evaluations"]:
        for metric in evaluation[shown]:
            keys.setdefault(evaluation["measures"][metric], []).append(metric.removeprefix(f"{evaluation['name']}_"))
    return "; ".join(f"{', '.join(dict.fromkeys(names))}: {meaning}" for meaning, names in keys.items()) + "."


def text_table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table whose columns are also aligned for the terminal."""
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in lines)


def print_report(results: dict[str, Any], run_dir: Path) -> None:
    """Prints what a person wants to see at the end of a run."""
    seconds = sum(phase["seconds"] for phase in results["phases"])
    trainable, total = results["trainable_parameters"], results["all_parameters"]
    print(f"\n{results['name']}: {trainable:,} of {total:,} parameters trained in {seconds:.0f} s")
    split = results["evaluation_options"].get("evaluate_on", "test").capitalize()  # absent in runs of before
    print(f"\n{split} data, base and merged model as loaded from disk. Paper: {results['paper_setup']}.\n")
    print(text_table(HEADER, comparison_rows(results)))
    print(f"\n{legend(results)}")
    if summary := results.get("summary"):  # absent in runs of before
        print(f"\n{render_summary(summary)}")
    print("\n" + text_table(["cosine of", "first", "second", "base", "ours"], demonstration_rows(results)))
    print(f'\nLoad it:\n    SentenceTransformer("{run_dir / "merged"}")')
