"""Stance against similarity for processor time: rows of triplets, families, and families without one corpus each.

    python -m tests.benchmarks.frontier data -o frontier --cache-dir cache

`data` holds the folders that `opinion corpus build` made. Every experiment trains the bundled encoder by the recipe
`stance-minilm`, one epoch without its teacher and with some options changed, in this process, and is measured on
validation data alone: AUROC of Kialo's pairs, AUROC of topic on them, Spearman on STS-B. Processor seconds are those of
training, vectors for the keep term included. `frontier.csv` has a line for each; what is in it is not run again.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

OPEN = ["arct", "nli_negation", "persona", "polis", "tweet_stance", "perspectrum", "ibm_argkp"]
UNSTATED = ["chatstance", "vast", "iam", "aae2_cmv", "valueeval23"]  # corpora whose terms are not stated
WRITTEN = ["demo", "demo:discussions"]
OLD = ["perspectrum", "ibm_argkp", *WRITTEN]  # those that have triplets, too
ROWS = {"objective": "triplet", "keep": 2, "replay_weight": 20, "filter_triplets": 0.1, "batch_size": 32}


def experiments() -> dict[str, tuple[list[str], dict[str, Any]]]:
    """Name -> corpora and changed options."""
    plans: dict[str, tuple[list[str], dict[str, Any]]] = {
        "base": (OLD, {"max_steps": 1, "learning_rate": 1e-12, "per_source": 100})
    }
    for rows in (1000, 2000, 4000):
        plans[f"rows {rows}"] = (OLD, ROWS | {"max_train_rows": rows, "per_source": 2200})
    for texts in (3000, 6000, 12000):
        plans[f"families {texts}"] = (OLD, {"max_train_rows": texts, "per_source": 9000})
        plans[f"open families {texts}"] = (OPEN + WRITTEN, {"max_train_rows": texts, "per_source": 2400})
    everything = OPEN + UNSTATED + WRITTEN
    changes = {"max_train_rows": 6000, "per_source": 1200}
    plans["all 6000"] = (everything, changes)
    for corpus in everything:
        plans[f"without {corpus}"] = ([each for each in everything if each != corpus], changes)
    return plans


def measure(corpora: list[str], changes: dict[str, Any], data: Path, cache: Path) -> dict[str, float]:
    """Trains one model; its figures on validation data."""
    from transformers import set_seed

    from modeling.base.recipe import load_recipe
    from modeling.base.rooms import get_system
    from modeling.base.system import Data
    from modeling.base.training import Trainer, training_arguments
    from modeling.base.vectors import precision

    sources = [each if each.startswith("demo") else str(data / each) for each in corpora]
    options = {
        "teacher": "none",
        "epochs": 1,
        "lora_rank": 16,
        "lora_alpha": 16,
        "lora_scale": 1,
        "keep": 1,
        "dropout": 0,
        "learning_rate": 1e-3,
        "data": ",".join(sources),
        "replay": data / "sentiwordnet",
        "stance": data / "kialo",
    }
    options |= dict.fromkeys(("inference", "alignment", "targets"), "none")
    options |= {"similarity": data / "stsb", "cache_dir": cache, "evaluate_on": "validation"} | changes
    recipe = load_recipe("stance-minilm", {key: str(value) for key, value in options.items()})
    set_seed(recipe.seed)
    system = get_system(recipe.system)(recipe)
    rows: Data = system.load_data()
    model, begin = system.build_model(), time.process_time()
    (phase,) = system.phases(model, rows)
    arguments = training_arguments(recipe, phase, cache / "frontier", "none")
    arguments.set_evaluate("no")
    arguments.set_save("no")
    arguments.disable_tqdm = True
    trainer = Trainer(model=model, args=arguments, train_dataset=phase.dataset, loss=phase.loss)
    trainer.train()
    figures = {"seconds": round(time.process_time() - begin)}
    columns = len(phase.dataset.column_names) - ("label" in phase.dataset.features)
    figures["texts"] = trainer.state.global_step * recipe.batch_size * columns
    model.eval()
    with precision(recipe.bf16):
        for evaluator in system.evaluators("validation"):
            figures |= evaluator(model)
    names = ("texts", "seconds", "stance_auroc", "topic_auroc", "similarity_spearman")
    return {name: figures[name] for name in names}


def main(
    data: Path,
    cache_dir: Annotated[Path, typer.Option()],
    out: Annotated[Path, typer.Option("-o", "--out")],
    only: str = "",
) -> None:
    """Runs what is missing of the experiments whose name begins with `only`, one after another."""
    from modeling.base.run import quiet

    quiet()
    out.mkdir(parents=True, exist_ok=True)
    path = out / "frontier.csv"
    table = pd.read_csv(path) if path.is_file() else pd.DataFrame({"experiment": []})
    for name, (corpora, changes) in experiments().items():
        if name in set(table["experiment"]) or not name.startswith(only):
            continue
        figures = measure(corpora, changes, data, cache_dir)
        table = pd.concat([table, pd.DataFrame([{"experiment": name, **figures}])], ignore_index=True)
        table.to_csv(path, index=False, float_format="%.4g")
        print(table.tail(1).to_string(index=False, header=len(table) == 1), flush=True)


if __name__ == "__main__":
    typer.run(main)
