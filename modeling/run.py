"""One run from recipe to publication, and grids of runs."""

from __future__ import annotations

import logging
import os
import shutil
import warnings
from typing import Any

from transformers import set_seed
from transformers.utils import logging as transformers_logging

from modeling import get_system
from modeling.adapters import load_adapter, save_adapter, save_merged
from modeling.backbone import resolve
from modeling.cards import write_cards
from modeling.files import read_json, write_json
from modeling.processes import check_world_size, process_state
from modeling.recipe import Recipe
from modeling.report import comparison_rows, evaluate_run, evaluation_options, print_report, text_table
from modeling.system import System
from modeling.training import parameter_facts, train


def run(recipe: Recipe) -> dict[str, Any]:
    """Trains, saves, verifies, evaluates, describes and, if asked, publishes one model.

    Steps that an earlier run with the same options completed are not repeated.

    Returns:
        The facts of the run, as in RUN/results.json; empty in processes other than the main one.
    """
    _quiet()
    set_seed(recipe.seed)
    check_world_size(recipe.world_size)
    state = process_state()
    if state.is_main_process:
        claim_folder(recipe)
    state.wait_for_everyone()
    system = get_system(recipe.system)(recipe)
    results = read_json(recipe.run_dir / "results.json")
    if results is None or results["evaluation_options"] != evaluation_options(recipe):
        with state.local_main_process_first():  # one process computes what is cached, the others read it
            data = system.load_data()
        model = system.build_model()
        parameters = parameter_facts(model)
        phases = results["phases"] if results else train(system, model, data)
        if state.is_main_process:
            if results is None:
                save(system, model)
            results = evaluate_run(system, data, phases, parameters)
            write_cards(system, results, recipe.run_dir)
            write_json(recipe.run_dir / "results.json", results)  # last: it marks the run as complete
    if not state.is_main_process:
        return {}
    print_report(results, recipe.run_dir)
    if recipe.push_to_hub:
        push(recipe, system)
    return results


def claim_folder(recipe: Recipe) -> None:
    """Makes the run's folder, or checks that the one there belongs to the same options.

    Raises:
        ValueError: If it belongs to other options, or holds something that is no run; the message names the cure.
    """
    path, mine = recipe.run_dir / "recipe.json", recipe.identity()
    theirs = read_json(path)
    if theirs is None and recipe.run_dir.is_dir() and any(recipe.run_dir.iterdir()):
        raise ValueError(f"{recipe.run_dir} is not a run of this project and not empty: choose another --output_dir")
    if theirs is not None and theirs != mine and not recipe.overwrite:
        other = {k: v for k, v in theirs.items() if v != mine.get(k)}
        raise ValueError(
            f"{recipe.run_dir} holds a run with other options ({other} instead of "
            f"{ {k: mine.get(k) for k in other} }): choose another --output_dir, or --overwrite true to discard it"
        )
    if theirs != mine:
        shutil.rmtree(recipe.run_dir, ignore_errors=True)
        write_json(path, mine)


def save(system: System, model) -> None:
    """Writes adapter/ (with LoRA) and merged/; both are loaded again and verified before they take their place."""
    recipe = system.recipe
    backbone = resolve(recipe.base, recipe.base_id)
    if recipe.lora:
        save_adapter(model, recipe.run_dir / "adapter", backbone)
        model = load_adapter(recipe.run_dir / "adapter", backbone)
    save_merged(model, recipe.run_dir / "merged", backbone)


def push(recipe: Recipe, system: System) -> None:
    """Publishes the run; refuses if a training text would go along."""
    from modeling.hub import publish_run

    texts = {text for rows in system.load_data().train.values() for column in rows.column_names
             for text in rows[column] if isinstance(text, str)}  # fmt: skip
    for pushed in publish_run(recipe.run_dir, recipe.push_to_hub, forbidden_texts=texts, private=recipe.private):
        print(f"published {pushed['url']}" + (" (unchanged)" if pushed["unchanged"] else f" at {pushed['commit']}"))


def run_grid(recipe: Recipe, points: list[tuple[dict[str, Any], Recipe]]) -> None:
    """Runs every point of a grid and prints, for each figure of the paper, "paper / ours" over the grid."""
    finished = []
    for number, (values, point) in enumerate(points, start=1):
        print(f"\n=== {number}/{len(points)}: {values}")
        finished.append((values, run(point)))
    if not process_state().is_main_process:
        return
    table = grid_table(finished)
    path = recipe.run_dir.with_name(recipe.name + "-grid") / "table.md"
    path.write_text(table, encoding="utf-8")
    print(f"\n{table}\n\nwritten to {path}")


def grid_table(finished: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    """One "paper / ours" table per run and measure; a cell without a figure stays empty."""
    axes = list(finished[0][0])
    measures = [row[0] for row in comparison_rows(finished[0][1])]
    rows = []
    for values, results in finished:
        cells = {row[0]: f"{row[4]} / {row[5]}" for row in comparison_rows(results)}
        rows.append([str(values[axis]) for axis in axes] + [cells.get(measure, "") for measure in measures])
    setup = finished[0][1]["paper_setup"]
    return f"Paper: {setup}. Each cell: paper / ours.\n\n" + text_table([*axes, *measures], rows)


def _quiet() -> None:
    """Silences what is said once per loaded file; the bars of long work stay."""
    transformers_logging.disable_progress_bar()
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    for name in ("httpx", "sentence_transformers", "datasets", "accelerate", "fsspec"):
        logging.getLogger(name).setLevel(logging.WARNING)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
