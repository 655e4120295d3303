"""The command line of `train.py`. Light: imports no torch, so that --help answers at once."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dataset_scripts.base.hub import PublishError
from modeling import DEFAULT_RECIPE, systems
from modeling.base.recipe import SHARED, Recipe, expand_grid, list_recipes, load_recipe, recipe_path

GridPoint = tuple[dict[str, Any], Recipe]


def parse(description: str, arguments: list[str]) -> tuple[Recipe, list[GridPoint]]:
    """Reads the command line.

    Args:
        description: Help text.
        arguments: Words after the program's name.

    Returns:
        The recipe, and the points of the grid (empty without --grid). Bad input ends the program with status 2
        and a message that names the option and the cure.
    """
    parser = argparse.ArgumentParser(
        prog="train.py", description=description, add_help=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--grid", action="append", default=[], metavar="OPTION=VALUES")
    # argparse would take the value of an option it does not know for the recipe
    name, options = DEFAULT_RECIPE, arguments
    if arguments and not arguments[0].startswith("-"):
        name, *options = arguments
    known, rest = parser.parse_known_args(options)
    try:
        if known.help:
            print(_help(description, name))
            parser.exit()
        recipe = load_recipe(name, _pairs(rest))
        if recipe.system not in systems():
            raise ValueError(f"{name}: unknown system {recipe.system!r}; there are {', '.join(systems())}")
        if known.grid and (recipe.push_to_hub or recipe.release):
            raise ValueError("--grid excludes --push_to_hub and --release: publish the run that you choose")
        return recipe, expand_grid(recipe, known.grid)
    except ValueError as error:
        parser.exit(2, f"train.py: error: {error}\n")


@contextmanager
def friendly_errors(program: str = "train.py") -> Iterator[None]:
    """Ends the program with the message of an error that the user can cure, without a traceback.

    OPINION_TRACEBACK=1 shows where it was raised.

    Args:
        program: Its name, in front of messages.
    """
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(f"\n{program}: interrupted; the same command continues where this one stopped")
    except (ValueError, OSError, PublishError) as error:
        if os.environ.get("OPINION_TRACEBACK"):
            raise
        sys.exit(f"{program}: error: {error}\n(OPINION_TRACEBACK=1 shows where this was raised)")


def _pairs(words: list[str]) -> dict[str, str]:
    """`--key value` and `--key=value` as a dictionary; a flag without a value means true."""
    pairs: dict[str, str] = {}
    position = 0
    while position < len(words):
        word = words[position]
        if not word.startswith("--"):
            raise ValueError(f"unexpected {word!r}: the recipe comes first, options look like --name value")
        key, equals, value = word[2:].partition("=")
        if not equals:
            following = words[position + 1] if position + 1 < len(words) else "--"
            # a negative number is a value, another option is not
            if following.startswith("--"):
                value = "true"
            else:
                value, position = following, position + 1
        pairs[key.replace("-", "_")] = value
        position += 1
    return pairs


def _help(description: str, name: str) -> str:
    """All options with the defaults of the chosen recipe; a system's own are explained by its recipe's comments."""
    recipe = load_recipe(name)
    lines = [description.strip(), "", f"recipes: {', '.join(list_recipes())}", "", f"options, as set by {name}:"]
    for key, option in SHARED.items():
        lines.append(_line(key, getattr(recipe, key), option.metadata["help"]))
    lines += ["", f"options of the system {recipe.system!r}:"]
    comments = option_comments(name)
    lines += [_line(key, value, comments.get(key, "")) for key, value in recipe.options.items()]
    lines += ["", "  --grid OPTION=START:STOP:STEP or OPTION=A,B,C; may be repeated"]
    return "\n".join(lines)


def option_comments(name: str) -> dict[str, str]:
    """What a recipe's comments say of its system's options."""
    return dict(re.findall(r"^\s+(\w+):[^#\n]*#\s*(.+)$", recipe_path(name).read_text(encoding="utf-8"), re.M))


def _line(key: str, value: Any, text: str) -> str:
    shown = "none" if value is None else str(value).lower() if isinstance(value, bool) else value
    shown = ",".join(value) if isinstance(value, list) else shown
    return f"  --{key + ' ' + str(shown):36} {text}"
