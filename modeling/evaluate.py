"""`opinion eval`: sentence encoders on a system's test data, beside the paper's figures and the untrained base's.

Vectors are kept: a command that was interrupted, or is given again with one more model, goes on from there.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, Field, create_model

from dataset_scripts.base import cli
from dataset_scripts.base.files import read_json, write_json, write_text
from dataset_scripts.base.metadata import check_folder
from modeling.base.names import RELEASED, check_model
from modeling.base.recipe import listed, load_recipe
from modeling.base.rooms import DEFAULT_RECIPE, get_options, get_system, systems

NONE = "none"

app = cli.app("Evaluates sentence encoders.")


def _sources() -> type[BaseModel]:
    """An option for each source of test data that a system has; the same name is one option for all."""
    texts: dict[str, dict[str, str]] = {}
    for system in systems():
        options = get_options(system)
        for key in (key for key, source in options.sources().items() if source.evaluated):
            texts.setdefault(key, {})[system] = options.model_fields[key].description
    default = "as in its demonstration"
    texts = {key: f"{next(iter(of.values()))} [{', '.join(of)}]" for key, of in texts.items()}
    return create_model("Sources", **{key: (str | None, Field(default, description=texts[key])) for key in texts})


@app.command("eval")
@cli.with_options(_sources(), "Sources of test data, by system")
def evaluate(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL",
            help="A released model, 'bundled', a run, a merged or adapter folder, any other SentenceTransformer's "
            "folder, or a Hub id; a column each.",
        ),
    ],
    options: dict[str, str],
    on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE",
            callback=cli.split_commas,
            help="Corpus to evaluate on: a folder written by opinion corpus build, a data set on the Hub, or 'demo'. "
            "(default: the demonstration's)",
        ),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            help=f"Whose tests and paper: {', '.join(systems())}. (default: the first model's, if it has one)"
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Untrained encoder to compare with and, where the paper does, to filter test rows by; 'none': no "
            "column of it. (default: the one that the first model records, else 'bundled')",
        ),
    ] = None,
    without_motions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="Debates not to test on, as opinion overlap -o lists them.",
        ),
    ] = None,
    max_rows: Annotated[int | None, typer.Option(min=1, help="Seeded sample of the rows of each source.")] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="DIR", help="Folder for table.md, results.json and plots/.")
    ] = None,
    cache_dir: Annotated[str | None, typer.Option(help="Where vectors and prepared data are kept.")] = None,
) -> None:
    """Evaluate encoders on a system's test data, beside its paper."""
    for model in [*models, *([base] if base != NONE else [])]:
        check_model(model)
    system = system or _system_of(models[0])
    _check_sources(system, {"on": on or []} | {key: listed(value) for key, value in options.items()})
    if out and out.is_file():
        raise ValueError(f"-o {out} is a file: name a folder")
    shared = {"data": on and ",".join(on), "max_test_rows": max_rows and str(max_rows), "cache_dir": cache_dir}
    overrides = options | {key: value for key, value in shared.items() if value}
    load_recipe(f"{system}-demo", overrides)  # refuses what is wrong with the options

    from modeling.base.run import quiet

    quiet()
    results = measure(models, system, overrides, base, out, without_motions)
    table = render(results)
    print(f"\n{table}")
    if out:
        plots = [f"![{each['caption']}]({each['plot']})" for each in results["evaluations"] if each["caption"]]
        write_text(out / "table.md", "\n\n".join([table, *plots]) + "\n")
        write_json(out / "results.json", results)
        print(f"\nwritten to {out}: table.md, results.json, plots/")


def _system_of(model: str) -> str:
    """The system that a released model or a run is of; that of the demonstration where this is not known."""
    path = Path(model).expanduser()
    for folder in (path, path.parent):
        if path.is_dir() and (name := (read_json(folder / "recipe.json") or {}).get("system")) in systems():
            return name
    name = model.split("-")[0]
    return name if (RELEASED / model).is_dir() and name in systems() else load_recipe(DEFAULT_RECIPE).system


