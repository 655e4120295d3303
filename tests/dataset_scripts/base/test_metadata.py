"""Every corpus has a complete record that agrees with its builder."""

import doctest
import importlib
import re

import pytest

from dataset_scripts.base.metadata import get_corpus, list_corpora, load_metadata

NAMES = list_corpora()
SPLITS = {"train", "validation", "test"}


@pytest.mark.parametrize("name", NAMES)
def test_record(name):
    record, builder = load_metadata(name), get_corpus(name)
    assert list(record.configs) == list(builder.FEATURES)
    assert re.fullmatch(r"other|[a-z]+(-[a-z0-9.]+)+", record.licence)
    assert set(record.expected) <= set(record.configs)
    for splits in record.expected.values():
        assert splits.keys() <= SPLITS and all(rows > 0 for rows in splits.values())
    # every user exports other discussions, Yelp's release changes every year, and nobody mines the whole stream
    assert record.expected or name in ("kialo", "yelp", "twitter_stream")
    config, defaults = builder.BUILDER_CONFIG_CLASS(name="x"), record.options_model().model_dump()
    assert {field: getattr(config, field) for field in defaults} == defaults


def test_examples():
    for name in ("base.quality", "base.splits", "counterargs18.footnotes", "reviews", "sided_texts"):
        tested = doctest.testmod(importlib.import_module(f"dataset_scripts.{name}"))
        assert tested.attempted and not tested.failed


def test_a_corpus_that_does_not_exist():
    with pytest.raises(ValueError, match=r"there is no corpus 'kailo'; did you mean 'kialo'\?"):
        load_metadata("kailo")
