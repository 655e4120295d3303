"""What the figures of counter-argument retrieval say: tables 2 and 3 beside the paper's, with cost and scale."""

from __future__ import annotations

from typing import Any

from dataset_scripts.base.tables import markdown

from modeling.bipolar.baselines.costs import MEMORY
from modeling.bipolar.baselines.paper import SETUP
from modeling.bipolar.baselines.rows import FEATURES
from modeling.bipolar.candidates import SETTINGS

Results = dict[str, Any]
Accuracy = dict[str, float | int | None]


def render(results: Results) -> str:
    """All tables as Markdown, with what their reader has to know."""
    parts = [_preface(results)]
    for title, header, rows in tables(results):
        if rows:
            parts.append(f"### {title}\n\n{markdown(header, rows)}")
    return "\n\n".join([*parts, _legend(results)])


def tables(results: Results) -> list[tuple[str, list[str], list[list[str]]]]:
    """(Title, header, rows) of each table; one without rows has nothing to show."""
    first = [row for row in results["rows"] if not row["reranker"]]
    retrieving = [row for row in results["rows"] if row["retriever"] != FEATURES]
    splits, steps = list(results["splits"]), [f"@1/{k}" for k in results["shortlists"]]
    made = [
        ("Accuracy@1 by candidates, % (table 2)", first, list(SETTINGS)),
        ("Accuracy@1 after re-ranking K, among all arguments (epa), % (table 3)", retrieving, steps),
    ]
    found = []
    for title, rows, measures in made:
        header = ["row", *(f"{measure}, {split}" for measure in measures for split in splits)]
        body = [[row["name"], *(_cell(row, s, m) for m in measures for s in splits)] for row in rows]
        found.append((title, header, [cells for cells in body if any(cells[1:])]))
    return [*found, _unseen(results), _costs(results)]


def _cell(row: dict[str, Any], split: str, measure: str, kind: str = "accuracy") -> str:
    """ "paper / ours ± half of the interval"; the paper's beside the published split only."""
    ours = (row["splits"].get(split, {}).get(kind) or {}) if split in row["splits"] else {}
    step = measure.startswith("@1/")
    # without re-ranking there is one figure, whatever K
    value = ours.get(measure) or (ours.get("epa") if step and not row["reranker"] else None)
    paper = row["paper"].get(measure, row["paper"].get("epa") if step else None) if split == "official" else None
    if kind != "accuracy" or paper is None:
        return shown(value)
    # table 3 is printed with two decimals
    return f"{paper:.1f} / {shown(value)}" if round(paper, 1) == paper and not step else f"{paper:.2f} / {shown(value)}"


def shown(value: Accuracy | None) -> str:
    """Percent with half of the interval."""
    if value is None:
        return ""
    if value["low"] is None:
        return f"{100 * value['accuracy']:.1f}"
    return f"{100 * value['accuracy']:.1f} ±{50 * (value['high'] - value['low']):.1f}"


def _unseen(results: Results) -> tuple[str, list[str], list[list[str]]]:
    """The points of the published split that no earlier split has."""
    steps = [f"@1/{k}" for k in results["shortlists"]]
    measures = [*SETTINGS, *steps]
    body = []
    for row in results["rows"]:
        for facts in row["splits"].values():
            if found := facts["unseen"]:
                count = next(iter(found.values()))["n"]
                body.append([row["name"], f"{count:,}", *(shown(found.get(measure)) for measure in measures)])
    return "Official split, the points that no earlier split has, %", ["row", "points", *measures], body


def _costs(results: Results) -> tuple[str, list[str], list[list[str]]]:
    header = ["row", "split", "points", *(f"recall@{k}" for k in results["shortlists"]), "seconds", "MB"]
    body = []
    for row in results["rows"]:
        for split, facts in row["splits"].items():
            of = results["splits"][split]["points"]
            points = f"{facts['points']:,}" + (f" of {of:,}" if facts["points"] < of else "")
            recalls = [facts["recall"] and f"{100 * facts['recall'][str(k)]:.1f}" for k in results["shortlists"]]
            seconds = f"{facts['seconds']:,.1f}" if facts["seconds"] < 100 else f"{facts['seconds']:,.0f}"
            memory = f"{facts['memory'] / 2**20:,.0f}"
            body.append([row["name"], split, points, *(found or "" for found in recalls), seconds, memory])
    return "Shortlists (share of points with an answer, %), scale and cost", header, body


def _preface(results: Results) -> str:
    lines = [f"{results['data']}, {results['evaluated_on']} data."]
    for split, facts in results["splits"].items():
        seen = f", {facts['seen']:,} of them in an earlier split" if facts["seen"] else ""
        lines.append(f"{split}: {facts['points']:,} points of {facts['debates']:,} groups of debates{seen}, "
                     f"{facts['candidates']:,} distinct texts.")  # fmt: skip
    if results["paper"]:
        lines.append(f"Cells of the official split: paper / ours. Paper: {SETUP}.")
    return " ".join(lines)


def _legend(results: Results) -> str:
    rows = [row for row in results["rows"] if row["splits"]]
    lines = ["; ".join(f"{name}: {meaning}" for name, meaning in SETTINGS.items()) + ".",
             "±: half of the 95 % bootstrap interval over groups of debates (one thesis or text)."]  # fmt: skip
    if any(row["retriever"] != FEATURES and not row["reranker"] for row in rows):
        lines.append("Without re-ranking, @1/K is the same for every K.")
    if any(row["retriever"] == FEATURES and row["key"] != "simple-sd" for row in rows):
        official = "official train split, as in the paper" if results["train_split"] == "own" else "clean train split"
        lines.append(f"Logit and XGBoost: for the official column learned from the {official}; for the clean one from "
                     "the clean train split.")  # fmt: skip
    if any(row["retriever"] == FEATURES for row in rows):
        lines.append("Rows of features share kept distances: the seconds of each are those beyond the rows above it.")
    if any(row["models"] for row in rows):
        lines.append("Trained models are the same for both columns; what each was trained on, its card says.")
    if any(facts["points"] < results["splits"][s]["points"] for row in rows for s, facts in row["splits"].items()):
        lines.append(f"Rows on {results['max_points']:,} points: a seeded sample, among all candidates.")
    devices = dict.fromkeys(d for row in rows for facts in row["splits"].values() for d in facts["devices"])
    lines.append(f"Seconds: loading models apart, embedding all texts included ({', '.join(devices)}). {MEMORY}.")
    return "\n\n".join([" ".join(lines), *_notes(rows)])


def _notes(rows: list[dict[str, Any]]) -> list[str]:
    """What was noted and counted for rows, a line each."""
    lines: dict[str, list[str]] = {}
    for row in rows:
        for split, facts in row["splits"].items():
            counts = facts["counts"].get("epa", {}) if row["retriever"] == FEATURES else facts["counts"]
            counted = ", ".join(f"{number:,} {what}" for what, number in counts.items() if number)
            if said := "; ".join([*facts["notes"], *([counted] if counted else [])]):
                lines.setdefault(f"{row['name']}: {said}", []).append(split)
    return ["\n".join(f"- {said} ({', '.join(splits)})" for said, splits in lines.items())] if lines else []
