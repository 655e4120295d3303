"""Second stage: each answered tweet with the answers that are drawn for it, bucket by bucket."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from dataset_scripts.base.files import atomic_folder, read_json, write_json
from dataset_scripts.twitter_stream.conversations import write_conversations
from dataset_scripts.twitter_stream.engine import write_rows
from dataset_scripts.twitter_stream.options import MiningOptions, digest
from dataset_scripts.twitter_stream.parsing import bucket_files, read_rows
from dataset_scripts.twitter_stream.statuses import OTHER_LANGUAGE, QUOTE, REPLY, TOO_SHORT, TWEET, USABLE

if TYPE_CHECKING:
    from daft import DataFrame, Expression

WIDTH = 6  # digits of a text's length
EXTRA = ("owner_id", "child_id", "owner_hash", "child_hash")  # columns that are there where they are asked for
STATES = {OTHER_LANGUAGE: "in another language", TOO_SHORT: "too short"}
COUNTED = "counts.json"
ROWS = "rows"


def pair(
    shards: Sequence[Path], folder: Path, options: MiningOptions, buckets: int, excluded: Sequence[str]
) -> tuple[list[Path], Counter[str]]:
    """Pairs what has not been paired before.

    Args:
        shards: Folders of `parsing.parse`.
        folder: Receives a folder for each bucket; it is whole or not there. What was paired with other options or of
            other shards is removed.
        options: What is drawn, and how.
        buckets: How many.
        excluded: Parquet files with the hashes (`tweet`) of tweets that are in no set.

    Returns:
        The folders of the buckets, each of Parquet files with a row for each kind of answer of each answered tweet; and
        what was counted.
    """
    stamps = [(file, Path(file).stat().st_mtime_ns) for file in excluded]
    work, folder = folder, folder / f"paired-{digest([options.pairing(), [shard.name for shard in shards], stamps])}"
    for other in work.glob("paired-*"):
        if other != folder:
            shutil.rmtree(other)
    folder.mkdir(parents=True, exist_ok=True)
    groups = folder / "conversations"
    if not groups.is_dir():
        with atomic_folder(groups) as passing:
            number = write_conversations(shards, passing, options, buckets)
            write_json(passing / COUNTED, {"conversations": number})
    counts = Counter(read_json(groups / COUNTED))
    folders = []
    for bucket in tqdm(range(buckets), desc="pair", unit="bucket", disable=None):
        target = folder / f"bucket-{bucket}"
        if not target.is_dir():
            with atomic_folder(target) as passing:
                _pair_bucket(
                    bucket_files(shards, bucket), groups / f"bucket-{bucket}.parquet", passing, options, excluded
                )
        counts.update(read_json(target / COUNTED))
        folders.append(target)
    return folders, counts


def _pair_bucket(files: list[str], groups: Path, folder: Path, options: MiningOptions, excluded: Sequence[str]) -> None:
    import daft
    from daft import col

    if not files:
        write_json(folder / COUNTED, {})
        return
    rows = read_rows(files)
    extra = [name for name in EXTRA if name in rows.column_names]
    tweets = _once(rows.where(col("kind") == TWEET), ["owner"], []).collect()
    links = _once(rows.where(col("kind").is_in([REPLY, QUOTE])), ["kind", "owner", "child"], extra).collect()
    parents = tweets.select("owner", *(col(name).alias(f"parent_{name}") for name in ("state", "text")))
    links = links.join(parents, on="owner", how="left").collect()
    counts = _counts(tweets, links)
    links = links.where(col("state") == USABLE)
    kept = links.with_column("parent_text", _only(col("parent_state") == USABLE, col("parent_text")))
    if excluded:
        kept = _without(kept, excluded)
        counts["answer: excluded"] = links.count_rows() - kept.count_rows()
        links = kept
    kept = kept.where(col("parent_text").is_null() | (col("parent_text") != col("text")))
    counts["answer: repeats the tweet"] = links.count_rows() - kept.count_rows()
    frame = _drawn(kept, extra, options, counts)
    frame = frame.join(daft.read_parquet(str(groups)), on="owner", how="inner")
    write_rows(frame, folder / ROWS)
    write_json(folder / COUNTED, {reason: count for reason, count in counts.items() if count})


def _once(rows: DataFrame, keys: list[str], others: list[str]) -> DataFrame:
    """Each tweet or answer once: its longest text, and of texts as long the first in the order of characters.

    A retweet may repeat a tweet cut off.
    """
    from daft import col, lit
    from daft.functions import length, lpad, substr

    room = (lit(10**WIDTH - 1) - length(col("text"))).cast("string")
    frame = rows.with_column("text", lpad(room, WIDTH, "0") + col("text")).groupby(*keys)
    frame = frame.agg(col("state").min(), col("text").min(), *(col(name).min() for name in others))
    return frame.with_column("text", substr(col("text"), WIDTH).fill_null(""))


def _only(condition: Expression, value: Expression) -> Expression:
    """The value where the condition holds, else null."""
    from daft import lit
    from daft.functions import when

    return when(condition, value).otherwise(lit(None))


def _counts(tweets: DataFrame, links: DataFrame) -> Counter[str]:
    """Distinct tweets by what can be used of them, and answers by what their tweet is."""
    counts: Counter[str] = Counter()
    for state, number in _sizes(tweets, "state"):
        counts[f"tweet: {STATES.get(state[0], 'usable')}"] += number
    for (kind, state, parent), number in _sizes(links, "kind", "state", "parent_state"):
        if state != USABLE:
            counts[f"{kind}: {STATES[state]}"] += number
        elif parent is None:
            counts[f"{kind}: answered tweet not in the stream"] += number
        elif parent != USABLE:
            counts[f"{kind}: answered tweet {STATES[parent]}"] += number
        else:
            counts[f"{kind}: both sides usable"] += number
    return counts


def _sizes(frame: DataFrame, *columns: str) -> list[tuple[tuple, int]]:
    """(values of the columns, number of rows) for each combination."""
    from daft import col

    found = frame.groupby(*columns).agg(col(columns[0]).count("all").alias("rows")).to_pydict()
    return list(zip(zip(*(found[name] for name in columns), strict=True), found["rows"], strict=True))


def _without(links: DataFrame, excluded: Sequence[str]) -> DataFrame:
    """The answers that are not excluded, of tweets that are not."""
    import daft
    from daft import col

    for name in ("child_hash", "owner_hash"):
        held = daft.read_parquet(list(excluded)).select(col("tweet").alias(name)).distinct()
        links = links.join(held, on=name, how="anti")
    return links


def _drawn(links: DataFrame, extra: Sequence[str], options: MiningOptions, counts: Counter[str]) -> DataFrame:
    """A row for each kind of answer of each answered tweet.

    The order of the answers' hashes is the draw: the first ones are `text_1`, `text_2` ..., the last one, which is
    another where there are enough, is `text_0`. Of answers with the same text the first one counts.
    """
    from daft import Window, col
    from daft.functions import row_number

    whole, keys = links, ["kind", "owner", "child"]
    firsts = whole.groupby("kind", "owner", "text").agg(col("child").min()).select(*keys)
    links = whole.join(firsts, on=keys, how="semi").collect()
    counts["answer: same text as another to the tweet"] = whole.count_rows() - len(links)
    # one window for all, since Daft makes a table of its own for each part of a partitioned one
    links = links.with_column("place", row_number().over(Window().order_by(keys))).collect()
    ends = links.groupby("kind", "owner").agg(col("place").min().alias("first"), col("place").max().alias("last"))
    links = links.join(ends, on=["kind", "owner"])
    drawn = {0: col("place") == col("last")}
    drawn |= {rank: col("place") == col("first") + (rank - 1) for rank in range(1, options.children + 1)}
    values = ["text", *(name for name in extra if name.startswith("child"))]
    columns = [
        _only(chosen, col(name)).max().alias(f"{name}_{rank}") for rank, chosen in drawn.items() for name in values
    ]
    parents = [col(name).max() for name in ("parent_text", *(name for name in extra if name.startswith("owner")))]
    return links.groupby("kind", "owner").agg(*parents, *columns)
