"""The commands `python -m modeling.search counter ...`: a collection of arguments, asked for counter-arguments."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from modeling.search.old_commands import (
    PROGRAM,
    Command,
    Group,
    build_arguments,
    index_arguments,
    output_argument,
    source_arguments,
    write_output,
)
from modeling.search.tables import check_output

if TYPE_CHECKING:
    from modeling.bipolar.counter_index import CounterIndex

ASKED = 300  # characters of an argument that are repeated above its counters
WIDTH = 120


def build_options(parser: argparse.ArgumentParser) -> None:
    """Options of `build`."""
    build_arguments(parser, "bipolar-minilm")


def build(options: argparse.Namespace) -> None:
    """Makes an index and says what became of the rows."""
    from dataset_scripts.base.files import read_json
    from modeling.bipolar.counter_build import build_counter_index
    from modeling.search.collection import Counts, describe

    given = {name: value for name, value in vars(options).items() if name not in ("source", "out")}
    start = time.perf_counter()
    before = (read_json(options.out / "index.json") or {}).get("parts", [])
    facts = build_counter_index(options.source, options.out, **given)
    for part in before[len(facts["parts"]) :]:
        print(f"made again without what it was extended with: {PROGRAM} counter extend {options.out} {part['source']}")
    for part in facts["parts"]:
        print(f"\n{part['source']}: " + "\n".join(describe(Counts(**part["counts"]), part["source"])))
    print(f"\n{options.out} is complete: {facts['counts']['distinct']:,} arguments, {facts['dimension']} dimensions of "
          f"{facts['model']}, {time.perf_counter() - start:.0f} s\n{_search(facts)}\n{_ranking(facts)}\n"
          f'    {PROGRAM} counter ask {options.out} "An argument."')  # fmt: skip


def ask_options(parser: argparse.ArgumentParser) -> None:
    """Options of `ask`."""
    index_arguments(parser, "counter build")
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="each in quotes")
    parser.add_argument("--file", metavar="FILE",
                        help=".txt with one argument a line, or a table with a column 'argument'")  # fmt: skip
    parser.add_argument("--top", type=int, default=10, metavar="N",
                        help="counter-arguments per argument (default: %(default)s)")  # fmt: skip
    parser.add_argument("--shortlist", type=int, default=50, metavar="N",
                        help="nearest texts that are re-ranked (default: %(default)s)")  # fmt: skip
    output_argument(parser, "table of the counter-arguments")


def ask(options: argparse.Namespace) -> None:
    """Prints the best counter-arguments to each argument."""
    from modeling.bipolar.counter_index import CounterIndex
    from modeling.search.tables import read_statements, show

    out = check_output(options.out)
    read = read_statements(options.file, "argument", "--file") if options.file else []
    arguments = list(dict.fromkeys(options.arguments + [text for text, _ in read]))
    if not arguments:
        raise ValueError("there is no argument to counter: give one in quotes, or --file FILE")
    index = CounterIndex.open(options.index, options.model)
    hits = index.ask(arguments, options.top, options.shortlist)
    for argument, found in hits.groupby("argument", sort=False):
        print(f"\n{argument if len(argument) <= ASKED else argument[:ASKED].rstrip() + '...'}")
        columns = ["rank", "score", "similarity", "rows", "row", "text"]
        print(show(found[columns] if index.reranks else found[columns].drop(columns="score"), WIDTH))
    answered = set(hits["argument"])
    for argument in [argument for argument in arguments if argument not in answered]:
        print(f"\n{argument[:ASKED]}\nthe collection holds no other text")
    print(f"\n{_score(index)}")
    write_output(hits, out)


def extend_options(parser: argparse.ArgumentParser) -> None:
    """Options of `extend`."""
    index_arguments(parser, "counter build")
    source_arguments(parser, text="that of the index", id="that of the index, if there is one")


def extend(options: argparse.Namespace) -> None:
    """Adds arguments to an index and says what became of the rows."""
    from modeling.bipolar.counter_index import CounterIndex
    from modeling.search.collection import Counts, describe

    start = time.perf_counter()
    given = {name: value for name, value in vars(options).items() if name not in ("index", "model", "source")}
    index = CounterIndex.open(options.index, options.model)
    before = index.facts["counts"]["distinct"]
    part = index.extend(options.source, **given)
    if not part["added"]:
        print(f"\n{options.index} has these rows already, from {part['source']}: nothing to do")
        return
    print(f"\n{part['source']}: " + "\n".join(describe(Counts(**part["counts"]), part["source"])))
    print(f"  {index.facts['counts']['distinct'] - before:>9,} x new, embedded\n"
          f"  {part['known']:>9,} x known already, not embedded again")  # fmt: skip
    print(f"\n{options.index} has {index.facts['counts']['distinct']:,} arguments now, "
          f"{time.perf_counter() - start:.0f} s\n{_search(index.facts)}")  # fmt: skip


COUNTER = Group(
    "find counter-arguments in a collection of arguments",
    {
        "build": Command("embed a collection of arguments, once", build_options, build),
        "ask": Command("find the best counter-arguments to arguments", ask_options, ask),
        "extend": Command("add arguments to a collection; what it has is not embedded again", extend_options, extend),
    },
)


def _search(facts: dict[str, Any]) -> str:
    search = facts["search"]
    if search["kind"] == "flat":
        return "shortlists by exact search"
    return (f"shortlists by approximate search, {search['probes']} of {search['lists']:,} lists: "
            f"{search['recall']:.1%} of the {search['recall_at']} nearest found, measured on {search['recall_sample']} "
            f"of {search['built_for']:,} arguments")  # fmt: skip


def _ranking(facts: dict[str, Any]) -> str:
    if facts["reranks"]:
        return "re-ranked by the model's classification head"
    return (
        "not re-ranked: the model has no classification head, so that the nearest texts come first, whatever they say"
    )


def _score(index: CounterIndex) -> str:
    if not index.reranks:
        return f"not re-ranked, the score is the similarity: {index.facts['model']} has no classification head"
    weight = index.model.heads.fusion_weight
    if weight is None:
        return "score: probability that the text counters the argument, by the model's classification head"
    return f"score: similarity + {weight:g} x log-odds that the text counters the argument, by the classification head"
