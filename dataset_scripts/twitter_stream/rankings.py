"""The four ranking benchmarks: a tweet, some answers of its own and many of others (section 4.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dataset_scripts.base.build import shard
from dataset_scripts.base.files import atomic_file
from dataset_scripts.twitter_stream.conversations import SPLITS, TRAIN
from dataset_scripts.twitter_stream.options import MiningOptions
from dataset_scripts.twitter_stream.parsing import read_rows
from dataset_scripts.twitter_stream.statuses import QUOTE, REPLY

if TYPE_CHECKING:
    import pandas as pd
    from daft import DataFrame

TRIED = 40  # times as many as negatives are asked for: some are of the own conversation
SPARE = 2  # times as many queries are looked at as are asked for, since some say the same
POOL = 100_000  # answers that negatives are drawn from, at most
ENOUGH = 1_000


@dataclass(frozen=True)
class Benchmark:
    """Which answers rank, and whether the query is the tweet itself (direct) or one of them."""

    kind: str
    direct: bool


BENCHMARKS = {
    "dq": Benchmark(QUOTE, True),
    "cq": Benchmark(QUOTE, False),
    "dr": Benchmark(REPLY, True),
    "cr": Benchmark(REPLY, False),
}


def write_benchmark(
    name: str, files: Sequence[str], folder: Path, options: MiningOptions
) -> tuple[Counter[str], set[int]]:
    """Writes a benchmark's Parquet files for validation and test.

    Negatives are answers to tweets of other conversations in the same split. None has the text of the query or of a
    positive.

    Args:
        name: A key of `BENCHMARKS`.
        files: Parquet files of `pairing.pair`.
        folder: Receives `NAME/test-00000-of-00001.parquet` and so on; nothing where there are too few tweets.
        options: How many queries, positives and negatives.

    Returns:
        What was left out, by reason, and what there was; with a salt the hashes of all its tweets, too.
    """
    from daft import col

    benchmark, counts, hashes = BENCHMARKS[name], Counter(), set()
    needed = options.positives if benchmark.direct else options.children
    rows = read_rows(files).where(col("kind") == benchmark.kind)
    for number, split in enumerate(SPLITS):
        if number == TRAIN:
            continue
        here = rows.where(col("split") == number)
        asked = here.where(col(f"text_{needed}").not_null())
        if benchmark.direct:
            asked = asked.where(col("parent_text").not_null())
        found = asked.count_rows()
        counts["queries found"] += found
        if not found:
            continue
        queries = asked.sort("owner").limit(SPARE * options.queries).to_pandas()
        pool, before = _pool(here, options), counts.total()
        ranked = _ranked(queries, pool, benchmark, options, counts, hashes)
        counts["query: beyond the number asked for"] += found - len(ranked) - (counts.total() - before)
        if ranked:
            _write(ranked, folder / shard(name, split))
    return Counter({reason: count for reason, count in counts.items() if count}), hashes


def _pool(rows: DataFrame, options: MiningOptions) -> pd.DataFrame:
    """Answers that negatives are drawn from, columns `text`, `group` and, with a salt, `hash`; no text twice.

    One of each tweet, so that popular tweets are no more often among them; a small archive, whose tweets are too few
    for that, gives further ones.
    """
    import pandas as pd
    from daft import col

    hashed = ["hash"] if options.salt is not None else []
    parts, size = [], 0
    for rank in range(1, options.children + 1):
        names = [f"text_{rank}", "group", *(f"child_hash_{rank}" for _ in hashed)]
        drawn = rows.where(col(f"text_{rank}").not_null()).sort("owner").limit(POOL).select(*names).to_pandas()
        parts.append(drawn.set_axis(["text", "group", *hashed], axis=1))
        size += len(drawn)
        if size >= ENOUGH:
            break
    return pd.concat(parts).drop_duplicates("text", ignore_index=True)


def _ranked(
    queries: pd.DataFrame,
    pool: pd.DataFrame,
    benchmark: Benchmark,
    options: MiningOptions,
    counts: Counter[str],
    hashes: set[int],
) -> list[dict[str, Any]]:
    """The rows of `schema.RANKINGS`."""
    ranked, seen = [], set()
    positives = [f"text_{rank}" for rank in range(1, options.positives + 1)]
    query_column = "parent_text" if benchmark.direct else f"text_{options.children}"
    texts, groups = pool["text"].to_numpy(), pool["group"].to_numpy()
    for row in queries.to_dict("records"):
        query = row[query_column]
        own = [row[name] for name in positives]
        if len(ranked) == options.queries:
            break
        if query in seen:
            counts["query: same text as another"] += 1
            continue
        draw = np.random.default_rng((options.seed, int(row["owner"])))
        order = draw.choice(len(pool), min(len(pool), TRIED * options.negatives), replace=False)
        free = [i for i in order if groups[i] != row["group"] and texts[i] != query and texts[i] not in own]
        if len(free) < options.negatives:
            counts["query: too few answers of other conversations"] += 1
            continue
        seen.add(query)
        chosen = free[: options.negatives]
        ranked.append(
            {"query": query, "positives": own, "negatives": texts[chosen].tolist(), "group": str(row["group"])}
        )
        if options.salt is not None:
            names = [f"child_hash_{name.removeprefix('text_')}" for name in positives]
            names.append("owner_hash" if benchmark.direct else f"child_hash_{options.children}")
            hashes.update(int(row[name]) for name in names)
            hashes.update(int(hash) for hash in pool["hash"].to_numpy()[chosen])
    return ranked


def _write(rows: list[dict[str, Any]], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as passing:
        pq.write_table(pa.Table.from_pylist(rows), passing)
