"""The three stages after each other: stream files in, sets and benchmarks out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import daft
import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from dataset_scripts.base.files import atomic_file
from dataset_scripts.base.reading import Dropped
from dataset_scripts.twitter_stream import pairing, parsing
from dataset_scripts.twitter_stream.engine import cores
from dataset_scripts.twitter_stream.files import parts
from dataset_scripts.twitter_stream.options import MiningOptions, salt_name
from dataset_scripts.twitter_stream.rankings import BENCHMARKS, write_benchmark
from dataset_scripts.twitter_stream.sets import SETS, held_out_texts, write_set

HASHES = "benchmark_tweets.parquet"
SALT = "salt"  # in its metadata, what may be told of the salt
SHARDS = 50  # at least so many, unless they are smaller than SMALLEST_SHARD: the bar moves, little is lost
SMALLEST_SHARD = 16 << 20
SHARD_BYTES = 256 << 20  # packed, at most
CORE_BYTES = 5 << 20  # packed, or so many for each core: four minutes of the stream, each read by one core


class Mined(NamedTuple):
    """What a run counted.

    Attributes:
        lines: What was read, by kind and reason; broken things with the first place.
        tweets: Distinct tweets and answers, by what could be used of them.
        sets: Set or benchmark -> what there was and what was left out.
    """

    lines: Dropped
    tweets: Counter[str]
    sets: dict[str, Counter[str]]


def mine(
    files: Sequence[Path],
    folder: Path,
    work: Path,
    options: MiningOptions,
    names: Collection[str] | None = None,
    buckets: int | None = None,
) -> Mined:
    """Mines sets and benchmarks; the engine is that of the process (see `engine.start_engine`).

    What an interrupted run left in `work` is used again, as far as files and options are the same.

    Args:
        files: Stream files, see `files.is_stream_file`.
        folder: Receives a folder of Parquet files for each set and benchmark that has rows; and, with a salt, HASHES,
            the hashes of all tweets of the benchmarks.
        work: Folder for intermediate files, which all machines of a cluster see. They hold texts and what can be turned
            back into ids: not for publication.
        options: What to mine.
        names: Sets and benchmarks; all if None.
        buckets: How many parts are paired for themselves; as many as the amount of data needs if None.

    Raises:
        ValueError: If a folder of `exclude` has no hashes, or some of another salt.
    """
    excluded = _excluded(options)
    pieces = list(parts(files))
    buckets = buckets or parsing.bucket_count(pieces)
    size = shard_size(sum(piece.bytes for piece in pieces), cores())
    shards = parsing.parse(pieces, work / "rows", options, buckets, size)
    paired, tweets = pairing.pair(shards, work, options, buckets, excluded)
    mined = Mined(_lines(parsing.bucket_files(shards, parsing.COUNTS)), tweets, {})
    wanted = [name for name in (*SETS, *BENCHMARKS) if names is None or name in names]
    held_out = held_out_texts(paired) if paired and SETS.keys() & wanted else None
    hashes: set[int] = set()
    for name in tqdm(wanted, desc="write", unit="set", disable=None):
        if not paired:
            mined.sets[name] = Counter()
        elif name in SETS:
            mined.sets[name] = write_set(name, paired, held_out, folder, options)
        else:
            mined.sets[name], more = write_benchmark(name, paired, folder, options)
            hashes |= more
    if options.salt is not None and BENCHMARKS.keys() & wanted:
        table = pa.table({"tweet": pa.array(sorted(hashes), pa.uint64())}, metadata={SALT: salt_name(options.salt)})
        with atomic_file(folder / HASHES) as temporary:
            pq.write_table(table, temporary)
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


def _excluded(options: MiningOptions) -> list[Path]:
    """The files of hashes in the folders of `exclude`, which are of this salt: others would not be recognised."""
    files = [Path(folder).expanduser() / HASHES for folder in options.exclude]
    for file in files:
        if not file.is_file():
            raise ValueError(f"--exclude {file.parent} has no {HASHES}: build it with --salt, and with its benchmarks")
        try:
            metadata = pq.read_schema(file).metadata or {}
        except pa.ArrowInvalid as error:
            raise ValueError(f"{file} is no file of hashes ({error}); build its folder again") from error
        if metadata.get(SALT.encode()) != salt_name(options.salt).encode():
            raise ValueError(f"{file} was built with another --salt, so its tweets would not be recognised")
    return [file.resolve() for file in files]
