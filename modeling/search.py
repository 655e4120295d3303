"""Embeds a corpus once and asks any number of statements of it.

    python -m modeling.search embed tweets.csv --text text --group party --out tweets-index
    python -m modeling.search ask tweets-index "Trams should be free." --top 10 --out hits.csv
    python -m modeling.search align tweets-index "Trams should be free." --target GREEN --out align.csv
    python -m modeling.search axis tweets-index --positive "I support free trams." --negative "I oppose free trams."

An interrupted `embed` continues where it stopped when the same command is given again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from modeling.cli import friendly_errors
from modeling.recipe import axis_values
from modeling.tables import OUTPUTS, check_output

if TYPE_CHECKING:
    import pandas as pd

    from modeling.index import Index

PROGRAM = "python -m modeling.search"
THRESHOLDS = "0.3:0.9:0.05"


class Command(NamedTuple):
    """A subcommand: a line of help, what adds its options, and what runs it."""

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], None]


def embed_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `embed`."""
    parser.add_argument("source", metavar="SOURCE", help="CSV, TSV, JSONL (each also .gz) or Parquet file, a folder "
                        "written by python -m dataset_scripts, 'demo', or a data set on the Hub")  # fmt: skip
    parser.add_argument("--out", required=True, type=Path, metavar="INDEX", help="folder to write")
    parser.add_argument("--text", metavar="COLUMN", help="column of the texts (default: 'text', or the only column)")
    parser.add_argument("--group", metavar="COLUMN", help="column of the groups to compare, such as a party")
    parser.add_argument("--id", metavar="COLUMN", help="column of the ids (default: 'id', if there is one)")
    parser.add_argument("--config", metavar="NAME", help="configuration of a data set (default: its default)")
    parser.add_argument("--split", metavar="NAME", help="split of a data set (default: all)")
    parser.add_argument("--model", default="stance-minilm", metavar="MODEL",
                        help="a released model, 'bundled', a folder or a Hub id (default: %(default)s)")  # fmt: skip
    parser.add_argument("--encoding", default="utf-8-sig", metavar="NAME", help="of a CSV or TSV (default: UTF-8)")
    parser.add_argument("--max_characters", type=int, default=10_000, metavar="N",
                        help="longer texts are cut; 512 tokens are about 2,500 (default: %(default)s)")  # fmt: skip
    parser.add_argument("--batch_size", type=int, default=128, metavar="N", help="texts at once (default: %(default)s)")
    parser.add_argument("--overwrite", action="store_true", help="discard an index of other texts or another model")


def embed(options: argparse.Namespace) -> None:
    """Makes an index and says what became of the rows."""
    from modeling.collection import Counts, describe
    from modeling.index_build import build_index

    given = {name: value for name, value in vars(options).items() if name not in ("command", "source", "out")}
    start = time.perf_counter()
    facts = build_index(options.source, options.out, **given)
    print(f"\n{facts['source']}: " + "\n".join(describe(Counts(**facts["counts"]), facts["source"])))
    print(f"\n{options.out} is complete: {facts['dimension']} dimensions of {facts['model']}, "
          f"{time.perf_counter() - start:.0f} s\n    {PROGRAM} ask {options.out} \"A statement.\"")  # fmt: skip


def ask_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `ask`."""
    _index_arguments(parser, "table of the matches")
    parser.add_argument("statements", nargs="*", metavar="STATEMENT", help="each in quotes")
    parser.add_argument("--statements", dest="file", metavar="FILE",
                        help=".txt with one statement a line, or a table with a column 'statement'")  # fmt: skip
    parser.add_argument("--top", type=int, default=10, metavar="N", help="matches per statement (default: %(default)s)")
    parser.add_argument("--threshold", type=float, metavar="COSINE", help="lowest similarity of a match")


def ask(options: argparse.Namespace) -> None:
    """Prints the texts most similar to each statement."""
    from modeling.index import Index
    from modeling.tables import read_statements, show

    out = check_output(options.out)
    given = options.statements + [text for text, _ in (read_statements(options.file) if options.file else [])]
    statements = list(dict.fromkeys(given))
    hits = Index.open(options.index, options.model).ask(_some(statements), options.top, options.threshold)
    for statement in statements:
        found = hits[hits["statement"] == statement]
        print(f"\n{statement}")
        print(show(found[["rank", "similarity", "rows", "groups", "text"]]) if len(found) else
              f"nothing is as similar as {options.threshold}: lower --threshold")  # fmt: skip
    _write(hits, out)


def align_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `align`."""
    _index_arguments(parser, "table; a picture of the same name (.png) goes beside it")
    parser.add_argument("statements", nargs="*", metavar="STATEMENT", help="each in quotes; of the side of --target")
    parser.add_argument("--target", metavar="GROUP", help="group whose view the statements state")
    parser.add_argument("--query", action="append", default=[], metavar="STATEMENT=GROUP",
                        help="a statement with a target of its own; may be repeated")  # fmt: skip
    parser.add_argument("--statements", dest="file", metavar="FILE", help="table with columns 'statement' and 'target'")
    parser.add_argument("--thresholds", default=THRESHOLDS, metavar="START:STOP:STEP",
                        help="lowest similarities, also as A,B,C (default: %(default)s)")  # fmt: skip


