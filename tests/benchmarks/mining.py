"""What mining pairs out of the tweet stream costs: reading, growth, drawing of co-pairs; and a plan for two months.

    python -m tests.benchmarks.mining reading --data ~/stream           # as a share of unpacking and parsing alone
    python -m tests.benchmarks.mining growth --json growth.json         # 1, 10 and 100 synthetic minutes
    python -m tests.benchmarks.mining pairs                             # co-pairs of 10,000 to 1,000,000 replies
    python -m tests.benchmarks.mining plan --figures growth.json        # 27 GB on 1 and on 32 machines, on paper

Everything is measured in fresh processes. Seconds are those of the processor, of all processes together, after the
libraries were loaded. How many a piece of work takes depends on what else the machine does: unpacking and parsing alone
is therefore measured at the same time, file after file, on one core. Memory is looked at five times a second, and pages
that processes share count once.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.benchmarks import mining_runs as runs
from tests.benchmarks.processes import Beside, measured

MONTHS = 27e9  # bytes of November and December 2020, packed
LINKS = 8_501 / 15.82e6  # answers for each packed byte, as often as they are seen: 13 real minutes of July 2019
LINK_BYTES = 160  # of memory for each in `conversations`: 16 of its two numbers, 110 to 146 to connect them
SCAN_MOST = 100_000  # replies up to which all are searched for each tweet
READING = "unpacking and parsing {alone:.2f} s, mining {mined:.2f} s, by the clock {clock:.2f} s: share {share:.2f}"
GROWTH = """{minutes:,} minutes, {mb:,.1f} MB: {per_reading:.2f} s of reading and {per_pairing:.3f} s of pairing each
  unpacking and parsing took {per_alone:.2f} s at the time, {share:.2f} of reading; memory {peak_mib:,.0f} MiB
  between the stages {rows_share:.3f} and {paired_share:.3f} bytes for each packed byte; {pairs}"""
PAIRS = "{replies:,} replies: {pairs:,} co-pairs in {seconds:.2f} s, by the clock {clock:.2f} s; memory {mib:,.0f} MiB"
SCAN = "  a scan for each of {pairs:,} tweets: {seconds:.2f} s, {ratio:.1f} times as long"
PLAN = """{machines} machines of {cores} cores: reading {reading:.2f} h, shard after shard; of a shard a core reads
  {waves} files one after the other, and {busy:.0%} of the cores are busy; pairing {pairing:.2f} h, as if one core did
  it all; {shuffle:.1f} GB from each machine to the others; {memory:.1f} GiB of memory in each,
  {first:.1f} GiB in the first, where conversations are connected"""


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """The share of the miner's first stage that unpacking and parsing alone would take."""
    files = sorted(options.data.rglob("*.json.bz2"))
    if not files:
        raise SystemExit(f"{options.data}: no *.json.bz2 in or below this folder")
    total, rounds = sum(file.stat().st_size for file in files), []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder, Beside(runs.pace, files) as pace:
            found = measured(runs.time_reading, files, Path(folder)).value
        rounds.append(found | {"alone": pace.value * total, "share": pace.value * total / found["mined"]})
        print(READING.format(**rounds[-1]), flush=True)
    share, seconds = (statistics.median(found[part] for found in rounds) for part in ("share", "mined"))
    print(f"{len(files):,} files, {total / 1e6:.1f} MB: share {share:.2f}, {total / seconds / 1e6:.2f} MB/s per core")
    return {"rounds": rounds, "bytes": total, "share": share, "bytes_per_second": total / seconds}


def growth(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Time, memory and intermediate bytes for some numbers of synthetic minutes."""
    from tests.benchmarks.search import slope
    from tests.benchmarks.stream_files import write

    sizes, figures = whole(options.sizes or "1,10,100"), []
    if len(list(options.stream.rglob("*.json.bz2"))) < sizes[-1]:
        write(options.stream, sizes[-1], datetime(2020, 11, 1, tzinfo=UTC))
    files = sorted(options.stream.rglob("*.json.bz2"))
    for minutes in sizes:
        with tempfile.TemporaryDirectory() as folder, Beside(runs.pace, files[:minutes]) as pace:
            run = measured(runs.time_mining, files[:minutes], Path(folder))
        found = {"minutes": minutes, "peak": run.peak, "largest": run.largest, **run.value}
        found["alone"] = pace.value * found["bytes"]
        found["share"] = found["alone"] / found["reading"]
        figures.append(found)
        per = {f"per_{part}": found[part] / minutes for part in ("reading", "pairing", "alone")}
        shares = {f"{part}_share": found[part] / found["bytes"] for part in ("rows", "paired")}
        print(GROWTH.format(**found, **per, **shares, mb=found["bytes"] / 1e6, peak_mib=run.peak / 2**20), flush=True)
        keep(options.json, figures)
    if len(sizes) > 1:
        grows = {part: [found[part] * found["minutes"] / found["alone"] for found in figures]
                 for part in ("reading", "pairing")} | {"memory": [found["peak"] for found in figures]}  # fmt: skip
        print("as an exponent of the minutes, time in units of unpacking and parsing a minute: "
              + ", ".join(f"{part} {slope(sizes, values):.2f}" for part, values in grows.items()))  # fmt: skip
    return figures


def pairs(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Seconds of co-pairs, beside those of a scan for each tweet as far as that comes to an end."""
    figures = []
    for count in whole(options.sizes or "10000,100000,1000000"):
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder) / "rows.parquet"
            runs.write_replies(rows, count)
            ours = measured(runs.time_pairs, rows, Path(folder))
            found = {"replies": count, "peak": ours.peak, "ours": ours.value}
            print(PAIRS.format(**found["ours"], replies=count, mib=ours.peak / 2**20), flush=True)
            if count <= SCAN_MOST:
                found["scan"] = scan = measured(runs.time_scan, rows).value
                found["ratio"] = scan["seconds"] / ours.value["seconds"]
                print(SCAN.format(**scan, ratio=found["ratio"]), flush=True)
        figures.append(found)
        keep(options.json, figures)
    return figures


