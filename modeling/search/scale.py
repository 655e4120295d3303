"""Embedding beyond one process: an engine deals parts of a collection out to actors, each of which has the model."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import daft
import numpy as np
import pyarrow as pa
from daft import DataType, col
from tqdm import tqdm

from dataset_scripts.base.engine import cluster, cores, engine_errors
from dataset_scripts.base.files import atomic_file

PART = 4096  # texts that are given to an actor at once, and what an interruption loses of each


class Actor:
    """What embeds parts of the texts in a folder, with a model of its own and one core, or a GPU where there are some.

    A part's texts are read by length in batches, which are the same whichever actor has it.
    """

    def __init__(self, folder: str, load: Callable[[], Any], size: int, batch_size: int) -> None:
        self.folder, self.load, self.size, self.batch_size = Path(folder), load, size, batch_size

    @cached_property
    def encode(self) -> Callable[..., np.ndarray]:
        """Loads the model, in the actor's process."""
        import torch
        from huggingface_hub.utils import disable_progress_bars

        disable_progress_bars()  # of weights that are loaded
        torch.set_num_threads(1)  # and other runtimes': the vectors of many threads depend on how many
        model = self.load()
        return getattr(model, "index_encoder", model).encode_document

    @daft.method(return_dtype=DataType.int64())
    def embed(self, part: int) -> int:
        """Writes the vectors (float16) of the texts of a part; returns how many there are."""
        start = part * self.size
        with pa.memory_map(str(self.folder.with_suffix(".arrow"))) as file:
            texts = pa.ipc.open_file(file).read_all()["text"].slice(start, self.size).to_pylist()
        options = {"batch_size": self.batch_size, "normalize_embeddings": True, "show_progress_bar": False}
        vectors = np.asarray(self.encode(texts, **options))
        if bad := np.flatnonzero(~np.isfinite(vectors).all(axis=1)).tolist():
            raise ValueError(f"the model gives no finite vector of {texts[bad[0]]!r}: its weights are damaged")
        with atomic_file(part_file(self.folder, part)) as temporary, pa.OSFile(str(temporary), "wb") as file:
            np.save(file, vectors.astype(np.float16))
        return len(texts)


def part_file(folder: Path, part: int) -> Path:
    """Where the vectors of a part are."""
    return folder / f"{part:06}.npy"


def embed(texts: pa.Array, load: Callable[[], Any], folder: Path, batch_size: int, workers: int | None) -> np.ndarray:
    """Vectors of distinct texts, by the engine of this process, see `engine.start_engine`.

    Args:
        texts: n of them.
        load: Loads the model; it is called in each actor.
        folder: Of these texts and this model, which all machines see, with a name without dots. It receives a file
            for each part; those that are there are not made again.
        batch_size: Texts per forward pass.
        workers: Actors; by default one for each GPU, or else each core.

    Returns:
        A memory map beside the parts of shape (n, dimension), float16, rows of length 1 within its digits.
    """
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    if not (stored := folder.with_suffix(".arrow")).exists():
        with atomic_file(stored) as temporary, pa.OSFile(str(temporary), "wb") as file:
            table = pa.table({"text": texts})
            with pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
    parts = range(-(-len(texts) // PART))
    missing = [part for part in parts if not part_file(folder, part).exists()]
    if missing:
        gpus = cluster("GPU") if cluster("CPU") else torch.cuda.device_count()
        count = min(workers or gpus or cores(), len(missing))
        actor = daft.cls(Actor, max_concurrency=count, use_process=True, gpus=int(gpus > 0))
        dealt = daft.from_pydict({"part": missing}).into_batches(1)
        dealt = dealt.select(actor(str(folder), load, PART, batch_size).embed(col("part")))
        done = (len(parts) - len(missing)) * PART
        with engine_errors(), tqdm(total=len(texts), desc="embedding", unit="text", initial=done) as bar:
            for row in dealt.iter_rows(results_buffer_size=None):
                bar.update(row["part"])
    dimension = np.load(part_file(folder, 0), mmap_mode="r").shape[1]
    vectors = np.lib.format.open_memmap(folder.with_suffix(".npy"), "w+", np.float16, (len(texts), dimension))
    for part in parts:
        vectors[part * PART : (part + 1) * PART] = np.load(part_file(folder, part))
    vectors.flush()
    return vectors
