"""Evaluators of stance on cosines chosen by hand: pair i has the cosine that its first text spells."""

from math import log

import numpy as np
import pytest

from modeling.stance.evaluation import (
    AlignmentEvaluator,
    FilteredStanceEvaluator,
    InferenceEvaluator,
    Query,
    StanceEvaluator,
    TargetAxisEvaluator,
    TopicEvaluator,
)
from tests.modeling.base.test_evaluation import FACTS, Chosen, pairs

# agreeing pairs at .9 .8 .3, opposing ones at .5 .1 -.2
PAIRS = pairs([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.3, 0.5, 0.1, -0.2])


def test_stance():
    scores = StanceEvaluator(PAIRS, **FACTS)(Chosen())
    # of nine comparisons only 0.3 < 0.5 goes the wrong way
    assert scores["stance_auroc"] == pytest.approx(8 / 9)
    # 50 bins of 0.04 keep the six apart; half a count a bin makes 28 counts: 1.5/28 where a pair lies, 0.5/28
    # elsewhere, so KL = 3 (1.5/28) ln 3 - 3 (0.5/28) ln 3
    assert scores["stance_kl"] == pytest.approx(3 / 28 * log(3))
    # own ranges: agree fills bins 0, 41, 49 and oppose 0, 21, 49 with 1/3 each; bin 41 counts 1/3 ln(1/3 / 1e-10)
    assert scores["stance_kl_paper"] == pytest.approx(log(1e10 / 3) / 3, rel=1e-6)
    assert (scores["stance_n_agree"], scores["stance_n_oppose"]) == (3, 3)
    assert scores["stance_mean_agree"] == pytest.approx(2 / 3)  # 2.0 / 3
    assert scores["stance_mean_oppose"] == pytest.approx(0.4 / 3)


def test_only_pairs_that_the_base_finds_similar():
    asked = []

    def counts():
        asked.append(True)
        return np.array([True, False, True, True, False, False])

    evaluator = FilteredStanceEvaluator(PAIRS, counts, **FACTS)
    assert not asked  # building one embeds nothing
    scores = [evaluator.scores(Chosen(shift)) for shift in (0, 0.01)]
    assert len(asked) == 1 and evaluator.rows == 3
    figures = evaluator.metrics(scores[0])
    assert figures["auroc"] == 0.5  # 0.9 above 0.5, 0.3 below
    assert (figures["n_agree"], figures["n_oppose"]) == (2, 1)
    one_side = FilteredStanceEvaluator(PAIRS, lambda: np.array([True] * 3 + [False] * 3), **FACTS)
    assert one_side.scores(Chosen()) is None


def test_inference():
    evaluator = InferenceEvaluator(pairs([0, 0, 1, 2, 2], [0.1, 0.3, 0.5, 0.9, 0.2]), **FACTS)
    scores = evaluator(Chosen())
    assert scores["inference_mean_contradiction"] == pytest.approx(0.2)
    assert scores["inference_mean_neutral"] == pytest.approx(0.5)
    assert scores["inference_mean_entailment"] == pytest.approx(0.55)
    # entailing above contradicting: 0.9 above both, 0.2 above 0.1 alone; the neutral pair does not count
    assert scores["inference_auroc"] == pytest.approx(3 / 4)
    assert scores["inference_ordered"] == 1
    for cosines in ([0.5, 0.1, 0.9], [0.1, 0.9, 0.5]):
        assert InferenceEvaluator(pairs([0, 1, 2], cosines), **FACTS)(Chosen())["inference_ordered"] == 0


class Angles:
    """An encoder that puts a text into the plane, at the angle in degrees that it spells."""

    def encode(self, texts, **options):
        radians = np.radians([float(text) for text in texts])
        return np.stack([np.cos(radians), np.sin(radians)], axis=1)


def test_topics_by_hand():
    # group 0 at 0 and 10 degrees, group 1 at 90 and 100; each row has one choice
    rows = {"sentence1": ["0", "90"], "sentence2": ["10", "100"], "group": ["a", "b"]}
    evaluator = TopicEvaluator(rows, **FACTS)
    scores = evaluator.scores(Angles())
    # within: 10 degrees twice; across: 0 with 100 and 90 with 10
    np.testing.assert_allclose(scores, np.cos(np.radians([10, 10, 100, 80])), atol=1e-6)
    figures = evaluator.metrics(scores)
    assert figures["auroc"] == 1.0
    assert figures["mean_same"] == pytest.approx(np.cos(np.radians(10)), abs=1e-6)
    assert figures["mean_other"] == pytest.approx(0, abs=1e-6)
    assert evaluator.metrics(np.array([0.1, 0.1, 0.5, 0.1]))["auroc"] == 0.25  # beaten twice, level twice


