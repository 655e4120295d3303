"""Labelled corpora: samples that keep the classes apart, and sources that do not fit."""

import numpy as np
import pytest
from datasets import ClassLabel, Dataset, DatasetDict

from modeling.senticse.probing import data
from modeling.senticse.probing.data import balanced, load_corpus, stratified


def test_a_balanced_sample():
    labels = np.array([0] * 90 + [1] * 10)
    chosen = balanced(labels, 20)
    assert np.bincount(labels[chosen]).tolist() == [10, 10]
    assert chosen.tolist() == sorted(set(chosen.tolist())) == balanced(labels, 20).tolist()
    assert chosen.tolist() == [5, 13, 20, 25, 27, 50, 55, 67, 73, 81, *range(90, 100)]
    assert balanced(labels, 20, seed=1).tolist() != chosen.tolist()
    assert np.bincount(labels[balanced(labels, 40)]).tolist() == [20, 10]  # there are no more of the second class
    assert np.bincount(labels[balanced(labels, 7)]).tolist() == [4, 3]
    assert len(balanced(labels, 100)) == 100


def test_what_is_held_out():
    labels = np.array([0] * 60 + [1] * 20 + [2] * 3)
    rows = stratified(labels, 0.1)
    assert np.bincount(labels[rows]).tolist() == [6, 2, 1]
    assert rows.tolist() == [8, 16, 20, 27, 34, 42, 67, 77, 81]


def test_a_built_corpus(tiny_data, tmp_path):
    corpus = load_corpus(str(tiny_data), "tiny", tmp_path)
    # twelve sentences a topic: six topics of training, one each of validation and test; twelve pairs of the validation
    assert str(corpus) == ("tiny: 72 training, 12 validation, 12 test sentences; 12 SgTS pairs of the validation split")
    assert corpus.classes == ["negative", "positive"]
    assert np.bincount(corpus.train["label"]).tolist() == [36, 36]
    assert "hate" in corpus.test["text"][0] and corpus.test["label"][0] == 0
    sample = load_corpus(str(tiny_data), "tiny", tmp_path, max_rows=8)
    for part in (sample.train, sample.validation, sample.test, sample.pairs):
        assert np.bincount(part["label"]).tolist() == [4, 4]
    assert sample.sampled
    assert sample.digest() != corpus.digest() == load_corpus(str(tiny_data), "other", tmp_path).digest()


@pytest.fixture
def source(monkeypatch):
    """A function that puts splits of labels in the place of a source, and pairs of a split."""

    def put(splits, names=None, pairs="test", column="label"):
        def rows(labels):
            rows = Dataset.from_dict({"text": [f"text {i}" for i in range(len(labels))], column: labels})
            return rows.cast_column(column, ClassLabel(names=names)) if names else rows

        sentences = DatasetDict({split: rows(labels) for split, labels in splits.items()})
        made = {"sentence1": ["a", "b"], "sentence2": ["c", "d"], "label": [0, 1]}
        configs = {"sentences": sentences, "sgts": DatasetDict({pairs: Dataset.from_dict(made)})}
        monkeypatch.setattr(data, "load_source", lambda source, config, cache: configs[config])

    return put


def test_a_corpus_without_a_validation_split(source, tmp_path):
    source({"train": [0, 1] * 20, "test": [0, 1]}, names=["bad", "good"])
    corpus = load_corpus("x", "x", tmp_path)
    assert (len(corpus.train), len(corpus.validation)) == (36, 4)
    assert (corpus.own_validation, corpus.pairs_split, corpus.sampled) == (False, "test", False)
    assert corpus.classes == ["bad", "good"]
    assert not set(corpus.train["text"]) & set(corpus.validation["text"])
    source({"train": ["+", "-", "0"], "validation": ["-", "+", "0"], "test": ["0", "-", "+"]})
    corpus = load_corpus("x", "x", tmp_path)
    assert corpus.classes == ["+", "-", "0"] and corpus.test["label"].tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("splits", "options", "message"),
    [
        ({"train": [0, 1]}, {}, r"\(sentences\) has no test split; it has train"),
        ({"train": [0, 1], "test": [0, 1]}, {"column": "stars"}, r"has no column label; it has \['text', 'stars'\]"),
        ({"train": [0, 1], "test": [1, 1]}, {"names": ["bad", "good"]}, r"test\): no texts of class 'bad'"),
        ({"train": [0, 0], "test": [0, 0]}, {}, r"train\): there is one class only, '0'"),
        ({"train": [1, 2], "test": [1, 5]}, {}, r"test\): the label 5 is none of 1, 2"),
        ({"train": [0, 1], "test": [0, 1]}, {"pairs": "train"}, r"\(sgts\) has no validation and no test split"),
    ],
)
def test_a_corpus_that_does_not_fit(source, tmp_path, splits, options, message):
    source(splits, **options)
    with pytest.raises(ValueError, match=message):
        load_corpus("x", "x", tmp_path)
