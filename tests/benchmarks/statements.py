"""Twelve statements on two invented topics, asked among 56 invented comments: how many of ten hits are of their camp.

    python -m tests.benchmarks.statements bundled stance-minilm

The comments tell what people live through rather than what they claim, and were written before any model was asked.
There are 14 of each camp, so that half of those on the topic are right by chance.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd
import typer

from dataset_scripts.base.tables import markdown
from modeling.search.index import Index

TOP = 10


def hits(model: str, comments: pd.DataFrame, statements: pd.DataFrame) -> list[int]:
    """Of each statement the number of its first hits that are of its camp."""
    with tempfile.TemporaryDirectory() as folder:
        index = Index.build(comments, Path(folder) / "index", model=model)
        asked = index.ask(statements["text"].tolist(), top=TOP)
    camps = comments.set_index("text")["camp"]
    right = asked["text"].map(camps) == asked["statement"].map(statements.set_index("text")["camp"])
    return right.groupby(asked["statement"], sort=False).sum().tolist()


def main(models: list[str]) -> None:
    """Prints a column for each model."""
    rows = pd.read_csv(Path(__file__).with_suffix(".csv"))
    comments, statements = (rows[rows["kind"] == kind].reset_index() for kind in ("comment", "statement"))
    table = statements[["text"]].assign(**{model: hits(model, comments, statements) for model in models})
    mean = table.mean(numeric_only=True).to_frame().T.assign(text="mean")
    print(markdown(pd.concat([table, mean])[table.columns]))


if __name__ == "__main__":
    typer.run(main)
