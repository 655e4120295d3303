"""How fast and how exact encoders are in other runtimes, on one core, beside torch in the same run.

    OMP_NUM_THREADS=1 taskset -c 0 python -m tests.benchmarks.runtimes stance-minilm sos-minilm -o runtimes.csv

Each model is exported as publishing does it, but measured on more rows. Models take turns, batch by batch, so that a
machine that becomes busy slows all of them; speed is by the processor's time of this process.
"""

from __future__ import annotations

import copy
import tempfile
import time
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import torch
import typer

from dataset_scripts.base.tables import check_output, markdown, write_table
from modeling.base import runtimes
from modeling.base.models import load_model

BATCH, ROUNDS = 32, 5


def speeds(models: dict[tuple[str, str], object], texts: list[str]) -> pd.DataFrame:
    """Texts a second, by the median of rounds, and its ratio to torch within a round; a row for each model."""
    seconds = np.zeros((ROUNDS, len(models)))
    for round_ in range(-1, ROUNDS):  # the first warms up
        for start in range(0, len(texts), BATCH):
            for number, model in enumerate(models.values()):
                begin = time.process_time()
                model.encode(texts[start : start + BATCH], batch_size=BATCH, show_progress_bar=False)
                if round_ >= 0:
                    seconds[round_, number] += time.process_time() - begin
    table = pd.DataFrame(models.keys(), columns=["runtime", "precision"])
    table["texts_per_second"] = len(texts) / np.median(seconds, axis=0)
    return table.assign(ratio=np.median(seconds[:, :1] / seconds, axis=0))


def measure(name: str, count: int) -> pd.DataFrame:
    """The table of one model: what `export` says of each file, its size and speed."""
    model = load_model(name)
    with tempfile.TemporaryDirectory() as work:
        table = runtimes.export(model, Path(work))
        models = {("torch", "fp32"): model}
        for _, row in table.iloc[1:].iterrows():
            other = copy.deepcopy(model)
            models[row["runtime"], row["precision"]] = runtimes.replaced(
                other, Path(work) / row["file"], row["precision"]
            )
        texts = sorted(runtimes.load_tests()["AUROC"][0][:count], key=len)
        return table.assign(model=name).merge(speeds(models, texts), on=["runtime", "precision"])


def main(
    models: list[str],
    out: Annotated[str, typer.Option("-o", "--out", help="Table to write (.csv); rows of other models are kept.")],
    rows: Annotated[int, typer.Option(help="Pairs of either measure.")] = 2000,
    texts: Annotated[int, typer.Option(help="Texts that are timed.")] = 128,
) -> None:
    """Measures models in all runtimes."""
    path, runtimes.ROWS = check_output(out, (".csv",)), rows
    torch.set_num_threads(1)
    for name in models:
        old = pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=["model"])
        table = pd.concat([old[old["model"] != name], measure(name, texts)])
        columns = [
            "model",
            "runtime",
            "precision",
            "texts_per_second",
            "ratio",
            "cosine",
            *runtimes.TESTS,
            "MB",
            "file",
        ]
        write_table(table[columns].round(4), path)
        print(markdown(table[columns]))


if __name__ == "__main__":
    typer.run(main)
