"""The vectors with the largest inner products: exactly, or by an approximate FAISS index where there are many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm.auto import tqdm

from dataset_scripts.base.files import atomic_file

if TYPE_CHECKING:
    import faiss

EXACT = 100_000  # up to here every vector is compared, on one core in some 10 ms
BLOCK = 16_384  # vectors that are computed and added at once
PER_LIST = 39  # vectors per list to find its centre from: the fewest that FAISS takes without a warning
PROBES = (8, 16, 32, 64, 128, 256)  # lists that a question looks into
RECALL = 0.98  # the fewest lists with which so many of the exact nearest are found are chosen
RECALL_AT, RECALL_SAMPLE = 50, 200
OVERSAMPLING = 2  # times as many are taken from the approximate index as are wanted, and compared exactly

Vectors = Callable[[np.ndarray], np.ndarray]  # (k,) numbers -> (k, dimension) float32


def load_faiss() -> ModuleType:
    """FAISS.

    Raises:
        ValueError: If it is not installed; the message names the extra.
    """
    try:
        import faiss
    except ImportError as error:
        raise ValueError("FAISS is not installed: pip install 'opinion-transformers[retrieval]'") from error
    return faiss


def build(documents: Vectors, queries: Vectors, count: int, dimension: int) -> tuple[faiss.Index, dict[str, Any]]:
    """An index of the vectors 0 to `count` - 1: a flat one up to `EXACT`, above it inverted lists of 8-bit numbers.

    Args:
        documents: Gives vectors by their numbers.
        queries: Gives the vectors of the same texts as questions, for measuring recall.
        count: How many there are, at least one.
        dimension: Their length.

    Returns:
        The index, in memory, and its facts: `kind` (`flat` or `lists`), `built_for` (vectors), and for lists their
        number, `probes` (how many a question looks into), `recall`, `recall_at` and `recall_sample`.
    """
    faiss = load_faiss()
    if count <= EXACT:
        index = faiss.IndexFlatIP(dimension)
        add(index, documents, 0, count)
        return index, {"kind": "flat", "built_for": count, "recall": 1.0}
    lists = int(2 * count**0.5)
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dimension), dimension, lists, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
    )
    random = np.random.default_rng(0)
    index.train(documents(np.sort(random.choice(count, min(count, PER_LIST * lists), replace=False))))
    add(index, documents, 0, count)
    asked = np.sort(random.choice(count, RECALL_SAMPLE, replace=False))
    questions = np.ascontiguousarray(queries(asked), np.float32)
    probes, recall = choose_probes(index, exact(documents, questions, count, RECALL_AT + 1), questions, asked)
    return index, {
        "kind": "lists", "built_for": count, "lists": lists, "probes": probes, "recall": round(recall, 4),
        "recall_at": RECALL_AT, "recall_sample": RECALL_SAMPLE,
    }  # fmt: skip


def add(index: faiss.Index, documents: Vectors, start: int, stop: int) -> None:
    """Adds the vectors with these numbers; they follow those that the index has."""
    with tqdm(total=stop, initial=start, desc="indexing", unit="vector", disable=stop - start <= BLOCK) as bar:
        for block in _blocks(documents, start, stop):
            index.add(block)
            bar.update(len(block))


def exact(documents: Vectors, asked: np.ndarray, count: int, top: int) -> np.ndarray:
    """Numbers of the nearest of all vectors, without an index; shape (n, top), best first."""
    load_faiss()
    from faiss.contrib.exhaustive_search import knn_ground_truth

    blocks = tqdm(_blocks(documents, 0, count), "measuring recall", -(-count // BLOCK), unit="block")
    return knn_ground_truth(asked, blocks, top, metric_type=load_faiss().METRIC_INNER_PRODUCT, ngpu=0)[1]


def choose_probes(
    index: faiss.Index, nearest: np.ndarray, asked: np.ndarray, own: np.ndarray, target: float = RECALL
) -> tuple[int, float]:
    """The fewest lists to look into, and the recall with them; the index is left with that setting.

    Args:
        index: Inverted lists.
        nearest: Numbers of the nearest vectors by exact search, shape (n, RECALL_AT + 1).
        asked: The questions, shape (n, dimension).
        own: Number of the vector of each question's own text, which is no answer; shape (n,).
        target: Recall to reach.
    """
    wanted = [set(row[row != number][:RECALL_AT].tolist()) for row, number in zip(nearest, own, strict=True)]
    probes, recall = 1, 0.0
    for probes in PROBES:
        index.nprobe = min(probes, index.nlist)
        found = index.search(asked, OVERSAMPLING * RECALL_AT + 1)[1]
        recall = float(np.mean([len(want & set(row.tolist())) / len(want)
                                for want, row in zip(wanted, found, strict=True)]))  # fmt: skip
        if recall >= target:
            break
    return index.nprobe, recall


def extend(
    index: faiss.Index, facts: dict[str, Any], documents: Vectors, queries: Vectors, count: int
) -> tuple[faiss.Index, dict[str, Any]]:
    """The index with all vectors up to `count` - 1; made anew where it has outgrown what it was built for.

    Args:
        index: As `opened` gives it, with the first vectors.
        facts: Its facts.
        documents, queries: See `build`.
        count: Vectors that there are now.
    """
    if index.ntotal > count or (facts["kind"] == "flat") != (count <= EXACT) or count > 2 * facts["built_for"]:
        return build(documents, queries, count, index.d)
    add(index, documents, index.ntotal, count)
    return index, facts


def opened(path: Path, facts: dict[str, Any], count: int, dimension: int, mapped: bool = True) -> faiss.Index | None:
    """The index in a file, memory-mapped unless it is to be extended; None if it is missing or damaged."""
    faiss = load_faiss()
    try:
        index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC if mapped else 0)
    except RuntimeError:
        return None
    kind = faiss.IndexFlatIP if facts["kind"] == "flat" else faiss.IndexIVFScalarQuantizer
    if not isinstance(index, kind) or index.d != dimension or index.ntotal < count:
        return None
    if facts["kind"] == "lists":
        index.nprobe = facts["probes"]
    return index


def search(index: faiss.Index, queries: np.ndarray, wanted: int, count: int) -> np.ndarray:
    """Numbers of the nearest among the first `count` vectors of an index, which may have more.

    Args:
        index: As `opened` gives it.
        queries: Shape (n, dimension).
        wanted: Numbers per query, if there are so many vectors.
        count: How many vectors there are for the asker, at least one.

    Returns:
        Shape (n, min(wanted, count)), best first; -1 where the lists that were looked into hold fewer.
    """
    params = None
    if index.ntotal > count:
        faiss = load_faiss()
        first = faiss.IDSelectorRange(0, count)
        lists = isinstance(index, faiss.IndexIVF)
        params = (faiss.SearchParametersIVF(sel=first, nprobe=index.nprobe) if lists
                  else faiss.SearchParameters(sel=first))  # fmt: skip
    return index.search(np.ascontiguousarray(queries, np.float32), min(wanted, count), params=params)[1]


def write(index: faiss.Index, path: Path) -> None:
    """Writes an index under a temporary name and renames it."""
    with atomic_file(path) as temporary:
        load_faiss().write_index(index, str(temporary))


def _blocks(documents: Vectors, start: int, stop: int) -> Iterator[np.ndarray]:
    for place in range(start, stop, BLOCK):
        yield np.ascontiguousarray(documents(np.arange(place, min(place + BLOCK, stop))), np.float32)
