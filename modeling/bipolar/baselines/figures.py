"""Figures of a row on a split, from what was ranked first for each point."""

from __future__ import annotations

from typing import Any

import numpy as np

from metrics.counterargument_accuracy.counterargument_accuracy import counterargument_accuracy
from modeling.bipolar.baselines.data import Split
from modeling.bipolar.baselines.ranking import NONE

MEASURES = ("accuracy_at_1", "accuracy_at_1_low", "accuracy_at_1_high", "n")


def accuracy(split: Split, points: np.ndarray, best: np.ndarray) -> dict[str, float | int | None]:
    """Accuracy@1 of some points with its 95 % interval over debates; see `metrics.counterargument_accuracy`."""
    nothing = len(split.candidates.texts)  # the id of no text, where there was no candidate
    found = counterargument_accuracy(
        [[int(index) if index != NONE else nothing] for index in best],
        [sorted(split.candidates.answers[point]) for point in points],
        groups=[split.rows["group"][point] for point in points],
    )
    return dict(zip(("accuracy", "low", "high", "n"), (found[name] for name in MEASURES), strict=True))


def recall(split: Split, points: np.ndarray, listed: np.ndarray, shortlists: tuple[int, ...]) -> dict[str, float]:
    """K -> share of points with an answer among the first K."""
    nothing = len(split.candidates.texts)
    found = counterargument_accuracy(
        [[int(index) for index in row if index != NONE] or [nothing] for row in listed],
        [sorted(split.candidates.answers[point]) for point in points],
        k=list(shortlists),
        n_bootstrap=0,
    )
    return {str(k): share for k, share in found["accuracy_at_k"].items()}


def figures(split: Split, found: dict[str, Any]) -> dict[str, Any]:
    """What tables show of a row on a split, JSON throughout."""
    points, unseen = found["points"], ~split.candidates.seen[found["points"]]
    figures = {measure: accuracy(split, points, best) for measure, best in found["best"].items()}
    apart = unseen.any() and not unseen.all()
    return {
        "points": len(points),
        "accuracy": figures,
        "unseen": {m: accuracy(split, points[unseen], best[unseen]) for m, best in found["best"].items()}
        if apart
        else None,
        "recall": found["recall"],
        "seconds": found["cost"].seconds,
        "memory": found["cost"].memory,
        "counts": found["counts"],
        "notes": found["notes"],
        "devices": found["devices"],
    }


def predicted(row: str, split: Split, found: dict[str, Any]) -> list[dict[str, Any]]:
    """The predictions of a row on a split, one for a measure and point; ids, no texts."""
    return [
        {
            "row": row,
            "split": split.name,
            "measure": measure,
            "id": split.rows["id"][point],
            "predicted": split.text_ids[index] if index != NONE else None,
            "right": bool(index in split.candidates.answers[point]),
            "seen": bool(split.candidates.seen[point]),
        }
        for measure, best in found["best"].items()
        for point, index in zip(found["points"].tolist(), best.tolist(), strict=True)
    ]
