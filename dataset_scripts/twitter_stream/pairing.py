"""Second stage: each answered tweet with the answers that are drawn for it, and with its conversation."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from daft import DataFrame, Expression, Window, col, lit
from daft.functions import length, lpad, row_number, substr, when

from dataset_scripts.base.engine import read, sizes
from dataset_scripts.twitter_stream.options import MiningOptions
from dataset_scripts.twitter_stream.statuses import OTHER_LANGUAGE, QUOTE, REPLY, TOO_SHORT, TWEET, USABLE

WIDTH = 6  # digits of a text's length
CHILD = {"text": "text", "child_id": "id"}  # column -> as it is called with `_0`, `_1` ...
PARENT = {"parent_text": "text", "owner_id": "id"}  # ... with `_parent`
STATES = {USABLE: "usable", OTHER_LANGUAGE: "in another language", TOO_SHORT: "too short"}


def paired(rows: Path, groups: Path, part: int, options: MiningOptions, counts: Counter[str]) -> DataFrame:
    """A row for each kind of answer of each answered tweet of a partition, of the rows and conversations there.

    The columns are `owner`, `kind`, `group` and `split`; `text_parent` and `text_0`, `text_1` ... of the tweet and of
    the answers drawn for it; with `keep_ids` their `id_...`.
    """
    here = read(rows, part)
    extra = [name for name in (*PARENT, *CHILD) if name in here.column_names and name != "text"]
    tweets = _once(here.where(col("kind") == TWEET), ["owner"], []).collect()
    links = _once(here.where(col("kind").is_in([REPLY, QUOTE])), ["kind", "owner", "child"], extra).collect()
    parents = tweets.select("owner", *(col(name).alias(f"parent_{name}") for name in ("state", "text")))
    links = links.join(parents, on="owner", how="left").collect()
    counts.update(_counts(tweets, links))
    frame = _drawn(_answers(links, counts), options, counts)
    return frame.join(read(groups, part), on="owner", how="inner")


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
    for row in sizes(tweets, "state"):
        counts[f"tweet: {STATES[row['state']]}"] += row["rows"]
    for row in sizes(links, "kind", "state", "parent_state"):
        state, parent = row["state"], row["parent_state"]
        if state != USABLE:
            reason = STATES[state]
        elif parent is None:
            reason = "answered tweet not in the stream"
        else:
            reason = "both sides usable" if parent == USABLE else f"answered tweet {STATES[parent]}"
        counts[f"{row['kind']}: {reason}"] += row["rows"]
    return counts


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
