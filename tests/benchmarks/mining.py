"""What work beyond one process costs: reading the tweet stream, pairing, embedding, and how they grow.

    python -m tests.benchmarks.mining reading ~/stream           # minutes of the archived stream, *.json.bz2
    python -m tests.benchmarks.mining pairing 1 10               # millions of synthetic answers, already read
    python -m tests.benchmarks.mining pairing 1 --limit 2        # in so many GiB of memory for data (RLIMIT_DATA)
    python -m tests.benchmarks.mining embedding 4096 12288       # texts: by an engine, and by one process alone

Every run has a process of its own. Seconds are those of the processor, of all its processes together, after the
libraries were loaded. Unpacking and parsing alone is measured in the same minute, since how much a processor does
depends on what else it is doing.
"""

from __future__ import annotations

import bz2
import multiprocessing
import os
import resource
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import typer

ANSWERS = 1_000_000  # of a partition
STATUSES, REACH, QUOTES = 1814, 20, 0.13  # of a minute of July 2019; minutes back to answered tweets; share of answers

app = typer.Typer(help="What work beyond one process costs.")


def parse_only(files: list[Path]) -> dict[str, float]:
    """Each file unpacked in one go and every line parsed by orjson."""
    from orjson import loads

    begin = seconds()
    lines = sum(
        loads(line) is not None for file in files for line in bz2.decompress(file.read_bytes()).splitlines() if line
    )
    return {"lines": lines, "seconds": seconds() - begin}


def mine(files: list[Path], folder: Path) -> dict[str, float]:
    """The miner's first stage and the rest."""
    from dataset_scripts.base.engine import start_engine
    from dataset_scripts.twitter_stream import mining, parsing
    from dataset_scripts.twitter_stream.files import parts
    from dataset_scripts.twitter_stream.options import MiningOptions

    start_engine("native")
    options = MiningOptions()

    def read(files: list[Path], folder: Path) -> None:
        parsing.parse(list(parts(files)), folder, options, 1)

    read(files[:1], folder / "first")  # what happens once is not measured
    begin = seconds()
    read(files, folder / "work" / "rows")
    middle = seconds()
    mined = mining.mine(files, folder / "out", folder / "work", options)  # finds the first stage done
    return {
        "reading": middle - begin,
        "pairing": seconds() - middle,
        "pairs": sum(counts["pairs found"] for counts in mined.sets.values()),
    }


