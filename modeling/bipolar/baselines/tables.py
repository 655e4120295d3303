"""Figures of the rows in one tidy frame, and tables 2 and 3 of Shi et al. (2023) made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from tqdm.auto import tqdm

from dataset_scripts.base.files import write_text
from dataset_scripts.base.tables import markdown, write_table
from metrics.counterargument_accuracy.counterargument_accuracy import counterargument_accuracy
from modeling.base.plots import dots, lines
from modeling.bipolar.baselines.ranking import Ranker, Ranking, Split
from modeling.bipolar.baselines.rows import FEATURES, SPLITS, Row
from modeling.bipolar.candidates import NONE, SETTINGS

CORPUS = "counterargs"  # the printed figures stand beside test data with this in their name
PAPER = Path(__file__).parents[1] / "paper.yaml"
SETUP = "bert-base-uncased, trained for 200 epochs on the published split of counterargs-18"
UNSEEN = "official, unseen"


def report(
    ranker: Ranker, rows: Sequence[Row], splits: Sequence[Split], name: str, part: str, folder: Path | None
) -> pd.DataFrame:
    """Ranks, row after row, prints the tables, and writes what they are made of.

    Args:
        ranker: Of the rows whose models are there.
        rows: All that the tables have, also those of the paper alone.
        splits, name, part: What they rank for, what the data are called, and which of them: `test` or `validation`.
        folder: For table.md, results.csv, predictions.parquet and plots/; None writes none.

    Returns:
        One row a figure: `who` ("ours" or "paper"), `row` (its id), `model` (what tables call it), `data` (a split, or
        "official, unseen": the points that no earlier split has), `metric` (a setting or "@1/K": accuracy@1 as a share;
        "recall@K"; "seconds"), `value`, `low` and `high` (95 % interval over groups of debates), `rows` (points).
    """
    possible, records, predicted, notes = [row for row in rows if row.sources is not None], [], [], []
    with tqdm(total=len(possible) * len(splits), unit="row") as bar:
        for row, split in ((row, split) for row in possible for split in splits):
            bar.set_description(f"{row.heading}, {split.name}")
            ranking = ranker.rank(row, split)
            records += figures(row, split, ranking, ranker.shortlists)
            predicted.append(predictions(row, split, ranking))
            notes += [f"- {row.heading}, {split.name}: {note}" for note in ranking.notes]
            bar.update()
    data = f"{name}, {part} data"
    with_paper = CORPUS in name.lower() and part == "test" and any(split.name == "official" for split in splits)
    records += printed(rows, [*SETTINGS, *(f"@1/{k}" for k in ranker.shortlists)]) if with_paper else []
    result = pd.DataFrame(records, columns=["who", "row", "model", "data", "metric", "value", "low", "high", "rows"])
    legend = _legend(possible, splits, ranker, data, with_paper)
    text = "\n\n".join(filter(None, [legend, "\n".join(notes), *tables(result, rows, ranker.shortlists)]))
    print(f"\n{text}")
    if folder:
        pictures = draw(result, rows, ranker.shortlists, folder, data)
        # a cell that began with @ would be taken for a formula
        metrics = result["metric"].str.replace("@1/", "reranked/")
        write_table(result.assign(metric=metrics), folder / "results.csv")
        write_table(pd.concat(predicted, ignore_index=True), folder / "predictions.parquet")
        write_text(folder / "table.md", "\n\n".join([text, *pictures]) + "\n")
        print(f"\nwritten to {folder}: table.md, results.csv, predictions.parquet, plots/")
    return result


def figures(row: Row, split: Split, ranking: Ranking, shortlists: Sequence[int]) -> Iterator[dict[str, Any]]:
    """The figures of a row on a split, as rows of the frame of `report`."""
    facts = {"who": "ours", "row": row.id, "model": row.heading, "data": split.name}
    unseen = ~split.candidates.seen[ranking.points]
    parts = {split.name: np.ones_like(unseen)}
    if unseen.any() and not unseen.all():
        parts[f"{split.name}, unseen"] = unseen
    for data, part in parts.items():
        for metric, best in ranking.best.items():
            yield facts | {"data": data, "metric": metric} | accuracy(split, ranking.points[part], best[part])
    more = {} if ranking.retrieved is None else recall(split, ranking.points, ranking.retrieved, shortlists)
    for metric, value in (more | {"seconds": ranking.seconds}).items():
        yield facts | {"metric": metric, "value": value, "rows": len(ranking.points)}


def accuracy(split: Split, points: np.ndarray, best: np.ndarray) -> dict[str, float | int | None]:
    """Accuracy@1 of points with its 95 % interval over debates; see `metrics.counterargument_accuracy`."""
    nothing = len(split.candidates.texts)  # the id of no text, where there was no candidate
    predictions = [[int(text) if text != NONE else nothing] for text in best]
    answers = [sorted(split.candidates.answers[point]) for point in points]
    result = counterargument_accuracy(predictions, answers, groups=[split.rows["group"][point] for point in points])
    keys = {"value": "accuracy_at_1", "low": "accuracy_at_1_low", "high": "accuracy_at_1_high", "rows": "n"}
    return {name: result[key] for name, key in keys.items()}


def recall(split: Split, points: np.ndarray, retrieved: np.ndarray, shortlists: Sequence[int]) -> dict[str, float]:
    """ "recall@K" -> share of points with an answer among the first K."""
    right = split.candidates.take(points).hits(retrieved)
    return {f"recall@{k}": float(right[:, :k].any(axis=1).mean()) for k in shortlists}


def printed(rows: Sequence[Row], metrics: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The paper's figures of rows, which it prints for the published split."""
    figures = yaml.safe_load(PAPER.read_text(encoding="utf-8"))["baselines"]
    for row in rows:
        for metric, value in figures.get(row.key, {}).items():
            if metric in metrics:
                facts = {"who": "paper", "row": row.id, "model": row.heading, "data": "official"}
                yield facts | {"metric": metric, "value": value / 100}


