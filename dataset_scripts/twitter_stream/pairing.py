"""Second stage: conversations, their splits, and each answered tweet with the answers that are drawn for it."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import daft
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from daft import DataFrame, Expression, Window, col, lit
from daft.functions import length, lpad, row_number, substr, when
from tqdm import tqdm

from dataset_scripts.base.files import atomic_folder, read_json, write_json
from dataset_scripts.base.splits import connected
from dataset_scripts.twitter_stream.engine import read_rows, write_rows
from dataset_scripts.twitter_stream.options import MiningOptions, digest
from dataset_scripts.twitter_stream.parsing import bucket_files
from dataset_scripts.twitter_stream.statuses import OTHER_LANGUAGE, QUOTE, REPLY, TOO_SHORT, TWEET, USABLE

TRAIN, VALIDATION, TEST = range(3)  # places in `splits.SPLITS`
WIDTH = 6  # digits of a text's length
CHILD = {"text": "text", "child_id": "id"}  # column -> as it is called with `_0`, `_1` ...
PARENT = {"parent_text": "text", "owner_id": "id"}  # ... with `_parent`
STATES = {USABLE: "usable", OTHER_LANGUAGE: "in another language", TOO_SHORT: "too short"}
COUNTED = "counts.json"


def pair(shards: Sequence[Path], work: Path, options: MiningOptions, buckets: int) -> tuple[list[str], Counter[str]]:
    """Pairs what has not been paired before, in a folder of `work`; what was paired of others is removed.

    Returns:
        Parquet files with a row for each kind of answer of each answered tweet; and what was counted. The columns are
        `owner`, `kind`, `group` and `split`; `text_parent` and `text_0`, `text_1` ... of the tweet and of the answers
        drawn for it; with `keep_ids` their `id_...`.
    """
    folder = work / f"paired-{digest([options.pairing(), [shard.name for shard in shards]])}"
    for other in work.glob("paired-*"):
        if other != folder:
            shutil.rmtree(other)
    folder.mkdir(parents=True, exist_ok=True)
    groups = folder / "conversations"
    if not groups.is_dir():
        with atomic_folder(groups) as temporary:
            number = _write_conversations(shards, temporary, options, buckets)
            write_json(temporary / COUNTED, {"conversations": number})
    counts = Counter(read_json(groups / COUNTED))
    for bucket in tqdm(range(buckets), desc="pair", unit="bucket", disable=None):
        target = folder / f"bucket-{bucket}"
        if not target.is_dir():
            files = bucket_files(shards, bucket)
            with atomic_folder(target) as temporary:
                _pair_bucket(files, groups / f"bucket-{bucket}.parquet", temporary, options)
        counts.update(read_json(target / COUNTED))
    paired = [sorted((folder / f"bucket-{bucket}").glob("*.parquet")) for bucket in range(buckets)]
    return [str(file) for files in paired for file in files], counts


def _write_conversations(shards: Sequence[Path], folder: Path, options: MiningOptions, buckets: int) -> int:
    """Writes the `group` and `split` of each answered tweet (`owner`), a file for each bucket; returns how many groups.

    Tweets of any language connect, since what lies between two English ones may be in another. This is the one step
    that sees the whole stream at once, as two numbers of 64 bits for each answer.
    """
    links = {"owner": np.empty(0, np.uint64), "child": np.empty(0, np.uint64)}
    if files := [file for bucket in range(buckets) for file in bucket_files(shards, bucket)]:
        answers = daft.read_parquet(files).where(col("kind").is_in([REPLY, QUOTE]))
        table = answers.select(*links).to_arrow()
        links = {name: table[name].to_numpy() for name in links}
    owners, groups, splits = conversations(*links.values(), options.seed, options.validation, options.test)
    for bucket in range(buckets):
        here = owners % np.uint64(buckets) == bucket
        table = pa.table({"owner": owners[here], "group": groups[here], "split": splits[here]})
        pq.write_table(table, folder / f"bucket-{bucket}.parquet")
    return int(groups.max(initial=-1)) + 1


def conversations(
    owners: np.ndarray, children: np.ndarray, seed: int, validation: float, test: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers the conversations, and divides them; nothing of it depends on the order of the answers.

    Of answered tweets and their answers, numbers of 64 bits, shape (n,) each; returns the different owners in ascending
    order, the number of each one's conversation and that of its split.
    """
    tweets, places = np.unique(np.concatenate([owners, children]), return_inverse=True)
    groups = connected(places.reshape(2, -1), len(tweets))  # numbered in the order of the tweets, which are sorted
    draws = np.random.default_rng(seed).random(groups.max(initial=-1) + 1)
    split_of = np.select([draws < test, draws < test + validation], [TEST, VALIDATION], TRAIN).astype(np.int8)
    answered = np.unique(places[: len(owners)])
    return tweets[answered], groups[answered], split_of[groups[answered]]


