"""What the commands of a search have in common: how they are found and parsed, and the options that several take."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from modeling.search.tables import OUTPUTS

if TYPE_CHECKING:
    import pandas as pd

PROGRAM = "python -m modeling.search"


class Command(NamedTuple):
    """A command: a line of help, what adds its options, and what runs it."""

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], None]


class Group(NamedTuple):
    """Commands of one matter behind a word of their own."""

    help: str
    commands: Mapping[str, Command]


def parse(
    program: str, description: str, commands: Mapping[str, Command | Group], words: list[str]
) -> tuple[Command, argparse.Namespace]:
    """The command that was given, and its options; ends the program where there is none or help is asked for.

    Args:
        program: What was typed before `words`.
        description: Help text.
        commands: By their names.
        words: What was typed.
    """
    parser = argparse.ArgumentParser(
        prog=program, description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parsers = parser.add_subparsers(required=True, metavar="COMMAND")
    by_name = {name: parsers.add_parser(name, help=command.help, description=command.help)
               for name, command in commands.items()}  # fmt: skip
    if not words or words[0] not in commands:
        parser.parse_args(words)  # prints the help or the mistake
        parser.error("name a command")
    command = commands[words[0]]
    if isinstance(command, Group):
        return parse(f"{program} {words[0]}", command.help, command.commands, words[1:])
    command.add_arguments(by_name[words[0]])
    # by its own parser, which also finds statements that stand behind an option
    return command, by_name[words[0]].parse_intermixed_args(words[1:])


def source_arguments(
    parser: argparse.ArgumentParser, text: str = "'text', or the only column", id: str = "'id', if there is one"
) -> None:
    """A source of texts, and how to read it; `text` and `id` say which columns are taken if none is named."""
    parser.add_argument("source", metavar="SOURCE", help="CSV, TSV, JSONL (each also .gz) or Parquet file, a folder "
                        "written by python -m dataset_scripts, 'demo', or a data set on the Hub")  # fmt: skip
    parser.add_argument("--text", metavar="COLUMN", help=f"column of the texts (default: {text})")
    parser.add_argument("--id", metavar="COLUMN", help=f"column of the ids (default: {id})")
    parser.add_argument("--config", metavar="NAME", help="configuration of a data set (default: its default)")
    parser.add_argument("--split", metavar="NAME", help="split of a data set (default: all)")
    parser.add_argument("--encoding", default="utf-8-sig", metavar="NAME", help="of a CSV or TSV (default: UTF-8)")
    parser.add_argument("--batch_size", type=int, default=128, metavar="N", help="texts at once (default: %(default)s)")


def build_arguments(parser: argparse.ArgumentParser, model: str) -> None:
    """What makes an index of a source; `model` is the one that embeds it by default."""
    source_arguments(parser)
    parser.add_argument("--out", required=True, type=Path, metavar="INDEX", help="folder to write")
    parser.add_argument("--model", default=model, metavar="MODEL",
                        help="a released model, 'bundled', a folder or a Hub id (default: %(default)s)")  # fmt: skip
    parser.add_argument("--max_characters", type=int, default=10_000, metavar="N",
                        help="longer texts are cut; 512 tokens are about 2,500 (default: %(default)s)")  # fmt: skip
    parser.add_argument("--overwrite", action="store_true", help="discard an index of other texts or another model")


def index_arguments(parser: argparse.ArgumentParser, command: str = "embed") -> None:
    """An index, and where its model is."""
    parser.add_argument("index", type=Path, metavar="INDEX", help=f"folder written by {command}")
    parser.add_argument("--model", metavar="MODEL", help="where the model of the index is now, if it was moved")


def output_argument(parser: argparse.ArgumentParser, written: str) -> None:
    """Where to write a table."""
    parser.add_argument("--out", metavar="FILE", help=f"{' or '.join(OUTPUTS)}: {written}")


def write_output(frame: pd.DataFrame, out: Path | None) -> None:
    """Writes a table where it is asked for, and says so."""
    from modeling.search.tables import write_table

    if out:
        write_table(frame, out)
        print(f"\nwritten to {out}")