def predictions(row: Row, split: Split, ranking: Ranking) -> pd.DataFrame:
    """The predictions of a row on a split, one for a measure and point; ids, no texts."""
    ids, points = [*split.text_ids, None], ranking.points  # the last for NONE
    part = split.candidates.take(points)
    facts = {"id": [split.rows["id"][point] for point in points], "seen": part.seen}
    parts = [
        pd.DataFrame(facts | {"measure": metric, "predicted": [ids[text] for text in best], "right": part.hits(best)})
        for metric, best in ranking.best.items()
    ]
    columns = ["row", "split", "measure", "id", "predicted", "right", "seen"]
    return pd.concat(parts).assign(row=row.id, split=split.name)[columns]


def _legend(rows: Sequence[Row], splits: Sequence[Split], ranker: Ranker, data: str, with_paper: bool) -> str:
    parts = [f"{data}."]
    for split in splits:
        points, seen = split.candidates, int(split.candidates.seen.sum())
        earlier = f", {seen:,} of them in an earlier split" if seen else ""
        groups = f"{len(points):,} points of {len(set(split.rows['group'])):,} groups of debates"
        parts.append(f"{split.name}: {groups}{earlier}, {len(points.texts):,} texts.")
    parts[-1] += "\n\n" + "; ".join(f"{name}: {meaning}" for name, meaning in SETTINGS.items()) + "."
    parts.append("±: half of the 95 % bootstrap interval over groups of debates (one thesis or text).")
    parts.append("Without re-ranking, @1/K is the same for every K.")
    if with_paper:
        parts.append(f"Columns of the paper: {SETUP}.")
    if any(row.key.startswith(("logit", "xgboost")) for row in rows):
        learned = [f"{split.name} from the {ranker.train(split.name).name} train split" for split in splits]
        parts.append(f"Logit and XGBoost learned for {', for '.join(learned)}.")
    if ranker.max_points:
        parts.append(f"Rows by features and cross-encoders: on {ranker.max_points:,} points, among all candidates.")
    return " ".join(parts)