def _pair_bucket(files: Sequence[str], groups: Path, folder: Path, options: MiningOptions) -> None:
    counts: Counter[str] = Counter()
    if files:
        rows = read_rows(files)
        extra = [name for name in (*PARENT, *CHILD) if name in rows.column_names and name != "text"]
        tweets = _once(rows.where(col("kind") == TWEET), ["owner"], []).collect()
        links = _once(rows.where(col("kind").is_in([REPLY, QUOTE])), ["kind", "owner", "child"], extra).collect()
        parents = tweets.select("owner", *(col(name).alias(f"parent_{name}") for name in ("state", "text")))
        links = links.join(parents, on="owner", how="left").collect()
        counts = _counts(tweets, links)
        frame = _drawn(_answers(links, counts), options, counts)
        write_rows(frame.join(daft.read_parquet(str(groups)), on="owner", how="inner"), folder)
    write_json(folder / COUNTED, {reason: count for reason, count in counts.items() if count})


def _once(rows: DataFrame, keys: list[str], others: list[str]) -> DataFrame:
    """Each tweet or answer once: its longest text, and of texts as long the first in the order of characters.

    A retweet may repeat a tweet cut off.
    """
    room = (lit(10**WIDTH - 1) - length(col("text"))).cast("string")
    frame = rows.with_column("text", lpad(room, WIDTH, "0") + col("text")).groupby(*keys)
    frame = frame.agg(col("state").min(), col("text").min(), *(col(name).min() for name in others))
    return frame.with_column("text", substr(col("text"), WIDTH).fill_null(""))


def _only(condition: Expression, value: Expression) -> Expression:
    """The value where the condition holds, else null."""
    return when(condition, value).otherwise(lit(None))


def _counts(tweets: DataFrame, links: DataFrame) -> Counter[str]:
    """Distinct tweets by what can be used of them, and answers by what their tweet is."""
    counts: Counter[str] = Counter()
    for row in _sizes(tweets, "state"):
        counts[f"tweet: {STATES[row['state']]}"] += row["rows"]
    for row in _sizes(links, "kind", "state", "parent_state"):
        state, parent = row["state"], row["parent_state"]
        if state != USABLE:
            reason = STATES[state]
        elif parent is None:
            reason = "answered tweet not in the stream"
        else:
            reason = "both sides usable" if parent == USABLE else f"answered tweet {STATES[parent]}"
        counts[f"{row['kind']}: {reason}"] += row["rows"]
    return counts


def _sizes(frame: DataFrame, *columns: str) -> list[dict]:
    """Each combination of the columns' values, and the number of its `rows`."""
    return frame.groupby(*columns).agg(col(columns[0]).count("all").alias("rows")).to_pylist()


def _answers(links: DataFrame, counts: Counter[str]) -> DataFrame:
    """The usable answers that say something else than the tweet, with `parent_text` where that is usable."""
    links = links.where(col("state") == USABLE)
    links = links.with_column("parent_text", _only(col("parent_state") == USABLE, col("parent_text")))
    answers = links.where(col("parent_text").is_null() | (col("parent_text") != col("text")))
    counts["answer: repeats the tweet"] = links.count_rows() - answers.count_rows()
    return answers


def _drawn(answers: DataFrame, options: MiningOptions, counts: Counter[str]) -> DataFrame:
    """A row for each kind of answer of each answered tweet.

    The order of the answers' hashes is the draw: the first ones are `text_1`, `text_2` ..., the last one, which is
    another where there are enough, is `text_0`. Of answers with the same text the first one counts.
    """
    keys = ["kind", "owner", "child"]
    firsts = answers.groupby("kind", "owner", "text").agg(col("child").min()).select(*keys)
    distinct = answers.join(firsts, on=keys, how="semi").collect()
    counts["answer: same text as another to the tweet"] = answers.count_rows() - len(distinct)
    # one window for all, since Daft makes a table of its own for each part of a partitioned one
    ordered = distinct.with_column("place", row_number().over(Window().order_by(keys))).collect()
    ends = ordered.groupby("kind", "owner").agg(col("place").min().alias("first"), col("place").max().alias("last"))
    drawn = {0: col("place") == col("last")}
    drawn |= {rank: col("place") == col("first") + (rank - 1) for rank in range(1, options.children + 1)}
    there = set(ordered.column_names)
    columns = [col(name).max().alias(f"{new}_parent") for name, new in PARENT.items() if name in there]
    columns += [
        _only(chosen, col(name)).max().alias(f"{new}_{rank}")
        for rank, chosen in drawn.items()
        for name, new in CHILD.items()
        if name in there
    ]
    return ordered.join(ends, on=["kind", "owner"]).groupby("kind", "owner").agg(*columns)
