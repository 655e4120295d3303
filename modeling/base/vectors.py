"""Embeddings of many texts, computed once, kept on disk, and resumed where an interruption left them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from sentence_transformers import SentenceTransformer
from tqdm.auto import tqdm

from dataset_scripts.base.files import read_json, write_json
from modeling.base.adapters import TOLERANCE, probe_vectors

CHUNK = 1024  # texts between two checkpoints: ten seconds of MiniLM on one core


def embed(model: SentenceTransformer, texts: Sequence[str], folder: Path, batch_size: int = 128) -> np.ndarray:
    """Unit vectors of texts, from disk if they were computed before.

    The file's name is a hash of the model's behaviour and of the texts: another model or another corpus is
    another file, never a mixture.

    Args:
        model: The encoder.
        texts: The texts, n of them.
        folder: Where vectors are kept.
        batch_size: Texts per forward pass.

    Returns:
        Read-only memory map of shape (n, dimension), float32.
    """
    if not len(texts):
        raise ValueError("there are no texts to embed")
    return embed_file(model, texts, folder / f"{_key(model, texts)}.npy", batch_size)


def embed_file(model: SentenceTransformer, texts: Sequence[str], path: Path, batch_size: int = 128) -> np.ndarray:
    """Unit vectors of texts in a file; what is there already is not computed again.

    Args:
        model: The encoder.
        texts: The texts, n of them, at least one.
        path: The `.npy` file; the caller sees to it that it is of this model and these texts. An interrupted
            computation leaves two more files beside it and is continued from them, to the same bytes.
        batch_size: Texts per forward pass.

    Returns:
        Read-only memory map of shape (n, dimension), float32.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        # two runs that want the same vectors: one computes, the other waits and reads them
        lock = path.with_suffix(".lock")
        with FileLock(lock):
            if not path.exists():
                _compute(model, texts, path, batch_size)
            # whoever waits, or comes later, finds the vectors: the lock is needed no more
            with suppress(OSError):  # Windows keeps what is open
                lock.unlink()
    return np.load(path, mmap_mode="r")


def embedded(path: Path) -> int:
    """How many texts an interrupted `embed_file` has embedded; 0 where there is none."""
    there = path.with_suffix(".partial.npy").exists()
    return (read_json(path.with_suffix(".json")) or {"done": 0})["done"] if there else 0


def _key(model: SentenceTransformer, texts: Sequence[str]) -> str:
    digest = hashlib.sha256(np.round(probe_vectors(model), 4).tobytes())
    digest.update(str(model.max_seq_length).encode())
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()[:24]


def _compute(model: SentenceTransformer, texts: Sequence[str], path: Path, batch_size: int) -> None:
    partial, progress, done = path.with_suffix(".partial.npy"), path.with_suffix(".json"), embedded(path)
    shape = (len(texts), model.get_embedding_dimension())
    array = np.lib.format.open_memmap(partial, mode="r+" if done else "w+", dtype=np.float32, shape=shape)
    with tqdm(total=len(texts), initial=done, desc="embedding", unit="text") as bar:
        for start in range(done, len(texts), CHUNK):
            chunk = list(texts[start : start + CHUNK])
            array[start : start + len(chunk)] = model.encode(
                chunk, batch_size=batch_size, normalize_embeddings=True, show_progress_bar=False
            )
            array.flush()
            write_json(progress, {"done": start + len(chunk)})
            bar.update(len(chunk))
    del array
    partial.replace(path)
    progress.unlink(missing_ok=True)


def behaviour(model: SentenceTransformer) -> dict[str, Any]:
    """What tells models apart: the vectors of fixed sentences, and how many tokens are read."""
    return {"max_seq_length": model.max_seq_length, "probes": np.round(probe_vectors(model).astype(float), 5).tolist()}


def differs(stored: dict[str, Any], found: dict[str, Any]) -> str | None:
    """Why two models (see `behaviour`) are not the same, or None."""
    was, now = np.asarray(stored["probes"]), np.asarray(found["probes"])
    if was.shape != now.shape:
        return f"{now.shape[1]} dimensions instead of {was.shape[1]}"
    if not np.abs(was - now).max() <= TOLERANCE:
        return "fixed sentences get other vectors"
    if stored["max_seq_length"] != found["max_seq_length"]:
        return f"it reads {found['max_seq_length']} tokens instead of {stored['max_seq_length']}"
    return None


def pair_similarities(
    model: SentenceTransformer, columns: Sequence[Sequence[str]], folder: Path | None = None
) -> np.ndarray:
    """Cosine similarities between all columns of rows, every distinct text embedded once.

    Args:
        model: The encoder.
        columns: k columns of n texts.
        folder: Where vectors are kept; None computes them in memory.

    Returns:
        Shape (k (k - 1) / 2, n), in [-1, 1]; for k = 3 the order is (0, 1), (0, 2), (1, 2).
    """
    index: dict[str, int] = {}
    rows = [np.fromiter((index.setdefault(text, len(index)) for text in column), np.int64) for column in columns]
    texts = list(index)
    if folder is None:
        vectors = model.encode(texts, batch_size=128, normalize_embeddings=True, show_progress_bar=len(texts) > CHUNK)
    else:
        vectors = embed(model, texts, folder)
    pairs = [(i, j) for i in range(len(columns)) for j in range(i + 1, len(columns))]
    return np.stack([_row_dots(vectors, rows[i], rows[j]) for i, j in pairs])


def _row_dots(vectors: np.ndarray, left: np.ndarray, right: np.ndarray, block: int = 65536) -> np.ndarray:
    """Dot products by blocks: a million pairs of 768-dimensional vectors at once would take 6 GB."""
    dots = [
        np.einsum("nd,nd->n", vectors[left[start : start + block]], vectors[right[start : start + block]])
        for start in range(0, len(left), block)
    ]
    return np.clip(np.concatenate(dots), -1.0, 1.0)
