"""Which systems there are: the package's folders with a `system.py`, imported when they are asked for."""

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
    names = {file.parent.name for folder in folders() for file in folder.glob("*/system.py")}
    return sorted(names - {Path(__file__).parent.name})  # which has their contract


def get_system(name: str) -> type[Any]:
    """The class of a system, `NameSystem` of `modeling/name/system.py`; a ValueError lists all if there is none."""
    return getattr(_module(name, ".system"), f"{name.title().replace('_', '')}System")


def get_options(name: str) -> type[Any]:
    """The class `Options` of `modeling/name/__init__.py`, for which no torch is loaded; errors as `get_system`."""
    return _module(name).Options


def _module(name: str, part: str = "") -> Any:
    if name not in systems():
        raise ValueError(f"unknown system {name!r}; choose one of {', '.join(systems())}")
    return importlib.import_module(f"{PACKAGE}.{name}{part}")
