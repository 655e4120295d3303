"""Corpora of labelled sentences as the probes need them: sampled by seed, balanced between classes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from dataset_scripts.base.schema import SENTENCES
from dataset_scripts.base.sources import load_split

CLASSES = SENTENCES["label"].names
# the pairs of SgTS are of the validation split, as in the paper
COLUMNS = {"sentences": ["text", "label"], "sgts": ["sentence1", "sentence2", "label"]}


@dataclass(frozen=True)
class Corpus:
    """A corpus of sentences, its splits with `text` and `label`, and its SgTS pairs, whose label 1 is one polarity."""

    name: str  # head of its rows in tables
    train: pd.DataFrame
    validation: pd.DataFrame
    test: pd.DataFrame
    pairs: pd.DataFrame
    sampled: bool

    def digest(self) -> str:
        """A hash of everything that is measured on."""
        digest = hashlib.sha256()
        for part in (self.train, self.validation, self.test, self.pairs):
            digest.update(pd.util.hash_pandas_object(part, index=False).to_numpy().tobytes() + b"\0")
        return digest.hexdigest()[:24]

    def __str__(self) -> str:
        """What a reader of the tables has to know of it."""
        return (
            f"{self.name}: {len(self.train):,} training, {len(self.validation):,} validation, {len(self.test):,} test "
            f"sentences; {len(self.pairs):,} SgTS pairs of the validation split"
            + ("; samples, balanced between classes" if self.sampled else "")
        )


def load_corpus(source: str, name: str, cache: Path, max_rows: int | None = None) -> Corpus:
    """Loads the configurations `sentences` and `sgts` of a source, of each split and the pairs `max_rows` at most.

    Raises:
        ValueError: If it has not these configurations and splits, or other than two classes.
    """
    wanted = {split: ("sentences", split) for split in ("train", "validation", "test")}
    parts, samples = {}, {}
    for part, (config, split) in (wanted | {"pairs": ("sgts", "validation")}).items():
        try:
            rows = load_split(source, config, split, cache)
        except ValueError as error:
            raise ValueError(
                f"--sentiment {source}: the probes need labelled sentences and pairs, the configurations 'sentences' "
                f"and 'sgts', as opinion corpus build makes them of a sentiment corpus. {error}"
            ) from error
        parts[part] = rows.select_columns(COLUMNS[config]).to_pandas()
        if config == "sentences" and (classes := parts[part]["label"].nunique()) != 2:
            raise ValueError(f"--sentiment {source}: the probes are for two classes, its {split} data have {classes}")
        samples[part] = parts[part].iloc[balanced(parts[part]["label"].to_numpy(), max_rows)]
    return Corpus(name, **samples, sampled=any(len(samples[part]) < len(parts[part]) for part in parts))


def balanced(labels: np.ndarray, rows: int | None, seed: int = 0) -> np.ndarray:
    """Ascending numbers of a seeded sample of `rows` with equally many of each class, as far as there are as many."""
    if rows is None or len(labels) <= rows:
        return np.arange(len(labels))
    values, generator = np.unique(labels), np.random.default_rng(seed)
    sizes = rows // len(values) + (np.arange(len(values)) < rows % len(values))
    drawn = [
        generator.permutation(np.flatnonzero(labels == value))[:size] for value, size in zip(values, sizes, strict=True)
    ]
    return np.sort(np.concatenate(drawn))
