"""Written debates: what comes with the project becomes a data set under the project's own terms."""

from __future__ import annotations

import pytest

from dataset_scripts.sources import DEMO_FOLDER
from dataset_scripts.written_debates import WrittenDebates


def build(config, cache, **options):
    builder = WrittenDebates.open(DEMO_FOLDER / "discussions.jsonl", config, cache_dir=cache / "cache", **options)
    builder.download_and_prepare()
    return builder, builder.as_dataset()


def test_no_motion_is_in_two_splits(tmp_path):
    builder, splits = build("pairs", tmp_path)
    groups = [set(rows["group"]) for rows in splits.values()]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 621
    assert {name: len(rows) for name, rows in splits.items()} == WrittenDebates.METADATA.expected["pairs"]
    assert builder.dropped == {"row: text shorter than 4 words": 8}


def test_siblings_are_more_triplets(tmp_path):
    _, plain = build("triplets", tmp_path)
    _, more = build("triplets", tmp_path, siblings=True)
    assert len(plain["train"]) == 13_289 < len(more["train"])


@pytest.mark.parametrize("word", ["pineapple", "helmet"])
def test_what_the_cards_demonstrate_is_no_motion(word, tmp_path):
    _, splits = build("arguments", tmp_path)
    assert [title for rows in splits.values() for title in set(rows["title"]) if word in title.lower()] == []


def test_they_may_be_published():
    assert WrittenDebates.METADATA.redistributable and WrittenDebates.METADATA.licence == "apache-2.0"