def test_targets_by_hand(tmp_path, figures):
    # the mean of the cosines to 0 and 90 degrees less that to 180 and 90 is the cosine to 0, or minus that
    statements = {"trams": {"for": ["0", "90"], "against": ["180", "90"]}}
    statements["fast boats"] = {"for": statements["trams"]["against"], "against": statements["trams"]["for"]}
    statements |= {"kites": statements["trams"], "murals": statements["trams"]}  # of one side, and without a text
    rows = [("trams", 1, "10"), ("fast boats", 0, "0"), ("kites", 1, "30"), ("trams", 0, "50"), ("trams", 0, "120")]
    rows += [("trams", 1, "60"), ("fast boats", 1, "100"), ("parks", 0, "9"), ("parks", 1, "8")]
    columns = dict(zip(("group", "side", "text"), zip(*rows, strict=True), strict=True))
    evaluator = TargetAxisEvaluator(columns, statements, **FACTS)
    scores = evaluator.scores(Angles())
    cosines = [0.985, -1, 0.643, -0.5, 0.5, 0.174]  # of 10, minus that of 0, of 50, 120, 60, minus that of 100
    np.testing.assert_allclose(scores, cosines, atol=1e-3)
    # on trams .985 above both others, .5 above one; on boats .174 above -1
    assert evaluator.metrics(scores) == {
        "auroc": (3 / 4 + 1) / 2,
        "trams_auroc": 3 / 4,
        "trams_texts": 4,
        "fast_boats_auroc": 1.0,
        "fast_boats_texts": 2,
    }
    assert evaluator.metrics(scores).keys() == evaluator.measures.keys() and evaluator.rows == 6
    low, high = evaluator.intervals(scores)["trams_auroc"]
    assert 0 < low < 3 / 4 < high < 1
    evaluator.draw({"base": scores, "trained": -scores}, tmp_path / "a.png")
    trams, boats = (sorted(line.get_xdata()) for line in figures[0].axes[0].lines[1::-1])
    assert (trams, boats) == ([0.25, 0.75], [0.0, 1.0])
    with pytest.raises(ValueError, match=r"trams, .* have statements, and texts are on parks$"):
        TargetAxisEvaluator({"text": ["8", "9"], "side": [0, 1], "group": ["parks"] * 2}, statements, **FACTS)


# texts at cosine .9 .8 .6 .6 .1 of the first statement, so .436 .6 .8 .8 .995 of the second
TEXTS = {"text": ["0.9", "0.8", "0.6", "0.6", "0.1"], "group": ["D", "R", "D", "I", "D"]}
QUERIES = [Query("for", "x", "D", 0.7), Query("against", "0.0", "R", 0.999)]


@pytest.fixture
def alignment(monkeypatch):
    """A function that makes an evaluator with cut-offs that five texts allow for."""
    monkeypatch.setattr(AlignmentEvaluator, "cutoffs", (2, 4, 10))
    return lambda **options: AlignmentEvaluator(TEXTS, QUERIES, **options, **FACTS)


def test_alignment(alignment):
    evaluator = alignment()
    scores = evaluator(Chosen())
    assert set(evaluator.headline) <= set(evaluator.measures)
    assert scores == {
        "alignment_for_precision": 0.5,  # .9 by D, .8 by R
        "alignment_for_retrieved": 2,
        "alignment_for_retrieved_D": 1,
        "alignment_for_retrieved_I": 0,
        "alignment_for_retrieved_R": 1,
        "alignment_for_base_rate": 0.6,  # three of five
        "alignment_for_precision_at_2": 0.5,
        "alignment_for_precision_at_4": 0.5,  # D R D I; there are no ten
        "alignment_against_precision": None,  # the nearest text is at .995
        "alignment_against_retrieved": 0,
        "alignment_against_retrieved_D": 0,
        "alignment_against_retrieved_I": 0,
        "alignment_against_retrieved_R": 0,
        "alignment_against_base_rate": 0.2,
        "alignment_against_precision_at_2": 0.0,  # D D
        "alignment_against_precision_at_4": 0.25,  # D D I R
    }


def test_alignment_of_texts_on_the_topic(alignment):
    evaluator = alignment(on_topic=True)
    scores = evaluator(Chosen())
    # .9 .6 .1 by D against .8 .6 by others: .9 above both, .6 level with one, of six comparisons
    assert scores["alignment_for_auroc"] == pytest.approx(2.5 / 6)
    # .6 by R against .436 .8 .8 .995: above one of four
    assert scores["alignment_against_auroc"] == pytest.approx(1 / 4)
    # by the difference of the two cosines, .464 -.2 and -.895 by D against .2 by R; the one by I is on neither side
    assert scores["alignment_for_against_contrast_auroc"] == pytest.approx(1 / 3)
    assert evaluator.headline == ("for_against_contrast_auroc", "for_auroc", "against_auroc")
    low, high = evaluator.intervals(evaluator.scores(Chosen()))["for_auroc"]
    assert 0 < low < 2.5 / 6 < high < 1
