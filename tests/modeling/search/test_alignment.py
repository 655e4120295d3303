"""Alignment precision over thresholds, worked out by hand."""

import numpy as np
import pytest

from tests.modeling.search.chosen import chosen_index


@pytest.fixture
def index(tmp_path):
    return chosen_index(tmp_path / "index")


def test_shares_counts_and_interval(index):
    # cosines with "for": G 1, 0.6, 0.6; B 0, -0.6; the row without a group is left out
    table = index.align([("for", "G")], thresholds=[0.61, -0.1])
    assert table["threshold"].tolist() == [-0.1, 0.61]
    assert table["retrieved"].tolist() == [4, 1]
    assert table["retrieved_G"].tolist() == [3, 1]
    assert table["retrieved_B"].tolist() == [1, 0]
    assert table["precision"].tolist() == [0.75, 1.0]
    assert table["base_rate"].tolist() == [0.6, 0.6]
    # Wilson's interval of 3 in 4: (0.75 + z^2 / 8 -+ z sqrt(0.1875 / 4 + z^2 / 64)) / (1 + z^2 / 4), z = 1.96
    assert table.loc[0, ["low", "high"]].tolist() == pytest.approx([0.3006, 0.9544], abs=1e-4)


def test_nothing_retrieved_has_no_precision(index):
    row = index.align([("against", "B")], thresholds=[0.5, 1.0]).iloc[1]
    assert (row["retrieved"], row["precision"]) == (1, 1.0)
    row = index.align([("both", "G")], thresholds=[0.99]).iloc[0]
    assert row["retrieved"] == 0
    assert np.isnan([row["precision"], row["low"], row["high"]]).all()


def test_several_statements_have_targets_of_their_own(index):
    table = index.align([("for", "G"), ("against", "B")], thresholds=[0.7])
    assert table[["statement", "target", "retrieved", "precision", "base_rate"]].to_numpy().tolist() == [
        ["for", "G", 1, 1.0, 0.6],
        ["against", "B", 3, pytest.approx(1 / 3), 0.4],
    ]


@pytest.mark.parametrize(
    ("queries", "thresholds", "message"),
    [
        ([("for", "X")], [0.5], "'X', the target of 'for', is no group of the index; it has G, B"),
        ([("for", "G")], [1.5], r"threshold is 1\.5"),
        ([], [0.5], "at least one statement"),
        ([("for", "G")], [], "one threshold"),
    ],
)
def test_bad_input(index, queries, thresholds, message):
    with pytest.raises(ValueError, match=message):
        index.align(queries, thresholds)
