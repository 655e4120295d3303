"""The archived tweet stream: quotes, replies, co-quotes and co-replies as pairs, and benchmarks of ranking.

Mining is described in Di Giovanni and Brambilla (2021), section 2, the benchmarks in section 4.1. It runs on Daft, on
one machine or a Ray cluster; see `dataset_scripts/tweet_mining/`.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from datasets import Features, Value

from dataset_scripts.base.build import read_built
from dataset_scripts.base.corpus import BuiltConfig, Corpus, CorpusConfig
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.schema import RANKINGS, TWEET_PAIRS
from dataset_scripts.twitter_stream.engine import engine_errors, start_engine
from dataset_scripts.twitter_stream.files import is_stream_file
from dataset_scripts.twitter_stream.mining import EXCLUDED, Mined, check_excluded, mine
from dataset_scripts.twitter_stream.options import MiningOptions
from dataset_scripts.twitter_stream.rankings import BENCHMARKS
from dataset_scripts.twitter_stream.sets import SETS


class TwitterStream(Corpus):
    """Builder of the tweet stream."""

    METADATA = load_metadata("twitter_stream")
    FEATURES = {name: TWEET_PAIRS for name in SETS} | {name: RANKINGS for name in BENCHMARKS}
    RESUMABLE = True

    @classmethod
    def languages(cls, options: Mapping[str, Any]) -> list[str]:
        lang = options.get("lang", "en")
        return ["multilingual" if lang == "all" else lang]

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        return [file for file in super().find_files(path) if is_stream_file(file.name)]

    @classmethod
    def write(
        cls, files: list[Path], folder: Path, options: Mapping[str, Any], configs: Collection[str], work: Path
    ) -> dict[str, BuiltConfig]:
        config = cls.BUILDER_CONFIG_CLASS(name="stream", **options)
        excluded, mining = _excluded(config), cls._started(config)
        with engine_errors():
            mined = mine(files, folder, work, mining, configs, excluded)
        for reason, place in mined.first.items():
            print(f"{reason} x {mined.lines[reason]:,}, first in {place}", file=sys.stderr)
        built = {}
        for name in configs:
            features = cls.FEATURES[name]
            if name in SETS and config.keep_ids:
                features = Features({**features, "anchor_id": Value("int64"), "positive_id": Value("int64")})
            built[name] = read_built(folder, name, features, *_divided(mined.sets[name]))
        # what concerns the whole stream stands with the first that has rows; of others the reasons alone are reported
        if first := next((found for found in built.values() if found.counts), None):
            first.facts = {**_of_the_stream(mined), **first.facts}
        else:
            first = next(iter(built.values()))
            first.dropped = {**_of_the_stream(mined), **first.dropped}
        return built

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        options = self._started(self.config)
        with tempfile.TemporaryDirectory() as passing:
            out, work = Path(passing, "out"), Path(passing, "work")
            with engine_errors():
                mined = mine(files, out, work, options, [config], _excluded(self.config))
            dropped, facts = _divided(mined.sets[config])
            written = sorted((out / config).glob("*.parquet"))
            (self.facts if written else self.dropped).update(_of_the_stream(mined))
            self.dropped.update(dropped)
            self.facts.update(facts)
            for file in written:
                for batch in pq.ParquetFile(file).iter_batches():
                    for row in batch.to_pylist():
                        yield file.name.split("-")[0], row

    @staticmethod
    def _started(config: CorpusConfig) -> MiningOptions:
        options = MiningOptions(**{field.name: getattr(config, field.name) for field in fields(MiningOptions)})
        start_engine(config.engine, config.address)
        return options


def _of_the_stream(mined: Mined) -> dict[str, int]:
    """What was counted before there were sets."""
    counts = [*sorted(mined.lines.items()), *sorted(mined.tweets.items())]
    return {reason: count for reason, count in counts if count}


def _divided(counts: Counter[str]) -> tuple[dict[str, int], dict[str, int]]:
    """What was left out, and what there was."""
    facts = {reason: count for reason, count in counts.items() if reason.endswith(" found")}
    return {reason: count for reason, count in counts.items() if reason not in facts}, facts


def _excluded(config: CorpusConfig) -> list[Path]:
    """The files of hashes that are excluded.

    Raises:
        ValueError: If there is no salt to compare hashes by, or a folder has no such file, or one of another salt.
    """
    folders = [Path(folder).expanduser() for folder in config.exclude]
    if folders and config.salt is None:
        raise ValueError("--exclude compares salted hashes: give the --salt with which those folders were built")
    if missing := next((folder for folder in folders if not (folder / EXCLUDED).is_file()), None):
        raise ValueError(f"--exclude {missing} has no {EXCLUDED}: build it with --salt, and with its benchmarks")
    files = [folder / EXCLUDED for folder in folders]
    check_excluded(files, config.salt)
    return files
