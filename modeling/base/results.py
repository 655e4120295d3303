"""What is said of models: figures of ours and of the paper in one tidy frame, the tables made of it, results.json.

A paper's figure stands beside ours only where the encoder that was trained and the data are the paper's. Its own table
of models, where it has one, is shown whole, a row of ours below it for each model.
"""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from joblib import Memory
from sentence_transformers import SentenceTransformer

from dataset_scripts.base.tables import markdown, show
from modeling.base.evaluation import Evaluator, evaluate_models
from modeling.base.models import resolve

if TYPE_CHECKING:
    from modeling.base.system import Data, System

PACKAGES = ("sentence-transformers", "transformers", "peft", "accelerate", "datasets", "torch")
RUN = {"base": "base", "trained": "ours"}  # the models of a run -> heads of their columns
ELSEWHERE = "*"
WIDEST = 1000  # characters of a cell


def evaluate_run(
    system: System,
    evaluators: list[Evaluator],
    data: Data,
    phases: list[dict[str, Any]],
    parameters: dict[str, int],
    base: SentenceTransformer,
    trained: SentenceTransformer,
) -> dict[str, Any]:
    """Evaluates the base and the merged model, as loaded from its files, on the test split, and draws the plots.

    Returns:
        The facts that cards and reports are written from.
    """
    recipe, paper = system.recipe, system.paper
    folder = recipe.run_dir / "merged"
    models = {"base": base, "trained": trained}
    shutil.rmtree(folder / "plots", ignore_errors=True)  # of an earlier evaluation with other evaluators
    cache = Path(recipe.cache_dir).expanduser() / "embeddings"
    # the vectors of a model that is evaluated once would fill the disk over the runs of a grid
    with tempfile.TemporaryDirectory() as passing:
        evaluations = evaluate_models(evaluators, models, {"base": cache, "trained": Path(passing)}, folder)
    base_id = resolve(recipe.base, recipe.base_id).hub_id
    return {
        "name": recipe.name,
        "system": recipe.system,
        "base_model": base_id,
        "recipe": public_options(system),
        "evaluation_options": evaluation_options(system),
        "sources": data.sources,
        "counts": data.counts,
        **parameters,
        "phases": phases,
        "summary": summarise(paper.summary, evaluations, {"base": f"{base_id} (base)", "trained": recipe.name}),
        # of two models, so that their figures need no further level
        "evaluations": [
            {key: value for key, value in each.items() if key != "figures"} | each["figures"] for each in evaluations
        ],
        "demonstrations": [
            {key: value for key, value in row.items() if key != "cosines"} | row["cosines"]
            for row in demonstrate(system, models)
        ],
        "paper": paper.beside(evaluations, base_id, recipe),
        "paper_setup": paper.setup,
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
            one, other = (encode([text]) for encode, text in zip(sides, (first, second), strict=True))
            cosines[label] = float(model.similarity(one, other))
        rows.append({"first": first, "second": second, "shows": shows, "cosines": cosines})
    return rows


def environment() -> dict[str, str]:
    """Versions and hardware, for the card."""
    return {"python": platform.python_version(), "device": device()} | {
        name: importlib.metadata.version(name) for name in PACKAGES
    }


def device() -> str:
    """What computes: the name of a GPU, or how many threads of the CPU."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else f"CPU ({torch.get_num_threads()} threads)"


def memory(cache_dir: str | Path) -> Memory:
    """Keeps what functions return, by their arguments, on disk: figures that take long.

    A function's own source is part of the key, that of what it calls is not: give it a `version` to count up.
    """
    return Memory(Path(cache_dir).expanduser() / "figures", verbose=0)


def tidy(
    evaluations: Sequence[Mapping[str, Any]],
    paper: Mapping[str, Mapping[str, Any]] | None = None,
    models: Sequence[str] = tuple(RUN),
) -> pd.DataFrame:
    """Figures as rows: those of a run's results, or of any models.

    Args:
        evaluations: From `evaluate_models`, or as they stand in the results.json of a run.
        paper: From `Paper.beside`.
        models: Labels of the models.

    Returns:
        Columns `who` ("ours" or "paper"), `model` (a label; of the paper "base" or "trained"), `data`, `metric`,
        `value` (counts are whole, None where there is none), `low`, `high` (of its 95 % interval) and `rows`.
    """
    rows = []
    for each in evaluations:
        for label in models:
            intervals = each.get("intervals", {}).get(label, {})
            for metric, value in each.get("figures", each)[label].items():
                low, high = intervals.get(metric, (None, None))
                rows.append(("ours", label, each["dataset"], metric, value, low, high, each["rows"]))
        for metric in each["measures"]:
            for model in RUN:
                if (value := (paper or {}).get(metric, {}).get(model)) is not None:
                    rows.append(("paper", model, each["dataset"], metric, value, None, None, each["rows"]))
    columns = ["who", "model", "data", "metric", "value", "low", "high", "rows"]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def comparison(
    results: Mapping[str, Any],
    evaluations: Sequence[Mapping[str, Any]] | None = None,
    shown: str = "headline",
    heads: Mapping[str, str] = RUN,
    base: str | None = "base",
) -> pd.DataFrame:
    """Our figures, and the paper's beside them where there are any.

    Args:
        results: Facts with `evaluations` and `paper`.
        evaluations: Those of them to show; all if None.
        shown: Whether the `headline` or all `measures` are shown.
        heads: Label of a model -> head of its column.
        base: Label of the untrained encoder, whose column stands beside that of the paper's; None if it has none.

    Returns:
        Columns `measure`, `data`, `rows`, and those of the figures.
    """
    evaluations = results["evaluations"] if evaluations is None else evaluations
    columns = {("paper", "base"): "paper, base"}
    columns |= {("ours", base): heads[base]} if base else {}
    columns |= {("paper", "trained"): "paper"} | {("ours", each): heads[each] for each in heads if each != base}
    frame = tidy(evaluations, results["paper"], list(heads))
    columns = {key: head for key, head in columns.items() if key[0] == "ours" or "paper" in set(frame["who"])}
    metrics = [metric for each in evaluations for metric in each[shown]]
    facts = frame.drop_duplicates("metric").set_index("metric")[["data", "rows"]]
    figures = frame.pivot(index="metric", columns=["who", "model"], values="value").reindex(columns=list(columns))
    figures.columns = list(columns.values())
    return facts.join(figures).loc[metrics].rename_axis("measure").reset_index()


def legend(results: Mapping[str, Any], shown: str = "headline") -> str:
    """What the measures mean that a table of these results shows: `headline` or `measures` of the evaluations."""
    names: dict[str, list[str]] = {}
    for each in results["evaluations"]:
        for metric in each[shown]:
            names.setdefault(each["measures"][metric], []).append(metric.removeprefix(f"{each['name']}_"))
    return "; ".join(f"{', '.join(dict.fromkeys(keys))}: {meaning}" for meaning, keys in names.items()) + "."


def demonstrations(results: Mapping[str, Any], heads: Mapping[str, str] = RUN) -> pd.DataFrame:
    """Columns `relation`, `first`, `second`, and the cosines of each model in text."""
    return pd.DataFrame(
        {"relation": row["shows"], "first": row["first"], "second": row["second"]}
        | {head: f"{row.get('cosines', row)[label]:.2f}" for label, head in heads.items()}
        for row in results["demonstrations"]
    )


def paper_note(results: Mapping[str, Any]) -> str:
    """What the paper's figures are of, and why there are none where ours are of another encoder or other data."""
    beside = "" if results["paper"] else " It trained another encoder or used other data: none of its figures is here."
    return f"Paper: {results['paper_setup']}.{beside}"


def table(frame: pd.DataFrame) -> str:
    """A frame as Markdown: counts whole, measures with three decimals, nothing where there is none."""
    return show(frame, WIDEST)


def summarise(
    summary: Mapping[str, Any] | None, evaluations: Sequence[Mapping[str, Any]], heads: Mapping[str, str]
) -> dict[str, Any] | None:
    """The paper's own table of models, and ours below them.

    Args:
        summary: See `Paper`; None where it has no such table.
        evaluations: From `evaluate_models`.
        heads: Label of a model in them -> its name in the table.

    Returns:
        `title`, `note`, `columns`, `rows` (whose they are, the model and its cells; empty where not all metrics of the
        column were measured, marked where on other data than the paper's) and `places`: what ours were measured on.
        None without a table.
    """
    if summary is None:
        return None
    columns = {head: [keys] if isinstance(keys, str) else keys for head, keys in summary["columns"].items()}
    source = {metric: each for each in evaluations for metric in each["measures"]}
    measured = {head: [source[key] for key in keys if key in source] for head, keys in columns.items()}
    data = summary.get("data", {})
    elsewhere = {head for head, of in measured.items() for e in of if data.get(head, "") not in e["dataset_id"].lower()}
    rows = [["paper", name, *map(_tenths, values)] for name, values in summary["rows"].items()]
    for label, name in heads.items():
        figures = {metric: value for each in evaluations for metric, value in each["figures"][label].items()}
        cells = []
        for head, keys in columns.items():
            values = [figures.get(key) for key in keys]
            value = None if None in values else summary["scale"] * mean(values)
            cells.append(_tenths(value) + (ELSEWHERE if head in elsewhere and value is not None else ""))
        rows.append(["ours", name, *cells])
    places = {
        h: f"{of[0]['dataset']}, {of[0]['rows']:,} rows" for h, of in measured.items() if of and len(columns[h]) == 1
    }
    facts = {"title": summary["title"], "note": " ".join(summary["note"].split()), "columns": list(columns)}
    return facts | {"rows": rows, "places": places}


def _tenths(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def render_summary(facts: Mapping[str, Any]) -> str:
    """The table of `summarise` as Markdown, with what it was measured on."""
    head = f"### {facts['title']} of the paper, and ours below it\n\n{facts['note']}"
    cells = markdown(["", "model", *facts["columns"]], facts["rows"])
    places = "; ".join(f"{column}: {place}" for column, place in facts["places"].items())
    marked = (
        f" {ELSEWHERE}: other data than the paper's."
        if any(ELSEWHERE in cell for row in facts["rows"] for cell in row[2:])
        else ""
    )
    return f"{head}\n\n{cells}" + (f"\n\nOurs on {places}.{marked}" if places else "")


def print_report(results: Mapping[str, Any], run_dir: Path) -> None:
    """Prints what a person wants to see at the end of a run."""
    seconds = sum(phase["seconds"] for phase in results["phases"])
    trainable, total = results["trainable_parameters"], results["all_parameters"]
    print(f"\n{results['name']}: {trainable:,} of {total:,} parameters trained in {seconds:.0f} s")
    split = results["evaluation_options"]["evaluate_on"].capitalize()
    print(f"\n{split} data, base and merged model as loaded from disk. {paper_note(results)}\n")
    print(f"{table(comparison(results))}\n\n{legend(results)}")
    if results["summary"]:
        print(f"\n{render_summary(results['summary'])}")
    print(f"\n{table(demonstrations(results).rename(columns={'relation': 'cosine of'}))}")
    print(f'\nLoad it:\n    SentenceTransformer("{run_dir / "merged"}")')
