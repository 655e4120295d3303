"""`opinion`: the one command line. Every room brings its own commands; none is named here but by its room.

A room with commands has a `commands.py` with an `app` (see `dataset_scripts.base.cli`). Groups of one name that several
rooms bring, such as `baselines`, become one.
"""

from __future__ import annotations

import importlib
import os
from importlib.util import find_spec

import typer

from dataset_scripts.base import cli
from modeling.base import rooms

HELP = """Ask texts what they hold, and train, evaluate and publish the models that can tell.

An interrupted command continues when it is given again. OPINION_TRACEBACK=1 shows where an error was raised.
"""
SHARED = ("modeling.search.commands", "modeling.base.commands", "modeling.evaluate", "modeling.app.commands")


def main() -> None:
    """Runs the command line."""
    # torch's threads wait for each other by spinning: beside another busy process steps took 3 to 10 times as long
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    build()()


def build() -> typer.Typer:
    """The commands of all rooms, those of the systems found by their folders."""
    app = cli.app(HELP)
    systems = [name for name in rooms.systems() if find_spec(f"modeling.{name}.commands")]
    app.add_typer(importlib.import_module("dataset_scripts.commands").app, name="corpus")
    groups: dict[str | None, typer.Typer] = {}
    for name in (*SHARED, *(f"modeling.{name}.commands" for name in systems)):
        room = importlib.import_module(name).app
        app.registered_commands += room.registered_commands
        for group in room.registered_groups:
            if group.name in groups:
                groups[group.name].registered_commands += group.typer_instance.registered_commands
            else:
                groups[group.name] = group.typer_instance
                app.registered_groups.append(group)
    return app


if __name__ == "__main__":
    main()
