"""Third stage: the four sets of pairs, without repeated texts and without what is held out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dataset_scripts.base.build import shard
from dataset_scripts.base.files import atomic_file
from dataset_scripts.twitter_stream.conversations import SPLITS, TRAIN
from dataset_scripts.twitter_stream.options import MiningOptions
from dataset_scripts.twitter_stream.parsing import read_rows
from dataset_scripts.twitter_stream.statuses import QUOTE, REPLY

if TYPE_CHECKING:
    from daft import DataFrame

FILE_ROWS = 1_000_000  # of one Parquet file


@dataclass(frozen=True)
class PairSet:
    """How a set comes out of the rows of `pairing.pair`: a column for either side of a pair."""

    kind: str
    anchor: str
    positive: str

    def ids(self) -> dict[str, str]:
        """Name of a published id -> its column."""
        names = {"parent_text": "owner_id"} | {f"text_{rank}": f"child_id_{rank}" for rank in range(3)}
        return {"anchor_id": names[self.anchor], "positive_id": names[self.positive]}


SETS = {
    "quote": PairSet(QUOTE, "parent_text", "text_0"),
    "reply": PairSet(REPLY, "parent_text", "text_0"),
    "coquote": PairSet(QUOTE, "text_1", "text_2"),
    "coreply": PairSet(REPLY, "text_1", "text_2"),
}


def write_set(name: str, files: Sequence[str], held: DataFrame, folder: Path, options: MiningOptions) -> Counter[str]:
    """Writes a set's Parquet files, one pair for each answered tweet at most, in the order of the draw.

    A text occurs once on each side of a set: the pair drawn first keeps it. A pair with a text that also occurs in a
    split held out more strictly (train < validation < test), anywhere in the stream's pairs, is left out.

    Args:
        name: A key of `SETS`.
        files: Parquet files of `pairing.pair`.
        held: Their texts that are held out, see `held_out`; the same for all sets.
        folder: Receives `NAME/train-00000-of-00001.parquet` and so on; nothing for an empty set.
        options: How many pairs, and whether with ids.

    Returns:
        What was left out, by reason, and what there was.
    """
    from daft import col

    chosen, counts = SETS[name], Counter()
    rows = read_rows(files)
    ids = [col(column).alias(id) for id, column in chosen.ids().items()] if options.keep_ids else []
    columns = [col(chosen.anchor).alias("anchor"), col(chosen.positive).alias("positive"), *ids]
    pairs = rows.where((col("kind") == chosen.kind) & col(chosen.anchor).not_null() & col(chosen.positive).not_null())
    pairs = pairs.select("owner", "group", "split", *columns).collect()
    counts["pairs found"] = len(pairs)
    for side in ("anchor", "positive"):
        whole, pairs = pairs, _unheld(pairs, held, side).collect()
        counts["pair: a text is also in a split held out"] += len(whole) - len(pairs)
        whole, pairs = pairs, _distinct(pairs, side).collect()
        counts["pair: a text is in another pair"] += len(whole) - len(pairs)
    published = [col("anchor"), col("positive"), col("group").cast("string")]
    published += [col(id) for id in chosen.ids() if options.keep_ids]
    for number, split in enumerate(SPLITS):
        frame = pairs.where(col("split") == number)
        size = frame.count_rows()
        limit = options.pairs if number == TRAIN else None
        if limit is not None and size > limit:
            frame = frame.sort("owner").limit(limit)
            counts["pair: beyond the number asked for"] += size - limit
            size = limit
        if size:
            frame = frame.sort("owner").select(*published)
            _write(frame, folder, name, split, size)
    return Counter({reason: count for reason, count in counts.items() if count})


def held_out(files: Sequence[str]) -> DataFrame:
    """Hashes of the texts in validation and test, with the number of the strictest split that has them.

    Args:
        files: Parquet files of `pairing.pair`.
    """
    from daft import col
    from daft.functions import hash, to_list

    rows = read_rows(files)
    texts = [name for name in rows.column_names if name.startswith("text_") or name == "parent_text"]
    frame = rows.where(col("split") != TRAIN).select(to_list(*map(col, texts)).alias("text"), "split").explode("text")
    frame = frame.where(col("text").not_null()).with_column("text", hash(col("text")))
    return frame.groupby("text").agg(col("split").max().alias("held")).collect()


def _unheld(pairs: DataFrame, held: DataFrame, side: str) -> DataFrame:
    """The pairs whose text on a side is in no stricter split than theirs."""
    from daft import col
    from daft.functions import hash

    joined = pairs.with_column("text", hash(col(side))).join(held, on="text", how="left")
    return joined.where(col("held").is_null() | (col("held") <= col("split"))).exclude("text", "held")


def _distinct(pairs: DataFrame, side: str) -> DataFrame:
    """Of the pairs with the same text on a side the one drawn first."""
    from daft import col

    return pairs.join(pairs.groupby(side).agg(col("owner").min()).select("owner"), on="owner", how="semi")


def _write(frame: DataFrame, folder: Path, name: str, split: str, rows: int) -> None:
    """Streams a frame of so many rows to Parquet files, in its order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / name).mkdir(parents=True, exist_ok=True)
    total = -(-rows // FILE_ROWS)
    batches, waiting = frame.to_arrow_iter(), []
    for number in range(total):
        wanted = min(FILE_ROWS, rows - number * FILE_ROWS)
        writer = None
        with atomic_file(folder / shard(name, split, number, total)) as path:
            while wanted:
                batch = waiting.pop() if waiting else next(batches)
                if len(batch) > wanted:
                    waiting.append(batch.slice(wanted))
                    batch = batch.slice(0, wanted)
                writer = writer or pq.ParquetWriter(path, batch.schema)
                writer.write_table(pa.Table.from_batches([batch]))
                wanted -= len(batch)
            writer.close()
