"""Which systems there are: the package's folders with a `system.py`, found by walking and imported when asked for."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

PACKAGE = "modeling"
DEFAULT_RECIPE = "stance-demo"


def folders() -> list[Path]:
    """The folders of the package; one that somebody adds to the package's path counts as well."""
    return [Path(folder) for folder in importlib.import_module(PACKAGE).__path__]


def systems() -> list[str]:
    """Names of the systems, sorted."""
    rooms = {file.parent.name for folder in folders() for file in folder.glob("*/system.py")}
    return sorted(rooms - {Path(__file__).parent.name})  # which has their contract


def get_system(name: str) -> type[Any]:
    """The class of a system, `NameSystem` of `modeling/name/system.py`.

    Args:
        name: One of `systems()`.

    Raises:
        ValueError: If there is no such system; the message lists those that exist.
    """
    return getattr(_module(name, ".system"), f"{name.title().replace('_', '')}System")


def get_options(name: str) -> type[Any]:
    """The options of a system, the class `Options` of `modeling/name/__init__.py`; loads no torch.

    Raises:
        ValueError: As `get_system`.
    """
    return _module(name, "").Options


def _module(name: str, part: str) -> Any:
    if name not in systems():
        raise ValueError(f"unknown system {name!r}; choose one of {', '.join(systems())}")
    return importlib.import_module(f"{PACKAGE}.{name}{part}")
