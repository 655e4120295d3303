"""The builder of the tweet stream, which runs the miner."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from datasets import Features, Value

from dataset_scripts.base.build import read_built
from dataset_scripts.base.cli import validate
from dataset_scripts.base.corpus import BuiltConfig, Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.reading import ARCHIVES
from dataset_scripts.base.schema import RANKINGS, TWEET_PAIRS
from dataset_scripts.twitter_stream.files import ENDINGS
from dataset_scripts.twitter_stream.options import MiningOptions


class TwitterStream(Corpus):
    """Builder of the tweet stream."""

    METADATA = load_metadata("twitter_stream")
    RAW = re.compile("|".join(f".*{re.escape(ending)}" for ending in (*ENDINGS, *ARCHIVES)), re.IGNORECASE)
    FEATURES = dict.fromkeys(("quote", "reply", "coquote", "coreply"), TWEET_PAIRS) | dict.fromkeys(
        ("dq", "cq", "dr", "cr"), RANKINGS
    )
    RESUMABLE = True

    @classmethod
    def languages(cls, options: Mapping[str, Any]) -> list[str]:
        lang = options.get("lang", "en")
        return ["multilingual" if lang == "all" else lang]

    @classmethod
    def write(
        cls, files: list[Path], folder: Path, options: Mapping[str, Any], configs: Collection[str], work: Path
    ) -> dict[str, BuiltConfig]:
        options = validate(MiningOptions, options)
        try:  # the packages of an extra
            from dataset_scripts.base.engine import engine_errors, start_engine
            from dataset_scripts.twitter_stream.mining import mine

            start_engine(options.engine, options.address)
        except ImportError as error:
            raise ValueError(f"mining needs {error.name}: pip install 'opinion-transformers[scale]'") from error
        with engine_errors():
            mined = mine(files, folder, work, options, configs)
        built = {}
        for name in configs:
            features, counts = cls.FEATURES[name], mined.sets[name]
            if features == TWEET_PAIRS and options.keep_ids:
                features = Features({**features, "anchor_id": Value("int64"), "positive_id": Value("int64")})
            facts = {reason: count for reason, count in counts.items() if reason.endswith(" found")}
            dropped = {reason: count for reason, count in counts.items() if reason not in facts}
            built[name] = read_built(folder, name, features, dropped, facts)
        # what concerns the whole stream stands with the first that has rows; of others the reasons alone are reported
        stream = {**dict(sorted(mined.lines.items())), **dict(sorted(mined.tweets.items()))}
        stream = {reason: count for reason, count in stream.items() if count}
        first = next((each for each in built.values() if each.counts), built[next(iter(built))])
        first.first = mined.lines.first
        if first.counts:
            first.facts = {**stream, **first.facts}
        else:
            first.dropped = {**stream, **first.dropped}
        return built

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        options = {name: getattr(self.config, name) for name in MiningOptions.model_fields}
        with tempfile.TemporaryDirectory() as temporary:
            out, work = Path(temporary, "out"), Path(temporary, "work")
            built = self.write(files, out, options, [config], work)[config]
            self.dropped.update(built.dropped)
            self.facts.update(built.facts)
            for split, names in built.files.items():
                for batch in (batch for name in names for batch in pq.ParquetFile(out / name).iter_batches()):
                    yield from ((split, row) for row in batch.to_pylist())
