"""What is said of models: our figures and the paper's, the tables made of them, and the facts in results.json."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from joblib import Memory
from sentence_transformers import SentenceTransformer

from dataset_scripts.base.tables import markdown
from modeling.base.evaluation import Evaluator, evaluate_models
from modeling.base.vectors import precision

if TYPE_CHECKING:
    from modeling.base.system import Data, System

PACKAGES = ("sentence-transformers", "transformers", "peft", "accelerate", "datasets", "torch")
RUN = {"base": "base", "trained": "ours"}  # the models of a run -> heads of their columns
ELSEWHERE = "*"
FEW_ROWS = 100  # with fewer, figures of one model differ by tenths from sample to sample


def evaluate_run(
    system: System,
    evaluators: list[Evaluator],
    data: Data,
    phases: list[dict[str, Any]],
    parameters: dict[str, int],
    base: SentenceTransformer,
    trained: SentenceTransformer,
) -> dict[str, Any]:
    """Evaluates the base and the merged model, as loaded from its files; the facts of cards and reports."""
    recipe, paper, base_id = system.recipe, system.paper, system.backbone.hub_id
    folder, models = recipe.run_dir / "merged", {"base": base, "trained": trained}
    shutil.rmtree(folder / "plots", ignore_errors=True)  # of an earlier evaluation with other evaluators
    # the vectors of a model that is evaluated once would fill the disk over the runs of a grid
    with tempfile.TemporaryDirectory() as passing, precision(recipe.bf16):
        caches = {"base": system.cache / "embeddings", "trained": Path(passing)}
        evaluations = evaluate_models(evaluators, models, caches, folder)
    return {
        "name": recipe.name,
        "system": recipe.system,
        "base_model": base_id,
        "recipe": recipe.public_options(),
        "evaluation_options": recipe.evaluation_options(),
        "sources": data.sources,
        "counts": data.counts,
        **parameters,
        "phases": phases,
        "summary": summarise(paper.summary, evaluations, {"base": f"{base_id} (base)", "trained": recipe.name}),
        # of two models, so that their figures need no further level
        "evaluations": [_flat(each, "figures") for each in evaluations],
        "demonstrations": [_flat(each, "cosines") for each in demonstrate(system, models)],
        "paper": paper.beside(evaluations, base_id, recipe),
        "paper_setup": paper.setup,
        "environment": environment(),
    }


def _flat(facts: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name != key} | facts[key]


def demonstrate(system: System, models: Mapping[str, SentenceTransformer]) -> list[dict[str, Any]]:
    """The system's demonstration pairs with their `cosines`, label of a model -> cosine."""
    rows = []
    for first, second, shows in system.DEMONSTRATIONS:
        cosines = {}
        for label, model in models.items():
            sides = (model.encode_query, model.encode_document) if system.ASYMMETRIC else (model.encode, model.encode)
            cosines[label] = float(model.similarity(sides[0]([first]), sides[1]([second])))
        rows.append({"first": first, "second": second, "shows": shows, "cosines": cosines})
    return rows


def environment() -> dict[str, str]:
    """Versions, and what computes: the name of a GPU, or how many threads of the CPU."""
    gpu = torch.cuda.is_available()
    device = torch.cuda.get_device_name() if gpu else f"CPU ({torch.get_num_threads()} threads)"
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"python": platform.python_version(), "device": device} | versions


def memory(cache_dir: str | Path) -> Memory:
    """Keeps what functions return, by their arguments, on disk: figures that take long.

    A function's own source is part of the key, that of what it calls is not: give it a `version` to count up.
    """
    return Memory(Path(cache_dir).expanduser() / "figures", verbose=0)


def comparison(
    results: Mapping[str, Any], which: str = "headline", heads: Mapping[str, str] = RUN, base: str | None = "base"
) -> pd.DataFrame:
    """Our figures, and the paper's beside them where there are any.

    `which` are the `headline` or all `measures`; `heads` is label of a model -> head of its column; `base` the label of
    the untrained encoder, if it has a column, which stands beside that of the paper's.
    """
    evaluations, paper, columns = results["evaluations"], results["paper"], []
    if any(metric in paper for each in evaluations for metric in each["measures"]):
        for place, head, model in ((0, "paper, base", "base"), (2, "paper", "trained")):
            columns.append((place, head, {metric: figures.get(model) for metric, figures in paper.items()}))
    for label, head in heads.items():
        figures = [each.get("figures", each)[label].items() for each in evaluations]
        columns.append((1 if label == base else 3, head, dict(pair for pairs in figures for pair in pairs)))
    rows = [(metric, each["dataset"], each["rows"]) for each in evaluations for metric in each[which]]
    frame = pd.DataFrame(rows, columns=["measure", "data", "rows"])
    for _, head, figures in sorted(columns, key=itemgetter(0)):
        values = pd.Series([figures.get(metric) for metric, *_ in rows], dtype=object)
        frame.insert(frame.shape[1], head, values, allow_duplicates=True)
    return frame


