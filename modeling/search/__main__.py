"""Embeds a corpus once and asks any number of statements of it.

    python -m modeling.search embed tweets.csv --text text --group party --out tweets-index
    python -m modeling.search ask tweets-index "Trams should be free." --top 10 --out hits.csv
    python -m modeling.search align tweets-index "Trams should be free." --target GREEN --out align.csv
    python -m modeling.search axis tweets-index --positive "I support free trams." --negative "I oppose free trams."
    python -m modeling.search counter build arguments.csv --out arguments-index
    python -m modeling.search counter ask arguments-index "Trams should be free, since they keep cars out of town."

An interrupted `embed`, `counter build` or `counter extend` continues where it stopped when the same command is given
again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from modeling.base.cli import friendly_errors
from modeling.base.recipe import axis_values
from modeling.bipolar.search_counter import COUNTER
from modeling.search.commands import (
    PROGRAM,
    Command,
    build_arguments,
    index_arguments,
    output_argument,
    parse,
    write_output,
)
from modeling.search.tables import check_output

if TYPE_CHECKING:
    from modeling.search.index import Index

THRESHOLDS = "0.3:0.9:0.05"


def embed_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `embed`."""
    build_arguments(parser, "stance-minilm")
    parser.add_argument("--group", metavar="COLUMN", help="column of the groups to compare, such as a party")


def embed(options: argparse.Namespace) -> None:
    """Makes an index and says what became of the rows."""
    from modeling.search.collection import Counts, describe
    from modeling.search.index_build import build_index

    given = {name: value for name, value in vars(options).items() if name not in ("source", "out")}
    start = time.perf_counter()
    facts = build_index(options.source, options.out, **given)
    print(f"\n{facts['source']}: " + "\n".join(describe(Counts(**facts["counts"]), facts["source"])))
    print(f"\n{options.out} is complete: {facts['dimension']} dimensions of {facts['model']}, "
          f"{time.perf_counter() - start:.0f} s\n    {PROGRAM} ask {options.out} \"A statement.\"")  # fmt: skip


def ask_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `ask`."""
    index_arguments(parser)
    output_argument(parser, "table of the matches")
    parser.add_argument("statements", nargs="*", metavar="STATEMENT", help="each in quotes")
    parser.add_argument("--statements", dest="file", metavar="FILE",
                        help=".txt with one statement a line, or a table with a column 'statement'")  # fmt: skip
    parser.add_argument("--top", type=int, default=10, metavar="N", help="matches per statement (default: %(default)s)")
    parser.add_argument("--threshold", type=float, metavar="COSINE", help="lowest similarity of a match")


def ask(options: argparse.Namespace) -> None:
    """Prints the texts most similar to each statement."""
    from modeling.search.index import Index
    from modeling.search.tables import read_statements, show

    out = check_output(options.out)
    given = options.statements + [text for text, _ in (read_statements(options.file) if options.file else [])]
    statements = list(dict.fromkeys(given))
    hits = Index.open(options.index, options.model).ask(_some(statements), options.top, options.threshold)
    for statement in statements:
        found = hits[hits["statement"] == statement]
        print(f"\n{statement}")
        print(show(found[["rank", "similarity", "rows", "groups", "text"]]) if len(found) else
              f"nothing is as similar as {options.threshold}: lower --threshold")  # fmt: skip
    write_output(hits, out)


def align_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `align`."""
    index_arguments(parser)
    output_argument(parser, "table; a picture of the same name (.png) goes beside it")
    parser.add_argument("statements", nargs="*", metavar="STATEMENT", help="each in quotes; of the side of --target")
    parser.add_argument("--target", metavar="GROUP", help="group whose view the statements state")
    parser.add_argument("--query", action="append", default=[], metavar="STATEMENT=GROUP",
                        help="a statement with a target of its own; may be repeated")  # fmt: skip
    parser.add_argument("--statements", dest="file", metavar="FILE", help="table with columns 'statement' and 'target'")
    parser.add_argument("--thresholds", default=THRESHOLDS, metavar="START:STOP:STEP",
                        help="lowest similarities, also as A,B,C (default: %(default)s)")  # fmt: skip


def align(options: argparse.Namespace) -> None:
    """Prints alignment precision over thresholds."""
    from modeling.search.group_plots import plot_thresholds
    from modeling.search.index import Index
    from modeling.search.tables import show

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
    write_output(table, out)
    if out:
        _draw(lambda path: plot_thresholds(table, path, f"{_label(index)}: alignment precision"), out)


def axis_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `axis`."""
    index_arguments(parser)
    output_argument(parser, "table of texts; NAME-groups, NAME.json and NAME.png go beside it")
    for side in ("positive", "negative"):
        parser.add_argument(f"--{side}", nargs="+", required=True, metavar="STATEMENT",
                            help=f"the {side} side; several wordings are averaged")  # fmt: skip
    parser.add_argument("--min_similarity", type=float, metavar="COSINE",
                        help="keep texts that are at least this similar to one of the sides")  # fmt: skip


def axis(options: argparse.Namespace) -> None:
    """Prints where groups lie between two opposite sides."""
    from dataset_scripts.base.files import write_json
    from modeling.search.group_plots import plot_axis
    from modeling.search.index import Index
    from modeling.search.tables import show

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
    write_output(found.texts, out)
    if out:
        write_output(found.groups, out.with_name(f"{out.stem}-groups{out.suffix}"))
        sides = {"positive": found.positive, "negative": found.negative, "model": index.facts["model"]}
        write_json(out.with_suffix(".json"), sides | facts)
        _draw(lambda path: plot_axis(found, path, f"{_label(index)}: two opposite statements"), out)


COMMANDS = {
    "embed": Command("embed a corpus, once", embed_arguments, embed),
    "ask": Command("find the texts most similar to statements", ask_arguments, ask),
    "align": Command("whose texts a statement finds: alignment precision over thresholds", align_arguments, align),
    "axis": Command("place texts and groups between two opposite statements", axis_arguments, axis),
    "counter": COUNTER,
}


def main(arguments: list[str] | None = None) -> None:
    """Runs one command."""
    command, options = parse(PROGRAM, str(__doc__), COMMANDS, sys.argv[1:] if arguments is None else arguments)
    # torch's threads wait for each other by spinning, which slows down whatever runs beside them
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    with friendly_errors(PROGRAM):
        import warnings

        from transformers.utils import logging

        warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
        logging.disable_progress_bar()  # of loading weights; the bars of long work stay
        command.run(options)


def _some(statements: list[str]) -> list[str]:
    if not statements:
        raise ValueError("there is no statement: give one in quotes, or --statements FILE")
    return statements


def _queries(options: argparse.Namespace) -> list[tuple[str, str]]:
    """The (statement, target) of all three ways to give them."""
    from modeling.search.tables import read_statements

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


def _label(index: Index) -> str:
    return f"{index.folder.resolve().name}, {Path(index.facts['model']).name}"


def _draw(draw: Callable[[Path], None], out: Path) -> None:
    path = out.with_suffix(".png")
    draw(path)
    print(f"drawn to {path}")


if __name__ == "__main__":
    sys.exit(main())
