"""One run from recipe to publication, and grids of runs."""

from __future__ import annotations

import logging
import os
import shutil
import warnings
from typing import Any

import datasets
import numpy as np
import pandas as pd
from transformers import set_seed
from transformers.utils import logging as transformers_logging

from dataset_scripts.base.cli import flag
from dataset_scripts.base.files import read_json, write_json, write_text
from dataset_scripts.base.hub import check_ready
from dataset_scripts.base.tables import markdown
from modeling.base.adapters import count_parameters, load_merged
from modeling.base.cards import write_cards
from modeling.base.names import missing_runtimes
from modeling.base.publish import publish_run, release, training_texts
from modeling.base.recipe import Recipe, spell
from modeling.base.results import evaluate_run, print_report
from modeling.base.rooms import get_system
from modeling.base.training import check_launch, process_state, train

SEED = "seed"  # runs of a grid that differ by it alone are taken together


def run(recipe: Recipe) -> dict[str, Any]:
    """Trains, saves, verifies, evaluates, describes and, if asked, publishes one model; nothing that is done already.

    Returns the facts of the run, as in RUN/results.json; none in processes other than the main one.
    """
    quiet()
    set_seed(recipe.seed)
    check_launch()
    state = process_state()
    system = get_system(recipe.system)(recipe)
    if recipe.push_to_hub:
        check_ready(recipe.push_to_hub)
    if state.is_main_process:
        claim_folder(recipe)
    state.wait_for_everyone()
    path = recipe.run_dir / "results.json"
    results = read_json(path)
    if results is None or results["evaluation_options"] != recipe.evaluation_options():
        with state.local_main_process_first():  # one process computes what is cached, the others read it
            data = system.load_data()
        # now rather than after hours of training: a source that cannot be read ends the run here
        tests = system.evaluators(recipe.evaluate_on) if state.is_main_process else []
        model = system.build_model()
        parameters = dict(zip(("trainable_parameters", "all_parameters"), count_parameters(model), strict=True))
        # files of another scale are written again from the weights of the phases, which is no training
        done = results is not None and results["recipe"].get("lora_scale", 1.0) == recipe.lora_scale
        phases = results["phases"] if done else train(system, model, data)
        if state.is_main_process:
            base = system.load_base()
            if not done:
                path.unlink(missing_ok=True)  # of the files that are now replaced
            trained = load_merged(recipe.run_dir / "merged") if done else system.save(model, base)
            results = evaluate_run(system, tests, data, phases, parameters, base, trained)
            write_cards(system, results, recipe.run_dir)
            write_json(path, results)  # last: it marks the run as complete
    if not state.is_main_process:
        return {}
    print_report(results, recipe.run_dir)
    texts = training_texts(recipe) if recipe.release or recipe.push_to_hub else set()
    if recipe.release:
        print(f"released as {release(system, results, texts)}")
    if recipe.push_to_hub:
        options = {"private": recipe.private, "runtimes": not missing_runtimes(), "text_scan": False}
        for pushed in publish_run(recipe.run_dir, recipe.push_to_hub, texts, **options):
            print(f"published {pushed['url']}", "(unchanged)" if pushed["unchanged"] else f"at {pushed['commit']}")
    return results


def claim_folder(recipe: Recipe) -> None:
    """Makes the run's folder; a ValueError if there is one of other options, or of something that is no run."""
    path, mine = recipe.run_dir / "recipe.json", recipe.model_dump()
    theirs = read_json(path)
    if theirs is None and recipe.run_dir.is_dir() and any(recipe.run_dir.iterdir()):
        raise ValueError(f"{recipe.run_dir} is not a run of this project and not empty: choose another --output-dir")
    # a run that failed before its first checkpoint, by a mistyped source say, holds nothing worth keeping
    begun = any(next(recipe.run_dir.glob(p), None) for p in ("checkpoints/*/checkpoint-*", "phases/*", "results.json"))
    if theirs is not None and theirs != mine and begun and not recipe.overwrite:
        old, new = ({**each, **each.get("options", {}), "options": None} for each in (theirs, mine))
        other = [key for key in old | new if old.get(key) != new.get(key)]
        changes = "; ".join(f"{flag(key)} {old.get(key)}, now {new.get(key)}" for key in other)
        raise ValueError(
            f"{recipe.run_dir} holds a run with other options ({changes}): choose another --output-dir, or --overwrite "
            "to discard it"
        )
    if theirs != mine or recipe.overwrite:
        if recipe.run_dir.exists():
            shutil.rmtree(recipe.run_dir.resolve())  # it may be a link, which rmtree refuses
            recipe.run_dir.resolve().mkdir()
        write_json(path, mine)


