"""Alignment precision: by hand, the paper's table, empty retrieval, and wrong input."""

import numpy as np
import pytest

from metrics.alignment_precision.alignment_precision import alignment_precision


def test_scores_by_hand():
    # At .75 and above: D, R. Group D wrote 2 of 4 texts. Ranked: D, R, D, R.
    scores = alignment_precision(
        [0.2, 0.9, 0.75, 0.7], ["R", "D", "R", "D"], target="D", threshold=0.75, k=[1, 2, 3, 4]
    )
    assert scores == {
        "precision": 0.5,
        "retrieved": 2,
        "counts": {"D": 1, "R": 1},
        "base_rate": 0.5,
        "precision_at_k": {1: 1.0, 2: 0.5, 3: pytest.approx(2 / 3), 4: 0.5},
    }


@pytest.mark.parametrize(
    ("target", "threshold", "kept", "percent"),
    [
        ("D", 0.70, {"D": 98, "R": 31}, 76),
        ("R", 0.60, {"D": 3, "R": 12}, 80),
    ],
)
def test_counts_of_the_paper_give_its_precision(target, threshold, kept, percent):
    """Ghafouri et al. 2024, Table 4."""
    groups = [group for group, count in kept.items() for _ in range(count)] + ["D", "R"] * 50
    cosines = [threshold] * sum(kept.values()) + [threshold - 0.01] * 100
    scores = alignment_precision(cosines, groups, target, threshold)
    assert scores["counts"] == kept
    assert round(100 * scores["precision"]) == percent


def test_nothing_retrieved_is_a_result():
    scores = alignment_precision([0.1, 0.2, 0.3], ["D", "R", "I"], "R", 0.5, k=1)
    assert (scores["precision"], scores["retrieved"], scores["counts"]) == (None, 0, {"D": 0, "I": 0, "R": 0})
    assert scores["precision_at_k"] == {1: 0.0}  # needs no threshold: the most similar text is by I


def test_threshold_is_inclusive_and_exact(load_metric):
    # float32(0.7) is 0.699999988: a metric that went through float32 would drop this text.
    scores = load_metric("alignment_precision").compute(
        predictions=[0.7], references=["D"], target="D", threshold=0.7, k=np.int64(1)
    )
    assert (scores["precision"], scores["retrieved"], scores["precision_at_k"]) == (1.0, 1, {1: 1.0})


@pytest.mark.parametrize(
    ("predictions", "references", "options", "message"),
    [
        ([0.1, 0.2], ["D", None], {}, r"references\[1\] is None: group labels must be strings"),
        ([0.1, 0.2], ["D", "R"], {"target": "I"}, r"target is 'I': pass one of the groups in references, \['D', 'R'\]"),
        ([0.1, 0.2], ["D", "R"], {"threshold": None}, "threshold is None: pass the lowest cosine to keep"),
        ([0.1, 0.2], ["D", "R"], {"k": [1, 3]}, "k is 3: pass whole numbers"),
    ],
)
def test_bad_input_is_named(predictions, references, options, message):
    with pytest.raises(ValueError, match=message):
        alignment_precision(predictions, references, **{"target": "D", "threshold": 0.5, **options})
