"""The runs of `tests.benchmarks.mining`, each made to be called in a process of its own; engine: Daft's own."""

from __future__ import annotations

import bz2
import itertools
import os
import random
import shutil
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.processes import Clock


def load(first: Path, folder: Path) -> Any:
    """Loads the miner and reads one file, so that what happens once is not measured; returns its default options."""
    from dataset_scripts.twitter_stream.engine import start_engine
    from dataset_scripts.twitter_stream.options import MiningOptions

    start_engine("native")
    options = MiningOptions()
    read([first], folder / "first", options)
    return options


def read(files: list[Path], folder: Path, options: Any) -> None:
    """The first stage, with shards as large as the miner makes them."""
    from dataset_scripts.twitter_stream import mining, parsing
    from dataset_scripts.twitter_stream.files import parts

    pieces = list(parts(files))
    size = mining.shard_size(sum(piece["bytes"] for piece in pieces), os.cpu_count() or 1)
    parsing.parse(pieces, folder, options, parsing.bucket_count(pieces), size)


def parse_only(files: list[Path]) -> int:
    """The number of lines of bz2 files, each file unpacked in one go and every line parsed by orjson."""
    from orjson import loads

    found = 0
    for file in files:
        found += sum(loads(line) is not None for line in bz2.decompress(file.read_bytes()).splitlines() if line)
    return found


def pace(files: list[Path], stop: Any) -> float:
    """Seconds of the processor for a packed byte in `parse_only`, file after file until `stop`.

    How fast a processor is depends on what else it does: this says how fast it was while something else was measured.
    It never rests, since a process that has just been woken up is slower.
    """
    seconds, done = 0.0, 0
    for file in itertools.cycle(files):
        before = time.process_time()
        parse_only([file])
        seconds, done = seconds + time.process_time() - before, done + file.stat().st_size
        if stop.is_set():
            return seconds / done
    raise ValueError("no files")


def time_reading(files: list[Path], folder: Path) -> dict[str, float]:
    """Seconds of the miner's first stage, of the processor and by the clock."""
    options = load(files[0], folder)
    clock, begun = Clock(), time.perf_counter()
    read(files, folder / "rows", options)
    return {"mined": clock.lap(), "clock": time.perf_counter() - begun}


def time_mining(files: list[Path], folder: Path) -> dict[str, Any]:
    """Seconds of the processor and by the clock for reading and for the rest; bytes that went in, between and out."""
    from dataset_scripts.twitter_stream.mining import mine

    options = load(files[0], folder)
    work, out = folder / "work", folder / "out"
    out.mkdir()
    clock, begun = Clock(), time.perf_counter()
    read(files, work / "rows", options)
    reading, middle, rows = clock.lap(), time.perf_counter(), size(work)
    mined = mine(files, out, work, options)  # finds the first stage done
    pairs = {name: counts["pairs found"] for name, counts in mined.sets.items() if counts["pairs found"]}
    return {"bytes": sum(file.stat().st_size for file in files), "reading": reading, "pairing": clock.lap(),
            "reading_clock": middle - begun, "pairing_clock": time.perf_counter() - middle,
            "rows": rows, "paired": size(work) - rows, "output": size(out), "pairs": pairs}  # fmt: skip


def size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def write_replies(path: Path, count: int, seed: int = 0) -> None:
    """Writes replies as the first stage does, all usable, to tweets of long-tailed popularity."""
    import pandas as pd

    from tests.benchmarks.stream_text import Texts

    draw, texts = random.Random(seed), Texts(seed)
    parents = [int(count * draw.random() ** 2.2) for _ in range(count)]
    rows = {"kind": ["reply"] * count, "state": [0] * count,
            "text": [f"{texts.draw(draw, 'en', 'short').lower()} of twenty and more" for _ in range(count)],
            "number": [0] * count, "owner": [parent * 0x9E3779B97F4A7C15 % 2**64 for parent in parents],
            "child": [draw.getrandbits(64) for _ in range(count)]}  # fmt: skip
    types = {"state": "int8", "number": "int64", "owner": "uint64", "child": "uint64"}
    pd.DataFrame(rows).astype(types).to_parquet(path)


def time_pairs(rows: Path, folder: Path) -> dict[str, Any]:
    """Seconds of the miner's second stage and of what its third makes of co-pairs, all written; number of pairs."""
    from dataset_scripts.twitter_stream import pairing, sets
    from dataset_scripts.twitter_stream.engine import start_engine
    from dataset_scripts.twitter_stream.options import MiningOptions

    start_engine("native")
    options = MiningOptions(pairs=None)
    shard = folder / "shard-0"
    (shard / "bucket=0").mkdir(parents=True)
    shutil.copy(rows, shard / "bucket=0" / "rows.parquet")
    clock, begun = Clock(), time.perf_counter()
    folders, _ = pairing.pair([shard], folder / "work", options, 1, [])
    files = [str(file) for found in folders for file in sorted((found / pairing.ROWS).glob("*.parquet"))]
    counts = sets.write_set("coreply", files, sets.held_out(files), folder, options)
    return {"seconds": clock.lap(), "clock": time.perf_counter() - begun, "pairs": counts["pairs found"]}


def time_scan(rows: Path) -> dict[str, Any]:
    """Seconds in which for each tweet all replies are searched, as the authors do, and two drawn; nothing written."""
    import pandas as pd

    table = pd.read_parquet(rows)
    clock, begun = Clock(), time.perf_counter()
    replies = table["owner"].value_counts()
    pairs = [table[table["owner"] == owner].sample(2, random_state=0) for owner in replies.index[replies > 1]]
    return {"seconds": clock.lap(), "clock": time.perf_counter() - begun, "pairs": len(pairs)}