def align(options: argparse.Namespace) -> None:
    """Prints alignment precision over thresholds."""
    from modeling.group_plots import plot_thresholds
    from modeling.index import Index
    from modeling.tables import show

    out = check_output(options.out)
    queries = _queries(options)
    try:
        thresholds = [float(value) for value in axis_values(options.thresholds)]
    except ValueError as error:
        raise ValueError(f"--thresholds: {error}; e.g. {THRESHOLDS} or 0.6,0.7") from None
    index = Index.open(options.index, options.model)
    table = index.align(queries, thresholds)
    for (statement, target), part in table.groupby(["statement", "target"], sort=False):
        print(f"\n{statement} ({target}, {part['base_rate'].iloc[0]:.1%} of all rows with a group)")
        print(show(part.drop(columns=["statement", "target", "base_rate"])))
    print("\nprecision: share of the target among the rows retrieved; low, high: its 95 % interval (Wilson)")
    _write(table, out)
    if out:
        _draw(lambda path: plot_thresholds(table, path, f"{_label(index)}: alignment precision"), out)


def axis_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `axis`."""
    _index_arguments(parser, "table of texts; NAME-groups, NAME.json and NAME.png go beside it")
    for side in ("positive", "negative"):
        parser.add_argument(f"--{side}", nargs="+", required=True, metavar="STATEMENT",
                            help=f"the {side} side; several wordings are averaged")  # fmt: skip
    parser.add_argument("--min_similarity", type=float, metavar="COSINE",
                        help="keep texts that are at least this similar to one of the sides")  # fmt: skip


def axis(options: argparse.Namespace) -> None:
    """Prints where groups lie between two opposite sides."""
    from modeling.files import write_json
    from modeling.group_plots import plot_axis
    from modeling.index import Index
    from modeling.tables import show

    out = check_output(options.out)
    index = Index.open(options.index, options.model)
    found = index.axis(options.positive, options.negative, options.min_similarity)
    facts = found.facts
    print(f"\n{facts['kept']:,} of {facts['rows']:,} rows; cosine between the two sides {facts['side_cosine']:.2f}")
    if options.min_similarity is None:
        print("All rows are scored, those on other matters too: --min_similarity 0.4 keeps those on the topic.")
    print()
    print(show(found.groups))
    if "auroc" in facts:
        print(f"\nAUROC {facts['auroc']:.3f}: so often a random row of {facts['first']} lies nearer to the positive "
              f"side than one of {facts['second']} (0.5: no difference)")  # fmt: skip
    ends = found.texts.drop_duplicates("text").sort_values("score", ascending=False)
    for label, part in (("nearest to the positive side", ends.head(5)), ("to the negative side", ends.tail(5)[::-1])):
        print(f"\n{label}\n{show(part[['score', 'relevance', 'group', 'text']].astype({'group': object}))}")
    _write(found.texts, out)
    if out:
        _write(found.groups, out.with_name(f"{out.stem}-groups{out.suffix}"))
        sides = {"positive": found.positive, "negative": found.negative, "model": index.facts["model"]}
        write_json(out.with_suffix(".json"), sides | facts)
        _draw(lambda path: plot_axis(found, path, f"{_label(index)}: two opposite statements"), out)


COMMANDS = {
    "embed": Command("embed a corpus, once", embed_arguments, embed),
    "ask": Command("find the texts most similar to statements", ask_arguments, ask),
    "align": Command("whose texts a statement finds: alignment precision over thresholds", align_arguments, align),
    "axis": Command("place texts and groups between two opposite statements", axis_arguments, axis),
}


def main(arguments: list[str] | None = None) -> None:
    """Runs one command."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    by_name = {}
    for name, command in COMMANDS.items():
        by_name[name] = parsers.add_parser(name, help=command.help, description=command.help)
        command.add_arguments(by_name[name])
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] in by_name:  # by its own parser, which also finds statements that stand behind an option
        options = by_name[words[0]].parse_intermixed_args(words[1:])
        options.command = words[0]
    else:
        options = parser.parse_args(words)
    # torch's threads wait for each other by spinning, which slows down whatever runs beside them
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    with friendly_errors(PROGRAM):
        from transformers.utils import logging

        logging.disable_progress_bar()  # of loading weights; the bars of long work stay
        COMMANDS[options.command].run(options)


def _index_arguments(parser: argparse.ArgumentParser, written: str) -> None:
    parser.add_argument("index", type=Path, metavar="INDEX", help="folder written by embed")
    parser.add_argument("--out", metavar="FILE", help=f"{' or '.join(OUTPUTS)}: {written}")
    parser.add_argument("--model", metavar="MODEL", help="where the model of the index is now, if it was moved")


def _some(statements: list[str]) -> list[str]:
    if not statements:
        raise ValueError("there is no statement: give one in quotes, or --statements FILE")
    return statements


def _queries(options: argparse.Namespace) -> list[tuple[str, str]]:
    """The (statement, target) of all three ways to give them."""
    from modeling.tables import read_statements

    given: list[tuple[str, str | None]] = [(statement, None) for statement in options.statements]
    for query in options.query:
        statement, equals, target = query.rpartition("=")
        if not equals or not statement.strip() or not target.strip():
            raise ValueError(f'--query {query!r} has to be STATEMENT=GROUP, e.g. --query "Trams should be free.=GREEN"')
        given.append((statement.strip(), target.strip()))
    given += read_statements(options.file) if options.file else []
    queries = [(statement, target or options.target) for statement, target in given]
    for statement, target in queries:
        if target is None:
            raise ValueError(f"{statement!r} has no target: name the group whose view it is with --target GROUP")
    return list(dict.fromkeys((statement, str(target)) for statement, target in _some(queries)))


def _write(frame: pd.DataFrame, out: Path | None) -> None:
    from modeling.tables import write_table

    if out:
        write_table(frame, out)
        print(f"\nwritten to {out}")


def _label(index: Index) -> str:
    return f"{index.folder.resolve().name}, {Path(index.facts['model']).name}"


def _draw(draw: Callable[[Path], None], out: Path) -> None:
    path = out.with_suffix(".png")
    draw(path)
    print(f"drawn to {path}")


if __name__ == "__main__":
    sys.exit(main())
