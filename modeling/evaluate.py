"""Evaluates sentence encoders on a system's test data: the paper's figures, the base's, and those of each model.

    python -m modeling.evaluate bundled                                   # on the demonstration's data
    python -m modeling.evaluate org/model runs/my-run --SOURCE FOLDER     # two models, side by side

A MODEL is a released model, 'bundled', a run, a merged or an adapter folder, any other SentenceTransformer's folder, or
a Hub id. Vectors are kept: a command that was interrupted, or is given again with one more model, goes on from there.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path
from typing import Any

from dataset_scripts.base.files import missing_folder, write_json, write_text
from modeling import DEFAULT_RECIPE, get_options, get_system, systems
from modeling.base.cli import friendly_errors
from modeling.base.options import count
from modeling.base.recipe import SHARED, Recipe, listed, load_recipe

PROGRAM = "python -m modeling.evaluate"
NONE = "none"


def main(words: list[str]) -> None:
    """Evaluates, prints, and writes table.md, results.json and plots/ where a folder is named."""
    arguments = parse(words)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in train.py, before torch
    with friendly_errors(PROGRAM):
        from modeling.base.run import quiet

        quiet()
        results = evaluate(arguments)
        table = render(results)
        print(f"\n{table}")
        if folder := arguments.out:
            plots = [f"![{e['caption']}]({e['plot']})" for e in results["evaluations"] if e["caption"]]
            write_text(folder / "table.md", "\n\n".join([table, *plots]) + "\n")
            write_json(folder / "results.json", results)
            print(f"\nwritten to {folder}: table.md, results.json, plots/")


def parse(words: list[str]) -> argparse.Namespace:
    """Reads the command line; `sources` of the result is option -> source, of those that were given.

    Bad input ends the program with status 2 and a message that names the option and the cure.
    """
    first = argparse.ArgumentParser(prog=PROGRAM, add_help=False, allow_abbrev=False)
    first.add_argument("--system", default=load_recipe(DEFAULT_RECIPE).system)
    system = first.parse_known_args(words)[0].system
    if system not in systems():
        first.error(f"--system {system!r} is unknown; there are {', '.join(systems())}")
    recipe, sources = load_recipe(demonstration(system)), source_options(system)
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("models", nargs="+", metavar="MODEL", help="what to evaluate; a column each")
    add("--system", default=system, help=f"whose test data and paper: {', '.join(systems())} (default: %(default)s)")
    add("--base", help="untrained encoder to compare with and, where the paper does, to filter test rows by; default: "
        "the one that the first model records, else 'bundled'; 'none': no column of it")  # fmt: skip
    add("--max_rows", type=count, help="seeded sample of the rows of each source; default: all")
    add("--out", type=Path, help="folder for table.md, results.json and plots/; default: print only")
    add("--cache_dir", default=recipe.cache_dir, help=SHARED["cache_dir"].description)
    group = parser.add_argument_group(
        "data",
        "a folder written by python -m dataset_scripts, a data set on the Hub, 'demo', or 'none'; what is not named is "
        f"as in the recipe {recipe.name}, whose data is {', '.join(recipe.data)}",
    )
    for option, text in sources.items():
        text = f"{text} (default: {recipe[option] or NONE})".replace("%", "%%")
        group.add_argument(f"--{option}", metavar="SOURCE", help=text)
    arguments = parser.parse_intermixed_args(words)
    if arguments.out and arguments.out.is_file():
        parser.error(f"--out {arguments.out} is a file: name a folder")
    arguments.sources = {option: getattr(arguments, option) for option in sources if getattr(arguments, option)}
    for option, sources in arguments.sources.items():
        for source in listed(sources):  # some options take several
            if path := missing_folder(source):
                parser.error(f"--{option}: there is no folder {path}; build it with python -m dataset_scripts CORPUS "
                             f"--data RAW --out {path}")  # fmt: skip
    return arguments


def demonstration(system: str) -> str:
    """Name of the recipe whose options a system is evaluated with, where the command line names no others."""
    return f"{system}-demo"


def source_options(system: str) -> dict[str, str]:
    """The system's options that name test data -> their explanation."""
    options = get_options(system)
    return {key: options.model_fields[key].description for key, s in options.sources().items() if s.evaluated}


