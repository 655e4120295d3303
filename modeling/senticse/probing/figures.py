"""All figures of models on corpora, each computed once: what was computed before comes from disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sentence_transformers import SentenceTransformer
from tqdm.auto import tqdm

from modeling.base.models import identity
from modeling.base.results import memory
from modeling.base.vectors import Vectors as Embeddings
from modeling.senticse.evaluation import SgtsEvaluator
from modeling.senticse.probing import probes
from modeling.senticse.probing.data import Corpus, balanced
from modeling.senticse.probing.probes import Vectors

VERSION = 2  # of the cached figures: one more where the same options give others


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
        values = evaluator.metrics(evaluator.scores(subject.model, subject.cache))
        return {key: value for key, value in values.items() if key != "sgts"}
    if name == "fine_tuned":
        test = corpus.test.iloc[balanced(corpus.test["label"].to_numpy(), options["max_test"])]
        draw = (k, seed, options["validation"], options["learning_rate"])
        return {"few_shot": probes.fine_tuned(subject.model, corpus.train, test, *draw)}
    train, validation, test = subject.vectors.values()
    if name == "frozen":
        return {"few_shot": probes.frozen(train, test, k, seed, options["validation"])}
    if name == "linear_probe":
        return {name: probes.linear_probe(train, validation, test)}
    return {"alignment": probes.alignment(*test), "uniformity": probes.uniformity(test.vectors)}
