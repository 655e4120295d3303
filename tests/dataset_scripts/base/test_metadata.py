"""Every corpus has a complete record that agrees with its builder."""

import re

import pytest

from dataset_scripts.base.cli import validate
from dataset_scripts.base.metadata import Metadata, Option, get_corpus, list_corpora, load_metadata

NAMES = list_corpora()
SPLITS = {"train", "validation", "test"}


@pytest.mark.parametrize("name", NAMES)
def test_record(name):
    record, builder = load_metadata(name), get_corpus(name)
    assert list(record.configs) == list(builder.FEATURES) == [config.name for config in builder.BUILDER_CONFIGS]
    assert "\n" not in record.summary and "\n" not in record.terms.strip()
    assert record.source.startswith(("https://", "http://", "this project"))
    assert re.fullmatch(r"other|[a-z]+(-[a-z0-9.]+)+", record.licence)
    assert all(re.fullmatch("[a-z]{2}", language) for language in record.languages) and record.languages
    assert set(record.expected) <= set(record.configs)
    for splits in record.expected.values():
        assert splits.keys() <= SPLITS and all(rows > 0 for rows in splits.values())
    # every user exports other discussions, Yelp's release changes every year, and nobody mines the whole stream
    assert record.expected or name in ("kialo", "yelp", "twitter_stream")
    config, defaults = builder.BUILDER_CONFIG_CLASS(name="x"), record.options_model().model_dump()
    assert {field: getattr(config, field) for field in defaults} == defaults
    assert not {"raw", "out", "config", "push", "private", "name"} & set(defaults)
    for entry in re.split(r"^(?=@)", record.citation.strip(), flags=re.MULTILINE)[1:] or [""]:  # BibTeX
        assert re.match(r"@\w+\{[\w-]+,\n", entry) and entry.strip().endswith("}")
        assert entry.count("{") == entry.count("}")
        fields = dict(re.findall(r"^  (\w+) = \{(.+)\},?$", entry, flags=re.MULTILINE))
        assert {"title", "author", "year"} <= fields.keys() and re.fullmatch(r"(19|20)\d\d", fields["year"])


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ({"type": "bool", "default": False}, "true", True),
        ({"type": "int"}, "none", None),
        ({"type": "int", "default": 3, "nullable": True}, "none", None),
        ({"type": "float", "default": 1.0}, "1e-3", 0.001),
        ({"type": "str", "default": "en"}, "no", "no"),
        ({"type": "str", "default": "all", "choices": ["all", "first"]}, "first", "first"),
        ({"type": "list", "choices": ["a", "b"]}, ["b"], ("b",)),
        ({"type": "list"}, [], ()),
        ({"type": "list"}, "a, b", ("a", "b")),
    ],
)
def test_values_of_options(option, text, value):
    record = Metadata(**{**load_metadata("stsb").model_dump(), "options": {"x": Option(help="help", **option)}})
    assert validate(record.options_model, {"x": text}).x == value


def test_a_corpus_that_does_not_exist():
    with pytest.raises(ValueError, match=r"there is no corpus 'kailo'; did you mean 'kialo'\?"):
        load_metadata("kailo")
