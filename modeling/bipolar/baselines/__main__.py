"""Evaluates retrieval of the best counter-argument: tables 2 and 3 of the Bipolar-encoder's paper, for any models.

    python -m modeling.bipolar.baselines data/counterargs18 --model bundled
    python -m modeling.bipolar.baselines data/counterargs18 --bipolar bipolar-minilm --rows bm25,bipolar --out tables

Accuracy@1 in the four settings of candidates, and after re-ranking the K that were retrieved, on the published split
and on one by thesis, with 95 % intervals, the shortlists' recall, time and memory. DATA is a folder written by python
-m dataset_scripts counterargs18, a data set on the Hub, or 'demo'. Rankings are kept: a command that was interrupted,
or is given again with one more model, goes on.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from dataset_scripts.base.files import missing_folder, write_json, write_text
from modeling.base.cli import friendly_errors
from modeling.base.options import count, counts, separated
from modeling.base.recipe import SHARED
from modeling.bipolar.baselines.rows import KEYS, OPTIONS, ROWS

PROGRAM = "python -m modeling.bipolar.baselines"
SPLITS = ("official", "clean")


def main(words: list[str]) -> None:
    """Evaluates, prints, and writes tables, figures, predictions and pictures where a folder is named."""
    arguments = parse(words)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in train.py, before torch
    with friendly_errors(PROGRAM):
        from modeling.base.run import quiet
        from modeling.bipolar.baselines.report import render
        from modeling.bipolar.baselines.run import evaluate

        quiet()
        results, predictions = evaluate(arguments)
        table = render(results)
        print(f"\n{table}")
        if folder := arguments.out:
            import pandas as pd

            from dataset_scripts.base.tables import write_table
            from modeling.bipolar.baselines.plots import draw

            plots = draw(results, folder)
            write_table(pd.DataFrame(predictions), folder / "predictions.parquet")
            write_text(folder / "table.md", "\n\n".join([table, *plots]) + "\n")
            write_json(folder / "results.json", results)
            print(f"\nwritten to {folder}: table.md, results.json, predictions.parquet, plots/")


def parse(words: list[str]) -> argparse.Namespace:
    """Reads the command line; `models` of the result is option -> models.

    Bad input ends the program with status 2 and a message that names the option and the cure.
    """
    parser = _parser()
    arguments = parser.parse_args(words)
    arguments.cache_dir = Path(arguments.cache_dir).expanduser()
    if arguments.out and arguments.out.is_file():
        parser.error(f"--out {arguments.out} is a file: name a folder")
    if path := missing_folder(arguments.data):
        parser.error(f"there is no folder {path}; build it with python -m dataset_scripts counterargs18 --data RAW "
                     f"--out {path}")  # fmt: skip
    for name, values, choices in (("rows", arguments.rows, KEYS), ("split", arguments.split, SPLITS)):
        if unknown := [value for value in values if value not in choices]:
            parser.error(f"--{name} {unknown[0]!r} is unknown; there are {', '.join(choices)}")
    arguments.split = [name for name in SPLITS if name in arguments.split]
    arguments.models = {option: found for option in OPTIONS if (found := getattr(arguments, option))}
    for option, found in arguments.models.items():
        if option not in ("model", "bipolar") and len(found) > 1:
            parser.error(f"--{option} takes one model, not {len(found)}")
    for row in ROWS:
        absent = [option for option in row.options if option not in arguments.models]
        if arguments.chosen and row.key in arguments.rows and absent:
            parser.error(f"--rows {row.key} needs --{absent[0]}: {OPTIONS[absent[0]]}")
    return arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("data", metavar="DATA", help="the corpus, with the configurations counters and counters_official")
    add("--model", nargs="+", default=[], metavar="MODEL", help=f"{OPTIONS['model']}: a released model, 'bundled', a "
        "run, a folder or a Hub id")  # fmt: skip
    for option, text in OPTIONS.items():
        if option != "model":
            add(f"--{option}", type=separated, default=[], metavar="MODEL", help=text)
    add("--rows", type=separated, action=_Chosen, default=list(KEYS), metavar="ROW,...",
        help=f"which rows: {', '.join(KEYS)} (default: all)")  # fmt: skip
    add("--split", type=separated, default=list(SPLITS), metavar="NAME,...",
        help="clean (by thesis), official (published) or both (default: both)")  # fmt: skip
    add("--evaluate_on", choices=("test", "validation"), default="test", help="default: %(default)s")
    add("--train_split", choices=("own", "clean"), default="own",
        help="what logistic regression and XGBoost learn from: the train split of the split they rank on, so that the "
        "official column is the paper's protocol, or the clean one for both (default: %(default)s)")  # fmt: skip
    add("--shortlists", type=counts, default=(10, 30, 50), metavar="K,...",
        help="how many retrieved candidates are re-ranked (default: 10,30,50)")  # fmt: skip
    add("--max_points", type=count, metavar="N",
        help="seeded sample of the points for rows that read every pair: cross-encoders and features; the candidates "
        "stay all (default: all points)")  # fmt: skip
    add("--out", type=Path, metavar="FOLDER", help="folder for tables, figures, predictions and plots/; default: print")
    add("--cache_dir", default=SHARED["cache_dir"].default, metavar="FOLDER",
        help="where prepared data, vectors and rankings are kept (default: %(default)s)")  # fmt: skip
    parser.set_defaults(chosen=False)
    return parser


class _Chosen(argparse.Action):
    """Rows that were named must be possible; those of the default are left empty where they are not."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, *_: object):
        namespace.rows, namespace.chosen = values, True


if __name__ == "__main__":
    main(sys.argv[1:])
