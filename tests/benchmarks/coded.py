"""What texts coded by hand buy: a learned axis beside a stated one, and what both say of groups.

    python -m tests.benchmarks.coded data/tweet_stance --split test --model bundled

Of each target of a source of families, some texts of either side are drawn as coded. The rest of at most 400 texts says
what is true of other texts: the AUROC of the axes (also of one whose regularisation is chosen by cross-validation), and
whether the intervals that the coded texts give hold it, or lie above it. Two groups of 150 of the rest, of which three
quarters and a quarter are for, say whether the corrected difference is right.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import typer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import roc_auc_score

from dataset_scripts.base.sources import load_split
from dataset_scripts.base.tables import markdown
from modeling.base.models import load_model
from modeling.base.vectors import Vectors
from modeling.search import validation

TEXTS, GROUP, SHARES = 400, 150, (0.75, 0.25)
SIZES = (8, 16, 32)  # coded texts a side
CHOICES = (0.1, 1, 10, 100)  # of the inverse strength of regularisation


def opposite(statement: str) -> str:
    """A statement of the other side."""
    negated = re.sub(r"\bshould\b", "should not", statement, count=1)
    return negated if negated != statement else f"It is wrong to say: {statement}"


def targets(source: str, split: str, least: int) -> list[pd.DataFrame]:
    """Texts of each statement with more than `least` of either side; a seeded sample of `TEXTS`."""
    frame = load_split(source, "families", split, "~/.cache/opinion-transformers").to_pandas().drop_duplicates("text")
    parts = [part.sample(min(TEXTS, len(part)), random_state=0) for _, part in frame.groupby(["group", "statement"])]
    return [
        part
        for part in parts
        if part["statement"].iloc[0] and part["side"].value_counts().get(0, 0) > least < part["side"].sum()
    ]


def draw(labels: np.ndarray, sizes: tuple[int, int], random: np.random.Generator, replace: bool = False) -> np.ndarray:
    """Numbers of so many texts for and against."""
    sides = zip((labels, ~labels), sizes, strict=True)
    return np.concatenate([random.choice(np.flatnonzero(side), size, replace) for side, size in sides])


def once(vectors: np.ndarray, stated: np.ndarray, labels: np.ndarray, size: int, seed: int) -> list[dict]:
    """Figures of both axes with one draw of coded texts."""
    random = np.random.default_rng(seed)
    coded = draw(labels, (size, size), random)
    rest = np.setdiff1d(np.arange(len(labels)), coded)
    direction, offset, held_out = validation.learn(vectors[coded], labels[coded])
    axes = {"stated": (stated, stated[coded]), "learned": (vectors @ direction + offset, held_out)}
    wanted = [round(share * GROUP) for share in SHARES]
    groups = [rest[draw(labels[rest], (ones, GROUP - ones), random, replace=True)] for ones in wanted]
    table = []
    for name, (scores, measured) in axes.items():
        auroc = roc_auc_score(labels[rest], scores[rest])
        found = validation.measure(measured, labels[coded], [set()] * len(coded)).iloc[0]
        errors = validation.Errors.of(measured, labels[coded])
        frames = [pd.DataFrame({"text": rows, "score": scores[rows]}) for rows in groups]
        row = {"a side": size, "axis": name, "AUROC, other texts": auroc, "AUROC, coded": found["auroc"]}
        row |= {
            "held": float(found["low"] <= auroc <= found["high"]),
            "lies above": float(found["low"] > auroc),
            "usable": float(found["low"] >= validation.USABLE),
        }
        for line in validation.difference(*frames, errors).iloc[1:].itertuples():
            kind = line.difference.removeprefix("share for, ")
            row |= {f"difference, {kind}": line.estimate, f"width, {kind}": line.high - line.low}
            row |= {f"held, {kind}": float(line.low <= SHARES[0] - SHARES[1] <= line.high)}
        table.append(row)
    chosen = LogisticRegressionCV(Cs=CHOICES, cv=validation.FOLDS, scoring="neg_log_loss", max_iter=1000)
    scores = chosen.fit(vectors[coded], labels[coded]).decision_function(vectors[rest])
    table.append({"a side": size, "axis": "chosen", "AUROC, other texts": roc_auc_score(labels[rest], scores)})
    return table


def main(source: str, split: str = "test", model: str = "bundled", draws: int = 20, cache: Path | None = None) -> None:
    """Prints the tables of a corpus with the configuration families."""
    encoder, table = load_model(model), []
    embed = Vectors(encoder, cache)
    for part in targets(source, split, max(SIZES)):
        statement, labels = part["statement"].iloc[0], part["side"].to_numpy(bool)
        vectors = np.asarray(embed(part["text"].tolist()))
        sides = encoder.encode([statement, opposite(statement)], normalize_embeddings=True)
        stated = vectors @ (sides[0] - sides[1])
        rows = [row for size in SIZES for seed in range(draws) for row in once(vectors, stated, labels, size, seed)]
        table += [{"target": statement} | row for row in rows]
    frame = pd.DataFrame(table)
    by_target = frame.groupby(["target", "a side", "axis"])["AUROC, other texts"].mean().unstack(["axis", "a side"])
    by_target.columns = [f"{axis}, {size}" for axis, size in by_target.columns]
    print(markdown(by_target.reset_index()))
    print(f"\n{markdown(frame.drop(columns='target').groupby(['a side', 'axis']).mean().reset_index())}")


if __name__ == "__main__":
    typer.run(main)
