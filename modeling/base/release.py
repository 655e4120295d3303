"""Releases: the adapter of a finished run, with its card, becomes a model that comes with this project."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dataset_scripts.base.files import write_text
from dataset_scripts.base.hub import stage
from modeling.base.adapters import CONFIG, load_adapter, read_fingerprint
from modeling.base.cards import render_card
from modeling.base.models import BUNDLED_ID, RELEASED, load_backbone, resolve
from modeling.base.system import System

LIMIT = 3_000_000  # bytes of weights: what comes with the sources is cloned by everybody
LIMIT_OF_MORE = 4_000_000  # with modules beside the adapter


def release(system: System, results: dict[str, Any], forbidden_texts: Iterable[str] = ()) -> Path:
    """Writes `model_cards/NAME`: adapter with heads, card and plots, searched and loaded again like a publication.

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
    if (size := weight_bytes(adapter)) > (limit := limit_of(adapter)):
        raise ValueError(
            f"--release: the adapter has {size:,} bytes, more than {limit:,}: train with a lower --lora_rank"
        )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / recipe.name
        shutil.copytree(adapter, folder)
        if (plots := recipe.run_dir / "merged" / "plots").is_dir():
            shutil.copytree(plots, folder / "plots")
        write_text(folder / "README.md", render_card(system, results, "released"))
        load_adapter(folder, load_backbone(backbone))
        stage(folder, target, "model", forbidden_texts, replace=True)
    return target


def weight_bytes(folder: Path) -> int:
    """Size of all weights in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*.safetensors"))


def limit_of(folder: Path) -> int:
    """The number of bytes of weights that a release of this adapter may have."""
    return LIMIT_OF_MORE if "modules" in read_fingerprint(folder) else LIMIT