def run_grid(recipe: Recipe, points: list[tuple[dict[str, Any], Recipe]]) -> None:
    """Runs every point of a grid; prints its tables "paper / ours", and writes them into a file named after its axes.

    A point that fails is named and left out, and the same command tries it again; a ValueError if all do.
    """
    finished, failed = [], []
    for number, (values, point) in enumerate(points, start=1):
        print(f"\n=== {number}/{len(points)}: {values}")
        try:
            finished.append((values, run(point)))
        except ValueError as error:
            failed.append(f"{values}: {error}")
            print(f"failed: {error}")
    if not process_state().is_main_process:
        return
    if not finished:
        raise ValueError("every point of the grid failed: " + "; ".join(failed))
    axes, facts = finished[0]
    seeds = " Ours is the mean over seeds ± their standard deviation." if SEED in axes else ""
    table = f"Paper: {facts['paper_setup']}. Each cell: paper / ours.{seeds}\n\n{grid_tables(finished)}"
    path = recipe.run_dir.with_name(f"{recipe.name}-grid") / f"{','.join(axes)}.md"
    write_text(path, f"{table}\n")
    print("\n".join([f"\n{table}\n\nwritten to {path}", *(f"failed: {point}" for point in failed)]))


def grid_tables(finished: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    """The tables of a grid, of (values of the axes, facts of the run) per point; its last axis is in the columns.

    Of several axes there is a table for each measure, with a row for each combination of the other axes, as papers
    print them; of one axis a table with a row for each measure.
    """
    *others, along = [axis for axis in finished[0][0] if axis != SEED] or [None]
    rows = []
    for values, results in finished:
        place = {
            "line": ", ".join(f"{axis}={spell(values[axis])}" for axis in others),
            "along": spell(values[along]) if along else "trained",
        }
        for each in results["evaluations"]:
            for metric in each["headline"]:
                paper = results["paper"].get(metric, {})
                figures = [paper.get("trained"), each["trained"].get(metric), paper.get("base"), each["base"][metric]]
                figures = dict(zip(("paper", "ours", "paper_base", "base"), figures, strict=True))
                rows.append({"metric": metric, "table": paper.get("table") or ""} | place | figures)
    frame = pd.DataFrame(rows).astype(dict.fromkeys(("paper", "ours", "paper_base", "base"), float))
    index, parts = "line" if others else "metric", []
    for metric, part in frame.groupby("metric", sort=False) if others else [("", frame)]:
        cells = {}
        for line, points in part.groupby(index, sort=False):
            base = points.groupby("along")["base"].mean()  # over seeds, which may draw other samples of the test data
            shown = base.mean() if np.ptp(base) < 1e-6 else np.nan
            cells[line] = {"base": _cell(points["paper_base"].iloc[0], shown)}
            for value, runs in points.groupby("along", sort=False):
                cells[line][value] = _cell(runs["paper"].iloc[0], runs["ours"].mean(), runs["ours"].std())
        table = pd.DataFrame.from_dict(cells, "index", columns=["base", *part["along"].unique()]).fillna("")
        table = table.rename_axis(f"{along} →" if along else "").reset_index()
        title = f"### {part['table'].max()}: {metric}\n\n".replace("### : ", "### ") if others else ""
        parts.append(title + markdown(table))
    return "\n\n".join(parts)


def _cell(paper: float, ours: float, deviation: float = np.nan) -> str:
    text = "" if np.isnan(ours) else f"{ours:.3f}" + ("" if np.isnan(deviation) else f" ± {deviation:.3f}")
    return f"{'' if np.isnan(paper) else f'{paper:.3f}'} / {text}".strip() if text or not np.isnan(paper) else ""


def quiet() -> None:
    """Silences what is said once per loaded file; the bars of long work stay."""
    transformers_logging.disable_progress_bar()
    datasets.disable_progress_bars()
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    for name in ("httpx", "sentence_transformers", "datasets", "accelerate", "fsspec"):
        logging.getLogger(name).setLevel(logging.WARNING)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
