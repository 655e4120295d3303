"""Releases: the adapter of a finished run, with its card, becomes a model that comes with this project."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from modeling.adapters import CONFIG, WEIGHTS, load_adapter
from modeling.backbone import BUNDLED_ID, resolve
from modeling.cards import render_card
from modeling.files import write_text
from modeling.loading import RELEASED
from modeling.staging import stage
from modeling.system import System

LIMIT = 3_000_000  # bytes of weights: what comes with the sources is cloned by everybody


def release(system: System, results: dict[str, Any], forbidden_texts: Iterable[str] = ()) -> Path:
    """Writes `model_cards/NAME`: adapter, fingerprint, card and plots, searched and loaded again like a publication.

    Args:
        system: The system; its recipe names run and model.
        results: The facts of the run.
        forbidden_texts: Training texts, none of which may stand in the card.

    Returns:
        The folder. `load_model("NAME")` finds it.

    Raises:
        ValueError: If the run has no adapter, its weights are too large, or its base does not come with the project.
        StagingError: If anything was found that must not be published.
        AdapterError: If the copy does not reproduce the trained model.
    """
    recipe = system.recipe
    adapter, target = recipe.run_dir / "adapter", RELEASED / recipe.name
    backbone = resolve(recipe.base, recipe.base_id)
    if backbone.hub_id != BUNDLED_ID:
        raise ValueError(f"--release needs the base that comes with the project, {BUNDLED_ID}, not {backbone.hub_id}")
    if target.exists() and not (target / CONFIG).is_file():
        raise ValueError(f"--release: {target.name} in model_cards/ is no release: give the recipe another name")
    if not adapter.is_dir():
        raise ValueError("--release needs an adapter: train with --lora true")
    if (size := (adapter / WEIGHTS).stat().st_size) > LIMIT:
        raise ValueError(
            f"--release: the adapter has {size:,} bytes, more than {LIMIT:,}: train with a lower --lora_rank"
        )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / recipe.name
        shutil.copytree(adapter, folder)
        if (plots := recipe.run_dir / "merged" / "plots").is_dir():
            shutil.copytree(plots, folder / "plots")
        write_text(folder / "README.md", render_card(system, results, "released"))
        load_adapter(folder, backbone)
        stage(folder, target, "model", forbidden_texts, replace=True)
    return target
