"""Labelled corpora and pairs as the probes need them: sampled by seed, balanced between classes, and told apart."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from datasets import ClassLabel, Dataset, DatasetDict

from dataset_scripts.base.schema import SENTENCES
from dataset_scripts.base.sources import load_source

VALIDATION = 0.1  # share of the training texts where a corpus has no validation split (SentiCSE, section 4.4)


@dataclass(frozen=True)
class Texts:
    """Texts with their classes.

    Attributes:
        texts: n texts.
        labels: Number of each text's class, shape (n,).
    """

    texts: list[str]
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: np.ndarray) -> Texts:
        """The texts at these places."""
        return Texts([self.texts[row] for row in rows], self.labels[rows])


@dataclass(frozen=True)
class Corpus:
    """A corpus of labelled sentences.

    Attributes:
        name: Head of its rows in tables.
        classes: Names of the classes, in the order of their numbers.
        train, validation, test: Its splits.
        has_validation: Whether `validation` is a split of its own and not taken from the training texts.
        pairs: SgTS pairs: sentence1, sentence2, and labels (1 = same polarity), shape (m,).
        pairs_split: The split that they are of.
        sampled: Whether a split or the pairs were sampled.
    """

    name: str
    classes: list[str]
    train: Texts
    validation: Texts
    test: Texts
    has_validation: bool
    pairs: tuple[list[str], list[str], np.ndarray]
    pairs_split: str
    sampled: bool

    def digest(self) -> str:
        """A hash of everything that is measured on."""
        digest = hashlib.sha256("\0".join(self.classes).encode())
        for part in (self.train, self.validation, self.test, *(Texts(side, self.pairs[2]) for side in self.pairs[:2])):
            digest.update(part.labels.astype("<i8").tobytes())
            for text in part.texts:
                digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
        return digest.hexdigest()[:24]

    def __str__(self) -> str:
        """What a reader of the tables has to know of it."""
        held_out = "" if self.has_validation else " (of train)"
        return (
            f"{self.name}: {len(self.train):,} training, {len(self.validation):,} validation{held_out}, "
            f"{len(self.test):,} test sentences; {len(self.pairs[2]):,} SgTS pairs of the {self.pairs_split} split"
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
    splits = _configuration(source, "sentences", cache)
    for split in ("train", "test"):
        if split not in splits:
            raise ValueError(f"{source!r} (sentences) has no {split} split; it has {', '.join(splits)}")
    classes = _classes(splits["train"], source)
    names = [split for split in ("train", "validation", "test") if split in splits]
    parts = {split: _texts(splits[split], classes, f"{source!r} (sentences, {split})") for split in names}
    size = sum(map(len, parts.values()))
    if max_rows:
        parts = {split: texts.take(balanced(texts.labels, max_rows)) for split, texts in parts.items()}
    has_validation = "validation" in parts
    if not has_validation:
        train = parts["train"]
        rows = stratified(train.labels, VALIDATION)
        parts |= {"train": train.take(np.setdiff1d(np.arange(len(train)), rows)), "validation": train.take(rows)}
    pairs, pairs_split, all_pairs = _pairs(source, cache, max_rows)
    sampled = sum(map(len, parts.values())) < size or len(pairs[2]) < all_pairs
    return Corpus(
        name,
        list(classes.values()),
        **parts,
        has_validation=has_validation,
        pairs=pairs,
        pairs_split=pairs_split,
        sampled=sampled,
    )


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
    names = label.names if isinstance(label, ClassLabel) else SENTENCES["label"].names if values == [0, 1] else values
    if len(names) < 2:
        raise ValueError(f"{source!r} (sentences, train): there is one class only, {str(names[0])!r}")
    return {index if isinstance(label, ClassLabel) else values[index]: str(name) for index, name in enumerate(names)}


def _texts(rows: Dataset, classes: dict[int | str, str], where: str) -> Texts:
    """The texts of a split, their classes numbered in the order of `classes`."""
    values = set(rows.unique("label"))
    if strange := values - set(classes):
        raise ValueError(f"{where}: the label {strange.pop()!r} is none of {', '.join(map(repr, classes))}")
    if lacking := [name for value, name in classes.items() if value not in values]:
        raise ValueError(f"{where}: no texts of class {', '.join(map(repr, lacking))}; every split needs texts of each")
    number = {value: index for index, value in enumerate(classes)}
    return Texts(list(rows["text"]), np.array([number[label] for label in rows["label"][:]], dtype=np.int64))


def _pairs(
    source: str, cache: str | Path, max_rows: int | None
) -> tuple[tuple[list[str], list[str], np.ndarray], str, int]:
    """The pairs of the validation split, as in the paper, or of the test split where there is none."""
    splits = _configuration(source, "sgts", cache)
    split = next((name for name in ("validation", "test") if name in splits), None)
    if split is None:
        raise ValueError(f"{source!r} (sgts) has no validation and no test split; it has {', '.join(splits)}")
    rows = splits[split]
    labels = np.asarray(rows["label"][:], dtype=np.int64)
    chosen = balanced(labels, max_rows) if max_rows else np.arange(len(labels))
    first, second = rows["sentence1"][:], rows["sentence2"][:]
    return ([first[i] for i in chosen], [second[i] for i in chosen], labels[chosen]), split, len(labels)


def balanced(labels: np.ndarray, rows: int, seed: int = 0) -> np.ndarray:
    """Ascending row numbers of a seeded sample of `rows` with equally many of each class, as far as there are as many.

    Args:
        labels: Class of each row, shape (n,).
        rows: Size of the sample; all rows are taken where there are no more.
        seed: Seed.
    """
    if len(labels) <= rows:
        return np.arange(len(labels))
    generator, values = np.random.default_rng(seed), np.unique(labels)
    shares = rows // len(values) + (np.arange(len(values)) < rows % len(values))
    sample = [
        generator.permutation(np.flatnonzero(labels == value))[:share]
        for value, share in zip(values, shares, strict=True)
    ]
    return np.sort(np.concatenate(sample))


def stratified(labels: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    """Ascending row numbers of a seeded sample that has a share of each class, at least one row of each."""
    generator = np.random.default_rng(seed)
    by_class = [np.flatnonzero(labels == value) for value in np.unique(labels)]
    return np.sort(
        np.concatenate([generator.permutation(rows)[: max(1, round(share * len(rows)))] for rows in by_class])
    )
