"""What a finished run says of itself: the reloaded merged files evaluated, tables, plots, results.json."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer

from modeling.backbone import resolve
from modeling.evaluators import Evaluator
from modeling.system import Data, System

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
    base, model = system.load_base(), system.load_trained()
    shutil.rmtree(folder / "plots", ignore_errors=True)  # of an earlier evaluation with other evaluators
    evaluations = []
    cache = Path(recipe.cache_dir).expanduser() / "embeddings"
    for evaluator in evaluators:
        before, after = evaluator.scores(base, cache), evaluator.scores(model)
        plot = f"plots/{evaluator.name}.png"
        evaluations.append(
            {
                "name": evaluator.name,
                "title": evaluator.title,
                "dataset": evaluator.dataset,
                "dataset_id": evaluator.dataset_id,
                "task": evaluator.task,
                "headline": [f"{evaluator.name}_{key}" for key in evaluator.headline],
                "base": evaluator.prefixed(before),
                "trained": evaluator.prefixed(after),
                "caption": evaluator.draw(before, after, folder / plot),
                "plot": plot,
            }
        )
    return {
        "name": recipe.name,
        "system": recipe.system,
        "base_model": resolve(recipe.base, recipe.base_id).hub_id,
        "recipe": public_options(system),
        "evaluation_options": evaluation_options(system),
        "sources": data.sources,
        "counts": data.counts,
        **parameters,
        "phases": phases,
        "evaluations": evaluations,
        "demonstrations": demonstrate(system, base, model),
        "paper": paper_figures(system),
        "paper_setup": system.PAPER.setup,
        "environment": environment(),
    }


def evaluation_options(system: System) -> dict[str, Any]:
    """Options that change figures or card, but not the weights."""
    options = ("max_test_rows", "license", *system.TEST_OPTIONS)
    return {key: None if system.recipe[key] is None else str(system.recipe[key]) for key in options}


def public_options(system: System) -> dict[str, Any]:
    """The options that made the weights, without anything that names a local path."""
    hidden = {"name", "system", "base", "base_id", "data", "options", "max_eval_rows"}
    options = {key: value for key, value in system.recipe.identity().items() if key not in hidden}
    return options | {key: value for key, value in system.recipe.options.items() if key not in system.SOURCES}


def demonstrate(system: System, base: SentenceTransformer, model: SentenceTransformer) -> list[dict[str, Any]]:
    """Cosines of the system's demonstration pairs, before and after."""
    rows = []
    for first, second, shows in system.DEMONSTRATIONS:
        before, after = (float(m.similarity(*(m.encode([text]) for text in (first, second)))) for m in (base, model))
        rows.append({"first": first, "second": second, "shows": shows, "base": before, "trained": after})
    return rows


def paper_figures(system: System) -> dict[str, dict[str, Any]]:
    """The paper's figures for this recipe: metric -> table, base, trained."""
    figures: dict[str, dict[str, Any]] = {}
    for result in system.PAPER.results:
        if result.applies(system.recipe):
            entry = figures.setdefault(
                result.metric, {"table": result.table, "data": result.data, "base": None, "trained": None}
            )
            entry["base" if result.of_base else "trained"] = result.value
    return figures


def environment() -> dict[str, str]:
    """Versions and hardware, for the card."""
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"CPU ({torch.get_num_threads()} threads)"
    return {"python": platform.python_version(), "device": device} | {
        name: importlib.metadata.version(name) for name in PACKAGES
    }


def comparison_rows(results: dict[str, Any]) -> list[list[str]]:
    """Rows of the table `measure | data | paper base | base | paper | ours`; cells without a figure are empty."""

    def cell(value: float | None) -> str:
        return "" if value is None else f"{value:.3f}"

    rows = []
    for evaluation in results["evaluations"]:
        for metric in evaluation["headline"]:
            paper = results["paper"].get(metric, {})
            if paper.get("data", "") not in evaluation["dataset_id"].lower():
                paper = {}  # a figure on other data is no comparison
            rows.append(
                [metric, evaluation["dataset"], cell(paper.get("base")), cell(evaluation["base"][metric]),
                 cell(paper.get("trained")), cell(evaluation["trained"][metric])]
            )  # fmt: skip
    return rows


def demonstration_rows(results: dict[str, Any]) -> list[list[str]]:
    """Rows of the table `relation | first | second | base | ours`."""
    rows = results["demonstrations"]
    return [[r["shows"], r["first"], r["second"], f"{r['base']:.2f}", f"{r['trained']:.2f}"] for r in rows]


LEGEND = (
    "auroc: 0.5 where the groups do not come apart, 1 where they do so fully; kl: divergence of their histograms, "
    "which grows with any difference and is to be read with auroc; spearman: agreement with people's judgement."
)
HEADER = ["measure", "data", "paper, base", "base", "paper", "ours"]


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
    print(f"\nTest data, base and merged model as loaded from disk. Paper: {results['paper_setup']}.\n")
    print(text_table(HEADER, comparison_rows(results)))
    print(f"\n{LEGEND}")
    print("\n" + text_table(["cosine of", "first", "second", "base", "ours"], demonstration_rows(results)))
    print(f'\nLoad it:\n    SentenceTransformer("{run_dir / "merged"}")')
