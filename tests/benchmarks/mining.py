"""What mining the tweet stream costs: reading beside unpacking and parsing alone, and growth.

    python -m tests.benchmarks.mining reading ~/stream     # real or synthetic minutes
    python -m tests.benchmarks.mining growth               # 1, 10 and 100 synthetic minutes

Every run has a process of its own. Seconds are those of the processor, of all its processes together, after the
libraries were loaded. Unpacking and parsing alone is measured in the same minute, since how much a processor does
depends on what else it is doing.
"""

from __future__ import annotations

import argparse
import bz2
import multiprocessing
import os
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
    parser.add_argument("what", choices=("reading", "growth"))
    parser.add_argument(
        "folder", type=Path, nargs="?", help="of *.json.bz2; for growth where synthetic minutes are kept"
    )
    parser.add_argument("--sizes", default="1,10,100", help="of growth: minutes (default: %(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if options.what == "reading":
            runs = [sorted(folder.rglob("*.json.bz2"))]
        else:
            runs = [stream.write(folder, int(size)) for size in options.sizes.split(",")]
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
