"""Second stage, first part: conversations, tweets connected by answers, and the split of each.

Kiveris et al. (2014, "Connected components in MapReduce and beyond"): every tweet links its neighbours to the first of
them, in turns the later ones alone (large star) and the earlier ones (small star), until each is linked to the first
tweet of its conversation and to nothing else. The turns are some times the logarithm of the longest way.
"""

from __future__ import annotations

import shutil
from collections import Counter
from itertools import accumulate
from pathlib import Path
from typing import Any

import daft
import numpy as np
from daft import DataFrame, DataType, Series, Window, col, lit
from daft.functions import columns_min, dense_rank, when

from dataset_scripts.base.engine import read, stage
from dataset_scripts.base.files import read_json, write_json
from dataset_scripts.twitter_stream.options import MiningOptions
from dataset_scripts.twitter_stream.statuses import QUOTE, REPLY

TRAIN, VALIDATION, TEST = range(3)  # places in `splits.SPLITS`
NODE = Window().partition_by("node")
TURN = "turn.json"


def connect(rows: Path, folder: Path, options: MiningOptions, items: dict[str, int]) -> int:
    """Writes `group` and `split` of each tweet (`owner`) that answers or is answered; returns how many groups.

    Of `rows` as `parsing.parse` writes them; `folder` is that of the stage. Groups are numbered in the order of
    their first tweets. Tweets of any language connect, since what lies between two English ones may be in another.
    """
    work, turn = folder.with_name("links"), 0
    if (work / TURN).exists():
        turn = read_json(work / TURN)
    else:

        def answers(part: int, _: Counter) -> DataFrame:
            links = read(rows, part).where(col("kind").is_in([REPLY, QUOTE]))
            return _both_ways(links.select(col("owner").alias("node"), col("child").alias("other")))

        stage(work / "0", items, answers, "link", "node")
    while (centres := _centres(work / str(turn), items)) is None:
        small, large = work / str(turn + 1), work / f"{turn}-large"
        stage(large, items, lambda part, _, of=work / str(turn): _large_star(read(of, part)), "link", "node")
        stage(small, items, lambda part, _, of=large: _small_star(read(of, part)), "link", "node")
        turn += 1
        write_json(work / TURN, turn)
        shutil.rmtree(large)
        shutil.rmtree(work / str(turn - 1))
    firsts = [0, *accumulate(centres)]

    def numbered(part: int, _: Counter) -> DataFrame:
        links = read(work / str(turn), part).where(col("node") < col("other"))
        rank = dense_rank().over(Window().order_by("node")) - 1 + firsts[part]
        links = links.with_column("group", rank.cast(DataType.int64()))
        groups = links.select(col("node").alias("owner"), "group").distinct()
        groups = groups.concat(links.select(col("other").alias("owner"), "group"))
        draw = draws(col("group"), options.seed)
        split = when(draw < options.test, lit(TEST)).when(draw < options.test + options.validation, lit(VALIDATION))
        return groups.with_column("split", split.otherwise(lit(TRAIN)).cast(DataType.int8()))

    stage(folder, items, numbered, "number", "owner")
    return firsts[-1]


def _both_ways(links: DataFrame) -> DataFrame:
    return links.concat(links.select(col("other").alias("node"), col("node").alias("other"))).distinct()


def _large_star(links: DataFrame) -> DataFrame:
    """Links the later neighbours of each tweet to the first of all, itself included."""
    links = links.with_column("first", columns_min(col("node"), col("other").min().over(NODE)))
    later = links.where(col("other") > col("node"))
    return later.select(col("other").alias("node"), col("first").alias("other")).distinct()


def _small_star(links: DataFrame) -> DataFrame:
    """Links each tweet and its neighbours, which are all earlier, to the first of them."""
    links = links.with_column("first", col("other").min().over(NODE))
    ends = links.where(col("other") != col("first")).select(col("other").alias("node"), col("first").alias("other"))
    return _both_ways(links.select("node", col("first").alias("other")).concat(ends))


def _centres(folder: Path, items: dict[str, int]) -> list[int] | None:
    """How many conversations begin in each partition; None if not all are stars around their first tweets yet."""
    centres = []
    for part in items.values():
        ends = read(folder, part).groupby("node")
        ends = ends.agg(col("other").min().alias("first"), col("other").max().alias("last"))
        linked = (col("first") < col("node")) & (col("first") != col("last"))
        facts = {"open": linked, "centres": col("first") > col("node")}
        sums = [when(fact, lit(1)).otherwise(lit(0)).sum().alias(name) for name, fact in facts.items()]
        (found,) = ends.agg(*sums).to_pylist()
        if found["open"]:
            return None
        centres.append(found["centres"] or 0)
    return centres


@daft.func.batch(return_dtype=DataType.float64())
def draws(numbers: Series, seed: int) -> Any:
    """The numbers that numpy's generator of this seed draws at these places, in [0, 1)."""
    places = numbers.to_arrow().to_numpy()
    if not len(places):
        return places.astype(float)
    first = int(places.min())
    drawn = np.random.Generator(np.random.PCG64(seed).advance(first)).random(int(places.max()) - first + 1)
    return drawn[places - first]
