"""Alignment, uniformity and principal components of vectors chosen by hand."""

import math

import numpy as np
import pytest
import torch

from modeling.senticse.probing import geometry
from modeling.senticse.probing.geometry import alignment, principal_components, uniformity

EAST, NORTH, WEST = (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)


def test_alignment_by_hand():
    # class 0: one pair at a squared distance of 2; class 1: one at 0; so 1 in the mean
    assert alignment(np.array([EAST, NORTH, WEST, WEST]), np.array([0, 0, 1, 1])) == pytest.approx(1.0)
    # three pairs at 2, 4 and 2, and a text without a partner
    assert alignment(np.array([EAST, NORTH, WEST, EAST]), np.array([0, 0, 0, 1])) == pytest.approx(8 / 3)
    assert alignment(np.array([EAST, EAST, WEST, WEST]), np.array([0, 0, 1, 1])) == 0.0
    with pytest.raises(ValueError, match="a class with two texts"):
        alignment(np.array([EAST, WEST]), np.array([0, 1]))


def test_uniformity_by_hand(monkeypatch):
    assert uniformity(np.array([EAST, WEST])) == pytest.approx(-8)
    assert uniformity(np.array([EAST, EAST])) == pytest.approx(0)
    assert uniformity(np.array([EAST, NORTH, WEST])) == pytest.approx(math.log((2 * math.exp(-4) + math.exp(-8)) / 3))
    with pytest.raises(ValueError, match="two texts"):
        uniformity(np.array([EAST]))
    monkeypatch.setattr(geometry, "PAIRED", 2)  # a sample of two of three equal texts
    assert uniformity(np.array([EAST, EAST, EAST])) == pytest.approx(0)


def test_uniformity_is_that_of_its_authors(monkeypatch):
    monkeypatch.setattr(geometry, "BLOCK", 7)
    vectors = torch.nn.functional.normalize(torch.randn(50, 5, generator=torch.Generator().manual_seed(0)))
    expected = torch.pdist(vectors).pow(2).mul(-2).exp().mean().log().item()
    assert uniformity(vectors.numpy()) == pytest.approx(expected, abs=1e-5)


def test_principal_components(monkeypatch):
    # variances 8 along one direction and 2 along the other
    vectors = np.array([(4, 0, 1), (-4, 0, 1), (0, 2, 1), (0, -2, 1)], dtype=float)
    labels = np.array([0, 1, 0, 1])
    found = principal_components(vectors, labels)
    assert found["explained"] == pytest.approx([0.8, 0.2])
    # the last class, whose texts are at -4 and 0, is turned to the right
    assert [point[0] for point in found["points"]] == pytest.approx([-4, 4, 0, 0])
    assert found["labels"] == [0, 1, 0, 1]
    monkeypatch.setattr(geometry, "DRAWN", 3)
    assert len(principal_components(vectors, labels)["points"]) == 3
