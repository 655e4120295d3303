"""Labelled corpora: samples that keep the classes apart."""

import numpy as np
import pytest

from modeling.senticse.probing.data import balanced, load_corpus


def test_a_balanced_sample():
    labels = np.array([0] * 90 + [1] * 10)
    chosen = balanced(labels, 20)
    assert np.bincount(labels[chosen]).tolist() == [10, 10]
    assert chosen.tolist() == [5, 13, 20, 25, 27, 50, 55, 67, 73, 81, *range(90, 100)]
    assert np.bincount(labels[balanced(labels, 40)]).tolist() == [20, 10]  # there are no more of the second class
    assert np.bincount(labels[balanced(labels, 7)]).tolist() == [4, 3]
    assert len(balanced(labels, 100)) == 100


def test_a_built_corpus(tiny_data, tmp_path):
    corpus = load_corpus(str(tiny_data), "tiny", tmp_path)
    # twelve sentences a topic: six topics of training, one each of validation and test; twelve pairs of the validation
    assert str(corpus) == "tiny: 72 training, 12 validation, 12 test sentences; 12 SgTS pairs of the validation split"
    assert np.bincount(corpus.train["label"]).tolist() == [36, 36]
    assert "hate" in corpus.test["text"][0] and corpus.test["label"][0] == 0
    sample = load_corpus(str(tiny_data), "tiny", tmp_path, max_rows=8)
    for part in (sample.train, sample.validation, sample.test, sample.pairs):
        assert np.bincount(part["label"]).tolist() == [4, 4]
    assert sample.sampled
    assert sample.digest() != corpus.digest() == load_corpus(str(tiny_data), "other", tmp_path).digest()
    with pytest.raises(ValueError, match="--sentiment demo:debates: the probes need labelled sentences and pairs"):
        load_corpus("demo:debates", "x", tmp_path)
