"""Encoders on the tasks of `modeling.leaderboard`, by mteb and by the evaluators of this suite, which must agree.

    python -m tests.benchmarks.leaderboard data -o docs/leaderboard.csv bundled stance-minilm

`data` holds kialo, sos and counterargs18 as `opinion corpus build` makes them; 2,000 pairs of kialo's test split are
measured, and all rows of the others. Vectors are computed in bfloat16. Given again, it measures other models only.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import mteb
import pandas as pd
import typer
from sentence_transformers import SentenceTransformer

from dataset_scripts.base.sources import load_split
from dataset_scripts.base.tables import markdown, write_table
from modeling.base.models import load_model
from modeling.base.vectors import precision
from modeling.bipolar.evaluation import CounterargumentEvaluator
from modeling.leaderboard import TEST, CorpusTask, CounterArguments, OpinionSimilarity, StanceSeparation
from modeling.sos.evaluation import OpinionEvaluator
from modeling.stance.evaluation import StanceEvaluator

OURS = {StanceSeparation: (StanceEvaluator, "auroc"), OpinionSimilarity: (OpinionEvaluator, "pearson")}


def both(model: SentenceTransformer, task: CorpusTask) -> Iterator[dict[str, Any]]:
    """The main score of each subset of a task, by mteb and by the evaluator of this suite."""
    [result] = mteb.evaluate(model, task, cache=None, show_progress_bar=False).task_results
    task.load_data()  # which mteb has let go
    for scores in result.scores[TEST]:
        subset, facts = scores["hf_subset"], {"title": "", "dataset": task.metadata.name, "dataset_id": ""}
        if isinstance(task, CounterArguments):
            rows = load_split(task.source, task.config, TEST, task.cache_dir)
            evaluator, measure = CounterargumentEvaluator(rows, limit=task.limit, **facts), "accuracy_epa"
        else:
            kind, measure = OURS[type(task)]
            evaluator = kind(task.dataset[subset][TEST].to_dict(), **facts)
        ours = evaluator.metrics(evaluator.scores(model))[measure]
        yield {
            "task": task.metadata.name,
            "subset": subset,
            "rows": evaluator.rows,
            "measure": task.metadata.main_score,
            "mteb": scores["main_score"],
            "ours": ours,
        }


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora.")],
    models: Annotated[list[str], typer.Argument(help="As opinion eval takes them.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The table, a .csv.")],
    counters: Annotated[bool, typer.Option(help="The task whose texts are long, too.")] = True,
) -> None:
    """Measures models and adds them to the table."""
    table = pd.read_csv(output) if output.exists() else pd.DataFrame({"model": []})
    tasks = [StanceSeparation(data / "kialo", 2000), OpinionSimilarity(data / "sos")]
    tasks += [CounterArguments(data / "counterargs18")] if counters else []
    for name in models:
        model, known = load_model(name), set(table["task"][table["model"] == name] if len(table) else ())
        model.forward = precision(True)(model.forward)  # not of what mteb compares vectors by: there would be ties
        for task in tasks:
            if task.metadata.name not in known:
                rows = [{"model": name, **row} for row in both(model, task)]
                table = pd.concat([table, pd.DataFrame(rows)], ignore_index=True)
                write_table(table.round(4), output)
    print(markdown(table))


if __name__ == "__main__":
    typer.run(main)
