"""The three stages after each other: stream files in, sets and benchmarks out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import daft
from tqdm import tqdm

from dataset_scripts.base.reading import Dropped
from dataset_scripts.twitter_stream import pairing, parsing
from dataset_scripts.twitter_stream.engine import cores
from dataset_scripts.twitter_stream.files import parts
from dataset_scripts.twitter_stream.options import MiningOptions
from dataset_scripts.twitter_stream.rankings import BENCHMARKS, write_benchmark
from dataset_scripts.twitter_stream.sets import SETS, held_out_texts, write_set

SHARDS = 50  # at least so many, unless they are smaller than SMALLEST_SHARD: the bar moves, little is lost
SMALLEST_SHARD = 16 << 20
SHARD_BYTES = 256 << 20  # packed, at most
CORE_BYTES = 5 << 20  # packed, or so many for each core: four minutes of the stream, each read by one core


class Mined(NamedTuple):
    """What a run counted."""

    lines: Dropped  # what was read, by kind and reason
    tweets: Counter[str]  # distinct tweets and answers, by what could be used of them
    sets: dict[str, Counter[str]]  # set or benchmark -> what there was and what was left out


def mine(
    files: Sequence[Path],
    folder: Path,
    work: Path,
    options: MiningOptions,
    names: Collection[str] | None = None,
    buckets: int | None = None,
) -> Mined:
    """Mines sets and benchmarks (all if `names` is None); the engine is that of the process, see `engine.start_engine`.

    `folder` receives a folder of Parquet files for each set and benchmark that has rows. `work`, which all machines of
    a cluster see, holds what an interrupted run left, used again as far as files and options are the same: texts and
    what can be turned back into ids, not for publication. Tweets are paired in `buckets` parts, by default as many as
    the amount of data needs.
    """
    pieces = list(parts(files))
    buckets = buckets or parsing.bucket_count(pieces)
    size = shard_size(sum(piece.bytes for piece in pieces), cores())
    shards = parsing.parse(pieces, work / "rows", options, buckets, size)
    paired, tweets = pairing.pair(shards, work, options, buckets)
    mined = Mined(_lines(parsing.bucket_files(shards, parsing.COUNTS)), tweets, {})
    wanted = [name for name in (*SETS, *BENCHMARKS) if names is None or name in names]
    held_out = held_out_texts(paired) if paired and SETS.keys() & wanted else None
    for name in tqdm(wanted, desc="write", unit="set", disable=None):
        if not paired:
            mined.sets[name] = Counter()
        elif name in SETS:
            mined.sets[name] = write_set(name, paired, held_out, folder, options)
        else:
            mined.sets[name] = write_benchmark(name, paired, folder, options)
    return mined


def shard_size(total: int, cores: int) -> int:
    """Packed bytes of a shard, what an interruption loses at most: many of `total`, and enough for all cores."""
    return min(max(SHARD_BYTES, cores * CORE_BYTES), max(SMALLEST_SHARD, total // SHARDS))


def _lines(files: Sequence[str]) -> Dropped:
    """What the readers counted."""
    lines = Dropped()
    rows = daft.read_parquet(list(files)).select("text", "number").sort("text").to_pylist() if files else []
    for row in rows:
        reason, place = row["text"].split("\t", 1)
        lines[reason] += row["number"]
        if place:
            lines.first.setdefault(reason, place)
    return lines
