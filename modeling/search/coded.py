"""Texts coded by hand, for or against: read and checked before torch is imported."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dataset_scripts.base.cli import suggest
from dataset_scripts.base.reading import Dropped
from modeling.search.duplicates import form
from modeling.search.texts import open_source

LABELS = {"for": True, "against": False}
FEWEST = 8  # coded texts of either side


@dataclass(frozen=True)
class Coded:
    """Texts coded by hand."""

    source: str
    texts: list[str]  # n, cleaned, no two near-identical
    labels: np.ndarray  # shape (n,), true for the side for
    left_out: dict[str, int]  # reason -> texts

    def keep(self, kept: np.ndarray, reason: str) -> Coded:
        """Those of a mask; the reason is why the others are not kept."""
        texts = [text for text, keeps in zip(self.texts, kept, strict=True) if keeps]
        left_out = self.left_out | ({reason: int((~kept).sum())} if not kept.all() else {})
        return replace(self, texts=texts, labels=self.labels[kept], left_out=left_out)

    def check(self) -> None:
        """Refuses a side of fewer than `FEWEST` texts."""
        ones, zeros = int(self.labels.sum()), int((~self.labels).sum())
        if min(ones, zeros) < FEWEST:
            reasons = "".join(f"; left out, {reason}: {count}" for reason, count in self.left_out.items())
            raise ValueError(
                f"{self.source} has {ones} texts for and {zeros} against{reasons}: code at least {FEWEST} of either"
            )


def read_coded(index: Any, path: str | Path, text_column: str | None = None, label_column: str = "label") -> Coded:
    """Reads a table of texts labelled `for` or `against`, or not at all, and cleans them like those of an index.

    `text_column` is `text` if None, or the one that the index was made of. Another label, a text on both sides, and too
    few texts of a side are a ValueError.
    """
    source, dropped = open_source(path), Dropped()
    usual = ("text", index.facts["columns"]["text"])
    text_column = text_column or next((name for name in usual if name in source.columns), usual[0])
    for option, name in (("--text-column", text_column), ("--label-column", label_column)):
        if name not in source.columns:
            listed = f"{path} has the columns {', '.join(source.columns)}{suggest(name, source.columns)}"
            raise ValueError(f"{option} {name!r}: no such column; {listed}: name it with {option}")
    kept: dict[Any, tuple[str, bool]] = {}
    left_out = dict.fromkeys(("without a label", "without a text", "near-identical to another"), 0)
    for number, (text, label) in enumerate(source.read([text_column, label_column], dropped), 1):
        label = label.strip().casefold() if isinstance(label, str) else label
        if label is None or label != label or label == "":
            left_out["without a label"] += 1
        elif label not in LABELS:
            cure = "write for or against, or leave it blank where a text is neither"
            raise ValueError(f"{path}, row {number}: the label is {label!r}; {cure}")
        elif not isinstance(text, str) or not text.strip():
            left_out["without a text"] += 1
        elif (known := form(text)) not in kept:
            kept[known] = index.clean(text)[0], LABELS[label]
        elif kept[known][1] == LABELS[label]:
            left_out["near-identical to another"] += 1
        else:
            raise ValueError(f"{path}, row {number}: {text[:60]!r} is coded for and against: decide")
    for reason, where in dropped.first.items():
        raise ValueError(f"{path}, {where}: {reason}; repair the line")
    texts, labels = zip(*kept.values(), strict=True) if kept else ((), ())
    reasons = {reason: count for reason, count in left_out.items() if count}
    coded = Coded(str(path), list(texts), np.array(labels, bool), reasons)
    coded.check()
    return coded
