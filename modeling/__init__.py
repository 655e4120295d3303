"""Opinion-aware sentence encoders: one module per published system, and the rooms they share.

The registry holds names only; importing this package loads neither torch nor any system.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modeling.system import System

SYSTEMS = {
    "stance": "modeling.stance:StanceSystem",
    "senticse": "modeling.senticse:SenticseSystem",
    "sos": "modeling.sos:SosSystem",
    "bipolar": "modeling.bipolar:BipolarSystem",
    "tweets": "modeling.tweets:TweetsSystem",
}

DEFAULT_RECIPE = "stance-demo"


def get_system(name: str) -> type[System]:
    """Returns the class of a system.

    Args:
        name: A key of `SYSTEMS`.

    Raises:
        ValueError: If there is no such system; the message lists those that exist.
    """
    if name not in SYSTEMS:
        raise ValueError(f"unknown system {name!r}; choose one of {', '.join(sorted(SYSTEMS))}")
    module, attribute = SYSTEMS[name].split(":")
    return getattr(importlib.import_module(module), attribute)
