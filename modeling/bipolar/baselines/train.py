"""Trains the two neural baselines of the Bipolar-encoder's paper: a bi-encoder and a cross-encoder.

    python -m modeling.bipolar.baselines.train bi-encoder data/counterargs18 --out runs/bi-encoder
    python -m modeling.bipolar.baselines.train cross-encoder data/counterargs18 --out runs/cross-encoder

DATA is a folder written by python -m dataset_scripts counterargs18, a data set on the Hub, or 'demo'. A checkpoint is
written after each epoch: the same command continues an interrupted run, and prints the figures of a complete one.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from dataset_scripts.base.files import missing_folder
from modeling.base.cli import friendly_errors
from modeling.base.options import count
from modeling.base.recipe import SHARED

PROGRAM = "python -m modeling.bipolar.baselines.train"
KINDS = {
    "bi-encoder": "one encoder for points, one for counter-arguments; triplet loss, increasingly hard negatives",
    "cross-encoder": "reads point and candidate together, for re-ranking; cross-entropy, random negatives",
}
MOVES = ("command", "out", "cache_dir", "overwrite")  # options on which the model does not depend


def main(words: list[str]) -> None:
    """Trains, or continues, and prints what was measured."""
    options = parse(words)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in train.py, before torch
    with friendly_errors(PROGRAM):
        from transformers import set_seed

        from modeling.base.run import quiet
        from modeling.bipolar.baselines import fine_tuning

        quiet()
        given = {name: value for name, value in vars(options).items() if name not in MOVES}
        settings = fine_tuning.Settings(kind=options.command, **given)
        cache = options.cache_dir
        train_rows = fine_tuning.load_rows(settings, "train", cache)
        results = fine_tuning.claim(settings, train_rows, options.out, options.overwrite)
        if results is None:
            validation_rows = fine_tuning.load_rows(settings, "validation", cache)
            set_seed(settings.seed)
            if settings.kind == "bi-encoder":
                from modeling.bipolar.baselines import bi_encoder

                results = bi_encoder.train(settings, train_rows, validation_rows, options.out)
            else:
                from modeling.bipolar.baselines import cross_encoder

                vectors = cache / "embeddings"
                results = cross_encoder.train(settings, train_rows, validation_rows, options.out, vectors)
        report(results, options.out)


def report(results: dict[str, Any], out: Path) -> None:
    """Prints the figures of a run."""
    losses = [f"{results[name]:.4f}" for name in ("first_loss", "last_loss") if results[name] is not None]
    print(f"\n{results['steps']:,} steps over {results['rows']:,} points in {results['seconds']:,.0f} s, loss "
          f"{' to '.join(losses) or 'not logged'}")  # fmt: skip
    rows = results["options"]["max_rows"]
    print("on the validation split:" if rows is None else f"on a sample of {rows:,} rows of the validation split:")
    if (before := results.get("accuracy@1 before training")) is not None:
        print(f"    accuracy@1 before training: {before:.3f}")
    for name, value in results["validation"].items():
        print(f"    {name}: {value if isinstance(value, int) else f'{value:.3f}'}")
    print(f"written to {out}")


def parse(words: list[str]) -> argparse.Namespace:
    """Reads the command line.

    Bad input ends the program with status 2 and a message that names the option and the cure.
    """
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parsers = parser.add_subparsers(dest="command", required=True, metavar="MODEL")
    for name, help in KINDS.items():
        part = parsers.add_parser(name, help=help, description=help, allow_abbrev=False)
        _shared_options(part, name == "cross-encoder")
        (_cross_encoder_options if name == "cross-encoder" else _bi_encoder_options)(part)
    options = parser.parse_args(words)
    options.cache_dir = Path(options.cache_dir).expanduser()
    if path := missing_folder(options.data):
        parser.error(f"there is no folder {path}; build it with python -m dataset_scripts counterargs18 --data RAW "
                     f"--out {path}")  # fmt: skip
    return options


def _shared_options(parser: argparse.ArgumentParser, cross: bool) -> None:
    add = parser.add_argument
    add("data", metavar="DATA", help="folder written by python -m dataset_scripts, data set on the Hub, or 'demo'")
    add("--out", required=True, type=Path, metavar="FOLDER", help="folder for the model")
    add("--config", default="counters", choices=("counters", "counters_official"),
        help="the clean or the published split (default: %(default)s)")  # fmt: skip
    add("--base", default="bundled", help="encoder: folder, Hub id, or 'bundled' (default: %(default)s)")
    add("--base_id", metavar="ID", help="Hub id to record for a base that is a folder")
    add("--epochs", type=count, default=3 if cross else 4, metavar="N",
        help="passes over the points (default: %(default)s; the paper's 200)")  # fmt: skip
    add("--batch_size", type=count, default=16, metavar="N",
        help="points per step (default: %(default)s; the paper's 4)")  # fmt: skip
    add("--learning_rate", type=_rate, default=5e-5, metavar="RATE",
        help="peak learning rate of AdamW (default: %(default)g; the paper's 3e-6)")  # fmt: skip
    add("--max_length", type=count, default=256, metavar="N",
        help=f"tokens of a {'pair of texts' if cross else 'text'}; the rest is cut (default: %(default)s)")  # fmt: skip
    add("--max_steps", type=count, default=-1, metavar="N", help="optimiser steps at most")
    add("--max_rows", type=count, metavar="N", help="seeded sample of each split; default: all")
    add("--seed", type=int, default=42, metavar="N", help="of weights, order and negatives (default: %(default)s)")
    add("--anchor", choices=("positive", "point"), default="point" if cross else "positive",
        help="what mined negatives are nearest to, the row's counter or its point (default: %(default)s)")  # fmt: skip
    add("--pool_size", type=count, default=1, metavar="N",
        help="from how many of the nearest a mined negative is drawn (default: %(default)s)")  # fmt: skip
    add("--cache_dir", default=SHARED["cache_dir"].default, metavar="FOLDER",
        help="where prepared data and vectors are kept (default: %(default)s)")  # fmt: skip
    add("--overwrite", action="store_true", help="discard a run in the same folder that had other options")


def _bi_encoder_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--hard_rate", dest="hard", type=_share, metavar="RATE",
                        help="by how much the share of mined negatives grows in each epoch, up to 1; 0: all are random "
                        "(default: the paper's 0.02, or 1 / epochs where that is more)")  # fmt: skip
    parser.add_argument("--margin", type=_rate, default=1.0, metavar="DISTANCE",
                        help="of the triplet loss, on unit vectors (default: %(default)g, the paper's)")  # fmt: skip


def _cross_encoder_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--hard_negatives", dest="hard", type=_share, default=0.0, metavar="SHARE",
                        help="share of negatives mined by the untrained base (default: 0, the paper's)")  # fmt: skip
    parser.add_argument("--shortlist", type=count, default=10, metavar="K",
                        help="candidates that are re-ranked at the end (default: %(default)s)")  # fmt: skip
    parser.add_argument("--eval_points", type=count, default=200, metavar="N",
                        help="validation points for which they are (default: %(default)s)")  # fmt: skip


def _number(text: str, least: float, most: float, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise argparse.ArgumentTypeError(f"{text!r} must be {what}")
    return value


def _share(text: str) -> float:
    return _number(text, 0, 1, "a number from 0 to 1")


def _rate(text: str) -> float:
    return _number(text, 1e-12, 2, "a number above 0, at most 2")


if __name__ == "__main__":
    main(sys.argv[1:])
