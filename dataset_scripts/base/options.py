"""Options of a builder on the command line: flags from the corpus's record, values by the types of its config class.

Light: --help answers at once, since neither a builder nor `datasets` is imported.
"""

from __future__ import annotations

import argparse
import difflib
import shlex
import textwrap
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from dataset_scripts.base.metadata import Metadata

WIDTH = 100
Given = str | tuple[str, str]  # of --option NAME=VALUE; of a flag
_WANTED = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", tuple: "a, b or [a, b]"}


def describe(metadata: Metadata) -> str:
    """What --help says of a corpus before its flags: summary, raw data and configurations."""
    raw = textwrap.fill(f"PATH is {metadata.raw}", WIDTH)
    configs = "\n".join(f"  {name:13} {text}" for name, text in metadata.configs.items())
    return f"{metadata.title}: {metadata.summary}\n\n{raw}\n\nconfigurations:\n{configs}".replace("%", "%%")


def add_flags(parser: argparse.ArgumentParser, metadata: Metadata) -> None:
    """Adds a flag for each option of a corpus; what is given joins, in order, that of `--option` in `option`.

    A flag without a value means true for an option whose help says that it is one of true or false.
    """
    own = parser.add_argument_group(f"options of {metadata.name}", "values are YAML: true, 100, 0.5, text, [a,b]")
    for name, text in metadata.options.items():
        boolean = text.endswith(("(default false)", "(default true)"))
        own.add_argument(
            f"--{name}",
            action="append",
            dest="option",
            default=[],
            **({"nargs": "?", "const": (name, "true")} if boolean else {}),
            type=lambda value, name=name: (name, value),
            metavar="VALUE",
            help=text.replace("%", "%%"),
        )


def flag(name: str, value: Any) -> str:
    """An option as it is written in a shell, so that `read_options` gets the same value again."""
    if isinstance(value, str):
        text = value if _text(value) == value else f"'{value}'"
    else:
        text = yaml.safe_dump(value, default_flow_style=True, width=float("inf")).removesuffix("\n...\n").strip()
    return f"--{name} {shlex.quote(text)}"


def explain_unknown(words: Sequence[str], known: Sequence[str], corpus: str) -> str:
    """What is wrong with words that no flag took: the nearest flag, or all.

    Args:
        words: What was left of the command line.
        known: The flags there are, with their dashes.
        corpus: Its name.
    """
    flags = [word.partition("=")[0] for word in words if word.startswith("-")]
    if not flags:
        return f"unexpected {words[0]!r}: the corpus comes first, then flags; a list is written [a,b] or a,b"
    name, names = flags[0].lstrip("-"), [word.removeprefix("--") for word in known]
    close = [one for one in names if one.startswith(name)] or difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean --{close[0]}?" if close else f"there are {', '.join(known)}"
    return f"{corpus} has no {flags[0]}; {hint}"


def read_options(corpus: str, given: Iterable[Given], options: Mapping[str, str], config_class: type) -> dict[str, Any]:
    """Reads the values that were given.

    Args:
        corpus: Its name, for messages.
        given: What `add_flags` collected; of several values of one option the last counts.
        options: Name -> help, as in METADATA.
        config_class: The dataclass with a field of each name; its types say what a value may be.

    Returns:
        Name -> value.

    Raises:
        ValueError: If there is no option of that name, or a value is of another type or no YAML.
    """
    kinds, chosen = typing.get_type_hints(config_class), {}
    for item in given:
        if isinstance(item, str):
            name, equals, value = item.partition("=")
            if not equals or name not in options:
                close = difflib.get_close_matches(name, options, n=1) if equals else ()
                hint = f"did you mean {close[0]}? " if close else ""
                has = ", ".join(options) or "no options"
                raise ValueError(f"--option {item}: {hint}write NAME=VALUE; {corpus} has: {has}")
        else:
            name, value = item
        try:
            chosen[name] = _read(value, kinds[name])
        except (ValueError, yaml.YAMLError) as error:
            reason = error if isinstance(error, ValueError) else "this is no YAML; put it in quotes"
            raise ValueError(f"--{name} {value}: {reason}") from None
    return chosen


def _read(text: str, kind: Any) -> Any:
    """The value that a text means for a type."""
    kinds = typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)
    kind = next(one for one in kinds if one is not type(None))
    if type(None) in kinds and text in ("null", "none", "None", "~"):
        return None
    if typing.get_origin(kind) is tuple:
        is_list = text.lstrip().startswith("[")
        parts = yaml.load(text, yaml.BaseLoader) if is_list else [part.strip() for part in text.split(",")]
        if not all(isinstance(part, str) for part in parts):
            raise ValueError("give a list without lists")
        return [_read(part, typing.get_args(kind)[0]) for part in parts if part]
    if kind is str:
        return _text(text)
    value = yaml.safe_load(text)
    if kind is float and isinstance(value, str):
        value = _number(value)  # YAML takes 1e-3 for a text
    fits = isinstance(value, int | float if kind is float else kind) and (kind is bool or not isinstance(value, bool))
    if not fits:
        raise ValueError(f"give {_wanted(kind)}")
    return value


def _text(text: str) -> str:
    """A text without YAML's quotes; YAML alone would read the language "no" as false and "10:20" as a number."""
    try:
        value = yaml.load(text, yaml.BaseLoader)
    except yaml.YAMLError:
        return text
    return value if isinstance(value, str) else text


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _wanted(kind: Any) -> str:
    return _WANTED.get(typing.get_origin(kind) or kind, str(kind))
