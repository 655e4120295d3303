"""The points and candidates of one split, checked before anything is computed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset

from dataset_scripts.base.schema import COUNTERS
from dataset_scripts.base.sources import load_split
from modeling.bipolar.candidates import Candidates

CONFIGS = {"official": "counters_official", "clean": "counters"}


@dataclass
class Split:
    """What is ranked for what.

    Attributes:
        name: `official` or `clean`.
        rows: Columns of `dataset_scripts.base.schema.COUNTERS`.
        candidates: The same as points, texts and answers.
    """

    name: str
    rows: dict[str, list[str]]
    candidates: Candidates

    @cached_property
    def digest(self) -> str:
        """Of everything a ranking depends on."""
        digest = hashlib.sha256()
        for column in ("point", "counter", "conclusion", "premises", "stance", "theme", "debate"):
            for text in self.rows[column]:
                digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
        return digest.hexdigest()[:24]

    @cached_property
    def text_ids(self) -> list[str]:
        """For each text where it stands first: the id of a row, and which of its two texts it is."""
        found: dict[str, str] = {}
        for role in ("point", "counter"):
            for id, text in zip(self.rows["id"], self.rows[role], strict=True):
                found.setdefault(text, f"{id}:{role}")
        return [found[text] for text in self.candidates.texts]

    def facts(self) -> dict[str, Any]:
        """What tables say of it."""
        return {
            "config": CONFIGS[self.name],
            "points": len(self.candidates),
            "seen": int(self.candidates.seen.sum()),
            "candidates": len(self.candidates.texts),
            "debates": len(set(self.rows["group"])),
        }


def load(source: str, name: str, split: str, cache: Path) -> Split:
    """Reads a split.

    Args:
        source: See `dataset_scripts.base.sources.load_source`.
        name: `official` or `clean`.
        split: `train`, `validation` or `test`.
        cache: Where prepared Arrow files are kept.

    Raises:
        ValueError: If there is no such configuration or split, a column is missing, it is empty, or a value is no text.
    """
    rows = load_split(source, CONFIGS[name], split, cache)
    columns = check_rows(rows, f"{source!r} ({CONFIGS[name]}, {split})")
    return Split(name, columns, Candidates(columns))


def check_rows(rows: Dataset, where: str) -> dict[str, list[str]]:
    """The columns as lists; raises a ValueError that names column and row where one is missing or no text."""
    if missing := [column for column in COUNTERS if column not in rows.column_names]:
        raise ValueError(f"{where} has no column {', '.join(missing)}; it has {', '.join(rows.column_names)}")
    if not len(rows):
        raise ValueError(f"{where} has no rows")
    columns: Mapping[str, Sequence[str]] = rows.to_dict()
    found = {column: list(columns[column]) for column in COUNTERS}
    found["seen_in"] = [value or "" for value in found["seen_in"]]
    for column, values in found.items():
        for number, value in enumerate(values):
            if not isinstance(value, str):
                raise ValueError(f"{where}, row {number}: {column} is {value!r}: drop or repair the row")
            if column in ("point", "counter") and not value.strip():
                raise ValueError(f"{where}, row {number}: {column} is empty: drop or repair the row")
    return found


def sample(count: int, most: int | None) -> np.ndarray:
    """Numbers of points in ascending order: all, or a seeded sample, of which a larger one has all of a smaller."""
    if most is None or most >= count:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).permutation(count)[:most])
