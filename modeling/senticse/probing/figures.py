"""All figures of models on corpora, samples balanced between classes; what was computed before comes from disk."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sentence_transformers import SentenceTransformer
from tqdm.auto import tqdm

from dataset_scripts.base.sources import load_split
from modeling.base.models import identity
from modeling.base.results import memory
from modeling.base.vectors import Vectors as Embeddings
from modeling.senticse.evaluation import SgtsEvaluator
from modeling.senticse.probing import probes
from modeling.senticse.probing.probes import Vectors

VERSION = 2  # of the cached figures: one more where the same options give others
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

    A ValueError if it has not these configurations and splits, or other than two classes.
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


@dataclass
class Subject:
    """A model, as it is called, on a corpus: what figures are computed from. Vectors are kept in `cache`."""

    label: str
    model: SentenceTransformer
    corpus: Corpus
    cache: Path

    @cached_property
    def vectors(self) -> dict[str, Vectors]:
        """Split -> unit vectors with the classes of their texts."""
        embeddings = Embeddings(self.model, self.cache)
        splits = {split: getattr(self.corpus, split) for split in ("train", "validation", "test")}
        return {
            split: Vectors(np.asarray(embeddings(rows["text"].tolist())), rows["label"].to_numpy())
            for split, rows in splits.items()
        }


def measure(
    subjects: Sequence[Subject], few: Sequence[tuple[str, int, int]], protocol: Mapping[str, Any], cache: Path
) -> pd.DataFrame:
    """All figures of the subjects: columns `model`, `data`, `variant`, `k`, `seed`, `metric` and `value`.

    `few` has (variant, texts per class, seed) of each few-shot draw, the variant is `frozen` or `fine_tuned`;
    `protocol` has the options of few-shot classification: `validation`, `max_test` and `learning_rate`.
    """
    cached, rows = memory(cache).cache(_figures, ignore=["subject"]), []
    models = {subject.label: subject.model for subject in subjects}
    identities = {label: identity(model) for label, model in models.items()}
    digests = {subject.corpus.name: subject.corpus.digest() for subject in subjects}
    cells = [(name, None, None) for name in ("sgts", "geometry", "linear_probe")] + list(few)
    with tqdm([(subject, *cell) for subject in subjects for cell in cells], unit="figure", disable=None) as bar:
        for subject, name, k, seed in bar:
            label, data, shots = subject.label, subject.corpus.name, "" if k is None else f", {k} per class"
            bar.set_description(f"{label}, {data}, {name}{shots}")
            used = {"frozen": ["validation"], "fine_tuned": list(protocol)}.get(name, [])
            options = {option: protocol[option] for option in used}
            figures = cached(identities[label], digests[data], name, k, seed, options, VERSION, subject)
            key = (label, data, None if k is None else name, k, seed)
            rows += [(*key, metric, value) for metric, value in figures.items()]
    return pd.DataFrame(rows, columns=["model", "data", "variant", "k", "seed", "metric", "value"])


def _figures(
    model: str, data: str, name: str, k: int | None, seed: int | None, options: dict, version: int, subject: Subject
) -> dict[str, float]:
    """Metric -> value of one cell. All but the subject tell one cell from another."""
    corpus = subject.corpus
    if name == "sgts":
        evaluator = SgtsEvaluator(corpus.pairs, title="pairs", dataset=corpus.name, dataset_id=corpus.name)
        return evaluator.metrics(evaluator.scores(subject.model, subject.cache))
    if name == "fine_tuned":
        test = corpus.test.iloc[balanced(corpus.test["label"].to_numpy(), options["max_test"])]
        draw = (k, seed, options["validation"], options["learning_rate"])
        return {"few_shot": probes.fine_tuned(subject.model, corpus.train, test, *draw)}
    train, validation, test = subject.vectors.values()
    if name == "frozen":
        shots, rest = probes.draw(train.labels, k, seed, options["validation"])
        drawn = (Vectors(train.vectors[rows], train.labels[rows]) for rows in (shots, rest))
        return {"few_shot": probes.linear_probe(*drawn, test)}
    if name == "linear_probe":
        return {name: probes.linear_probe(train, validation, test)}
    return {"alignment": probes.alignment(*test), "uniformity": probes.uniformity(test.vectors)}