def write_rows(millions: int, rows: Path) -> int:
    """Writes what reading a stream with so many million answers would; returns into how many partitions.

    Answers go to tweets of the last minutes, the popular ones more often, which are answers themselves in the half of
    cases; all are seen, a quarter is in English, and one in twenty says what others do.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from dataset_scripts.twitter_stream.statuses import QUOTE, REPLY, TWEET

    draw, parts = np.random.default_rng(0), 1 + millions * 10**6 // ANSWERS

    def called(ids: np.ndarray) -> np.ndarray:
        """64 bits for each id, as evenly spread as hashes are."""
        mixed = ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        return mixed ^ (mixed >> np.uint64(32))

    def english(ids: np.ndarray) -> np.ndarray:
        return called(ids + 10**12) % np.uint64(4) == 0

    for chunk in range(2 * millions):  # a million tweets each, the half of them answers
        tweets = np.arange(chunk * 10**6, (chunk + 1) * 10**6)
        answers = draw.choice(tweets, len(tweets) // 2, replace=False)
        to = np.maximum(0, answers - 1 - (REACH * STATUSES * draw.random(len(answers)) ** 3).astype(int))
        to -= to % draw.choice([1, 10, 100], len(answers))
        kinds = np.where(draw.random(len(answers)) < QUOTES, QUOTE, REPLY)
        ids, owners = np.concatenate([tweets, answers]), called(np.concatenate([tweets, to]))
        said = [f"an invented text of a usual length, number {id if id % 20 else id % 999}, and no more" for id in ids]
        usable = english(ids)
        columns = {
            "kind": np.concatenate([np.full(len(tweets), TWEET), kinds]),
            "state": np.where(usable, 0, 1).astype(np.int8),
            "text": np.where(usable, said, ""),
            "owner": owners,
            "child": called(ids),
        }
        place = ((owners >> np.uint64(32)) * np.uint64(parts)) >> np.uint64(32)
        for part in range(parts):
            folder = rows / f"shard-{chunk}" / f"part={part}"
            folder.mkdir(parents=True)
            table = pa.table({name: values[place == part] for name, values in columns.items()})
            pq.write_table(table, folder / "rows.parquet")
    return parts


def pair(rows: Path, folder: Path, parts: int, limit: float | None) -> dict[str, float]:
    """All that comes after reading."""
    from dataset_scripts.base.engine import start_engine
    from dataset_scripts.twitter_stream.mining import draw
    from dataset_scripts.twitter_stream.options import MiningOptions

    start_engine("native")
    if limit:
        resource.setrlimit(resource.RLIMIT_DATA, (int(limit * 2**30), -1))
    begin = seconds()
    tweets, sets = draw(rows, folder / "work", folder / "out", MiningOptions(), parts)
    pairs = sum(counts["pairs found"] for counts in sets.values())
    return {"pairing": seconds() - begin, "pairs": pairs, "conversations": tweets["conversations"]}


def embed(texts: list[str], folder: Path, workers: int) -> dict[str, float]:
    """So many workers of an engine; with none this process alone, on one core, too."""
    import pyarrow as pa
    import torch

    from dataset_scripts.base.engine import start_engine
    from modeling.base.models import load_model
    from modeling.search import scale

    begin = seconds()
    if workers:
        start_engine("native")
        scale.embed(pa.array(texts), partial(load_model, "bundled"), folder, 128, workers)
    else:
        torch.set_num_threads(1)
        load_model("bundled").encode_document(texts, batch_size=128, normalize_embeddings=True, show_progress_bar=False)
    return {"embedding": seconds() - begin}


def seconds() -> float:
    """Seconds of the processor that this process and all below it have used."""
    total = 0.0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        with suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def measured(function: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """Calls a function in a fresh process; its result, and `mib`, the most memory of that and all below it."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        process, done, peak = psutil.Process(pool.submit(os.getpid).result()), threading.Event(), 0

        def look() -> None:
            nonlocal peak
            while not done.wait(0.2):
                with suppress(psutil.Error):
                    peak = max(
                        peak, sum(each.memory_info().rss for each in (process, *process.children(recursive=True)))
                    )

        watch = threading.Thread(target=look)
        watch.start()
        try:
            return pool.submit(function, *arguments).result() | {"mib": peak / 2**20}
        finally:
            done.set()
            watch.join()


@app.command()
def reading(folder: Path) -> None:
    """Of a folder of minutes."""
    files = sorted(folder.rglob("*.json.bz2"))
    with tempfile.TemporaryDirectory() as temporary:
        begin = time.perf_counter()
        ours = measured(mine, files, Path(temporary))
        clock, alone = time.perf_counter() - begin, measured(parse_only, files)
    megabytes, share = sum(file.stat().st_size for file in files) / 1e6, alone["seconds"] / ours["reading"]
    print(f"{len(files):,} minutes, {megabytes:,.1f} MB, {clock:.1f} s by the clock, {ours['mib']:,.0f} MiB")
    print(f"  reading {ours['reading']:.2f} s, unpacking and parsing alone {alone['seconds']:.2f} s: {share:.2f}")
    print(f"  pairing {ours['pairing']:.2f} s, {ours['pairs']:,} pairs")


@app.command()
def pairing(millions: list[int], limit: float | None = None) -> None:
    """Of so many million answers, in so many GiB of memory for data of all threads."""
    for size in millions:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            parts = write_rows(size, folder / "rows")
            begin = time.perf_counter()
            ours = measured(pair, folder / "rows", folder / "run", parts, limit)
            clock = time.perf_counter() - begin
        print(f"{size:,} million answers, {parts} partitions, {clock:.1f} s by the clock, {ours['mib']:,.0f} MiB")
        print(
            f"  {ours['pairing']:.1f} s, {ours['pairs']:,} pairs, {ours['conversations']:,} conversations", flush=True
        )


@app.command()
def embedding(sizes: list[int]) -> None:
    """Of so many texts, by none, one and two workers of an engine."""
    for size in sizes:
        texts = [f"an invented text of a usual length, number {number}, and no more" for number in range(size)]
        for workers in range(3):
            with tempfile.TemporaryDirectory() as folder:
                begin = time.perf_counter()
                ours = measured(embed, texts, Path(folder), workers)
                clock = time.perf_counter() - begin
            print(f"{size:,} texts, {workers} workers: {ours['embedding']:.1f} s, {clock:.1f} s by the clock")


if __name__ == "__main__":
    app()
