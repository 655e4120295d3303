"""Builds data sets from raw corpora, ready for training and for the Hub.

python -m dataset_scripts list
python -m dataset_scripts kialo --help
python -m dataset_scripts kialo --data ~/kialo-exports --out data/kialo
python -m dataset_scripts kialo --data ~/kialo-exports --out data/kialo --push_to_hub org/kialo-stance --private
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# `datasets` takes seconds to import, so whatever needs it is imported where a build has begun
from dataset_scripts import CORPORA, get_corpus
from dataset_scripts.base.hub import PublishError, check_ready, publish_dataset
from dataset_scripts.base.metadata import Metadata, load_metadata
from dataset_scripts.base.options import add_flags, describe, explain_unknown, read_options
from dataset_scripts.base.splits import SEED


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code, 2 for whatever the user can cure."""
    parser, options = _parse(sys.argv[1:] if arguments is None else arguments)
    if options.corpus == "list":
        _print_list()
        return 0
    metadata = _check(parser, options)
    try:
        if options.push_to_hub:
            check_ready(options.push_to_hub)
        from dataset_scripts.base.building import build

        config_class = get_corpus(metadata.name).BUILDER_CONFIG_CLASS
        own = read_options(metadata.name, options.option, metadata.options, config_class)
        summary = build(metadata, options.data, options.out, {"seed": options.seed, **own}, options.config)
        _report(metadata, summary, default=summary["options"] == {"seed": SEED})
        print(f"Written: {options.out}")
        if options.push_to_hub:
            print(f"Terms: {metadata.terms}")
            published = publish_dataset(options.out, options.push_to_hub, private=options.private)
            print(f"Published: {published['url']}" + (" (unchanged)" if published["unchanged"] else ""))
    except (PublishError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


def _report(metadata: Metadata, summary: dict[str, Any], default: bool) -> None:
    """Prints what was kept and dropped, and a warning where a build with default options differs from METADATA."""
    for name, built in summary["configs"].items():
        counts = ", ".join(f"{split} {count:,}" for split, count in built["rows"].items())
        print(f"{name}: {counts}")
        if built["classes"]:
            print("  of which " + ", ".join(f"{count:,} {label}" for label, count in built["classes"].items()))
        _print_dropped(built["dropped"])
        for fact, count in built["facts"].items():
            print(f"  {count:>9,} {fact}")
        facts = metadata.expected_facts.get(name, {})  # only of those that it names
        differences = _differences(metadata.expected.get(name, {}), built["rows"])
        differences += _differences(facts, {fact: built["facts"].get(fact, 0) for fact in facts})
        if default and differences:
            print(
                f"warning: {name} differs from the reference build: {'; '.join(differences)}. "
                "That is as it should be if your raw data are others.",
                file=sys.stderr,
            )
    for name, dropped in summary["empty"].items():
        print(f"{name}: no rows")
        _print_dropped(dropped)


def _print_dropped(dropped: dict[str, int]) -> None:
    for reason, count in sorted(dropped.items()):
        print(f"  {count:>9,} x {reason}")


def _differences(expected: dict[str, int], found: dict[str, int]) -> list[str]:
    """What differs from the reference build; nothing where there is none."""
    return [
        f"{name} {found.get(name, 0):,} instead of {expected.get(name, 0):,}"
        for name in (dict.fromkeys([*expected, *found]) if expected else ())
        if found.get(name, 0) != expected.get(name, 0)
    ]


def _parse(arguments: Sequence[str]) -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    """Reads the command line with the flags of the corpus that it names."""
    corpus = _parser(add_help=False).parse_known_args(arguments)[0].corpus
    if corpus not in CORPORA:
        parser = _parser(
            description=__doc__,
            epilog=f"corpora: {', '.join(CORPORA)}\n\noptions of a corpus: python -m dataset_scripts CORPUS --help",
        )
        if corpus not in (None, "list"):
            close = difflib.get_close_matches(corpus, [*CORPORA, "list"], n=1, cutoff=0.5)
            hint = f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(CORPORA)}"
            parser.error(f"unknown corpus {corpus!r}; {hint}")
        options = parser.parse_args(arguments)
        if options.corpus is None:
            parser.error("name a corpus, or 'list' for a table of all")
        return parser, options
    metadata = load_metadata(corpus)
    parser = _parser(description=describe(metadata))
    add_flags(parser, metadata)
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        flags = [f"--{name}" for name in [*vars(options), *metadata.options] if name != "corpus"]
        parser.error(explain_unknown(unknown, flags, corpus))
    return parser, options


def _parser(**settings: Any) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dataset_scripts",
        usage="%(prog)s CORPUS --data PATH --out DIR [--NAME VALUE ...]",
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=28),
        allow_abbrev=False,  # of what the user means there may be several, once the corpus is known
        **settings,
    )
    parser.add_argument("corpus", nargs="?", metavar="CORPUS", help="name of a corpus, or 'list' for a table of all")
    parser.add_argument("--data", type=Path, metavar="PATH", help="the raw corpus: file, folder or archive")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder to write; a build that is there is replaced")
    parser.add_argument("--config", action="append", metavar="NAME", help="only this configuration; may be repeated")
    parser.add_argument("--seed", type=int, default=SEED, metavar="N", help=f"seed of the split (default: {SEED})")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="--NAME VALUE in another spelling"
    )
    parser.add_argument("--push_to_hub", metavar="REPO", help="publish the result, e.g. org/kialo-stance")
    parser.add_argument("--private", action="store_true", help="publish to a private repository")
    return parser


def _print_list() -> None:
    header = ("corpus", "summary", "licence", "configurations")
    rows = [header]
    for name in CORPORA:
        metadata = load_metadata(name)
        rows.append((name, metadata.summary, metadata.licence, ", ".join(metadata.configs)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Metadata:
    """Returns the corpus's record; ends with exit code 2 and a cure for what is known to fail before reading."""
    metadata = load_metadata(options.corpus)
    if options.data is None or options.out is None:
        parser.error(f"building {options.corpus} needs --data PATH and --out DIR; PATH is {metadata.raw}")
    options.data, options.out = options.data.expanduser(), options.out.expanduser()
    if not options.data.exists():
        parser.error(f"--data {options.data} does not exist; it has to be {metadata.raw}")
    for name in options.config or ():
        if name not in metadata.configs:
            parser.error(f"{options.corpus} has no configuration {name!r}; choose from {', '.join(metadata.configs)}")
    if options.private and not options.push_to_hub:
        parser.error("--private says how to publish: give --push_to_hub REPO with it")
    if options.push_to_hub and not options.private and not metadata.redistributable:
        parser.error(f"{options.corpus} must not be published: {metadata.terms} Add --private for a private repository")
    return metadata


if __name__ == "__main__":
    sys.exit(main())
