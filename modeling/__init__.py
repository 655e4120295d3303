"""Opinion-aware sentence encoders: a room per published system, and the rooms they share.

A system is a folder here with a `system.py`. Importing this package loads neither torch nor any system.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modeling.base.recipe import SystemOptions
    from modeling.base.system import System

DEFAULT_RECIPE = "stance-demo"


def systems() -> list[str]:
    """Names of the systems, sorted; folders that somebody adds to the package's path count as well."""
    rooms = {file.parent.name for folder in __path__ for file in Path(folder).glob("*/system.py")}
    return sorted(rooms - {"base"})  # which has their contract


def get_system(name: str) -> type[System]:
    """The class of a system, `NameSystem` of `modeling/name/system.py`.

    Args:
        name: One of `systems()`.

    Raises:
        ValueError: If there is no such system; the message lists those that exist.
    """
    return getattr(_module(name, ".system"), f"{name.title().replace('_', '')}System")


def get_options(name: str) -> type[SystemOptions]:
    """The options of a system, the class `Options` of `modeling/name/__init__.py`; loads no torch.

    Raises:
        ValueError: As `get_system`.
    """
    return _module(name, "").Options


def _module(name: str, part: str) -> object:
    if name not in systems():
        raise ValueError(f"unknown system {name!r}; choose one of {', '.join(systems())}")
    return importlib.import_module(f"modeling.{name}{part}")
