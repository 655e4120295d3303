"""Opinion similarity: correlations by group, rates of opposite quartiles, the authors' own figures, and bad input."""

import math

import numpy as np
import pandas as pd
import pytest

from metrics.opinion_similarity.opinion_similarity import opinion_similarity, outer_quartiles


def test_scores_by_hand():
    # Different: (1, 0), (3, 1), the pairs up to 1.5. Similar: (2, 2), (6, 3), (3, 4).
    # All: means 3 and 2; deviations (-2 0 -1 3 0) and (-2 -1 0 1 2): products 4 + 3 = 7, squares 14 and 10.
    # Kendall: of ten pairs of pairs one ties in predictions (3, 3); two disagree (2 is below 3 where 2 is above 1; 6 is
    # above 3 where 3 is below 4); seven agree: (7 - 2) / sqrt(9 * 10).
    scores = opinion_similarity([1, 3, 2, 6, 3], [0, 1, 2, 3, 4])
    # Similar: means 11/3 and 3; deviations (-5/3 7/3 -2/3) and (-1 0 1): products 5/3 - 2/3 = 1, squares 78/9 and 2;
    # two of three agree. Quartiles of predictions: 2 and 3; above 3 is 6 only, below 2 is 1 only.
    assert scores == {
        "pearson": pytest.approx(7 / math.sqrt(140)),
        "kendall": pytest.approx(5 / math.sqrt(90)),
        "pearson_different": pytest.approx(1),
        "kendall_different": pytest.approx(1),
        "pearson_similar": pytest.approx(1 / math.sqrt(78 / 9 * 2)),
        "kendall_similar": pytest.approx(1 / 3),
        "wrong_quartile_different": 0,
        "wrong_quartile_similar": 0,
        "top_quartile_different": 0,
        "bottom_quartile_similar": 0,
        "n_different": 2,
        "n_similar": 3,
    }


def test_wrong_quartiles_by_hand():
    # Quartiles of people's scores: 1 + 3/4 of .25 = 1.1875 and 2.5 + 1/4 of 1 = 2.75; those of 1..8: 2.75 and 6.25, so
    # similarities 7 and 8 are in the top quartile, 1 and 2 in the bottom one.
    people = [0.5, 1.0, 1.25, 1.5, 2.0, 2.5, 3.5, 4.0]
    scores = opinion_similarity([8, 3, 7, 4, 2, 5, 6, 1], people)
    # Top and different: .5 (bottom of people) and 1.25 (not). Bottom and similar: 4 (top of people) and 2 (not).
    assert scores["wrong_quartile_different"] == scores["wrong_quartile_similar"] == 1 / 4
    assert scores["top_quartile_different"] == scores["bottom_quartile_similar"] == 2 / 4
    assert (scores["n_different"], scores["n_similar"]) == (4, 4)  # the boundary itself is different
    assert opinion_similarity([8, 3, 7, 4, 2, 5, 6, 1], people, boundary=2)["n_different"] == 5


def test_values_that_tie_with_a_quartile_are_in_neither():
    top, bottom = outer_quartiles(np.array([0, 0, 0, 0, 0.3]))  # as of a measure that is 0 for most pairs
    assert top.tolist() == [False] * 4 + [True] and not bottom.any()


@pytest.mark.parametrize(
    ("predictions", "references", "none"),
    [
        ([1, 2, 3], [2, 3, 4], {"pearson_different", "wrong_quartile_different", "top_quartile_different"}),
        ([1, 2, 3], [1, 3, 4], {"pearson_different", "kendall_different"}),  # one different pair
    ],
)
def test_undefined_within_a_group_is_none(predictions, references, none):
    scores = opinion_similarity(predictions, references)
    assert none <= {name for name, value in scores.items() if value is None}
    assert not any(isinstance(value, float) and math.isnan(value) for value in scores.values())
    assert scores["n_different"] + scores["n_similar"] == len(references)


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("domain", "rates"),
    [("Laptop", (0.052, 0.008, 116, 505)), ("Restaurant", (0.097, 0.024, 227, 787))],  # as printed in Table 9
)
def test_authors_figures_from_their_similarities(corpora, domain, rates):
    folder = corpora / "sos" / "result"
    pairs = pd.read_csv(folder / "sentence_pair_unique.csv").merge(
        pd.read_csv(folder / "sentence_pair_sbert.csv"), on="pair_id", validate="one_to_one"
    )
    pairs = pairs[pairs["domain"] == domain]
    scores = opinion_similarity(pairs["model_similarity"], pairs["avg"])
    overall = pd.read_csv(folder / "table3.csv").query("model == 'SBERT'")
    groups = pd.read_csv(folder / "table4.csv").query("model == 'SBERT'")  # broadly different, then broadly similar
    for measure in ("pearson", "kendall"):
        column = f"{domain.lower()}-{measure}"
        printed = [*overall[column], *groups[column]]
        found = [scores[f"{measure}{suffix}"] for suffix in ("", "_different", "_similar")]
        assert found == pytest.approx(printed, abs=1e-6)
    found = [scores[name] for name in ("wrong_quartile_different", "wrong_quartile_similar")]
    assert (*(round(rate, 3) for rate in found), scores["n_different"], scores["n_similar"]) == rates


@pytest.mark.parametrize(
    ("predictions", "references", "options", "message"),
    [
        ([0.1, 0.1], [0, 1], {}, "All 2 predictions equal 0.1"),
        ([0.1, 0.2], [1, 4.5], {}, r"references\[1\] is 4.5: pass mean human scores from 0"),
        *(([0, 1], [0, 4], {"boundary": value}, "boundary is") for value in (4, float("nan"))),
    ],
)
def test_bad_input_is_named(predictions, references, options, message):
    with pytest.raises(ValueError, match=message):
        opinion_similarity(predictions, references, **options)