def plan(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Hours, shuffled bytes and memory for two months, out of the largest run of `growth`."""
    figures = json.loads(options.figures.read_text(encoding="utf-8"))
    found = figures[-1] | {"peak": full_bucket(figures)}
    scale = MONTHS / found["bytes"]
    rates = {part: found["bytes"] / found[part] / 1e6 for part in ("reading", "pairing")}
    print(f"per core and second {rates['reading']:.2f} MB read and {rates['pairing']:.2f} MB paired\n"
          f"{MONTHS / 1e9:.0f} GB: {scale * found['reading'] / 3600:.1f} core hours reading; "
          f"{scale * found['rows'] / 1e9:.1f} GB of rows are shuffled, "
          f"{scale * (found['rows'] + found['paired']) / 1e9:.1f} GB of intermediate files in all\n"
          f"{MONTHS * LINKS / 1e6:.1f} million answers connect conversations, "
          f"{MONTHS * LINKS * LINK_BYTES / 2**30:.1f} GiB on one machine")  # fmt: skip
    plans = [hours(found, machines, options.cores) for machines in (1, 32)]
    for each in plans:
        print(PLAN.format(**each))
    return plans


def full_bucket(figures: list[dict[str, Any]]) -> float:
    """Bytes of memory where a bucket is as full as it may get: the largest run's, and what the last step adds."""
    from dataset_scripts.twitter_stream.parsing import BUCKET_BYTES

    before, last = figures[-2:] if len(figures) > 1 else figures * 2
    grown = (last["peak"] - before["peak"]) / max(1, last["bytes"] - before["bytes"])
    return last["peak"] + max(0.0, grown) * max(0, BUCKET_BYTES - last["bytes"])


def hours(found: dict[str, Any], machines: int, cores: int) -> dict[str, Any]:
    """What some machines take, if they only wait for each other at the end of a shard.

    The first machine also connects the conversations, at another time than it reads: what it needs is at most the sum.
    """
    from dataset_scripts.twitter_stream.mining import shard_size

    scale, file = MONTHS / found["bytes"], found["bytes"] / found["minutes"]
    shard = shard_size(MONTHS, machines * cores)
    waves = math.ceil(shard / file / (machines * cores))
    memory = found["peak"] + (cores - 1) * found["largest"]
    seconds = MONTHS / shard * waves * found["reading"] / found["minutes"]
    return {"machines": machines, "cores": cores, "waves": waves, "reading": seconds / 3600,
            "busy": scale * found["reading"] / (seconds * machines * cores),
            "pairing": scale * found["pairing"] / 3600,
            "shuffle": scale * found["rows"] / machines * (1 - 1 / machines) / 1e9,
            "memory": memory / 2**30, "first": (memory + MONTHS * LINKS * LINK_BYTES) / 2**30}  # fmt: skip


def whole(numbers: str) -> list[int]:
    """Numbers separated by commas, in ascending order."""
    return sorted(int(number) for number in numbers.split(","))


def keep(path: Path | None, figures: Any) -> None:
    """Writes figures, if there is where to."""
    if path:
        path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    measures = {"reading": reading, "growth": growth, "pairs": pairs, "plan": plan}
    parser.add_argument("what", choices=measures)
    parser.add_argument("--data", type=Path, default=Path("data/stream"), help="reading: folder of *.json.bz2")
    parser.add_argument("--rounds", type=int, default=3, help="reading: repetitions (default: %(default)s)")
    parser.add_argument("--stream", type=Path, default=Path("data/stream"),
                        help="growth: synthetic minutes, written if too few (default: %(default)s)")  # fmt: skip
    parser.add_argument("--sizes", help="growth: numbers of minutes; pairs: numbers of replies; separated by commas")
    parser.add_argument("--figures", type=Path, default=Path("growth.json"), help="plan: what growth wrote")
    parser.add_argument("--cores", type=int, default=16, help="plan: cores of a machine (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    options = parser.parse_args()
    keep(options.json, measures[options.what](options))


if __name__ == "__main__":
    main()
