"""Approximate search among many vectors: FAISS lists of 8-bit numbers, of which a question looks into a few."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tqdm.auto import tqdm

from dataset_scripts.base.files import atomic_file, read_json, write_json

if TYPE_CHECKING:
    import faiss

BLOCK = 65_536  # vectors that are multiplied or added at once: 100 MB of MiniLM's
PER_LIST = 39  # vectors per list to find its centre from: the fewest that FAISS takes without a warning
PROBES = (8, 16, 32, 64, 128, 256)  # lists that a question may look into
RECALL, RECALL_AT = 0.98, 50  # so many of the 50 exact nearest are to be found
OVERSAMPLING = 2  # times as many candidates are taken from the lists as are wanted, and compared exactly

Embeddings = Callable[[slice | np.ndarray], np.ndarray]  # numbers of k texts -> (k, dimension) float32


def exact(embeddings: Embeddings, count: int, queries: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
    """The vectors with the largest dot products, by comparing with every one, in blocks.

    Args:
        embeddings: Gives the vectors by their numbers.
        count: How many there are, m.
        queries: Shape (n, dimension).
        top: How many are wanted, k.

    Returns:
        Numbers and dot products, two of shape (n, min(k, m)), best first.
    """
    numbers, dots = np.empty((len(queries), 0), np.int64), np.empty((len(queries), 0), np.float32)
    for start in range(0, count, BLOCK):
        block = queries @ embeddings(slice(start, min(start + BLOCK, count))).T
        best = np.argpartition(-block, min(top, block.shape[1]) - 1, axis=1)[:, :top]
        numbers = np.hstack([numbers, start + best])
        dots = np.hstack([dots, np.take_along_axis(block, best, 1)])
        best = np.lexsort([numbers, -dots])[:, :top]
        numbers, dots = np.take_along_axis(numbers, best, 1), np.take_along_axis(dots, best, 1)
    return numbers, dots


def build(embeddings: Embeddings, count: int, queries: np.ndarray, own: np.ndarray, path: Path) -> faiss.Index:
    """Sorts vectors into lists, measures how many lists a question has to look into, and writes both.

    Args:
        embeddings: Gives the vectors by their numbers.
        count: How many there are.
        queries: Vectors of some of the texts as questions, shape (n, dimension).
        own: Number of the text of each question, which is no answer to it; shape (n,).
        path: File to write; `.json` of the same name says what was measured.

    Returns:
        The index, with the fewest lists to look into that reach `RECALL`, or the most of `PROBES`.

    Raises:
        ValueError: If FAISS is not installed; the message names the extra.
    """
    faiss, lists = load_faiss(), int(2 * count**0.5)
    index = faiss.index_factory(queries.shape[1], f"IVF{lists},SQ8", faiss.METRIC_INNER_PRODUCT)
    sample = np.random.default_rng(0).choice(count, min(count, PER_LIST * lists), replace=False)
    index.train(np.ascontiguousarray(embeddings(np.sort(sample)), np.float32))
    for start in tqdm(range(0, count, BLOCK), "indexing", unit="block", disable=count <= BLOCK):
        index.add(np.ascontiguousarray(embeddings(slice(start, min(start + BLOCK, count))), np.float32))
    nearest = exact(embeddings, count, queries, RECALL_AT + 1)[0]
    wanted = [row[row != number][:RECALL_AT] for row, number in zip(nearest, own, strict=True)]
    for index.nprobe in PROBES:
        answers = approximate(index, embeddings, queries, RECALL_AT + 1)[0]
        recall = float(np.mean([np.isin(want, row).mean() for want, row in zip(wanted, answers, strict=True)]))
        if recall >= RECALL or index.nprobe >= lists:
            break
    facts = {"lists": lists, "probes": index.nprobe, "recall": round(recall, 4), "recall_at": RECALL_AT}
    # it stays in memory where nothing can be written, or another build has taken the folder away
    with suppress(OSError, RuntimeError):
        if path.parent.is_dir():
            with atomic_file(path) as temporary:
                faiss.write_index(index, str(temporary))
            write_json(path.with_suffix(".json"), facts | {"recall_sample": len(own)})
    return index


def read(path: Path, count: int) -> faiss.Index | None:
    """The lists in a file, memory-mapped; None if it is missing, damaged, or of another number of vectors."""
    faiss = load_faiss()
    try:
        index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        index.nprobe = read_json(path.with_suffix(".json"))["probes"]
    except (RuntimeError, TypeError, ValueError, AttributeError):
        return None
    return index if index.ntotal == count else None


def approximate(
    lists: faiss.Index, embeddings: Embeddings, queries: np.ndarray, top: int
) -> tuple[np.ndarray, np.ndarray]:
    """As `exact`, of the `OVERSAMPLING` times as many that the lists give; -1 where these hold fewer."""
    candidates = lists.search(np.ascontiguousarray(queries, np.float32), OVERSAMPLING * top)[1]
    dots = np.stack([embeddings(row) @ query for row, query in zip(candidates, queries, strict=True)])
    dots[candidates < 0] = -np.inf
    best = np.argsort(-dots, axis=1, kind="stable")[:, :top]
    return np.take_along_axis(candidates, best, 1), np.take_along_axis(dots, best, 1)


def load_faiss():
    """FAISS; raises a ValueError that names the extra if it is not installed."""
    try:
        import faiss
    except ImportError as error:
        raise ValueError("FAISS is not installed: pip install 'opinion-transformers[retrieval]'") from error
    return faiss
