"""Third stage: the four sets of pairs, without repeated texts and without what is held out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as pads
from daft import DataFrame, Window, col, lit
from daft.functions import hash, to_list

from dataset_scripts.base.build import shard
from dataset_scripts.base.engine import read, sizes, stage
from dataset_scripts.base.splits import SPLITS
from dataset_scripts.twitter_stream.conversations import TRAIN
from dataset_scripts.twitter_stream.options import MiningOptions, digest
from dataset_scripts.twitter_stream.statuses import QUOTE, REPLY

FILE_ROWS = 1_000_000  # of one Parquet file
GROUP_ROWS = 100_000  # of one of its row groups
SIDES = ("anchor", "positive")


# set -> of the rows of `pairing.paired` the kind of answer, and what the columns of anchor and positive end with
SETS = {
    "quote": (QUOTE, "parent", "0"),
    "reply": (REPLY, "parent", "0"),
    "coquote": (QUOTE, "1", "2"),
    "coreply": (REPLY, "1", "2"),
}


def write_sets(
    names: Sequence[str], pairs: Path, work: Path, folder: Path, options: MiningOptions, items: dict[str, int]
) -> dict[str, Counter[str]]:
    """Writes the Parquet files of sets, one pair for each answered tweet at most, in the order of the draw.

    A text occurs once on each side of a set: the pair drawn first keeps it. A pair with a text that also occurs in a
    split held out more strictly (train < validation < test), anywhere in the stream's pairs, is left out. Texts are
    compared by hashes of 64 bits.

    Of the rows of `pairing.paired`; returns what there was of each set and what was left out.
    """
    if not names:
        return {}
    steps = work / f"sets-{digest(sorted(names))}"
    held, found, *kept = work / "held-out", steps / "found", *(steps / side for side in SIDES)
    stage(held, items, lambda part, _: _held_out(read(pairs, part)), "hold out", "text")
    counts = stage(found, items, lambda part, counts: _found(read(pairs, part), names, counts), "compare", SIDES[0])
    for side, before, after, key in zip(SIDES, (found, kept[0]), kept, ("positive", "owner"), strict=True):

        def narrowed(part: int, counts: Counter, side: str = side, before: Path = before) -> DataFrame:
            return _narrowed(read(before, part), read(held, part), side, counts)

        counts += stage(after, items, narrowed, "compare", key)
    by_set = {name: Counter() for name in names}
    for key, count in counts.items():
        name, reason = key.split(": ", 1)
        by_set[name][reason] = count
    for name in names:
        for number, split in enumerate(SPLITS):
            size = by_set[name].pop(f"kept in {number}", 0)
            wanted = min(size, options.pairs or size) if number == TRAIN else size
            if wanted < size:
                by_set[name]["pair: beyond the number asked for"] = size - wanted
            if size:
                of = (col("set") == name) & (col("split") == number)
                frames = [_texts(name, read(pairs, part), read(kept[1], part).where(of)) for part in items.values()]
                write_split(frames, wanted, folder, name, split)
    return by_set


def _held_out(pairs: DataFrame) -> DataFrame:
    """Hashes of the texts in validation and test, and the splits that have them."""
    texts = [col(name) for name in pairs.column_names if name.startswith("text_")]
    frame = pairs.where(col("split") != TRAIN).select(to_list(*texts).alias("text"), "split").explode("text")
    return frame.where(col("text").not_null()).select(hash(col("text")).alias("text"), "split").distinct()


def _found(pairs: DataFrame, names: Sequence[str], counts: Counter[str]) -> DataFrame:
    """The pairs of all sets, as hashes of their texts."""
    frames = []
    for name in names:
        kind, *ends = SETS[name]
        anchor, positive = (col(f"text_{end}") for end in ends)
        rows = pairs.where((col("kind") == kind) & anchor.not_null() & positive.not_null())
        texts = [hash(text).alias(side) for side, text in zip(SIDES, (anchor, positive), strict=True)]
        frames.append(rows.select(lit(name).alias("set"), "owner", "split", *texts))
    frame = reduce(DataFrame.concat, frames).collect()
    counts.update({f"{row['set']}: pairs found": row["rows"] for row in sizes(frame, "set")})
    return frame


def _narrowed(pairs: DataFrame, held: DataFrame, side: str, counts: Counter[str]) -> DataFrame:
    """Without the pairs whose text on a side is in a stricter split, or in a pair that comes before."""
    held = held.groupby(col("text").alias(side)).agg(col("split").max().alias("strictest"))
    pairs = pairs.join(held, on=side, how="left")
    pairs = pairs.with_column("out", (col("strictest") > col("split")).fill_null(False)).exclude("strictest")
    first = Window().partition_by("set", "out", side)
    pairs = pairs.with_column("first", col("owner") == col("owner").min().over(first)).collect()
    for row in sizes(pairs, "set", "out", "first", "split"):
        if row["out"] or not row["first"]:
            reason = "a text is also in a split held out" if row["out"] else "a text is in another pair"
            counts[f"{row['set']}: pair: {reason}"] += row["rows"]
        elif side == SIDES[-1]:
            counts[f"{row['set']}: kept in {row['split']}"] += row["rows"]
    return pairs.where(~col("out") & col("first")).exclude("out", "first")


def _texts(name: str, pairs: DataFrame, kept: DataFrame) -> DataFrame:
    """The rows of a set in the order of the draw, with the texts of both sides."""
    kind, *ends = SETS[name]
    columns = [col(f"text_{end}").alias(side) for side, end in zip(SIDES, ends, strict=True)]
    columns.append(col("group").cast("string"))
    if "id_0" in pairs.column_names:
        columns += [col(f"id_{end}").alias(f"{side}_id") for side, end in zip(SIDES, ends, strict=True)]
    rows = pairs.where(col("kind") == kind).join(kept.select("owner"), on="owner", how="semi")
    return rows.sort("owner").select(*columns)


def write_split(frames: Sequence[DataFrame], rows: int, folder: Path, config: str, split: str) -> None:
    """Writes the first rows of frames in their order, one frame at a time, to files named by `build.shard`."""
    target, prefix, schema = folder / config, f"{split}.tmp-", frames[0].schema().to_pyarrow_schema()

    def batches() -> Iterator[pa.RecordBatch]:
        left = rows
        for frame in frames:
            for batch in frame.limit(left).to_arrow_iter() if left else ():
                left -= len(batch)
                yield batch

    pads.write_dataset(
        pa.RecordBatchReader.from_batches(schema, batches()),
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
