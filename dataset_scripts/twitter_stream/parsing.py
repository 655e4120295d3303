"""First stage: stream files to rows, each beside the tweet that it answers, shard by shard."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

import daft
from daft import DataFrame, DataType, col, lit
from daft.functions import hash, when

from dataset_scripts.base.engine import PART, cores, in_tasks, part_of, read, stage
from dataset_scripts.base.reading import Dropped
from dataset_scripts.twitter_stream.files import Part, batches
from dataset_scripts.twitter_stream.options import MiningOptions, digest
from dataset_scripts.twitter_stream.statuses import COUNT, TWEET, read_part

SHARDS = 50  # at least so many, unless they are smaller than SMALLEST_SHARD: the bar moves, little is lost
SMALLEST_SHARD = 16 << 20
SHARD_BYTES = 256 << 20  # packed, at most
CORE_BYTES = 5 << 20  # packed, or so many for each core: four minutes of the stream, each read by one core
FILE_BYTES = 64 << 20  # packed; read into one file for each partition
COUNTS = -1  # the partition of what was counted
TEXT, NUMBER = DataType.string(), DataType.int64()
ROW = {"kind": TEXT, "id": NUMBER, "parent": NUMBER, "state": DataType.int8(), "text": TEXT, "number": NUMBER}


def parse(files: Sequence[Part], folder: Path, options: MiningOptions, parts: int) -> Dropped:
    """Writes the rows of all files, shard by shard; returns what was counted.

    A row lies in the partition of its `owner`: a tweet in its own, an answer in that of the tweet it answers. Tweets
    are called by 64-bit hashes of their ids, seeded, whose order is what is drawn by. Shards of other options or files
    are removed.
    """
    facts, total = {**options.parsing(), "parts": parts}, sum(file.bytes for file in files)
    size = min(max(SHARD_BYTES, cores() * CORE_BYTES), max(SMALLEST_SHARD, total // SHARDS))
    shards = {f"shard-{digest([facts, shard])}": shard for shard in batches(files, size, attrgetter("bytes"))}
    stage(folder, shards, lambda shard, _: _parsed(shard, options, parts), "read")
    lines = Dropped()
    for row in read(folder, COUNTS).select("text", "number").sort("text").to_pylist():
        reason, place = row["text"].split("\t", 1)
        lines[reason] += row["number"]
        if place:
            lines.first.setdefault(reason, place)
    return lines


def _parsed(shard: Sequence[Part], options: MiningOptions, parts: int) -> DataFrame:
    # a process of its own for each core: parsing JSON holds the interpreter's lock
    parse = daft.func(read_part, return_dtype=DataType.struct(ROW), unnest=True, use_process=True)
    frame = daft.from_pylist([{"path": part.path, "start": part.start, "stop": part.stop} for part in shard])
    frame = frame.into_batches(1).select(parse(col("path"), col("start"), col("stop"), lit(options.lang)))
    frame = frame.with_column("owner_id", when(col("kind") == TWEET, col("id")).otherwise(col("parent")))
    names = {"owner": "owner_id", "child": "id"}
    frame = frame.with_columns({name: hash(col(id), seed=options.seed) for name, id in names.items()})
    part = when(col("kind") == COUNT, lit(COUNTS)).otherwise(part_of(col("owner"), parts)).cast(DataType.int32())
    frame = frame.with_column(PART, part).exclude("parent")
    frame = frame.with_column_renamed("id", "child_id") if options.keep_ids else frame.exclude("id", "owner_id")
    # few files: a cluster would write one for each task and partition
    return in_tasks(frame, 1 + sum(part.bytes for part in shard) // FILE_BYTES)
