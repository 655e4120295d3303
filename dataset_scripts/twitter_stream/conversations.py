"""Second stage, first half: which tweets belong to one conversation, and which split it is in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dataset_scripts.base.splits import SPLIT_NAMES
from dataset_scripts.twitter_stream.options import MiningOptions
from dataset_scripts.twitter_stream.parsing import bucket_files
from dataset_scripts.twitter_stream.statuses import QUOTE, REPLY

SPLITS = list(SPLIT_NAMES.values())
TRAIN, VALIDATION, TEST = range(3)  # numbers of splits in the intermediate files


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
    import pyarrow as pa
    import pyarrow.parquet as pq

    links = _links([file for bucket in range(buckets) for file in bucket_files(shards, bucket)])
    owners, groups, splits = conversations(*links, options.seed, options.validation, options.test)
    for bucket in range(buckets):
        here = owners % np.uint64(buckets) == bucket
        table = pa.table({"owner": owners[here], "group": groups[here], "split": splits[here]})
        pq.write_table(table, folder / f"bucket-{bucket}.parquet")
    return int(groups.max()) + 1 if len(groups) else 0


def _links(files: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Answered tweets and their answers, as often as they were seen."""
    import daft
    from daft import col

    if not files:
        return np.empty(0, np.uint64), np.empty(0, np.uint64)
    links = daft.read_parquet(list(files)).where(col("kind").is_in([REPLY, QUOTE])).select("owner", "child").to_arrow()
    return links["owner"].to_numpy(), links["child"].to_numpy()


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
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    tweets, places = np.unique(np.concatenate([owners, children]), return_inverse=True)
    ends = places.reshape(2, -1).astype(np.int32 if len(tweets) < 1 << 31 else np.int64)
    edges = coo_array((np.ones(ends.shape[1], dtype=np.int8), (ends[0], ends[1])), shape=(len(tweets),) * 2)
    labels = connected_components(edges, directed=False)[1]
    # the tweets are sorted, so the conversation of the first is 0 whatever the labels are called
    _, firsts, numbers = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(firsts), dtype=np.int64)
    rank[np.argsort(firsts, kind="stable")] = np.arange(len(firsts))
    draws = np.random.default_rng(seed).random(len(firsts))
    split_of = np.select([draws < test, draws < test + validation], [TEST, VALIDATION], TRAIN).astype(np.int8)
    answered = np.unique(places[: len(owners)])
    groups = rank[numbers[answered]]
    return tweets[answered], groups, split_of[groups]
