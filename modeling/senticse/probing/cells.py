"""One figure of one model on one corpus, computed when it is asked for and kept on disk from then on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sentence_transformers import SentenceTransformer

from dataset_scripts.base.files import read_json, write_json
from modeling.base.adapters import PROBES
from modeling.base.vectors import behaviour, embed
from modeling.senticse.evaluation import SgtsEvaluator
from modeling.senticse.probing.data import Corpus, Texts, balanced
from modeling.senticse.probing.geometry import alignment, principal_components, uniformity
from modeling.senticse.probing.linear_probe import Vectors, linear_probe

VERSION = 1  # of what the cells hold: one more where the same options give other figures
SAME = 5e-5  # of one model's vectors with other numbers of threads; other models differ by more
FROZEN, FINE_TUNED = "frozen", "fine_tuned"


@dataclass(frozen=True)
class Protocol:
    """What is measured.

    Attributes:
        shots: Numbers of training texts per class.
        seeds: Draws per number of texts.
        fine_tune_seeds: Draws on which the encoder is trained too; 0 for none.
        validation: Validation texts of a draw.
        max_test: Test texts at most after the encoder was trained, balanced between classes.
        learning_rate: Of that training.
    """

    shots: tuple[int, ...] = (1, 5)
    seeds: int = 10
    fine_tune_seeds: int = 0
    validation: int = 500
    max_test: int = 500
    learning_rate: float = 1e-5


@dataclass(frozen=True)
class Cell:
    """A measure, for few-shot classification with the number of texts per class and the seed."""

    measure: str
    k: int | None = None
    seed: int | None = None

    def __str__(self) -> str:
        return self.measure if self.k is None else f"{self.k}-shot {self.measure}, seed {self.seed}"


def cells(protocol: Protocol) -> Iterator[Cell]:
    """All figures of a model on a corpus, the quick ones first."""
    for measure in ("sgts", "geometry", "components", "linear_probe"):
        yield Cell(measure)
    for variant, seeds in ((FROZEN, protocol.seeds), (FINE_TUNED, protocol.fine_tune_seeds)):
        for k in protocol.shots:
            for seed in range(seeds):
                yield Cell(variant, k, seed)


class Prober:
    """Measures a model on a corpus.

    Args:
        label: What the model is called in messages.
        model: The encoder; it stays as it is.
        corpus: The corpus.
        protocol: The options of the measures.
        cache: Where vectors and figures are kept.

    Raises:
        ValueError: If the model's vectors are no numbers.
    """

    def __init__(self, label: str, model: SentenceTransformer, corpus: Corpus, protocol: Protocol, cache: Path) -> None:
        self.label, self.model, self.corpus, self.protocol = label, model, corpus, protocol
        self.embeddings, self.folder = cache / "embeddings", model_folder(label, model, cache / "probing")
        self.digest = corpus.digest()
        self._vectors: dict[str, Vectors] = {}

    def path(self, cell: Cell) -> Path:
        """Where a figure is kept; another file for another model, corpus or option."""
        protocol = self.protocol
        options = {FROZEN: [protocol.validation],
                   FINE_TUNED: [protocol.validation, protocol.max_test, protocol.learning_rate]}  # fmt: skip
        key = [VERSION, self.digest, cell.measure, cell.k, cell.seed, *options.get(cell.measure, [])]
        return self.folder / f"{cell.measure}-{hashlib.sha256(json.dumps(key).encode()).hexdigest()[:20]}.json"

    def stored(self, cell: Cell) -> dict[str, Any] | None:
        """The figure as it was kept, or None."""
        return read_json(self.path(cell))

    def measure(self, cell: Cell) -> dict[str, Any]:
        """The figure, computed and kept."""
        arguments = () if cell.k is None else (cell.k, cell.seed)
        try:
            found = getattr(self, cell.measure)(*arguments)
        except ValueError as error:
            raise ValueError(f"{self.label} on {self.corpus.name}, {cell}: {error}") from error
        write_json(self.path(cell), found)
        return found

    def vectors(self, split: str) -> Vectors:
        """Unit vectors of a split with the classes of its texts."""
        if split not in self._vectors:
            texts: Texts = getattr(self.corpus, split)
            found = np.asarray(embed(self.model, texts.texts, self.embeddings))
            if broken := int((~np.isfinite(found).all(axis=1)).sum()):
                raise ValueError(f"the vectors of {broken:,} of {len(found):,} {split} texts are no numbers (NaN)")
            self._vectors[split] = Vectors(found, texts.labels)
        return self._vectors[split]

    def tested(self) -> Texts:
        """The texts that a trained encoder is tested on."""
        return self.corpus.test.take(balanced(self.corpus.test.labels, self.protocol.max_test))

    # the measures, named as their cells

    def sgts(self) -> dict[str, float | int]:
        """See `metrics.sgts`."""
        first, second, labels = self.corpus.pairs
        rows = {"sentence1": first, "sentence2": second, "label": labels}
        name = self.corpus.name
        evaluator = SgtsEvaluator(rows, title="pairs of polarity", dataset=name, dataset_id=name)
        return evaluator.metrics(evaluator.scores(self.model, self.embeddings))

    def geometry(self) -> dict[str, float]:
        """Alignment and uniformity of the test texts."""
        vectors, labels = self.vectors("test")
        return {"alignment": alignment(vectors, labels), "uniformity": uniformity(vectors)}

    def components(self) -> dict[str, Any]:
        """The test texts in the plane of the first two principal components."""
        return principal_components(*self.vectors("test"))

    def linear_probe(self) -> dict[str, float]:
        """Accuracy of a logistic regression on all training texts."""
        return linear_probe(*(self.vectors(split) for split in ("train", "validation", "test")))

    def frozen(self, k: int, seed: int) -> dict[str, float]:
        """Accuracy of a logistic regression on k texts per class."""
        from modeling.senticse.probing.few_shot import frozen

        train, test = self.vectors("train"), self.vectors("test")
        return frozen(train, test, self.corpus.classes, k, seed, self.protocol.validation)

    def fine_tuned(self, k: int, seed: int) -> dict[str, float]:
        """Accuracy after training encoder and linear head on k texts per class."""
        from modeling.senticse.probing.few_shot import fine_tuned

        options = self.protocol
        return fine_tuned(self.model, self.corpus, self.tested(), k, seed, options.validation, options.learning_rate)


def model_folder(label: str, model: SentenceTransformer, folder: Path) -> Path:
    """The folder of a model's figures: the one whose recorded vectors of fixed sentences are the model's, or a new one.

    Raises:
        ValueError: If the vectors are no numbers.
    """
    # fine-tuning sees vectors as they are: encoders that differ in their length alone are two
    lengths = np.linalg.norm(model.encode(list(PROBES), show_progress_bar=False), axis=1)
    found = behaviour(model) | {"lengths": np.round(lengths.astype(float), 4).tolist()}
    probes = np.asarray(found["probes"])
    if not np.isfinite(probes).all():
        raise ValueError(f"the vectors of {label} are no numbers (NaN): its weights are damaged")
    for path in sorted(folder.glob("*/model.json")):
        stored = read_json(path)
        was = np.asarray(stored["probes"])
        same = was.shape == probes.shape and np.abs(was - probes).max() <= SAME
        same = same and np.allclose(stored.get("lengths", 0), lengths, rtol=1e-3)
        if same and stored["max_seq_length"] == found["max_seq_length"]:
            return path.parent
    path = folder / hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]
    write_json(path / "model.json", found)
    return path