def evaluate(arguments: argparse.Namespace) -> dict[str, Any]:
    """Evaluates the models of a command line.

    Returns:
        The facts that table.md and results.json are written from.

    Raises:
        ValueError: If a model or a source cannot be loaded; before anything that takes long.
    """
    from modeling.base.models import choose_base, labels, load_model
    from modeling.base.report import demonstrate, environment, evaluate_models, paper_figures
    from modeling.base.summary import summarise

    given = list(dict.fromkeys(arguments.models))
    loaded = {model: load_model(model) for model in given}
    base, note = choose_base(arguments.base, given[0])
    label = labels(list(dict.fromkeys([base, *given])))
    recipe = _recipe(arguments, base, label[base])
    system = get_system(arguments.system)(recipe)
    models = {label[model]: encoder for model, encoder in loaded.items()}
    compared = arguments.base != NONE
    if compared:  # first, and once where it is one of the models
        models = {label[base]: loaded[base] if base in loaded else system.load_base()} | models
    cache = Path(recipe.cache_dir).expanduser() / "embeddings"
    evaluations = evaluate_models(system.evaluators("test"), models, dict.fromkeys(models, cache), arguments.out)
    named = dict(zip(models, column_heads(list(models), label[base] if compared else None), strict=True))
    return {
        "system": arguments.system,
        "models": list(models),
        "base": label[base] if compared else None,
        "filtered_by": label[base],
        "note": note,
        "max_rows": arguments.max_rows,
        "evaluations": evaluations,
        "summary": summarise(system.PAPER.summary, evaluations, named),
        "demonstrations": demonstrate(system, models),
        "paper": paper_figures(system, system.PAPER.headline),
        "paper_setup": system.PAPER.setup,
        "paper_headline": system.PAPER.headline_name,
        "environment": environment(),
    }


def _recipe(arguments: argparse.Namespace, base: str, name: str) -> Recipe:
    options = {"base": base, "cache_dir": arguments.cache_dir, **arguments.sources}
    if Path(base).expanduser().is_dir():
        options["base_id"] = re.sub(r"[^\w.-]", "-", Path(name).name)  # nothing is published: a name will do
    if arguments.max_rows:
        options["max_test_rows"] = str(arguments.max_rows)
    return load_recipe(demonstration(arguments.system), options)


def render(results: dict[str, Any]) -> str:
    """The results as Markdown: the paper's own table, if any; one per evaluator, paper and models in columns."""
    from modeling.base.report import legend, text_table
    from modeling.base.summary import render_summary

    models = results["models"]
    heads = column_heads(models, results["base"])
    parts = [_preface(results)]
    if results.get("summary"):
        parts.append(render_summary(results["summary"]))
    for evaluation in results["evaluations"]:
        header, rows = _table(results, evaluation, heads)
        parts.append(f"### {evaluation['name']}: {evaluation['title']}\n\n{evaluation['dataset']}, "
                     f"{evaluation['rows']:,} rows.\n\n{text_table(header, rows)}")  # fmt: skip
    parts.append(legend(results, "measures"))
    rows = [
        [row["shows"], row["first"], row["second"], *(f"{row['cosines'][label]:.2f}" for label in models)]
        for row in results["demonstrations"]
    ]
    parts.append("### cosines of single pairs\n\n" + text_table(["relation", "first", "second", *heads], rows))
    return "\n\n".join(parts)


def column_heads(models: list[str], base: str | None) -> list[str]:
    """Heads of the models' columns, which say which of them is the base."""
    return [f"{label} (base)" if label == base else label for label in models]


def _table(results: dict[str, Any], evaluation: dict[str, Any], heads: list[str]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of one evaluator: the paper's base stands before the base, its model before the others."""
    from modeling.base.report import cell, printed

    first = 1 if results["base"] else 0
    rows = []
    for metric in evaluation["measures"]:
        paper = printed(results["paper"], metric, evaluation)
        cells = [cell(evaluation["figures"][label][metric]) for label in results["models"]]
        shared = [cell(paper.get("base")), *cells[:first], cell(paper.get("trained")), *cells[first:]]
        rows.append([metric.removeprefix(evaluation["name"] + "_"), *shared])
    return ["measure", "paper, base", *heads[:first], "paper", *heads[first:]], rows


def _preface(results: dict[str, Any]) -> str:
    paper = f"{results['paper_headline']}; {results['paper_setup']}"
    lines = [f"Paper: {paper}. Its figures stand beside the same data only.",
             f"Base of the rows that are filtered by it: {results['filtered_by']}."]  # fmt: skip
    if results["note"]:
        lines.append(results["note"])
    if results["max_rows"]:
        lines.append(f"Samples of at most {results['max_rows']:,} rows.")
    return " ".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
