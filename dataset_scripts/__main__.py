"""Builds data sets from raw corpora, ready for training and for the Hub.

python -m dataset_scripts list
python -m dataset_scripts kialo --data ~/kialo-exports --out data/kialo
python -m dataset_scripts kialo --data ~/kialo-exports --out data/kialo --push_to_hub org/kialo-stance --private
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

# `datasets` takes seconds to import, so whatever needs it is imported where a build has begun
from dataset_scripts import CORPORA, get_corpus
from dataset_scripts.metadata import Metadata, load_metadata
from dataset_scripts.splits import SEED
from modeling.hub import PublishError, check_ready, publish_dataset


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code, 2 for whatever the user can cure."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.corpus == "list":
        _print_list()
        return 0
    metadata = _check(parser, options)
    try:
        if options.push_to_hub:
            check_ready(options.push_to_hub)
        from dataset_scripts.building import build

        builder_options = _builder_options(metadata.name, options)
        summary = build(metadata, options.data, options.out, builder_options, options.config)
        _report(metadata, summary, default=builder_options == {"seed": SEED})
        print(f"Written: {options.out}")
        if options.push_to_hub:
            print(f"Terms: {metadata.terms}")
            published = publish_dataset(options.out, options.push_to_hub, private=options.private)
            print(f"Published: {published['url']}" + (" (unchanged)" if published["unchanged"] else ""))
    except (PublishError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _report(metadata: Metadata, summary: dict[str, Any], default: bool) -> None:
    """Prints what was kept and dropped, and a warning where a build with default options differs from METADATA."""
    for name, built in summary["configs"].items():
        counts = ", ".join(f"{split} {count:,}" for split, count in built["rows"].items())
        print(f"{name}: {counts}")
        if built["classes"]:
            print("  of which " + ", ".join(f"{count:,} {label}" for label, count in built["classes"].items()))
        for reason, count in sorted(built["dropped"].items()):
            print(f"  {count:>9,} x {reason}")
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


def _differences(expected: dict[str, int], found: dict[str, int]) -> list[str]:
    """What differs from the reference build; nothing where there is none."""
    return [
        f"{name} {found.get(name, 0):,} instead of {expected.get(name, 0):,}"
        for name in (dict.fromkeys([*expected, *found]) if expected else ())
        if found.get(name, 0) != expected.get(name, 0)
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dataset_scripts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"corpora: {', '.join(CORPORA)}",
    )
    parser.add_argument("corpus", help="name of a corpus, or 'list' for a table of all")
    parser.add_argument("--data", type=Path, metavar="PATH", help="the raw corpus: file, folder or archive")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder to write; a build that is there is replaced")
    parser.add_argument("--config", action="append", metavar="NAME", help="only this configuration; may be repeated")
    parser.add_argument("--seed", type=int, default=SEED, metavar="N", help=f"seed of the split (default: {SEED})")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="option of this corpus; may be repeated"
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
    if options.corpus not in CORPORA:
        close = difflib.get_close_matches(options.corpus, [*CORPORA, "list"], n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(CORPORA)}"
        parser.error(f"unknown corpus {options.corpus!r}; {hint}")
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


def _builder_options(corpus: str, options: argparse.Namespace) -> dict[str, Any]:
    """The seed and every --option NAME=VALUE, its value read as YAML (`true`, `100`).

    Raises:
        ValueError: If an option is not written as NAME=VALUE or the corpus has none of that name.
    """
    common = {"name", "version", "data_dir", "data_files", "description", "seed"}
    fields = dataclasses.fields(get_corpus(corpus).BUILDER_CONFIG_CLASS)
    known = [field.name for field in fields if field.name not in common]
    chosen: dict[str, Any] = {"seed": options.seed}
    for text in options.option:
        name, equals, value = text.partition("=")
        if not equals or name not in known:
            raise ValueError(f"--option {text}: write NAME=VALUE; {corpus} has: {', '.join(known) or 'no options'}")
        chosen[name] = yaml.safe_load(value)
    return chosen


if __name__ == "__main__":
    sys.exit(main())
