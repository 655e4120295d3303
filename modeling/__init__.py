"""Opinion-aware sentence encoders: a room per published system, and the rooms they share.

A system is a folder here with a `system.py`. Importing this package loads neither torch nor any system.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modeling.base.system import System

DEFAULT_RECIPE = "stance-demo"


def systems() -> list[str]:
    """Names of the systems, sorted; folders that somebody adds to the package's path count as well."""
    return sorted({file.parent.name for folder in __path__ for file in Path(folder).glob("*/system.py")})


def get_system(name: str) -> type[System]:
    """Returns the class of a system.

    Args:
        name: One of `systems()`.

    Raises:
        ValueError: If there is no such system; the message lists those that exist.
    """
    if name not in systems():
        raise ValueError(f"unknown system {name!r}; choose one of {', '.join(systems())}")
    module = importlib.import_module(f"modeling.{name}.system")
    return getattr(module, f"{name.title().replace('_', '')}System")
