"""The four ranking benchmarks: a tweet, some answers of its own and many of others (section 4.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import daft
import numpy as np
import pandas as pd
from daft import DataFrame, col

from dataset_scripts.base.engine import read
from dataset_scripts.base.splits import SPLITS
from dataset_scripts.twitter_stream.conversations import TEST, VALIDATION
from dataset_scripts.twitter_stream.options import MiningOptions
from dataset_scripts.twitter_stream.sets import write_split
from dataset_scripts.twitter_stream.statuses import QUOTE, REPLY

TRIED = 40  # times as many as negatives are asked for: some are of the own conversation
SPARE = 2  # times as many queries are looked at as are asked for, since some say the same
POOL = 100_000  # answers that negatives are drawn from, at most
ENOUGH = 1_000


# benchmark -> which answers rank, and whether the query is the tweet itself or one of them
BENCHMARKS = {"dq": (QUOTE, True), "cq": (QUOTE, False), "dr": (REPLY, True), "cr": (REPLY, False)}


def write_benchmark(name: str, pairs: Path, folder: Path, options: MiningOptions) -> Counter[str]:
    """Writes a benchmark's Parquet files of the rows of `pairing.paired`, for validation and test; returns what was
    counted.

    Negatives are answers to tweets of other conversations in the same split. None has the text of the query or of a
    positive.
    """
    kind, direct = BENCHMARKS[name]
    query = "parent" if direct else str(options.children)
    positives = [str(rank) for rank in range(1, options.positives + 1)]
    counts: Counter[str] = Counter()
    rows = read(pairs).where(col("kind") == kind)
    for number in (VALIDATION, TEST):
        here = rows.where(col("split") == number)
        possible = here.where(col(f"text_{positives[-1]}").not_null() & col(f"text_{query}").not_null())
        size = possible.count_rows()
        if not size:
            continue
        candidates = possible.sort("owner").limit(SPARE * options.queries).to_pandas()
        ranked, skipped = _ranked(candidates, query, positives, _pool(here, options), options)
        counts["queries found"] += size
        counts.update(skipped)
        counts["query: beyond the number asked for"] += size - len(ranked) - skipped.total()
        if ranked:
            write_split([daft.from_pylist(ranked)], len(ranked), folder, name, SPLITS[number])
    return +counts


def _pool(rows: DataFrame, options: MiningOptions) -> pd.DataFrame:
    """Answers that negatives are drawn from, columns `text` and `group`; no text twice.

    One of each tweet, so that popular tweets are no more often among them; a small archive, whose tweets are too few
    for that, gives further ones.
    """
    frames, size = [], 0
    for rank in range(1, options.children + 1):
        columns = {f"text_{rank}": "text", "group": "group"}
        answers = rows.where(col(f"text_{rank}").not_null()).sort("owner").limit(POOL).select(*columns).to_pandas()
        frames.append(answers.rename(columns=columns))
        size += len(answers)
        if size >= ENOUGH:
            break
    return pd.concat(frames).drop_duplicates("text", ignore_index=True)


def _ranked(
    candidates: pd.DataFrame, query: str, positives: Sequence[str], pool: pd.DataFrame, options: MiningOptions
) -> tuple[list[dict[str, Any]], Counter[str]]:
    """The rows of `schema.RANKINGS`, and why others are none."""
    ranked, skipped, seen = [], Counter(), set()
    texts, groups = pool["text"].to_numpy(), pool["group"].to_numpy()
    for row in candidates.to_dict("records"):
        text, own = row[f"text_{query}"], [row[f"text_{rank}"] for rank in positives]
        if len(ranked) == options.queries:
            break
        if text in seen:
            skipped["query: same text as another"] += 1
            continue
        draw = np.random.default_rng((options.seed, int(row["owner"])))
        order = draw.choice(len(pool), min(len(pool), TRIED * options.negatives), replace=False)
        others = [i for i in order if groups[i] != row["group"] and texts[i] != text and texts[i] not in own]
        others = others[: options.negatives]
        if len(others) < options.negatives:
            skipped["query: too few answers of other conversations"] += 1
            continue
        seen.add(text)
        group = str(row["group"])
        ranked.append({"query": text, "positives": own, "negatives": texts[others].tolist(), "group": group})
    return ranked, skipped
