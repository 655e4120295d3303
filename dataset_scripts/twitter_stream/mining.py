"""The three stages after each other: stream files in, sets and benchmarks out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from dataset_scripts.base.files import atomic_file
from dataset_scripts.twitter_stream import pairing, parsing
from dataset_scripts.twitter_stream.engine import cores
from dataset_scripts.twitter_stream.files import parts
from dataset_scripts.twitter_stream.options import MiningOptions, digest
from dataset_scripts.twitter_stream.rankings import BENCHMARKS, write_benchmark
from dataset_scripts.twitter_stream.sets import SETS, held_out, write_set
from dataset_scripts.twitter_stream.statuses import COUNT

EXCLUDED = "benchmark_tweets.parquet"
SALT = "salt"  # what its metadata call a hash of the salt
SHARDS = 50  # at least so many, unless they are smaller than SMALLEST_SHARD: the bar moves, little is lost
SMALLEST_SHARD = 16 << 20
SHARD_BYTES = 256 << 20  # packed, at most
CORE_BYTES = 5 << 20  # packed, or so many for each core: four minutes of the stream, each read by one core


@dataclass
class Mined:
    """What a run counted.

    Attributes:
        lines: What was read, by kind and reason; broken things with the first place.
        tweets: Distinct tweets and answers, by what could be used of them.
        sets: Set or benchmark -> what there was and what was left out.
        first: Reason -> the first place of what was broken.
    """

    lines: Counter[str] = field(default_factory=Counter)
    tweets: Counter[str] = field(default_factory=Counter)
    sets: dict[str, Counter[str]] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)


def mine(
    files: Sequence[Path],
    folder: Path,
    work: Path,
    options: MiningOptions,
    names: Collection[str] | None = None,
    excluded: Sequence[Path] = (),
    buckets: int | None = None,
) -> Mined:
    """Mines sets and benchmarks; the engine is that of the process (see `engine.start_engine`).

    What an interrupted run left in `work` is used again, as far as files and options are the same.

    Args:
        files: Stream files, see `files.is_stream_file`.
        folder: Receives a folder of Parquet files for each set and benchmark that has rows; and, with a salt,
            `benchmark_tweets.parquet`, the hashes of all tweets of the benchmarks.
        work: Folder for intermediate files, which all machines of a cluster see. They hold texts and what can be turned
            back into ids: not for publication.
        options: What to mine.
        names: Sets and benchmarks; all if None.
        excluded: Files `benchmark_tweets.parquet` of earlier runs with the same salt, whose tweets are left out.
        buckets: How many parts are paired for themselves; as many as the amount of data needs if None.
    """
    pieces = list(parts(files))
    total = sum(piece["bytes"] for piece in pieces)
    buckets = buckets or parsing.bucket_count(pieces)
    shards = parsing.parse(pieces, work / "rows", options, buckets, shard_size(total, cores()))
    mined = Mined()
    _count_lines(parsing.bucket_files(shards, parsing.COUNTS), mined)
    folders, mined.tweets = pairing.pair(shards, work, options, buckets, [str(file) for file in excluded])
    rows = [str(file) for found in folders for file in sorted((found / pairing.ROWS).glob("*.parquet"))]
    hashes: set[int] = set()
    wanted = [name for name in (*SETS, *BENCHMARKS) if names is None or name in names]
    held = held_out(rows) if rows and any(name in SETS for name in wanted) else None
    for name in tqdm(wanted, desc="write", unit="set", disable=None):
        if not rows:
            mined.sets[name] = Counter()
        elif name in SETS:
            mined.sets[name] = write_set(name, rows, held, folder, options)
        else:
            mined.sets[name], found = write_benchmark(name, rows, folder, options)
            hashes |= found
    if options.salt is not None and any(name in mined.sets for name in BENCHMARKS):
        _write_hashes(hashes, options.salt, folder / EXCLUDED)
    return mined


def shard_size(total: int, cores: int) -> int:
    """Packed bytes of a shard, what an interruption loses at most: many of `total`, and enough for all cores."""
    return min(max(SHARD_BYTES, cores * CORE_BYTES), max(SMALLEST_SHARD, total // SHARDS))


def _count_lines(files: Sequence[str], mined: Mined) -> None:
    import daft

    if not files:
        return
    for row in daft.read_parquet(list(files)).select("kind", "text", "number").sort("text").to_pylist():
        if row["kind"] == COUNT:
            mined.lines[row["text"]] += row["number"]
        else:
            mined.first.setdefault(*row["text"].split("\t", 1))


def _write_hashes(hashes: set[int], salt: str, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"tweet": pa.array(sorted(hashes), pa.uint64())})
    with atomic_file(path) as passing:
        pq.write_table(table.replace_schema_metadata({SALT: digest(["salt", salt])}), passing)


def check_excluded(files: Sequence[Path], salt: str) -> None:
    """Checks that files of hashes are of this salt, without which nothing in them would be recognised.

    Raises:
        ValueError: If one is of another salt, or no such file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    for file in files:
        try:
            facts = pq.read_schema(file).metadata or {}
        except pa.ArrowInvalid as error:
            raise ValueError(f"{file} is no file of hashes ({error}); build its folder again") from error
        if facts.get(SALT.encode()) != digest(["salt", salt]).encode():
            raise ValueError(f"{file} was built with another --salt, so its tweets would not be recognised")