def _check_sources(system: str, sources: dict[str, list[str]]) -> None:
    """Refuses sources that the system has not, and folders that are not there."""
    if system not in systems():
        raise ValueError(f"--system {system}: choose from {', '.join(systems())}{cli.suggest(system, systems())}")
    own = get_options(system).sources()
    for option, names in sources.items():
        if option != "on" and option not in own:
            flags = ", ".join(cli.flag(key) for key, source in own.items() if source.evaluated)
            raise ValueError(f"{cli.flag(option)} is no data of {system}, which has --on, {flags}: name a --system")
        for name in names:
            check_folder(name, f"{cli.flag(option)}: ")


def measure(
    models: list[str],
    system: str,
    overrides: dict[str, str],
    base: str | None = None,
    folder: Path | None = None,
    without_motions: Path | None = None,
) -> dict[str, Any]:
    """Evaluates models on a system's test data: what table.md and results.json are made of.

    `overrides` are options of its demonstration's recipe that differ; the others are those of `evaluate`.
    """
    from modeling.base.evaluation import evaluate_models
    from modeling.base.models import choose_base, labels, load_model
    from modeling.base.overlap import LeftOut
    from modeling.base.results import demonstrate, environment, summarise

    loaded = {model: load_model(model) for model in dict.fromkeys(models)}
    compared = base != NONE
    base, note = choose_base(base, models[0])
    label = labels(list(dict.fromkeys([base, *models])))
    options = overrides | {"base": base}
    if Path(base).expanduser().is_dir():
        options["base_id"] = re.sub(r"[^\w.-]", "-", Path(label[base]).name)  # nothing is published: a name will do
    room = get_system(system)(load_recipe(f"{system}-demo", options))
    encoders = {label[model]: encoder for model, encoder in loaded.items()}
    if compared:  # first, and once where it is one of the models
        encoders = {label[base]: loaded[base] if base in loaded else room.load_base()} | encoders
    caches = dict.fromkeys(encoders, room.cache / "embeddings")
    room.left_out = LeftOut(without_motions) if without_motions else None
    evaluators = room.evaluators("test")
    note = " ".join(filter(None, [note, room.left_out and room.left_out.note()]))
    evaluations = evaluate_models(evaluators, encoders, caches, folder)
    paper, base_id = room.paper, room.backbone.hub_id
    results = {
        "system": system,
        "models": list(encoders),
        "base": label[base] if compared else None,
        "base_model": base_id,
        "filtered_by": label[base],
        "note": note,
        "max_rows": room.recipe.max_test_rows,
        "evaluations": evaluations,
        "demonstrations": demonstrate(room, encoders),
        "paper": paper.beside(evaluations, base_id, paper.headline),
        "paper_setup": paper.setup,
        "paper_headline": paper.headline_name,
        "environment": environment(),
    }
    return results | {"summary": summarise(paper.summary, evaluations, _heads(results))}


def _heads(results: dict[str, Any]) -> dict[str, str]:
    """Label of a model -> head of its column, which says which is the base."""
    return {label: f"{label} (base)" if label == results["base"] else label for label in results["models"]}


def render(results: dict[str, Any]) -> str:
    """The results as Markdown: the paper's own table, if any; one per evaluator, paper and models in columns."""
    from dataset_scripts.base.tables import markdown
    from modeling.base.results import comparison, demonstrations, legend, paper_note, render_summary

    heads, rows = _heads(results), results["max_rows"]
    preface = [
        paper_note(results),
        f"Its setting: {results['paper_headline']}.",
        f"Base of the rows that are filtered by it: {results['filtered_by']}.",
        results["note"],
        f"Samples of at most {rows:,} rows." if rows else "",
    ]
    parts = [" ".join(filter(None, preface))]
    if results["summary"]:
        parts.append(render_summary(results["summary"]))
    for each in results["evaluations"]:
        frame = comparison(results | {"evaluations": [each]}, "measures", heads, results["base"])
        frame["measure"] = frame["measure"].str.removeprefix(f"{each['name']}_")
        table = markdown(frame.drop(columns=["data", "rows"]))
        parts.append(f"### {each['name']}: {each['title']}\n\n{each['dataset']}, {each['rows']:,} rows.\n\n{table}")
    parts.append(legend(results, "measures"))
    parts.append(f"### cosines of single pairs\n\n{markdown(demonstrations(results, heads))}")
    return "\n\n".join(parts)
