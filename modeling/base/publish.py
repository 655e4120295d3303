"""Publishes models: runs and released adapters, staged, searched, proved and sent; and makes releases of runs."""

from __future__ import annotations

import copy
import itertools
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dataset_scripts.base.files import read_json, write_json, write_text
from dataset_scripts.base.hub import check_repo_id, push, stage
from dataset_scripts.base.scan import column_texts, parquet_texts
from dataset_scripts.base.sources import list_configs, load_source, parts
from modeling.base import names
from modeling.base.adapters import CONFIG, load_adapter, load_merged, save_merged
from modeling.base.cards import PHASE, render_card, write_cards
from modeling.base.models import base_of, load_backbone, resolve
from modeling.base.recipe import Recipe, load_recipe, load_run
from modeling.base.rooms import get_system
from modeling.base.runtimes import add_runtimes, prove
from modeling.base.system import System

RESULTS = "results.json"
# bytes of weights: what comes with the sources is cloned by everybody
LIMIT = 5_000_000


def publish_run(
    run_dir: str | Path,
    repo_id: str,
    forbidden_texts: Iterable[str] = (),
    text_scan: bool = True,
    private: bool = False,
    dry_run: bool = False,
    runtimes: bool = False,
    **hub: str | None,
) -> list[dict[str, Any]]:
    """Publishes a training run: `merged/` as `repo_id` and, if there is one, `adapter/` as `repo_id` + "-adapter".

    In the copies' cards, in `staged/`, `{{repo_id}}` and `{{adapter_repo_id}}` become the two names. Before anything is
    sent, the copies are searched for the run's `training_texts` (unless `text_scan` is false), `forbidden_texts` and
    what else must not go out (see `scan`), and loaded: they have to be what was trained. With `runtimes` the merged
    model is exported before, see `modeling.base.runtimes`. Whatever is wrong is a ValueError before anything is sent: a
    StagingError of what must not go out, an AdapterError of weights, a PublishError of the Hub, see `push`.

    Returns the result of `push` for the model, then for the adapter; after a dry run that of `stage`, with `repo_id`.
    """
    run_dir = Path(run_dir)
    if not (run_dir / "merged").is_dir():
        raise ValueError(f"{run_dir} has no merged/ folder: give the folder of a finished training run")
    if runtimes:
        add_runtimes(run_dir / "merged")
    texts, staged = {*forbidden_texts, *(training_texts(load_run(run_dir)) if text_scan else ())}, []
    targets = {"repo_id": repo_id, "adapter_repo_id": f"{repo_id}-adapter"}
    for part, target in zip(("merged", "adapter"), targets.values(), strict=True):
        if (run_dir / part).is_dir():
            check_repo_id(target)
            summary = stage(run_dir / part, run_dir / "staged" / part, "model", texts, targets)
            staged.append({"repo_id": target, **summary})
    prove(load_merged(run_dir / "staged" / "merged"), run_dir / "staged" / "merged")
    if (run_dir / "adapter").is_dir():
        load_adapter(run_dir / "staged" / "adapter", load_backbone(base_of(run_dir / "adapter")))
    return staged if dry_run else [push(each["folder"], each["repo_id"], private=private, **hub) for each in staged]


def publish_released(name: str, repo_id: str, **options: Any) -> list[dict[str, Any]]:
    """Publishes one of `released_models()`: its adapter, and what this and its base merge to.

    Options, result and errors are those of `publish_run`.
    """
    folder = names.RELEASED / name
    system, results = released_facts(name)
    base = load_backbone(base_of(folder))
    with tempfile.TemporaryDirectory(prefix="released-") as work:
        run_dir = Path(work)
        shutil.copytree(folder, run_dir / "adapter", ignore=shutil.ignore_patterns("plots", RESULTS, "README.md"))
        model = load_adapter(folder, copy.deepcopy(base))
        save_merged(model, run_dir / "merged", base, system, model.max_seq_length)
        shutil.copytree(folder / "plots", run_dir / "merged" / "plots")
        write_cards(system, results, run_dir)
        write_json(run_dir / "recipe.json", system.recipe.model_dump())
        return publish_run(run_dir, repo_id, **options)


def training_texts(recipe: Recipe) -> set[str]:
    """All texts of the corpora that a recipe trains on; a ValueError if one cannot be had."""
    cache, texts = Path(recipe.cache_dir).expanduser(), set()
    for source in itertools.chain(*map(parts, recipe.training_sources())):
        if files := sorted(Path(source).expanduser().rglob("*.parquet")):  # read as they are, with no copy in the cache
            columns = itertools.chain(*map(parquet_texts, files))
        else:
            splits = itertools.chain(*(load_source(source, each, cache).values() for each in list_configs(source)))
            columns = (column for rows in splits for batch in rows.data.to_batches() for column in column_texts(batch))
        texts.update(*columns)
    return texts


def released_facts(name: str) -> tuple[System, dict[str, Any]]:
    """The system of a released model, and the facts that were measured when it was made."""
    results = read_json(names.RELEASED / name / RESULTS)
    return get_system(results["system"])(load_recipe(name)), results


def write_released_cards() -> None:
    """Writes the cards of all released models again, as after a change of prose or template."""
    for name in names.released_models():
        write_text(names.RELEASED / name / "README.md", render_card(*released_facts(name), "released"))


def release(system: System, results: dict[str, Any], forbidden_texts: Iterable[str] = ()) -> Path:
    """Writes `model_cards/NAME`: adapter with heads, card and plots, searched and proved like a publication.

    Returns the folder, which `load_model("NAME")` finds. A ValueError if the run has no adapter or a too large one, if
    anything must not be published (StagingError), or if the copy does not reproduce the trained model (AdapterError).
    """
    recipe = system.recipe
    adapter, target = recipe.run_dir / "adapter", names.RELEASED / recipe.name
    backbone = resolve(recipe.base, recipe.base_id)
    if target.exists() and not (target / CONFIG).is_file():
        raise ValueError(f"--release: {target.name} in model_cards/ is no release: give the recipe another name")
    if not adapter.is_dir():
        raise ValueError("--release needs an adapter: train with --lora")
    if (size := sum(path.stat().st_size for path in adapter.rglob("*.safetensors"))) > LIMIT:
        raise ValueError(
            f"--release: the adapter has {size:,} bytes, more than {LIMIT:,}: train with a lower --lora-rank"
        )
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / recipe.name
        shutil.copytree(adapter, folder)
        if (plots := recipe.run_dir / "merged" / "plots").is_dir():
            shutil.copytree(plots, folder / "plots")
        write_text(folder / "README.md", render_card(system, results, "released"))
        # without the course of training
        write_json(folder / RESULTS, results | {"phases": [{k: p[k] for k in PHASE} for p in results["phases"]]})
        load_adapter(folder, load_backbone(backbone))
        stage(folder, target, "model", forbidden_texts)
    return target
