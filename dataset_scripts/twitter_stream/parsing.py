"""First stage: stream files to rows, each beside the tweet that it answers, shard by shard."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

import daft
from daft import DataType, col, lit
from daft.functions import hash, when
from tqdm import tqdm

from dataset_scripts.twitter_stream.engine import in_tasks, write_rows
from dataset_scripts.twitter_stream.files import Part, batches
from dataset_scripts.twitter_stream.options import MiningOptions, digest
from dataset_scripts.twitter_stream.statuses import COUNT, TWEET, read_part

BUCKET_BYTES = 512 << 20  # packed; what is paired in memory at once is some 5 % of it
FILE_BYTES = 64 << 20  # packed; read into one file for each bucket
COUNTS = -1  # the bucket of what was counted
TEXT, NUMBER = DataType.string(), DataType.int64()
ROW = {"kind": TEXT, "id": NUMBER, "parent": NUMBER, "state": DataType.int8(), "text": TEXT, "number": NUMBER}


def bucket_count(parts: Sequence[Part], size: int = BUCKET_BYTES) -> int:
    """Into how many buckets the tweets of these parts are divided, so that one of them fits into memory."""
    return 1 + sum(part.bytes for part in parts) // size


def parse(parts: Sequence[Part], folder: Path, options: MiningOptions, buckets: int, size: int) -> list[Path]:
    """Parses what has not been parsed before.

    A row lies in the bucket of its `owner`: a tweet in its own, an answer in that of the tweet it answers. Tweets are
    called by 64-bit hashes of their ids, seeded, whose order is what is drawn by.

    Each shard of `size` packed bytes has a folder with one for each of the buckets, which is whole or not there. Those
    of other options or files are removed; the others are returned.
    """
    facts = {**options.parsing(), "buckets": buckets}
    wanted = {folder / f"shard-{digest([facts, shard])}": shard for shard in batches(parts, size, attrgetter("bytes"))}
    for other in folder.glob("shard-*"):
        if other not in wanted:
            shutil.rmtree(other)
    with tqdm(total=sum(part.bytes for part in parts), unit="B", unit_scale=True, desc="read", disable=None) as bar:
        for target, shard in wanted.items():
            if not target.is_dir():
                temporary = target.with_suffix(".tmp")
                _parse_shard(shard, temporary, options, buckets)
                temporary.rename(target)
            bar.update(sum(part.bytes for part in shard))
    return list(wanted)


def _parse_shard(shard: Sequence[Part], folder: Path, options: MiningOptions, buckets: int) -> None:
    # a process of its own for each core: parsing JSON holds the interpreter's lock
    read = daft.func(read_part, return_dtype=DataType.struct(ROW), unnest=True, use_process=True)
    frame = daft.from_pylist([{"path": part.path, "start": part.start, "stop": part.stop} for part in shard])
    frame = frame.into_batches(1).select(read(col("path"), col("start"), col("stop"), lit(options.lang)))
    frame = frame.with_column("owner_id", when(col("kind") == TWEET, col("id")).otherwise(col("parent")))
    names = {"owner": "owner_id", "child": "id"}
    frame = frame.with_columns({name: hash(col(id), seed=options.seed) for name, id in names.items()})
    bucket = (col("owner") % buckets).cast(DataType.int32())
    frame = frame.with_column("bucket", when(col("kind") == COUNT, lit(COUNTS)).otherwise(bucket)).exclude("parent")
    frame = frame.with_column_renamed("id", "child_id") if options.keep_ids else frame.exclude("id", "owner_id")
    # few files: a cluster would write one for each task and bucket
    frame = in_tasks(frame, 1 + sum(part.bytes for part in shard) // FILE_BYTES)
    write_rows(frame, folder, "bucket")


def bucket_files(shards: Sequence[Path], bucket: int) -> list[str]:
    """The Parquet files of a bucket in all shards, in a stable order."""
    return [str(file) for shard in shards for file in sorted((shard / f"bucket={bucket}").glob("*.parquet"))]