def tables(figures: pd.DataFrame, rows: Sequence[Row], shortlists: Sequence[int]) -> list[str]:
    """Tables 2 and 3, the unseen points of the published split, and the shortlists, as Markdown."""
    steps, recalls = [f"@1/{k}" for k in shortlists], [f"recall@{k}" for k in shortlists]
    first = [row for row in rows if not row.reranker]
    retrieving = [row for row in rows if row.retriever != FEATURES]
    # without re-ranking there is one figure, whatever K
    alone = figures[(figures["metric"] == "epa") & figures["row"].isin({row.id for row in retrieving if row in first})]
    figures = pd.concat([figures, *(alone.assign(metric=step) for step in steps)])
    seen, unseen = (figures[(figures["data"] == UNSEEN) == side] for side in (False, True))
    titled = {
        "Accuracy@1 by candidates, % (table 2)": _table(seen, first, list(SETTINGS)),
        "Accuracy@1 after re-ranking K, among all arguments (epa), % (table 3)": _table(seen, retrieving, steps),
        "Official split, the points that no earlier split has, %": _table(unseen, rows, [*SETTINGS, *steps]),
        "Shortlists: share of points with an answer, %": _table(seen, rows, recalls),
    }
    return [f"### {title}\n\n{table}" for title, table in titled.items() if table]


def _table(figures: pd.DataFrame, rows: Sequence[Row], metrics: list[str]) -> str:
    """Percent, with half of the interval, by row and metric, a column for each split and one for the paper's."""
    headings = {row.id: row.heading for row in rows}
    figures = figures[figures["metric"].isin(metrics) & figures["row"].isin(headings)]
    if (figures["who"] == "paper").all():
        return ""
    column = figures["metric"] + ", " + figures["data"].where(figures["who"] == "ours", "paper")
    cells = [_cell(*each) for each in figures[["who", "value", "low", "high"]].to_numpy()]
    wide = figures.assign(column=column, cell=cells).pivot(index="row", columns="column", values="cell").fillna("")
    columns = [f"{metric}, {name}" for metric in metrics for name in ("paper", *SPLITS, UNSEEN)]
    wide = wide.reindex(index=[row for row in headings if row in wide.index])[[c for c in columns if c in wide]]
    wide.insert(0, "row", [headings[row] for row in wide.index])
    return markdown(wide)


def _cell(who: str, value: float, low: float, high: float) -> str:
    if who == "paper":  # printed with one decimal or two
        return f"{100 * value:.2f}".removesuffix("0")
    return f"{100 * value:.1f}" + ("" if pd.isna(low) else f" ±{50 * (high - low):.1f}")


def draw(figures: pd.DataFrame, rows: Sequence[Row], shortlists: Sequence[int], folder: Path, name: str) -> list[str]:
    """Draws accuracy@1 of all rows, and over the shortlist's length; returns the pictures as Markdown."""
    pictures, last = [], {row.id: f"@1/{max(shortlists)}" if row.reranker else "epa" for row in rows}
    values = figures.assign(**{name: 100 * figures[name] for name in ("value", "low", "high")})
    longest = values[values["metric"] == values["row"].map(last)]
    if not longest.empty:
        title = f"Accuracy@1 among all arguments (epa), 95 % intervals: {name}"
        dots(longest, folder / "plots" / "accuracy.png", title, "accuracy@1, %", width=8.0)
        pictures.append(f"![{title}](plots/accuracy.png)")
    steps = values[values["metric"].str.startswith("@1/") & (values["data"] != UNSEEN)]
    if not steps.empty and len(shortlists) > 1:
        title = f"Accuracy@1 over the number of re-ranked candidates: {name}"
        steps = steps.assign(x=steps["metric"].str.removeprefix("@1/").astype(int))
        lines(steps, folder / "plots" / "shortlists.png", title, "re-ranked candidates K", "accuracy@1, %")
        pictures.append(f"![{title}](plots/shortlists.png)")
    return pictures
