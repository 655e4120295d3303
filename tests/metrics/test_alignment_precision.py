"""Alignment precision: the paper's table, precision at k, empty retrieval, and every way the input can be wrong."""

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
        ("D", 0.70, {"D": 43, "R": 4}, 91),
        ("R", 0.60, {"D": 46, "R": 95}, 67),
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
    assert scores["precision"] is None
    assert scores["retrieved"] == 0
    assert scores["counts"] == {"D": 0, "I": 0, "R": 0}
    assert scores["precision_at_k"] == {1: 0.0}  # needs no threshold: the most similar text is by I


def test_groups_without_a_kept_text_count_zero():
    assert alignment_precision([0.9, 0.1], ["D", "I"], "D", 0.5)["counts"] == {"D": 1, "I": 0}


def test_ties_at_rank_k_keep_input_order():
    # Two levels of similarity in turn; the first 500 places go to the even positions, 0, 2, 4, ... in that order.
    cosines, first, last = [0.5, 0.1] * 500, ["D"] * 500 + ["R"] * 500, ["R"] * 500 + ["D"] * 500
    assert alignment_precision(cosines, first, "D", 0, k=[250, 500])["precision_at_k"] == {250: 1.0, 500: 0.5}
    assert alignment_precision(cosines, last, "D", 0, k=[250, 500])["precision_at_k"] == {250: 0.0, 500: 0.5}


def test_threshold_is_inclusive_and_exact(load_metric):
    # float32(0.7) is 0.699999988: a metric that went through float32 would drop this text.
    scores = load_metric("alignment_precision").compute(
        predictions=[0.7], references=["D"], target="D", threshold=0.7, k=np.int64(1)
    )
    assert (scores["precision"], scores["retrieved"], scores["precision_at_k"]) == (1.0, 1, {1: 1.0})


def test_float_error_beyond_one_is_clipped():
    assert alignment_precision([-1.00005], ["D"], "D", -1)["retrieved"] == 1


OK = ([0.1, 0.2], ["D", "R"])
D = {"target": "D", "threshold": 0.5}
ERRORS = [
    ([], [], D, "empty"),
    ([0.1], ["D", "R"], D, "1 predictions but 2 references"),
    ([0.1, float("nan")], ["D", "R"], D, r"predictions\[1\] is nan"),
    ([0.1, None], ["D", "R"], D, r"predictions\[1\] is None"),
    ([float("inf"), 0.1], ["D", "R"], D, r"predictions\[0\] is inf"),
    ([0.1, 3], ["D", "R"], D, r"predictions\[1\] is 3, outside \[-1, 1\]"),
    (["high", 0.1], ["D", "R"], D, "predictions must be a flat list or array of numbers: .*'high'"),
    (None, ["D"], D, "predictions must be .* not None"),
    ([0.1, 0.2], ["D", None], D, r"references\[1\] is None: group labels must be strings"),
    ([0.1, 0.2], [1, 0], D, r"references\[0\] is 1: group labels must be strings"),
    ([0.1, 0.2], "DR", D, "references must be a list or array of group labels, not 'DR'"),
    ([0.1, 0.2], None, D, "references must be a list or array of group labels, not None"),
    (*OK, {"target": "I", "threshold": 0.5}, r"target is 'I': pass one of the groups in references, \['D', 'R'\]"),
    (*OK, {"target": None, "threshold": 0.5}, "target is None"),
    (*OK, {"target": ["D"], "threshold": 0.5}, r"target is \['D'\]"),
    (*OK, {"target": "D", "threshold": None}, "threshold is None: pass the lowest cosine to keep"),
    (*OK, {"target": "D", "threshold": 70}, "threshold is 70: .* between -1 and 1"),
    (*OK, {"target": "D", "threshold": float("nan")}, "threshold is nan"),
    (*OK, {**D, "k": 0}, "k is 0: it must lie between 1 and the number of texts, 2"),
    (*OK, {**D, "k": [1, 3]}, "k is 3: it must lie between 1 and the number of texts, 2"),
    (*OK, {**D, "k": 1.5}, "k is 1.5: pass a whole number or a list"),
    (*OK, {**D, "k": "1"}, "k is '1': pass a whole number or a list"),
]


@pytest.mark.parametrize(("predictions", "references", "options", "message"), ERRORS)
def test_bad_input_is_named(predictions, references, options, message, load_metric):
    with pytest.raises(ValueError, match=message):
        alignment_precision(predictions, references, **options)
    with pytest.raises(ValueError, match=message):
        load_metric("alignment_precision").compute(predictions=predictions, references=references, **options)


def test_options_left_out_are_named(load_metric):
    metric = load_metric("alignment_precision")
    with pytest.raises(ValueError, match="target is None: pass one of the groups"):
        metric.compute(predictions=[0.1, 0.2], references=["D", "R"])
    with pytest.raises(ValueError, match="threshold is None"):
        metric.compute(predictions=[0.1, 0.2], references=["D", "R"], target="D")


def test_arrays_of_strings_work(load_metric):
    cosines, groups = np.array([0.9, 0.4, 0.8]), np.array(["D", "D", "R"])
    expected = alignment_precision(cosines.tolist(), groups.tolist(), **D)
    assert load_metric("alignment_precision").compute(predictions=cosines, references=groups, **D) == expected
