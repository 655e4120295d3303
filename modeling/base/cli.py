"""The command line of `train.py` and `opinion train`. Light: imports no torch, so that --help answers at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic.fields import FieldInfo

from dataset_scripts.base import cli
from modeling.base.recipe import SHARED, Recipe, expand_grid, list_recipes, load_recipe, spell
from modeling.base.rooms import DEFAULT_RECIPE

LIMITS = {"gt": ">", "ge": "at least", "lt": "<", "le": "at most"}  # as pydantic names them


def train(description: str, words: Sequence[str]) -> None:
    """Runs `[RECIPE] [--option value ...] [--grid OPTION=VALUES ...]`; `--help` begins with the description."""
    with cli.friendly_errors():
        recipe, points = parse(description, words)
        # torch's threads wait for each other by spinning: beside another busy process steps took 3 to 10 times as long
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

        from modeling.base.run import run, run_grid  # after parsing: importing torch takes seconds, --help must not

        if points:
            run_grid(recipe, points)
        else:
            run(recipe)


def parse(description: str, words: Sequence[str]) -> tuple[Recipe, list[tuple[dict[str, Any], Recipe]]]:
    """Reads a command line: the recipe, and the points of the grid (empty without --grid).

    `--help` prints the options with the recipe's values and ends the program; ValueErrors name option and cure.
    """
    name, *words = words if words and not words[0].startswith("-") else [DEFAULT_RECIPE, *words]
    if {"-h", "--help"} & set(words):
        print(_help(description, load_recipe(name)))
        sys.exit()
    options: dict[str, str] = {}
    grid: list[str] = []
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            raise ValueError(f"unexpected {word!r}: the recipe comes first, options look like --name value")
        key, equals, value = word[2:].partition("=")
        key = key.replace("-", "_")
        if not equals and key.startswith("no_"):  # --no-x is --x false
            key, value = key.removeprefix("no_"), "false"
        elif not equals:  # a flag needs no value; a negative number is a value, another option is not
            value = "true" if not words or words[0].startswith("--") else words.pop(0)
        if key == "grid":
            grid.append(value)
        else:  # data are a list: by commas, or repeated
            options[key] = f"{options[key]},{value}" if key == "data" and key in options else value
    recipe = load_recipe(name, options)
    if grid and (recipe.push_to_hub or recipe.release):
        raise ValueError("--grid excludes --push-to-hub and --release: publish the run that you choose")
    return recipe, expand_grid(recipe, grid)


def _help(description: str, recipe: Recipe) -> str:
    """All options, with the values that the recipe gives them."""
    own = _lines(type(recipe.options).model_fields, recipe)
    head = f"{description.strip()}\n\nrecipes: {', '.join(list_recipes())}\n\noptions, as set by {recipe.name}:"
    lines = [head, *_lines(SHARED, recipe), f"\noptions of the system {recipe.system!r}:", *own]
    grid = "  --grid OPTION=START:STOP:STEP or OPTION=A,B,C; may be repeated, the last is in the columns"
    return "\n".join([*lines, "", grid])


def _lines(fields: Mapping[str, FieldInfo], recipe: Recipe) -> Iterator[str]:
    for key, field in fields.items():
        marks = [(sign, getattr(mark, name, None)) for mark in field.metadata for name, sign in LIMITS.items()]
        limits = ", ".join(f"{sign} {limit:g}" for sign, limit in marks if limit is not None)
        text = " ".join(field.description.split()) + (f" ({limits})" if limits else "")
        yield f"  {cli.flag(key) + ' ' + spell(recipe[key]):38} {text}"
