"""The stages after each other: stream files in, sets and benchmarks out."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from dataset_scripts.base.engine import stage
from dataset_scripts.base.reading import Dropped
from dataset_scripts.twitter_stream import conversations, pairing, parsing
from dataset_scripts.twitter_stream.files import parts
from dataset_scripts.twitter_stream.options import MiningOptions, digest
from dataset_scripts.twitter_stream.rankings import BENCHMARKS, write_benchmark
from dataset_scripts.twitter_stream.sets import SETS, write_sets

ALL = (*SETS, *BENCHMARKS)
PART_BYTES = 2 << 30  # packed, of the files whose tweets are one partition


class Mined(NamedTuple):
    """What a run counted."""

    lines: Dropped  # what was read, by kind and reason
    tweets: Counter[str]  # distinct tweets and answers, by what could be used of them
    sets: dict[str, Counter[str]]  # set or benchmark -> what there was and what was left out


def mine(
    files: Sequence[Path],
    folder: Path,
    work: Path,
    options: MiningOptions,
    names: Collection[str] = ALL,
    partitions: int | None = None,
) -> Mined:
    """Mines sets and benchmarks by their `names`; the engine is that of the process, see `engine.start_engine`.

    `folder` receives a folder of Parquet files for each set and benchmark that has rows. `work`, which all machines of
    a cluster see, holds what an interrupted run left, used again as far as files and options are the same: texts and
    what can be turned back into ids, not for publication. No step holds more than one of the `partitions` of the
    tweets, which are by default as many as the amount of data needs.
    """
    pieces, rows = list(parts(files)), work / "rows"
    partitions = partitions or 1 + sum(piece.bytes for piece in pieces) // PART_BYTES
    lines = parsing.parse(pieces, rows, options, partitions)
    here = work / f"paired-{digest([options.pairing(), sorted(shard.name for shard in rows.iterdir())])}"
    for other in work.glob("paired-*"):
        if other != here:
            shutil.rmtree(other)
    return Mined(lines, *draw(rows, here, folder, options, partitions, names))


def draw(
    rows: Path, work: Path, folder: Path, options: MiningOptions, partitions: int, names: Collection[str] = ALL
) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """All that comes after reading; of `mine` what is counted of tweets and of sets."""
    items, groups, pairs = {f"{part:05}": part for part in range(partitions)}, work / "conversations", work / "pairs"
    tweets = Counter({"conversations": conversations.connect(rows, groups, options, items)})
    pair = lambda part, counts: pairing.paired(rows, groups, part, options, counts)  # noqa: E731
    tweets += stage(pairs, items, pair, "pair", "owner")
    sets = write_sets([name for name in SETS if name in names], pairs, work, folder, options, items)
    sets |= {name: write_benchmark(name, pairs, folder, options) for name in BENCHMARKS if name in names}
    return tweets, sets
