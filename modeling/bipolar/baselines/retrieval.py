"""Retrievers: a score for every point and every text, from words or from embeddings.

Each takes candidates and gives scores of shape (n, m), the higher, the better, with what was counted on the way.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sentence_transformers import SentenceTransformer

from dataset_scripts.base.files import read_json, write_json
from modeling.base.vectors import embed_file, embedded
from modeling.bipolar.baselines.costs import Cost, Costs, Meter, read_cost, weights
from modeling.bipolar.baselines.models import check_finite, identity
from modeling.bipolar.candidates import Candidates

CHUNK = 4096  # texts whose tokens are counted at once
Scores = tuple[np.ndarray, dict[str, int], Costs]


class Retriever(Protocol):
    """Scores texts for points; `key` tells retrievers apart that give other scores."""

    key: str

    def scores(self, candidates: Candidates) -> Scores:
        """Scores of shape (n, m), counts, and what each step cost."""
        ...


class BM25:
    """Okapi BM25 of bm25s with its defaults (Lucene's idf, k1 1.5, b 0.75) and English stop words (Robertson, 2009)."""

    def __init__(self) -> None:
        if find_spec("bm25s") is None:
            raise ValueError("BM25 needs bm25s: pip install 'opinion-transformers[retrieval]'")
        from importlib.metadata import version

        logging.getLogger("bm25s").setLevel(logging.WARNING)
        self.key = f"bm25-{version('bm25s')}"

    def scores(self, candidates: Candidates) -> Scores:
        import bm25s

        with Meter() as meter:
            words = bm25s.tokenize(candidates.texts, return_ids=False, show_progress=False)
            index = bm25s.BM25()
            index.index(words, show_progress=False)
            found = np.zeros((len(candidates), len(words)), np.float32)
            for row, point in enumerate(candidates.points):
                if words[point]:
                    found[row] = index.get_scores(words[point])
        wordless = sum(not words[point] for point in candidates.points)
        return found, {"points without words": wordless}, {self.key: meter.cost}


class Cosine:
    """Cosines of an encoder's embeddings, those of queries and documents where it tells them apart.

    Args:
        model: The encoder.
        label: What it is called in messages.
        folder: Where vectors are kept.
    """

    def __init__(self, model: SentenceTransformer, label: str, folder: Path) -> None:
        self.model, self.texts = model, Vectors(model, label, folder)
        self.key = f"cosine-{self.texts.key}"

    def scores(self, candidates: Candidates) -> Scores:
        texts, costs = self.texts(candidates.texts, "document")
        points = texts[candidates.points]
        if tells_tasks(self.model):
            points, more = self.texts([candidates.texts[point] for point in candidates.points], "query")
            costs |= more
        with Meter() as meter:
            found = points @ texts.T
        costs |= weights(self.model, self.texts.key) | {self.key: meter.cost}
        return found, self.texts.counts(candidates), costs


class RetrievalHead:
    """Dot products of a Bipolar-encoder's retrieval embeddings (Shi et al., section 5.1).

    Args:
        model: The Bipolar-encoder.
        label: What it is called in messages.
        folder: Where the vectors u are kept.
    """

    def __init__(self, model: Any, label: str, folder: Path) -> None:
        self.model, self.texts = model, Vectors(model.encoder, label, folder)
        self.key = f"retrieval-{identity(model)}"

    def scores(self, candidates: Candidates) -> Scores:
        u, costs = self.texts(candidates.texts)
        with Meter() as meter:
            queries = self.model.retrieval_embeddings(u[candidates.points], queries=True)
            found = np.asarray(queries) @ np.asarray(self.model.retrieval_embeddings(u, queries=False)).T
        check_finite(found, f"{self.texts.label}, retrieval head")
        costs |= weights(self.model, identity(self.model)) | {self.key: meter.cost}
        return found, self.texts.counts(candidates), costs


class Vectors:
    """Unit vectors of texts, kept on disk with what they cost; a text that several splits have is embedded once.

    Args:
        model: The encoder.
        label: What it is called in messages.
        folder: Where vectors are kept.
    """

    def __init__(self, model: SentenceTransformer, label: str, folder: Path) -> None:
        self.model, self.label, self.folder = model, label, folder
        self.key = identity(model)

    def __call__(self, texts: Sequence[str], task: str | None = None) -> tuple[np.ndarray, Costs]:
        """Vectors of shape (m, d), and what they cost.

        Args:
            texts: m texts.
            task: `query` or `document`; a model that tells them apart has other vectors for either.
        """
        route = task if task and tells_tasks(self.model) else None
        folder = self.folder / (f"{self.key}-{route}" if route else self.key)
        hashes = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts]
        known = dict(zip(hashes, texts, strict=True))
        if missing := sorted(known.keys() - self._places(folder).keys()):
            path = folder / f"{hashlib.sha256(''.join(missing).encode()).hexdigest()[:20]}.npy"
            model, before = _Task(self.model, route) if route else self.model, embedded(path)
            with Meter() as meter:
                embed_file(model, [known[key] for key in missing], path, batch_size=32)
            # what a killed command had embedded took as long a text
            factor = len(missing) / max(1, len(missing) - before)
            write_json(_beside(path, "cost"), asdict(replace(meter.cost, seconds=meter.cost.seconds * factor)))
            write_json(_beside(path, "texts"), missing)
        places = self._places(folder)
        found = [places[key] for key in hashes]
        vectors = np.stack([file[row] for file, row, _ in found])
        check_finite(vectors, f"the vectors of {self.label}")
        costs = [places[key][2] for key in known]
        whole = Cost(sum(cost.seconds for cost in costs), max(cost.peak for cost in costs))
        return vectors, {f"vectors of {folder.name}": whole}

    def _places(self, folder: Path) -> dict[str, tuple[np.ndarray, int, Cost]]:
        """Hash of a text -> the file and the row that its vector is in, and its share of what the file cost."""
        places = {}
        for path in sorted(folder.glob("*-texts.json")):
            file, hashes = path.with_name(path.name.replace("-texts.json", ".npy")), read_json(path)
            whole, vectors = read_cost(_beside(file, "cost")), np.load(file, mmap_mode="r")
            share = Cost(whole.seconds / len(hashes), whole.peak)
            places |= {key: (vectors, row, share) for row, key in enumerate(hashes)}
        return places

    def counts(self, candidates: Candidates) -> dict[str, int]:
        """How many texts the encoder does not read to their end."""
        if (most := self.model.max_seq_length) is None:
            return {}
        tokenizer, texts = self.model.tokenizer, candidates.texts
        lengths = [
            len(tokens)
            for start in range(0, len(texts), CHUNK)
            for tokens in tokenizer(texts[start : start + CHUNK], truncation=False, verbose=False)["input_ids"]
        ]
        return {f"texts longer than {most:,} tokens, cut there": sum(length > most for length in lengths)}


class _Task:
    """An encoder whose `encode` is that of queries or of documents."""

    def __init__(self, model: SentenceTransformer, task: str) -> None:
        self.encode = getattr(model, f"encode_{task}")
        self.get_embedding_dimension = model.get_embedding_dimension


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f"{path.stem}-{what}.json")


def tells_tasks(model: SentenceTransformer) -> bool:
    """Whether a model embeds queries and documents in different ways."""
    from sentence_transformers.base.modules import Router

    prompts = model.prompts or {}
    return any(isinstance(module, Router) for module in model) or any(prompts.get(n) for n in ("query", "document"))
