"""Probes sentence encoders for sentiment: the evaluation of SentiCSE for any model.

    python -m modeling.senticse.probing bundled                                    # on the demonstration's sentences
    python -m modeling.senticse.probing bundled runs/my-run --sentiment data/mr,data/sst2 --out probes

SgTS, linear probing, few-shot classification, alignment and uniformity, and pictures. A MODEL is a released model,
'bundled', a run, a merged or an adapter folder, any other SentenceTransformer's folder, or a Hub id. Every figure is
kept as soon as it is computed: a command that was interrupted, or is given again with one more model, goes on.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dataset_scripts.base.files import missing_folder, write_json, write_text
from modeling.base.cli import friendly_errors
from modeling.base.options import count, counts, separated
from modeling.base.recipe import SHARED

PROGRAM = "python -m modeling.senticse.probing"


def main(words: list[str]) -> None:
    """Measures, prints, and writes table.md, results.json, results.csv and plots/ where a folder is named."""
    arguments = parse(words)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in train.py, before torch
    with friendly_errors(PROGRAM):
        from modeling.base.run import quiet
        from modeling.senticse.probing.report import paper_columns, render, to_csv
        from modeling.senticse.probing.run import probe

        quiet()
        results, components = probe(arguments)
        table = render(results, paper_columns(results))
        print(f"\n{table}")
        if folder := arguments.out:
            plots = draw(results, components, folder)
            write_text(folder / "table.md", "\n\n".join([table, *plots]) + "\n")
            write_text(folder / "results.csv", to_csv(results))
            write_json(folder / "results.json", results)
            print(f"\nwritten to {folder}: table.md, results.json, results.csv, plots/")


def parse(words: list[str]) -> argparse.Namespace:
    """Reads the command line.

    Bad input ends the program with status 2 and a message that names the option and the cure.
    """
    parser = _parser()
    arguments = parser.parse_intermixed_args(words)
    arguments.cache_dir = Path(arguments.cache_dir).expanduser()
    if arguments.out and arguments.out.is_file():
        parser.error(f"--out {arguments.out} is a file: name a folder")
    for source in arguments.sentiment:
        if path := missing_folder(source):
            parser.error(f"--sentiment: there is no folder {path}; build it with python -m dataset_scripts CORPUS "
                         f"--data RAW --out {path}")  # fmt: skip
    return arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("models", nargs="+", metavar="MODEL", help="what to probe; a column each")
    add("--sentiment", type=separated, default="demo", metavar="SOURCES",
        help="corpora of labelled sentences, separated by commas: folders written by python -m dataset_scripts, data "
        "sets on the Hub, or 'demo' (default: %(default)s)")  # fmt: skip
    add("--shots", type=counts, default="1,5", metavar="K,...", help="training texts per class (default: %(default)s)")
    add("--seeds", type=count, default=10, metavar="N", help="few-shot draws (default: %(default)s)")
    add("--fine_tune", type=_boolean, default=False, metavar="BOOL",
        help="true: few-shot also as in the paper, encoder and head trained; most of a minute a draw for MiniLM on one "
        "core (default: false)")  # fmt: skip
    add("--fine_tune_seeds", type=count, metavar="N", help="draws for that (default: as --seeds)")
    add(
        "--learning_rate", type=_rate, default=1e-5, metavar="RATE", help="for that (default: %(default)g, the paper's)"
    )
    add("--max_test", type=count, default=500, metavar="N", help="test texts for that (default: %(default)s)")
    add("--validation", type=count, default=500, metavar="N",
        help="validation texts of a few-shot draw (default: %(default)s, the paper's)")  # fmt: skip
    add("--max_rows", type=count, metavar="N",
        help="seeded sample of each split, balanced between classes; default: all")  # fmt: skip
    add("--out", type=Path, metavar="FOLDER", help="folder for tables, figures and plots/; default: print only")
    add("--cache_dir", default=SHARED["cache_dir"].default, metavar="FOLDER",
        help="where prepared data, vectors and figures are kept (default: %(default)s)")  # fmt: skip
    return parser


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r} must be true or false")
    return text == "true"


def _rate(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number between 0 and 1")
    return value


def draw(results: dict[str, Any], components: dict[str, dict[str, Any]], folder: Path) -> list[str]:
    """Draws the pictures; returns them as Markdown."""
    from modeling.senticse.probing.plots import plot_components, plot_correlation
    from modeling.senticse.probing.report import TRAINED
    from modeling.senticse.probing.run import LEAST_MODELS, few_shot_kinds

    lines = []

    def keep(plot: Callable[..., None], name: str, title: str, *what: Any) -> None:
        plot(*what, folder / "plots" / f"{name}.png", title)
        lines.append(f"![{title}](plots/{name}.png)")

    for corpus, models in components.items():
        name = "components-" + re.sub(r"[^\w.-]", "-", corpus)
        keep(plot_components, name, f"{corpus}: test sentences by class, principal components", models,
             results["classes"][corpus])  # fmt: skip
    if len(results["models"]) >= LEAST_MODELS:
        panels = [
            {"name": f"{k} per class, trained: {TRAINED[variant]}",
             "points": [(model, corpus, f["sgts"]["spearman"], f["few_shot"][variant][k]["mean"])
                        for corpus, models in results["figures"].items() for model, f in models.items()]}
            for variant, k in few_shot_kinds(results)
        ]  # fmt: skip
        keep(plot_correlation, "sgts-few-shot", "Few-shot accuracy and SgTS", panels)
    return lines


if __name__ == "__main__":
    main(sys.argv[1:])
