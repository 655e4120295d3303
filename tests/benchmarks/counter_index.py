"""What a shortlist out of up to a million arguments costs: seconds, memory, recall; approximate and exact search.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.counter_index --sizes 10000,100000,1000000 --clock cpu
    OMP_NUM_THREADS=1 python -m tests.benchmarks.counter_index --sizes 10000 --texts arguments.csv --hnsw

Vectors are drawn around those of some thousand texts: two of them mixed, and noise with the covariance of all, so that
there are topics and neighbours as in a real collection. The questions are drawn in the same way and lie in no index.
Both kinds of index are made at each size, whatever the project would choose, and searched for the same questions.
Memory is that of a process of its own which opens the index and asks it; files that are mapped are told from what is
allocated (Linux).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dataset_scripts.base.files import write_json
from modeling.bipolar.counter_build import ROW_GROUP
from modeling.bipolar.counter_index import FAISS, CounterIndex
from modeling.bipolar.counter_models import WithoutHeads
from modeling.search import shortlist as nearest
from modeling.search.stored_texts import FACTS, ROWS, VECTORS
from tests.benchmarks.search import invent, read_texts, slope

SHORTLIST = 50
QUESTIONS = 200
NOISE = 0.35  # of the length of a vector; see benchmarks/README.md
now = time.perf_counter
ROW = "{size:>9,} {kind:>6} {build:>9.1f} {mib:>8.0f} {ms:>9.2f} {worst:>8.2f} {ask:>8.1f} {recall:>8.3f} {setting}"
HEAD = "  vectors   kind  build, s  on disk  median, ms  p95, ms   ask, ms   recall"


class Given:
    """An encoder whose vectors are there already: texts are their numbers."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = vectors

    def encode(self, texts: list[str], **options: Any) -> np.ndarray:
        """Vectors of texts that are numbers."""
        return self.vectors[[int(text) for text in texts]]


def seeds(texts: list[str], model: str) -> np.ndarray:
    """Unit vectors of texts."""
    from modeling.base.models import load_model

    return load_model(model).encode(texts, batch_size=128, normalize_embeddings=True, show_progress_bar=True)


def draw(seeds: np.ndarray, count: int, random: np.random.Generator, noise: float = NOISE) -> np.ndarray:
    """Unit vectors around mixtures of two seeds; shape (count, dimension), float32."""
    shape = np.linalg.cholesky(np.cov(seeds.T) + 1e-6 * np.eye(seeds.shape[1])).T.astype(np.float32)
    shape *= noise / np.sqrt((shape**2).sum())
    out = np.empty((count, seeds.shape[1]), np.float32)
    for start in range(0, count, 65_536):
        block = out[start : start + 65_536]
        one, other = random.integers(len(seeds), size=(2, len(block)))
        share = random.uniform(0.5, 1, size=(len(block), 1)).astype(np.float32)
        block[:] = share * seeds[one] + (1 - share) * seeds[other]
        block += random.standard_normal(block.shape, np.float32) @ shape
        block /= np.linalg.norm(block, axis=1, keepdims=True)
    return out


