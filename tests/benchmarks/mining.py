"""What mining the tweet stream costs: reading beside unpacking and parsing alone, growth, co-pairs against a scan.

    python -m tests.benchmarks.mining reading ~/stream     # real or synthetic minutes
    python -m tests.benchmarks.mining growth               # 1, 10 and 100 synthetic minutes
    python -m tests.benchmarks.mining pairs                # co-pairs of 10,000 to 1,000,000 replies

Every run has a process of its own. Seconds are those of the processor, of all its processes together, after the
libraries were loaded. Unpacking and parsing alone is measured in the same minute, since how much a processor does
depends on what else it is doing.
"""

from __future__ import annotations

import argparse
import bz2
import multiprocessing
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from tests.benchmarks import stream


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
    from dataset_scripts.twitter_stream import mining, parsing
    from dataset_scripts.twitter_stream.engine import start_engine
    from dataset_scripts.twitter_stream.files import parts
    from dataset_scripts.twitter_stream.options import MiningOptions

    start_engine("native")
    options = MiningOptions()

    def read(files: list[Path], folder: Path) -> None:
        pieces = list(parts(files))
        size = mining.shard_size(sum(piece.bytes for piece in pieces), os.cpu_count() or 1)
        parsing.parse(pieces, folder, options, parsing.bucket_count(pieces), size)

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


def co_pairs(count: int, folder: Path, scan: bool) -> dict[str, float]:
    """Two answers to each tweet out of `count` replies by the miner, or by searching all replies for each tweet."""
    import pandas as pd

    from dataset_scripts.twitter_stream import pairing, sets
    from dataset_scripts.twitter_stream.engine import start_engine
    from dataset_scripts.twitter_stream.options import MiningOptions

    draw = random.Random(0)
    owners = [int(count * draw.random() ** 2.2) * 0x9E3779B97F4A7C15 % 2**64 for _ in range(count)]
    rows = {
        "kind": ["reply"] * count,
        "state": [0] * count,
        "number": [0] * count,
        "owner": owners,
        "text": [f"an answer of more than twenty characters, {draw.getrandbits(40)}" for _ in range(count)],
        "child": [draw.getrandbits(64) for _ in range(count)],
    }
    frame = pd.DataFrame(rows).astype({"state": "int8", "owner": "uint64", "child": "uint64"})
    if scan:
        begin, replies = seconds(), frame["owner"].value_counts()
        for owner in replies.index[replies > 1]:
            frame[frame["owner"] == owner].sample(2, random_state=0)
        return {"seconds": seconds() - begin}
    start_engine("native")
    (folder / "shard-0" / "bucket=0").mkdir(parents=True)
    frame.to_parquet(folder / "shard-0" / "bucket=0" / "rows.parquet")
    begin = seconds()
    options = MiningOptions(pairs=None)
    files, _ = pairing.pair([folder / "shard-0"], folder / "work", options, 1, [])
    counts = sets.write_set("coreply", files, sets.held_out_texts(files), folder, options)
    return {"seconds": seconds() - begin, "pairs": counts["pairs found"]}


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


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("reading", "growth", "pairs"))
    parser.add_argument(
        "folder", type=Path, nargs="?", help="of *.json.bz2; for growth where synthetic minutes are kept"
    )
    parser.add_argument("--sizes", help="minutes or replies, by commas")
    options = parser.parse_args()
    sizes = [
        int(size)
        for size in (options.sizes or {"growth": "1,10,100"}.get(options.what, "10000,100000,1000000")).split(",")
    ]
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if options.what == "pairs":
            for size in sizes:
                ours = measured(co_pairs, size, Path(temporary, str(size)), False)
                text = (
                    f"{size:,} replies: {ours['pairs']:,} co-pairs in {ours['seconds']:.2f} s, {ours['mib']:,.0f} MiB"
                )
                if size <= 100_000:
                    scan = measured(co_pairs, size, Path(temporary), True)["seconds"]
                    text += f"; a scan for each tweet takes {scan / ours['seconds']:.1f} times as long"
                print(text, flush=True)
            return
        runs = (
            [sorted(folder.rglob("*.json.bz2"))]
            if options.what == "reading"
            else [stream.write(folder, n) for n in sizes]
        )
        for number, files in enumerate(runs):
            begin = time.perf_counter()
            ours = measured(mine, files, Path(temporary, f"run-{number}"))
            clock, alone = time.perf_counter() - begin, measured(parse_only, files)
            megabytes = sum(file.stat().st_size for file in files) / 1e6
            share = alone["seconds"] / ours["reading"]
            print(f"{len(files):,} minutes, {megabytes:,.1f} MB, {clock:.1f} s by the clock, {ours['mib']:,.0f} MiB")
            print(
                f"  reading {ours['reading']:.2f} s, unpacking and parsing alone {alone['seconds']:.2f} s: {share:.2f}"
            )
            print(f"  pairing {ours['pairing']:.2f} s, {ours['pairs']:,} pairs", flush=True)


if __name__ == "__main__":
    main()
