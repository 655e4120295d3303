"""Second stage, first half: which tweets belong to one conversation, and which split it is in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import daft
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from daft import col

from dataset_scripts.base.splits import connected
from dataset_scripts.twitter_stream.options import MiningOptions
from dataset_scripts.twitter_stream.parsing import bucket_files
from dataset_scripts.twitter_stream.statuses import QUOTE, REPLY

TRAIN, VALIDATION, TEST = range(3)  # places in `splits.SPLITS`


def write_conversations(shards: Sequence[Path], folder: Path, options: MiningOptions, buckets: int) -> int:
    """Writes which conversation each answered tweet belongs to, one file for each bucket.

    Tweets of any language connect, since what lies between two English ones may be in another. This is the one step
    that sees the whole stream at once, as two numbers of 64 bits for each answer.

    Args:
        shards: Folders of `parsing.parse`.
        folder: Receives `bucket-N.parquet` with the columns `owner`, `group` and `split`.
        options: Seed and shares of the split are read.
        buckets: How many.

    Returns:
        The number of conversations.
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
    """Numbers the conversations, and divides them.

    Args:
        owners: Answered tweets, numbers of 64 bits that tell tweets apart, shape (n,).
        children: Their answers, shape (n,).
        seed: Of the split.
        validation: Share of the conversations, in (0, 1).
        test: Share of the conversations, in (0, 1).

    Returns:
        The different owners in ascending order, the number of each one's conversation and of its split; nothing of it
        depends on the order of the answers.
    """
    tweets, places = np.unique(np.concatenate([owners, children]), return_inverse=True)
    groups = connected(places.reshape(2, -1), len(tweets))  # numbered in the order of the tweets, which are sorted
    draws = np.random.default_rng(seed).random(groups.max(initial=-1) + 1)
    split_of = np.select([draws < test, draws < test + validation], [TEST, VALIDATION], TRAIN).astype(np.int8)
    answered = np.unique(places[: len(owners)])
    return tweets[answered], groups[answered], split_of[groups[answered]]
