"""Vectors of texts: each computed once per model, kept on disk by the text's hash, resumed after an interruption."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain, combinations
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from filelock import FileLock
from sentence_transformers import SentenceTransformer
from tqdm.auto import tqdm

from modeling.base.models import identity

CHUNK = 1024  # texts between two writes: ten seconds of MiniLM on one core
BLOCK = 65536  # pairs that are compared at once
HASH = np.dtype("S16")


class Vectors:
    """Unit vectors of texts; a text that was embedded before is read, whatever else it was embedded with.

    In `folder/IDENTITY/`, or in memory if `folder` is None, the vectors lie one after another, and the texts' hashes in
    the same order in a file beside them. Vectors are written before their hashes: what a killed process had finished is
    used, the rest is computed. Several processes may embed at once; none computes what another has written. Those that
    are computed within an autocast lie in a folder of their own. The model's weights must not change meanwhile; `task`
    is for one that tells queries from documents.
    """

    def __init__(
        self, model: SentenceTransformer, folder: Path | None = None, task: Literal["query", "document"] | None = None
    ) -> None:
        self.model, self.encode = model, getattr(model, f"encode_{task}") if task else model.encode
        self.folder = None
        if folder:
            half = "autocast" if torch.is_autocast_enabled(model.device.type) else None
            self.folder = Path(folder) / "-".join(filter(None, (identity(model), task, half)))
        self._hashes = np.empty(0, HASH)
        self._vectors = np.empty((0, 0), np.float32)  # in memory; on disk they are mapped when they are asked for

    def __call__(self, texts: Sequence[str], batch_size: int = 128) -> np.ndarray:
        """Vectors of n texts, some of which may be the same; what is missing is embedded, `batch_size` at a time.

        Returns shape (n, dimension), float32, rows of length 1: a read-only memory map where the rows lie one after
        another on disk, as those of new and distinct texts do, else a copy. A ValueError if there are no texts, a
        vector is not finite, or the files in the folder are damaged.
        """
        if not len(texts):
            raise ValueError("there are no texts to embed")
        hashes = _hashes(texts)
        self._refresh()
        distinct, first = np.unique(hashes, return_index=True)
        self._compute(texts, hashes, np.sort(first[~np.isin(distinct, self._hashes)]), batch_size)
        order = np.argsort(self._hashes, kind="stable")
        rows = order[np.searchsorted(self._hashes, hashes, sorter=order)]
        vectors = self._vectors
        if self.folder:
            path, shape = self.folder / "vectors", (len(self._hashes), self.model.get_embedding_dimension())
            if not path.exists() or path.stat().st_size < shape[0] * shape[1] * 4:
                raise ValueError(f"{self.folder} is damaged: delete it, and the vectors are computed again")
            vectors = np.memmap(path, np.float32, "r", shape=shape)
        consecutive = rows[0] + len(rows) <= len(vectors) and (np.diff(rows) == 1).all()
        return vectors[rows[0] : rows[0] + len(rows)] if consecutive else vectors[rows]

    def put(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Takes over vectors of distinct texts, shape (n, dimension), that the same model made elsewhere."""
        hashes = _hashes(texts)
        with self._locked():
            self._refresh()
            if (new := ~np.isin(hashes, self._hashes)).any():
                self._append(hashes[new], vectors[new])

    def _locked(self) -> AbstractContextManager:
        if not self.folder:
            return nullcontext()
        self.folder.mkdir(parents=True, exist_ok=True)
        return FileLock(self.folder / "lock")

    def _compute(self, texts: Sequence[str], hashes: np.ndarray, missing: np.ndarray, batch_size: int) -> None:
        """Embeds and stores the texts of the rows `missing`, all at once in memory and by chunks on disk."""
        size = CHUNK if self.folder else len(missing)
        with tqdm(total=len(missing), desc="embedding", unit="text", disable=len(missing) <= CHUNK) as bar:
            while len(missing):
                with self._locked():
                    # without what another process has embedded meanwhile
                    missing = missing[~np.isin(hashes[missing], self._refresh())]
                    rows, missing = missing[:size], missing[size:]
                    if len(rows):
                        self._append(hashes[rows], self._embed([texts[row] for row in rows], batch_size))
                bar.update(bar.total - len(missing) - bar.n)

    def _embed(self, texts: list[str], batch_size: int) -> np.ndarray:
        vectors = self.encode(texts, batch_size=batch_size, normalize_embeddings=True, show_progress_bar=False)
        vectors = np.asarray(vectors, np.float32)
        if bad := np.flatnonzero(~np.isfinite(vectors).all(axis=1)).tolist():
            raise ValueError(f"the model gives no finite vector of {texts[bad[0]]!r}: its weights are damaged")
        return vectors

    def _refresh(self) -> np.ndarray:
        """Reads, and returns, the hashes that came to the folder since the last time."""
        path = self.folder / "hashes" if self.folder else None
        if path is None or not path.exists():
            return self._hashes[:0]
        new = np.fromfile(path, HASH, offset=len(self._hashes) * HASH.itemsize)
        self._hashes = np.concatenate([self._hashes, new])
        return new

    def _append(self, hashes: np.ndarray, vectors: np.ndarray) -> None:
        count = len(self._hashes)
        if self.folder:
            _write_at(self.folder / "vectors", count * vectors[0].nbytes, vectors)
            _write_at(self.folder / "hashes", count * HASH.itemsize, hashes)
        else:
            self._vectors = np.concatenate([self._vectors.reshape(count, vectors.shape[1]), vectors])
        self._hashes = np.concatenate([self._hashes, hashes])


def precision(half: bool | None) -> AbstractContextManager:
    """Computes in bfloat16 if `half`: more than twice as fast on processors and accelerators that know it."""
    return torch.autocast("cuda" if torch.cuda.is_available() else "cpu", torch.bfloat16, enabled=bool(half))


def _hashes(texts: Sequence[str]) -> np.ndarray:
    digests = (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16] for text in texts)
    return np.frombuffer(b"".join(digests), HASH)


def _write_at(path: Path, offset: int, array: np.ndarray) -> None:
    """Writes from `offset` on, in place of what a killed process left there."""
    try:
        path.touch()
        with path.open("r+b") as file:
            file.truncate(offset)
            file.seek(offset)
            file.write(array.tobytes())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:  # such as a full disk, of which the error alone names no file
        raise OSError(error.errno, error.strerror, str(path)) from error


def pair_similarities(
    model: SentenceTransformer | Vectors, columns: Sequence[Sequence[str]], folder: Path | None = None
) -> np.ndarray:
    """Cosine similarities between all k columns of n rows, every distinct text embedded once, vectors kept in a folder.

    Shape (k (k - 1) / 2, n), in [-1, 1]; for k = 3 the order is (0, 1), (0, 2), (1, 2).
    """
    index = {text: row for row, text in enumerate(dict.fromkeys(chain.from_iterable(columns)))}
    rows = [np.fromiter((index[text] for text in column), np.int64) for column in columns]
    embeddings = (model if isinstance(model, Vectors) else Vectors(model, folder))(list(index))
    # by blocks: a million pairs of 768-dimensional vectors at once would take 6 GB
    blocks = [slice(start, start + BLOCK) for start in range(0, len(rows[0]), BLOCK)]
    dots = [
        [np.einsum("nd,nd->n", embeddings[one[each]], embeddings[other[each]]) for each in blocks]
        for one, other in combinations(rows, 2)
    ]
    return np.clip(np.stack([np.concatenate(parts) for parts in dots]), -1.0, 1.0)
