"""The probes on vectors and texts whose classes are known."""

import math

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from modeling.senticse.probing import probes
from modeling.senticse.probing.figures import balanced, load_corpus
from modeling.senticse.probing.probes import (
    Classifier,
    Vectors,
    alignment,
    draw,
    fine_tuned,
    linear_probe,
    uniformity,
)

EAST, NORTH, WEST = (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)
LABELS = np.array([0] * 30 + [1] * 20)


def line(*values, labels):
    return Vectors(np.array(values, dtype=np.float32)[:, None], np.array(labels))


TRAIN = line(-3, -2, 2, 3, labels=[0, 0, 1, 1])


def test_accuracy_by_hand():
    # the border is at 0: three of four test texts lie on the side of their class
    assert linear_probe(TRAIN, line(-1, -0.5, labels=[0, 1]), line(-4, -1, 1, 4, labels=[0, 1, 1, 1])) == 0.75


def test_a_draw():
    train, rest = draw(LABELS, 5, seed=0, validation=30)
    assert train.tolist() == [2, 11, 26, 21, 10, 34, 48, 32, 45, 38]
    assert np.bincount(LABELS[train]).tolist() == [5, 5]
    assert len(rest) == len(set(rest)) == 30 and not set(train) & set(rest)
    assert set(draw(LABELS, 5, seed=1)[0]) != set(train)
    assert len(draw(LABELS, 5, seed=0)[1]) == 40  # all that are left
    with pytest.raises(ValueError, match="21 training texts per class were asked for, class 'positive' has 20: lower"):
        draw(LABELS, 21, 0)
    with pytest.raises(ValueError, match="1 texts per class leave none of 2 training texts to validate on"):
        draw(np.array([0, 1]), 1, 0)


def test_training_encoder_and_head(tiny_base, tiny_data, tmp_path, monkeypatch):
    monkeypatch.setattr(probes, "EVALUATE_EVERY", 5)
    model, corpus = SentenceTransformer(str(tiny_base)), load_corpus(str(tiny_data), "tiny", tmp_path)
    classifier = Classifier(model, 2)
    assert not classifier(**classifier.collate([("we love trams", 1)]))["logits"].any()  # the head starts undecided
    before = {name: weights.clone() for name, weights in model.state_dict().items()}
    result = fine_tuned(model, corpus.train, corpus.test, 24, 1, 12, 5e-3)
    # the words of either side are the same in all topics: what 48 texts show holds on a topic they do not have
    assert result >= 0.9
    assert all(torch.equal(weights, before[name]) for name, weights in model.state_dict().items())


def test_alignment_by_hand():
    # class 0: one pair at a squared distance of 2; class 1: one at 0; so 1 in the mean
    assert alignment(np.array([EAST, NORTH, WEST, WEST]), np.array([0, 0, 1, 1])) == pytest.approx(1.0)
    # three pairs at 2, 4 and 2, and a text without a partner
    assert alignment(np.array([EAST, NORTH, WEST, EAST]), np.array([0, 0, 0, 1])) == pytest.approx(8 / 3)
    assert alignment(np.array([EAST, EAST, WEST, WEST]), np.array([0, 0, 1, 1])) == 0.0


def test_uniformity_by_hand(monkeypatch):
    assert uniformity(np.array([EAST, WEST])) == pytest.approx(-8)
    assert uniformity(np.array([EAST, EAST])) == pytest.approx(0)
    assert uniformity(np.array([EAST, NORTH, WEST])) == pytest.approx(math.log((2 * math.exp(-4) + math.exp(-8)) / 3))
    # as by the code of its authors, by blocks too
    monkeypatch.setattr(probes, "BLOCK", 7)
    vectors = torch.nn.functional.normalize(torch.randn(50, 5, generator=torch.Generator().manual_seed(0)))
    expected = torch.pdist(vectors).pow(2).mul(-2).exp().mean().log().item()
    assert uniformity(vectors.numpy()) == pytest.approx(expected, rel=1e-4)
    monkeypatch.setattr(probes, "PAIRED", 2)  # a sample of two of three equal texts
    assert uniformity(np.array([EAST, EAST, EAST])) == pytest.approx(0)


def test_a_balanced_sample():
    labels = np.array([0] * 90 + [1] * 10)
    chosen = balanced(labels, 20)
    assert np.bincount(labels[chosen]).tolist() == [10, 10]
    assert chosen.tolist() == [5, 13, 20, 25, 27, 50, 55, 67, 73, 81, *range(90, 100)]
    assert np.bincount(labels[balanced(labels, 40)]).tolist() == [20, 10]  # there are no more of the second class
    assert np.bincount(labels[balanced(labels, 7)]).tolist() == [4, 3]
    assert len(balanced(labels, 100)) == 100
