"""Embeddings of many texts, computed once, kept on disk, and resumed where an interruption left them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from filelock import FileLock
from sentence_transformers import SentenceTransformer
from tqdm.auto import tqdm

from modeling.adapters import probe_vectors
from modeling.files import read_json, write_json

CHUNK = 4096  # texts between two checkpoints: half a minute of MiniLM on two cores


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
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{_key(model, texts)}.npy"
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


def _key(model: SentenceTransformer, texts: Sequence[str]) -> str:
    digest = hashlib.sha256(np.round(probe_vectors(model), 4).tobytes())
    digest.update(str(model.max_seq_length).encode())
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()[:24]


def _compute(model: SentenceTransformer, texts: Sequence[str], path: Path, batch_size: int) -> None:
    partial, progress = path.with_suffix(".partial.npy"), path.with_suffix(".json")
    done = (read_json(progress) or {"done": 0})["done"] if partial.exists() else 0
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
