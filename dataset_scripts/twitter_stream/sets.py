"""Third stage: the four sets of pairs, without repeated texts and without what is held out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.dataset as pads
from daft import DataFrame, col
from daft.functions import hash, to_list

from dataset_scripts.base.build import shard
from dataset_scripts.base.splits import SPLITS
from dataset_scripts.twitter_stream.engine import read_rows
from dataset_scripts.twitter_stream.options import MiningOptions
from dataset_scripts.twitter_stream.pairing import TRAIN
from dataset_scripts.twitter_stream.statuses import QUOTE, REPLY

FILE_ROWS = 1_000_000  # of one Parquet file
GROUP_ROWS = 100_000  # of one of its row groups


class PairSet(NamedTuple):
    """How a set comes out of the rows of `pairing.pair`: kind of answer, and what the columns of a side end with."""

    kind: str
    anchor: str
    positive: str


SETS = {
    "quote": PairSet(QUOTE, "parent", "0"),
    "reply": PairSet(REPLY, "parent", "0"),
    "coquote": PairSet(QUOTE, "1", "2"),
    "coreply": PairSet(REPLY, "1", "2"),
}


def write_set(
    name: str, files: Sequence[str], held_out: DataFrame, folder: Path, options: MiningOptions
) -> Counter[str]:
    """Writes a set's Parquet files, one pair for each answered tweet at most, in the order of the draw.

    A text occurs once on each side of a set: the pair drawn first keeps it. A pair with a text that also occurs in a
    split held out more strictly (train < validation < test), anywhere in the stream's pairs, is left out.

    Of the Parquet files of `pairing.pair` and their `held_out_texts`; returns what there was and what was left out.
    """
    kind, *ends = SETS[name]
    sides, counts = dict(zip(("anchor", "positive"), ends, strict=True)), Counter()
    columns = {side: f"text_{end}" for side, end in sides.items()}
    columns |= {f"{side}_id": f"id_{end}" for side, end in sides.items() if options.keep_ids}
    rows = read_rows(files).where(col("kind") == kind)
    for end in ends:
        rows = rows.where(col(f"text_{end}").not_null())
    renamed = [col(column).alias(new) for new, column in columns.items()]
    pairs = rows.select("owner", "group", "split", *renamed).collect()
    counts["pairs found"] = len(pairs)
    for side in sides:
        before, pairs = pairs, _without(pairs, held_out, side).collect()
        counts["pair: a text is also in a split held out"] += len(before) - len(pairs)
        before, pairs = pairs, _distinct(pairs, side).collect()
        counts["pair: a text is in another pair"] += len(before) - len(pairs)
    ids = [name for name in columns if name not in sides]
    for number, split in enumerate(SPLITS):
        frame = pairs.where(col("split") == number).sort("owner")
        size = frame.count_rows()
        if number == TRAIN and options.pairs is not None and size > options.pairs:
            frame = frame.limit(options.pairs)
            counts["pair: beyond the number asked for"] += size - options.pairs
        if size:
            frame = frame.select(*sides, col("group").cast("string"), *ids)
            schema = frame.schema().to_pyarrow_schema()
            write_split(pa.RecordBatchReader.from_batches(schema, frame.to_arrow_iter()), folder, name, split)
    return +counts


def held_out_texts(files: Sequence[str]) -> DataFrame:
    """Hashes of the texts in validation and test, with the number of the strictest split that has them."""
    rows = read_rows(files)
    texts = [col(name) for name in rows.column_names if name.startswith("text_")]
    frame = rows.where(col("split") != TRAIN).select(to_list(*texts).alias("text"), "split").explode("text")
    frame = frame.where(col("text").not_null()).with_column("text", hash(col("text")))
    return frame.groupby("text").agg(col("split").max().alias("strictest")).collect()


def _without(pairs: DataFrame, held_out: DataFrame, side: str) -> DataFrame:
    """The pairs whose text on a side is in no stricter split than theirs."""
    joined = pairs.with_column("text", hash(col(side))).join(held_out, on="text", how="left")
    allowed = col("strictest").is_null() | (col("strictest") <= col("split"))
    return joined.where(allowed).exclude("text", "strictest")


def _distinct(pairs: DataFrame, side: str) -> DataFrame:
    """Of the pairs with the same text on a side the one drawn first."""
    return pairs.join(pairs.groupby(side).agg(col("owner").min()).select("owner"), on="owner", how="semi")


def write_split(rows: pa.RecordBatchReader | pa.Table, folder: Path, config: str, split: str) -> None:
    """Writes rows in their order to Parquet files as `build.shard` names them, of at most `FILE_ROWS` each."""
    target, prefix = folder / config, f"{split}.tmp-"
    pads.write_dataset(
        rows,
        target,
        format="parquet",
        basename_template=f"{prefix}{{i}}",
        max_rows_per_file=FILE_ROWS,
        max_rows_per_group=min(GROUP_ROWS, FILE_ROWS),
        preserve_order=True,
        existing_data_behavior="overwrite_or_ignore",
    )
    files = sorted(target.glob(f"{prefix}*"), key=lambda file: int(file.name.removeprefix(prefix)))
    for number, file in enumerate(files):
        file.rename(folder / shard(config, split, number, len(files)))
