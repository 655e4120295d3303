"""Labelled corpora and pairs as the probes need them: sampled by seed, balanced between classes, and told apart."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from datasets import ClassLabel, Dataset, DatasetDict

from dataset_scripts.base.schema import SENTENCES
from dataset_scripts.base.sources import load_source

HELD_OUT = 0.1  # of the training texts where a corpus has no validation split (SentiCSE, section 4.4)


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
        held_out: Whether `validation` was taken from the training texts, for want of a split of that name.
        pairs: SgTS pairs: sentence1, sentence2, and labels (1 = same polarity), shape (m,).
        pairs_split: The split that they are of.
        sampled: Whether a split or the pairs were sampled.
    """

    name: str
    classes: list[str]
    train: Texts
    validation: Texts
    test: Texts
    held_out: bool
    pairs: tuple[list[str], list[str], np.ndarray]
    pairs_split: str
    sampled: bool

    def digest(self) -> str:
        """A hash of everything that is measured on."""
        parts = [self.train, self.validation, self.test, *(Texts(side, self.pairs[2]) for side in self.pairs[:2])]
        found = hashlib.sha256("\0".join(self.classes).encode())
        for part in parts:
            found.update(part.labels.astype("<i8").tobytes())
            for text in part.texts:
                found.update(text.encode("utf-8", "surrogatepass") + b"\0")
        return found.hexdigest()[:24]

    def facts(self) -> dict[str, int | str | bool]:
        """What a reader of the tables has to know of it."""
        sizes = {"train": len(self.train), "validation": len(self.validation), "test": len(self.test)}
        facts = {"held_out": self.held_out, "pairs": len(self.pairs[2]), "pairs_split": self.pairs_split}
        return {"name": self.name, **sizes, **facts, "sampled": self.sampled}


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
    found = {split: _texts(splits[split], classes, f"{source!r} (sentences, {split})")
             for split in ("train", "validation", "test") if split in splits}  # fmt: skip
    whole = sum(map(len, found.values()))
    if max_rows:
        found = {split: texts.take(balanced(texts.labels, max_rows)) for split, texts in found.items()}
    held_out = "validation" not in found
    if held_out:
        train = found["train"]
        kept = hold_out(train.labels)
        rest = np.setdiff1d(np.arange(len(train)), kept)
        found |= {"train": train.take(rest), "validation": train.take(kept)}
    pairs, pairs_split, all_pairs = _pairs(source, cache, max_rows)
    sampled = sum(map(len, found.values())) < whole or len(pairs[2]) < all_pairs
    return Corpus(
        name, list(classes.values()), **found, held_out=held_out, pairs=pairs, pairs_split=pairs_split, sampled=sampled
    )


def _configuration(source: str, config: str, cache: str | Path) -> DatasetDict:
    try:
        return load_source(source, config, cache)
    except ValueError as error:
        raise ValueError(
            f"--sentiment {source}: the probes need labelled sentences and pairs, the configurations 'sentences' and "
            f"'sgts', as python -m dataset_scripts builds them from a sentiment corpus. {error}"
        ) from error


def _classes(rows: Dataset, source: str) -> dict[int | str, str]:
    """Value of `label` -> name of the class."""
    if missing := [column for column in ("text", "label") if column not in rows.column_names]:
        raise ValueError(
            f"{source!r} (sentences) has no column {' and no column '.join(missing)}; it has {rows.column_names}"
        )
    label = rows.features["label"]
    values = sorted(rows.unique("label"))
    names = label.names if isinstance(label, ClassLabel) else SENTENCES["label"].names if values == [0, 1] else values
    if len(names) < 2:
        raise ValueError(f"{source!r} (sentences, train): there is one class only, {str(names[0])!r}")
    return {index if isinstance(label, ClassLabel) else values[index]: str(name) for index, name in enumerate(names)}


def _texts(rows: Dataset, classes: dict[int | str, str], where: str) -> Texts:
    """The texts of a split, their classes numbered in the order of `classes`."""
    found = set(rows.unique("label"))
    if strange := found - set(classes):
        raise ValueError(f"{where}: the label {strange.pop()!r} is none of {', '.join(map(repr, classes))}")
    if lacking := [name for value, name in classes.items() if value not in found]:
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
    """A seeded sample with equally many rows of each class, as far as there are as many.

    Args:
        labels: Class of each row, shape (n,).
        rows: Size of the sample; all rows are taken where there are no more.
        seed: Seed.

    Returns:
        Ascending row numbers, at most `rows`.
    """
    if len(labels) <= rows:
        return np.arange(len(labels))
    generator = np.random.default_rng(seed)
    found = np.unique(labels)
    shares = np.full(len(found), rows // len(found))
    shares[: rows % len(found)] += 1
    chosen = [
        generator.permutation(np.flatnonzero(labels == value))[:share]
        for value, share in zip(found, shares, strict=True)
    ]
    return np.sort(np.concatenate(chosen))


def hold_out(labels: np.ndarray, share: float = HELD_OUT, seed: int = 0) -> np.ndarray:
    """Row numbers of a seeded sample that has a share of each class, at least one row of each."""
    generator = np.random.default_rng(seed)
    chosen = [generator.permutation(rows)[: max(1, round(share * len(rows)))]
              for rows in (np.flatnonzero(labels == value) for value in np.unique(labels))]  # fmt: skip
    return np.sort(np.concatenate(chosen))
