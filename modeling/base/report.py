"""What is said of models: any of them evaluated, tables, plots; and of a finished run, results.json."""

from __future__ import annotations

import importlib.metadata
import logging
import platform
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer

from modeling.base.evaluation import Evaluator
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
        "evaluations": [evaluation | evaluation.pop("figures") for evaluation in evaluations],
        "demonstrations": [row | row.pop("cosines") for row in demonstrate(system, models)],
        "paper": paper_figures(system),
        "paper_setup": system.PAPER.setup,
        "environment": environment(),
    }


def evaluate_models(
    evaluators: list[Evaluator],
    models: Mapping[str, SentenceTransformer],
    caches: Mapping[str, Path],
    folder: Path | None,
) -> list[dict[str, Any]]:
    """Evaluates models and draws the plots.

    Args:
        evaluators: What is measured.
        models: Label -> encoder.
        caches: Label -> folder where its vectors are kept, so that evaluators of the same texts share them.
        folder: Plots go to its `plots/`; None draws none.

    Returns:
        Facts per evaluator, JSON throughout; `figures` is label -> metric -> value.
    """
    evaluations = []
    for evaluator in evaluators:
        scores = {}
        for label, model in models.items():
            logger.info("measuring %s of %s on %s, %s rows", evaluator.name, label, evaluator.dataset, evaluator.rows)
            scores[label] = evaluator.scores(model, caches[label])
        plot = f"plots/{evaluator.name}.png"
        evaluations.append(
            {
                "name": evaluator.name,
                "title": evaluator.title,
                "dataset": evaluator.dataset,
                "dataset_id": evaluator.dataset_id,
                "rows": evaluator.rows,
                "task": evaluator.task,
                "headline": [f"{evaluator.name}_{key}" for key in evaluator.headline],
                "measures": [f"{evaluator.name}_{key}" for key in evaluator.measures or evaluator.headline],
                "figures": {label: evaluator.prefixed(values) for label, values in scores.items()},
                "caption": evaluator.draw(scores, folder / plot) if folder else None,
                "plot": plot,
            }
        )
    return evaluations


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


LEGEND = {
    "auroc": "0.5 where the groups do not come apart, 1 where they do so fully",
    "p99_other": "cosine that one in a hundred pairs of two discussions exceeds: low where topics stay apart",
    "kl": "divergence of their histograms, which grows with any difference and is to be read with auroc",
    "kl_paper": "the same by the paper's code, whose bins differ between the groups",
    "spearman": "agreement with people's judgement, or with the labels of pairs",
    "pearson": "agreement with people's judgement, linear in their score",
    "kendall": "the same, by the order of any two pairs",
    "pearson_different": "pearson among the pairs that people find broadly different",
    "pearson_similar": "pearson among those that they find broadly similar",
    "wrong_quartile_different": "share of the different pairs in people's lowest quarter with a cosine in the highest",
    "wrong_quartile_similar": "share of the similar pairs in people's highest quarter with a cosine in the lowest",
    "triplets_accuracy": "share of texts nearer to one of their own polarity than to one of the other; 0.5 is chance",
    "ordered": "1 where contradiction, neutral and entailment rise in the mean",
    "precision": "share of the statement's own group among the retrieved texts, those at or above the paper's cosine",
    "precision_at": "the same among the k most similar texts, whatever their cosine",
    "base_rate": "the same among all texts",
    "contrast_auroc": "auroc of two groups by which of their statements a text is nearer to",
    "accuracy_epa": "share of points whose counter-argument comes first among all arguments",
    "retrieval": "the same by the retrieval head alone, or by cosine",
    "classification": "the same when the classifier alone re-ranks the k retrieved",
    "accuracy_epc": "as accuracy_epa, among all counters",
    "accuracy_sda": "as accuracy_epa, among the arguments of the debate",
    "accuracy_sdoc": "as accuracy_epa, among the opposing counters of the debate",
    "accuracy_epa_unseen": "accuracy_epa of the points that no earlier split has",
    "normalized": "spearman as a share of the highest value that it can have with two labels",
    "ndcg": "discounted gain by rank of the texts that belong to the query, 1 where they come before all others",
    "map": "mean average precision of the same ranking",
    "mrr": "mean of 1 / rank of the first text that belongs to the query",
    "accuracy_at": "share of queries with a text that belongs to them among the first k",
}
HEADER = ["measure", "data", "rows", "paper, base", "base", "paper", "ours"]


def legend(results: dict[str, Any], shown: str = "headline") -> str:
    """What the measures mean that a table of these results shows: `headline` or `measures` of the evaluations."""
    keys = {re.sub(r"_\d+$", "", key) for evaluation in results["evaluations"] for key in evaluation[shown]}
    meant = [f"{name}: {text}" for name, text in LEGEND.items() if any(f"_{key}".endswith(f"_{name}") for key in keys)]
    return "; ".join(meant) + "."


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