def write_index(folder: Path, vectors: np.ndarray, texts: list[str]) -> dict[str, Any]:
    """Writes all of an index but the FAISS file, with the texts again and again; its facts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    np.save(folder / VECTORS, vectors)
    numbers = np.arange(len(vectors))
    with pq.ParquetWriter(folder / ROWS, pa.schema(
        {"row": pa.int64(), "id": pa.string(), "text": pa.string(), "group": pa.string(), "vector": pa.int32()}
    )) as writer:  # fmt: skip
        for block in np.array_split(numbers, -(-len(numbers) // 65_536)):
            rows = {"row": block, "id": [str(number) for number in block], "group": [None] * len(block),
                    "text": [f"{texts[number % len(texts)]} ({number})" for number in block],
                    "vector": block.astype(np.int32)}  # fmt: skip
            writer.write_table(pa.table(rows, schema=writer.schema), row_group_size=ROW_GROUP)
    counts = {"kept": len(vectors), "distinct": len(vectors)}
    return {"complete": True, "kind": CounterIndex.KIND, "model": "given", "dimension": vectors.shape[1],
            "max_characters": 10_000, "counts": counts}  # fmt: skip


def measure(folder: Path, facts: dict[str, Any], kind: str, questions: np.ndarray, found: list[set[int]]):
    """Makes one kind of index, asks it, and counts what it finds; `found` is filled by the exact one."""
    index = CounterIndex(folder, facts)
    index.model = WithoutHeads(Given(questions))
    made, search, build = make(index, kind)
    nearest.write(made, folder / FAISS)
    write_json(folder / FACTS, facts | {"search": search})
    index = CounterIndex.open(folder)
    index.model = WithoutHeads(Given(questions))
    if kind == "hnsw":  # which the project does not open
        index.nearest = made
    del made
    index.ask("0", shortlist=SHORTLIST)  # maps the files, and finds the first row of each text
    seconds, lists = [], []
    for question in questions:
        start = now()
        lists.append(index.shortlisted(question[None], SHORTLIST)[0])
        seconds.append(now() - start)
    if kind == "flat":
        found[:] = [set(row[:SHORTLIST].tolist()) for row in lists]
    asked = [_seconds(lambda n=number: index.ask(str(n), shortlist=SHORTLIST))[1] for number in range(50)]
    return {
        "size": len(index.vectors), "kind": kind, "build": build, "mib": (folder / FAISS).stat().st_size / 2**20,
        "ms": 1000 * statistics.median(seconds), "worst": 1000 * float(np.percentile(seconds, 95)),
        "ask": 1000 * statistics.median(asked),
        "recall": float(np.mean([len(want & set(row.tolist())) / SHORTLIST
                                 for want, row in zip(found, lists, strict=True)])),
        "setting": {key: value for key, value in search.items() if key in ("lists", "probes")} or "",
        **(memory(folder) if kind != "hnsw" else {}),
    }  # fmt: skip


def make(index: CounterIndex, kind: str) -> tuple[Any, dict[str, Any], float]:
    """An index of a kind, its facts, and the seconds to build it."""
    if kind == "hnsw":
        faiss = nearest.load_faiss()
        made = faiss.IndexHNSWSQ(index.shape[1], faiss.ScalarQuantizer.QT_8bit, 32, faiss.METRIC_INNER_PRODUCT)
        made.hnsw.efSearch = 256
        start = now()
        made.train(index.vectors[:: max(1, index.shape[0] // 10_000)])
        nearest.add(made, index._documents, 0, index.shape[0])
        return made, {"kind": "hnsw"}, now() - start
    nearest.EXACT = index.shape[0] if kind == "flat" else 0
    (made, search), seconds = _seconds(lambda: nearest.build(index._documents, index._queries, *index.shape))
    return made, search, seconds


def memory(folder: Path) -> dict[str, float]:
    """MiB of a process that opens an index and asks 50 questions: before, and what asking adds, mapped and not."""
    command = [sys.executable, "-m", "tests.benchmarks.counter_index", "--asked", str(folder)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def asked(folder: Path) -> None:
    """What `memory` runs."""
    import pandas as pd  # noqa: F401  its memory is not that of the index
    import pyarrow.parquet as pq  # noqa: F401

    nearest.load_faiss()
    before = _resident()
    index = CounterIndex.open(folder)
    questions = np.asarray(index.vectors[:: index.shape[0] // 50][:50])
    index.model = WithoutHeads(Given(questions))
    for number in range(len(questions)):
        index.ask(str(number), shortlist=SHORTLIST)
    after = _resident()
    print(json.dumps({"before_mib": sum(before), "allocated_mib": after[0] - before[0],
                      "mapped_mib": after[1] - before[1]}))  # fmt: skip


def _resident() -> tuple[float, float]:
    """MiB that are allocated, and MiB of files that are mapped and were read."""
    lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return tuple(int(lines[name].split()[0]) / 1024 for name in ("RssAnon", "RssFile"))  # type: ignore[return-value]


def _seconds(function: Callable[[], Any]) -> tuple[Any, float]:
    start = now()
    result = function()
    return result, now() - start


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000", help="numbers of arguments (default: %(default)s)")
    parser.add_argument("--texts", type=Path, help="a file of texts to draw vectors around instead of invented ones")
    parser.add_argument("--seeds", type=int, default=4000, help="number of these texts (default: %(default)s)")
    parser.add_argument("--model", default="bundled", help="'bundled', a folder or a Hub id (default: %(default)s)")
    parser.add_argument("--hnsw", action="store_true", help="measure a graph index, too; it takes long to build")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall",
                        help="cpu: seconds of the processor; for one thread beside other work")  # fmt: skip
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    parser.add_argument("--asked", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.asked:
        return asked(options.asked)
    global now
    now = time.process_time if options.clock == "cpu" else time.perf_counter
    random = np.random.default_rng(0)
    texts = read_texts(options.texts, options.seeds) if options.texts else invent(options.seeds)
    around = seeds(texts, options.model)
    rows: list[dict[str, Any]] = []
    print(HEAD)
    for size in sorted(int(size) for size in options.sizes.split(",")):
        with tempfile.TemporaryDirectory() as temporary:
            vectors = draw(around, size + QUESTIONS, random)
            questions, folder = vectors[:QUESTIONS].copy(), Path(temporary) / "index"
            facts = write_index(folder, vectors[QUESTIONS:], texts)
            del vectors
            found: list[set[int]] = []
            for kind in ("flat", "lists", *(["hnsw"] if options.hnsw else [])):
                rows.append(measure(folder, facts, kind, questions, found))
                print(ROW.format(**rows[-1]), flush=True)
                if kind == "hnsw":
                    continue
                print("          memory, MiB: {before_mib:.0f} before, asking allocates {allocated_mib:.0f} and maps "
                      "{mapped_mib:.0f}".format(**rows[-1]), flush=True)  # fmt: skip
            flat, lists = rows[-2 - options.hnsw], rows[-1 - options.hnsw]
            print(f"          exact / lists {flat['ms'] / lists['ms']:.1f}")
        if options.json:
            write_json(options.json, rows)
    if len({row["size"] for row in rows}) > 1:
        for kind in ("flat", "lists"):
            part = [row for row in rows if row["kind"] == kind]
            print(f"growth of {kind}, as an exponent of the number of vectors: search "
                  f"{slope([row['size'] for row in part], [row['ms'] for row in part]):.2f}, build "
                  f"{slope([row['size'] for row in part], [row['build'] for row in part]):.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
