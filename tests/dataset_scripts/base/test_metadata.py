"""Every corpus has a complete record that agrees with its builder."""

import dataclasses
import re
import typing

import pytest

from dataset_scripts import CORPORA, get_corpus
from dataset_scripts.__main__ import _parser
from dataset_scripts.base.corpus import CorpusConfig
from dataset_scripts.base.metadata import FOLDER, load_metadata
from dataset_scripts.base.options import read_options

NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
SPLITS = {"train", "validation", "test"}


def test_every_corpus_has_one_record():
    assert sorted(CORPORA) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_record(name):
    record = load_metadata(name)
    texts = (record.title, record.summary, record.description, record.raw, record.terms, record.citation)
    assert all(text.strip() and "TODO" not in text for text in texts)
    assert "\n" not in record.summary and "\n" not in record.terms.strip()
    assert record.source.startswith(("https://", "http://", "this project"))
    assert re.fullmatch(r"other|[a-z]+(-[a-z0-9.]+)+", record.licence)
    assert isinstance(record.redistributable, bool)
    assert all(re.fullmatch("[a-z]{2}", language) for language in record.languages) and record.languages
    assert record.task_categories


@pytest.mark.parametrize("name", NAMES)
def test_configurations_are_those_of_the_builder(name):
    record, builder = load_metadata(name), get_corpus(name)
    assert list(record.configs) == list(builder.FEATURES) == [config.name for config in builder.BUILDER_CONFIGS]
    assert record == builder.METADATA
    assert all(record.configs.values())


@pytest.mark.parametrize("name", NAMES)
def test_options_are_those_of_the_builder(name):
    record, config_class = load_metadata(name), get_corpus(name).BUILDER_CONFIG_CLASS
    common = {field.name for field in dataclasses.fields(CorpusConfig)}
    own = {field.name: field for field in dataclasses.fields(config_class) if field.name not in common}
    assert set(record.options) == set(own)
    kinds, defaults = typing.get_type_hints(config_class), config_class(name="x")
    for option, text in record.options.items():
        assert text and "\n" not in text
        default = getattr(defaults, option)
        stated = re.search(r"\(default ([^()]+)\)$", text)
        if default is None or default == ():
            continue  # what that means is said in words
        assert stated, f"{name}.yaml: end the help of {option} with (default {default})"
        assert read_options(name, [(option, stated[1])], record.options, config_class) == {option: default}
        # what the command line shows of an option that may go without a value
        assert (kinds[option] is bool) == (stated[1] in ("true", "false"))


def test_no_option_hides_a_common_flag():
    common = set(vars(_parser().parse_args([])))
    assert {"data", "out", "seed", "option"} <= common
    for name in NAMES:
        assert not common & set(load_metadata(name).options)


@pytest.mark.parametrize("name", NAMES)
def test_expected_rows(name):
    record = load_metadata(name)
    assert set(record.expected) <= set(record.configs)
    for splits in record.expected.values():
        assert splits.keys() <= SPLITS and all(isinstance(rows, int) and rows > 0 for rows in splits.values())
    # every user exports other discussions, Yelp's release changes every year, and nobody mines the whole stream
    if name not in ("kialo", "yelp", "twitter_stream"):
        assert record.expected


@pytest.mark.parametrize("name", NAMES)
def test_citation_is_bibtex(name):
    entries = re.split(r"^(?=@)", load_metadata(name).citation.strip(), flags=re.MULTILINE)[1:]
    assert entries
    for entry in entries:
        assert re.match(r"@\w+\{[\w-]+,\n", entry) and entry.strip().endswith("}")
        assert entry.count("{") == entry.count("}")
        fields = dict(re.findall(r"^  (\w+) = \{(.+)\},?$", entry, flags=re.MULTILINE))
        assert {"title", "author", "year"} <= fields.keys()
        assert re.fullmatch(r"(19|20)\d\d", fields["year"])
