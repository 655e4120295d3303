"""Extending an index of counter-arguments: only what is new is embedded, and files are replaced as wholes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dataset_scripts.base.files import atomic_file, write_json
from modeling.bipolar.counter_build import ROW_GROUP, part_of
from modeling.bipolar.counter_index import FAISS, LOCK, CounterIndex
from modeling.bipolar.counter_models import document_encoder
from modeling.search import shortlist as nearest
from modeling.search.collection import Collection, choose_columns, collect
from modeling.search.records import open_source
from modeling.search.stored_texts import FACTS, ROWS, VECTORS

if TYPE_CHECKING:
    import pyarrow

COPY = 65_536  # vectors or rows that are copied at once


def extend_counter_index(
    index: CounterIndex,
    source: str | Path,
    text: str | None = None,
    id: str | None = None,
    config: str | None = None,
    split: str | None = None,
    encoding: str = "utf-8-sig",
    batch_size: int = 128,
) -> dict[str, Any]:
    """Adds the arguments of another source to an index; texts that it has are counted and not embedded again.

    The index stays as it was until all is ready. What an interruption had embedded is used when the same command is
    given again, and a source that the index has is not added twice.

    Args:
        index: The index, whose files are replaced.
        source, config, split, encoding: See `modeling.search.records.open_source`.
        text: Column of the texts; the one of the index if None.
        id: Column of the ids; if None, that of the index, if the source has it.
        batch_size: Texts per forward pass.

    Returns:
        The entry of `parts` in `index.json`, and `added`: whether it is new.

    Raises:
        ValueError: If the source cannot be read, has no such column, or the index has another model.
    """
    from filelock import FileLock

    if batch_size < 1:
        raise ValueError("--batch_size must be 1 or more")
    opened = open_source(source, config, split, encoding)
    built = index.facts["columns"]
    id = id or (built["id"] if built["id"] in opened.columns else None)
    columns = choose_columns(opened, text or built["text"], None, id)
    found = collect(opened, columns, index.facts["max_characters"])
    with FileLock(index.folder / LOCK):
        index = _reopened(index)
        for part in index.facts["parts"]:
            if part["digest"] == found.digest:
                return {**part, "added": False}
        _clear_temporary(index.folder)
        part = _append(index, found, batch_size)
        for path in index.folder.glob("extension-*"):
            path.unlink()
    return {**part, "added": True}


def _reopened(index: CounterIndex) -> CounterIndex:
    """The index as it is now, another process may have extended it; with the model that is loaded already."""
    fresh = CounterIndex.open(index.folder)
    fresh.model = index.model
    return fresh


def _append(index: CounterIndex, found: Collection, batch_size: int) -> dict[str, Any]:
    """Embeds what is new and replaces the files; `index.json` is the last, and until then the old index holds."""
    import pyarrow.parquet as pq

    from modeling.base.vectors import embed_file

    size, dimension = index.shape
    numbers = _known(index, found.texts)
    new = np.flatnonzero(numbers < 0)
    numbers[new] = size + np.arange(len(new))
    added = np.empty((0, dimension), np.float32)
    if len(new):
        texts = [found.texts[place] for place in new]
        path = index.folder / f"extension-{size}-{found.digest[:16]}.npy"
        added = embed_file(document_encoder(index.model), texts, path, batch_size)
    first_row = sum(part["counts"]["read"] for part in index.facts["parts"])
    part = part_of(found, first_row, len(found.texts) - len(new))
    counts = _sum(index.facts["counts"], part["counts"], size + len(new))
    facts = {**index.facts, "counts": counts, "parts": [*index.facts["parts"], part]}
    path = index.folder / VECTORS
    with (
        atomic_file(path) as vectors,
        atomic_file(index.folder / ROWS) as rows,
        atomic_file(index.folder / FAISS) as faiss,
    ):
        _append_vectors(index.vectors, added, vectors)
        _append_rows(index, found.rows, numbers, first_row, rows)
        grown = CounterIndex(index.folder, facts)
        grown.model, grown.vectors = index.model, np.load(vectors, mmap_mode="r")
        grown._table = pq.ParquetFile(rows)
        made, facts["search"] = _extended(index, grown)
        nearest.load_faiss().write_index(made, str(faiss))
    write_json(index.folder / FACTS, facts)
    return part


def _extended(index: CounterIndex, grown: CounterIndex) -> tuple[Any, dict[str, Any]]:
    """The FAISS index with the new texts, in memory, and its facts."""
    search, vectors = index.facts["search"], (grown._documents, grown._queries)
    made = nearest.opened(index.folder / FAISS, search, *index.shape, mapped=False)
    if made is None or made.ntotal != index.shape[0]:  # damaged, or not the last one: an extension was interrupted
        return nearest.build(*vectors, *grown.shape)
    return nearest.extend(made, search, *vectors, grown.shape[0])


def _known(index: CounterIndex, texts: list[str]) -> np.ndarray:
    """Numbers of texts in the index, -1 where it has them not; read by parts, never as a whole."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = pa.array(texts, pa.large_string())
    numbers = np.full(len(texts), -1, np.int64)
    left = index.facts["counts"]["kept"]
    for batch in index._table.iter_batches(batch_size=COPY, columns=["text", "vector"]):
        batch, left = batch[:left], max(0, left - len(batch))
        found = pc.index_in(batch["text"].cast(pa.large_string()), value_set=wanted)
        places = found.drop_null().to_numpy()
        numbers[places] = batch["vector"].filter(found.is_valid()).to_numpy()
    return numbers


def _append_vectors(old: np.ndarray, new: np.ndarray, path: Path) -> None:
    shape = (len(old) + len(new), old.shape[1])
    with path.open("wb") as file:  # a temporary name need not end in .npy
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for part in (old, new):
            for start in range(0, len(part), COPY):
                file.write(np.ascontiguousarray(part[start : start + COPY], "<f4").data)


def _append_rows(index: CounterIndex, new: pyarrow.Table, numbers: np.ndarray, first_row: int, path: Path) -> None:
    """Writes the rows of the index and the new ones after them, renumbered."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema, left = index._table.schema_arrow, index.facts["counts"]["kept"]
    new = new.set_column(new.schema.get_field_index("vector"), "vector",
                         pa.array(numbers[new["vector"].to_numpy()], pa.int32()))  # fmt: skip
    new = new.set_column(new.schema.get_field_index("row"), "row",
                         pa.array(new["row"].to_numpy() + first_row, pa.int64()))  # fmt: skip
    with pq.ParquetWriter(path, schema, store_schema=False) as writer:
        for batch in index._table.iter_batches(batch_size=COPY):
            writer.write_batch(batch[:left], row_group_size=ROW_GROUP)
            left = max(0, left - len(batch))
        writer.write_table(new.cast(schema), row_group_size=ROW_GROUP)


def _sum(one: dict[str, Any], other: dict[str, Any], distinct: int) -> dict[str, Any]:
    """The counts of both; texts that both have are one."""
    total: dict[str, Any] = {name: one[name] + other[name] for name in ("read", "kept", "ungrouped")}
    total |= {name: dict(Counter(one[name]) + Counter(other[name])) for name in ("dropped", "changed")}
    return {**one, **total, "distinct": distinct, "lines": {**other["lines"], **one["lines"]}}


def _clear_temporary(folder: Path) -> None:
    """Removes what killed extensions left half-written; the lock keeps others out."""
    for name in (VECTORS, ROWS, FAISS):
        for path in folder.glob(f"{name}.*.tmp"):
            path.unlink()
