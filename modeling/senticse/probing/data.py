"""Labelled corpora and pairs as the probes need them: sampled by seed, balanced between classes, and told apart."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from datasets import ClassLabel, Dataset, DatasetDict

from dataset_scripts.base.schema import SENTENCES
from dataset_scripts.base.sources import load_source

VALIDATION = 0.1  # share of the training texts where a corpus has no validation split (SentiCSE, section 4.4)


@dataclass(frozen=True)
class Corpus:
    """A corpus of labelled sentences.

    Attributes:
        name: Head of its rows in tables.
        classes: Names of the classes, in the order of their numbers.
        train, validation, test: Its splits: columns `text` and `label`, the number of the class.
        pairs: SgTS pairs: columns `sentence1`, `sentence2` and `label` (1 = same polarity).
        own_validation: Whether `validation` is a split of its own and not taken from the training texts.
        pairs_split: The split that the pairs are of.
        sampled: Whether a split or the pairs were sampled.
    """

    name: str
    classes: list[str]
    train: pd.DataFrame
    validation: pd.DataFrame
    test: pd.DataFrame
    pairs: pd.DataFrame
    own_validation: bool
    pairs_split: str
    sampled: bool

    def digest(self) -> str:
        """A hash of everything that is measured on."""
        digest = hashlib.sha256("\0".join(self.classes).encode())
        for part in (self.train, self.validation, self.test, self.pairs):
            digest.update(pd.util.hash_pandas_object(part, index=False).to_numpy().tobytes() + b"\0")
        return digest.hexdigest()[:24]

    def __str__(self) -> str:
        """What a reader of the tables has to know of it."""
        of_train = "" if self.own_validation else " (of train)"
        return (
            f"{self.name}: {len(self.train):,} training, {len(self.validation):,} validation{of_train}, "
            f"{len(self.test):,} test sentences; {len(self.pairs):,} SgTS pairs of the {self.pairs_split} split"
            + ("; samples, balanced between classes" if self.sampled else "")
        )


def load_corpus(source: str, name: str, cache: str | Path, max_rows: int | None = None) -> Corpus:
    """Loads the configurations `sentences` and `sgts` of a source.

    Args:
        source: See `dataset_scripts.base.sources.load_source`.
        name: What to call it.
        cache: Where prepared data are kept.
        max_rows: Seeded sample, balanced between classes, of each split and of the pairs.

    Raises:
        ValueError: If it has no such configurations, no train or no test split, or a class without texts.
    """
    splits, pairs = (_configuration(source, config, cache) for config in ("sentences", "sgts"))
    for split in ("train", "test"):
        if split not in splits:
            raise ValueError(f"{source!r} (sentences) has no {split} split; it has {', '.join(splits)}")
    # of the validation split, as in the paper, or of the test split where there is none
    of = next((split for split in ("validation", "test") if split in pairs), None)
    if of is None:
        raise ValueError(f"{source!r} (sgts) has no validation and no test split; it has {', '.join(pairs)}")
    classes = _classes(splits["train"], source)
    parts = {
        split: _sentences(splits[split], classes, f"{source!r} (sentences, {split})")
        for split in ("train", "validation", "test")
        if split in splits
    }
    parts["pairs"] = pairs[of].select_columns(["sentence1", "sentence2", "label"]).to_pandas()
    samples = {part: rows.iloc[balanced(rows["label"].to_numpy(), max_rows)] for part, rows in parts.items()}
    sampled = any(len(samples[part]) < len(parts[part]) for part in parts)
    if "validation" not in splits:
        train = samples["train"]
        rows = stratified(train["label"].to_numpy(), VALIDATION)
        samples |= {"train": train.drop(train.index[rows]), "validation": train.iloc[rows]}
    facts = {"own_validation": "validation" in splits, "pairs_split": of, "sampled": sampled}
    return Corpus(name, list(classes.values()), **samples, **facts)


def _configuration(source: str, config: str, cache: str | Path) -> DatasetDict:
    try:
        return load_source(source, config, cache)
    except ValueError as error:
        raise ValueError(
            f"--sentiment {source}: the probes need labelled sentences and pairs, the configurations 'sentences' and "
            f"'sgts', as opinion corpus build makes them of a sentiment corpus. {error}"
        ) from error


def _classes(rows: Dataset, source: str) -> dict[int | str, str]:
    """Value of `label` -> name of the class."""
    if missing := [column for column in ("text", "label") if column not in rows.column_names]:
        raise ValueError(
            f"{source!r} (sentences) has no column {' and no column '.join(missing)}; it has {rows.column_names}"
        )
    label, values = rows.features["label"], sorted(rows.unique("label"))
    if isinstance(label, ClassLabel):
        classes = dict(enumerate(label.names))
    else:
        classes = dict(zip(values, SENTENCES["label"].names if values == [0, 1] else map(str, values), strict=True))
    if len(classes) < 2:
        raise ValueError(f"{source!r} (sentences, train): there is one class only, {next(iter(classes.values()))!r}")
    return classes


def _sentences(rows: Dataset, classes: dict[int | str, str], where: str) -> pd.DataFrame:
    """The sentences of a split, their classes numbered in the order of `classes`."""
    values = set(rows.unique("label"))
    if strange := values - set(classes):
        raise ValueError(f"{where}: the label {strange.pop()!r} is none of {', '.join(map(repr, classes))}")
    if lacking := [name for value, name in classes.items() if value not in values]:
        raise ValueError(f"{where}: no texts of class {', '.join(map(repr, lacking))}; every split needs texts of each")
    frame = rows.select_columns(["text", "label"]).to_pandas()
    return frame.assign(label=frame["label"].map({value: number for number, value in enumerate(classes)}))


def balanced(labels: np.ndarray, rows: int | None, seed: int = 0) -> np.ndarray:
    """Ascending row numbers of a seeded sample of `rows` with equally many of each class, as far as there are as many.

    Args:
        labels: Class of each row, shape (n,).
        rows: Size of the sample; all rows are taken where it is None, or there are no more.
    """
    if rows is None or len(labels) <= rows:
        return np.arange(len(labels))
    values = np.unique(labels)
    return _sample(labels, rows // len(values) + (np.arange(len(values)) < rows % len(values)), seed)


def stratified(labels: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    """Ascending row numbers of a seeded sample that has a share of each class, at least one row of each."""
    counts = np.unique(labels, return_counts=True)[1]
    return _sample(labels, [max(1, round(share * count)) for count in counts.tolist()], seed)


def _sample(labels: np.ndarray, sizes: np.ndarray | list[int], seed: int) -> np.ndarray:
    """Ascending row numbers, for each class as many as its size says."""
    generator = np.random.default_rng(seed)
    by_class = [np.flatnonzero(labels == value) for value in np.unique(labels)]
    drawn = [generator.permutation(rows)[:size] for rows, size in zip(by_class, sizes, strict=True)]
    return np.sort(np.concatenate(drawn))