def by_model(frame: pd.DataFrame, columns: Mapping[tuple[str, str], str]) -> str:
    """A row of Markdown for each `who` and `model` of figures in `text`; a column for each metric and data -> head."""
    wide = frame.pivot(index=["who", "model"], columns=["metric", "data"], values="text").reindex(columns=list(columns))
    wide = wide.dropna(how="all").set_axis(columns.values(), axis=1).fillna("")
    order = [row for row in dict.fromkeys(zip(frame["who"], frame["model"], strict=True)) if row in wide.index]
    return markdown(wide.loc[order].reset_index())


def legend(results: Mapping[str, Any], which: str = "headline") -> str:
    """What the measures mean that a table of these results shows: `headline` or `measures` of the evaluations."""
    names: dict[str, list[str]] = {}
    for each in results["evaluations"]:
        for metric in each[which]:
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


def summarise(
    summary: Mapping[str, Any] | None, evaluations: Sequence[Mapping[str, Any]], heads: Mapping[str, str]
) -> dict[str, Any] | None:
    """The paper's own table of models, if it has one, and ours below them; `heads` is label -> name in the table.

    Returns `title`, `note`, `columns`, `rows` (whose they are, the model and its cells; empty where not all metrics of
    the column were measured, marked where on other data than the paper's) and `places`: what ours were measured on.
    """
    if summary is None:
        return None
    printed, source = summary["rows"], {metric: each for each in evaluations for metric in each["measures"]}
    cells = [["paper"] * len(printed) + ["ours"] * len(heads), [*printed, *heads.values()]]  # by column
    places = {}
    for number, (head, keys) in enumerate(summary["columns"].items()):
        keys = [keys] if isinstance(keys, str) else keys
        measured = [source[key] for key in keys if key in source]
        if measured and len(keys) == 1:
            places[head] = f"{measured[0]['dataset']}, {measured[0]['rows']:,} rows"
        data = summary.get("data", {}).get(head, "")
        mark = "" if all(data in each["dataset_id"].lower() for each in measured) else ELSEWHERE
        cells.append(["" if values[number] is None else f"{values[number]:.1f}" for values in printed.values()])
        for label in heads:
            values = [source[key]["figures"][label].get(key) if key in source else None for key in keys]
            cells[-1].append("" if None in values else f"{summary['scale'] * mean(values):.1f}{mark}")
    facts = {"title": summary["title"], "note": " ".join(summary["note"].split()), "columns": list(summary["columns"])}
    return facts | {"rows": [list(row) for row in zip(*cells, strict=True)], "places": places}


def render_summary(facts: Mapping[str, Any]) -> str:
    """The table of `summarise` as Markdown, with what it was measured on."""
    cells = markdown(pd.DataFrame(facts["rows"], columns=["", "model", *facts["columns"]]))
    text = f"### {facts['title']} of the paper, and ours below it\n\n{facts['note']}\n\n{cells}"
    if facts["places"]:
        text += f"\n\nOurs on {'; '.join(f'{column}: {place}' for column, place in facts['places'].items())}."
        if any(cell.endswith(ELSEWHERE) for row in facts["rows"] for cell in row[2:]):
            text += f" {ELSEWHERE}: other data than the paper's."
    return text


def print_report(results: Mapping[str, Any], run_dir: Path) -> None:
    """Prints what a person wants to see at the end of a run."""
    seconds = sum(phase["seconds"] for phase in results["phases"])
    trainable, total = results["trainable_parameters"], results["all_parameters"]
    print(f"\n{results['name']}: {trainable:,} of {total:,} parameters trained in {seconds:.0f} s")
    split = results["evaluation_options"]["evaluate_on"].capitalize()
    print(f"\n{split} data, base and merged model as loaded from disk. {paper_note(results)}\n")
    print(f"{markdown(comparison(results))}\n\n{legend(results)}")
    if few := [f"{each['dataset']} {each['rows']}" for each in results["evaluations"] if each["rows"] < FEW_ROWS]:
        print(f"\nToo few rows to tell models apart: {', '.join(few)}.")
    if results["summary"]:
        print(f"\n{render_summary(results['summary'])}")
    print(f"\n{markdown(demonstrations(results).rename(columns={'relation': 'cosine of'}))}")
    print(f'\nLoad it:\n    SentenceTransformer("{run_dir / "merged"}")')
