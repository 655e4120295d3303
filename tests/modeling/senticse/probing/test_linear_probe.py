"""Linear probing on vectors whose classes are known."""

import numpy as np
import pytest

from modeling.senticse.probing.linear_probe import GRID, Vectors, linear_probe


def line(*values, labels):
    return Vectors(np.array(values, dtype=np.float32)[:, None], np.array(labels))


TRAIN = line(-3, -2, 2, 3, labels=[0, 0, 1, 1])


def test_accuracy_by_hand():
    # the border is at 0: three of four test texts lie on the side of their class, one of two validation texts
    found = linear_probe(TRAIN, line(-1, -0.5, labels=[0, 1]), line(-4, -1, 1, 4, labels=[0, 1, 1, 1]))
    assert (found["accuracy"], found["validation_accuracy"]) == (0.75, 0.5)
    assert found["penalty"] == GRID[0]  # the strongest of those that do equally well


def test_the_penalty_is_chosen_on_the_validation_texts():
    generator = np.random.default_rng(0)
    # two dimensions with large variance say nothing, a third with little says all
    vectors = generator.normal(size=(400, 3)) * [10, 10, 0.5]
    labels = (vectors[:, 2] > 0).astype(int)
    parts = [Vectors(vectors[rows], labels[rows]) for rows in (slice(0, 200), slice(200, 300), slice(300, 400))]
    found = linear_probe(*parts)
    assert found["penalty"] > GRID[0]
    assert found["accuracy"] > 0.95


@pytest.mark.parametrize(("factor", "shift"), [(1000.0, 0.0), (0.001, 0.0), (1.0, 50.0)])
def test_neither_length_nor_place_of_the_vectors_matters(factor, shift):
    generator = np.random.default_rng(1)
    labels = generator.integers(0, 2, 300)
    vectors = generator.normal(size=(300, 8)) + labels[:, None] * 0.4
    slices = (slice(0, 200), slice(200, 250), slice(250, 300))
    plain = linear_probe(*(Vectors(vectors[rows], labels[rows]) for rows in slices))
    moved = linear_probe(*(Vectors(vectors[rows] * factor + shift, labels[rows]) for rows in slices))
    assert moved == plain


def test_vectors_that_are_all_equal_tell_nothing():
    found = linear_probe(line(1, 1, labels=[0, 1]), line(1, labels=[0]), line(1, 1, labels=[0, 1]))
    assert found["accuracy"] == 0.5
