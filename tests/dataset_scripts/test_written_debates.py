"""Written debates: what comes with the project becomes a data set under the project's own terms."""

from __future__ import annotations

from dataset_scripts.base.sources import DEMO_FOLDER
from dataset_scripts.written_debates import WrittenDebates


def build(config, cache, **options):
    builder = WrittenDebates.open(DEMO_FOLDER / "discussions.jsonl", config, cache_dir=cache / "cache", **options)
    builder.download_and_prepare()
    return builder, builder.as_dataset()


def test_no_discussion_is_in_two_splits(tmp_path):
    builder, splits = build("pairs", tmp_path)
    groups = [set(rows["group"]) for rows in splits.values()]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 621
    assert {name: len(rows) for name, rows in splits.items()} == WrittenDebates.METADATA.expected["pairs"]
    assert builder.dropped == {"row: text shorter than 4 words": 8}


def test_siblings_are_more_triplets(tmp_path):
    _, plain = build("triplets", tmp_path)
    _, more = build("triplets", tmp_path, siblings=True)
    assert len(plain["train"]) == 13_289 < len(more["train"])


def test_they_may_be_published():
    assert WrittenDebates.METADATA.redistributable and WrittenDebates.METADATA.licence == "apache-2.0"
