"""What all evaluators share, on cosines chosen by hand: pair i has the cosine that its first text spells."""

from math import sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from sentence_transformers.base.evaluation import SequentialEvaluator

from modeling.base.evaluation import (
    PairEvaluator,
    SimilarityEvaluator,
    auroc_interval,
    evaluate_models,
    of_another_group,
)

FACTS = {"title": "a title", "dataset": "Invented (test)", "dataset_id": "org/invented"}


class Chosen:
    """An encoder that puts the text "0.6" at cosine 0.6 from the text "x"."""

    similarity_fn_name = "cosine"
    model_card_data = SimpleNamespace(set_evaluation_metrics=lambda *arguments: None)

    def __init__(self, shift=0.0):
        self.shift = shift

    def encode(self, texts, **options):
        cosines = [1.0 if text == "x" else float(text) + self.shift for text in texts]
        return np.array([(cosine, sqrt(1 - cosine**2)) for cosine in cosines])


def pairs(third, cosines, name="label"):
    return {"sentence1": [str(cosine) for cosine in cosines], "sentence2": ["x"] * len(cosines), name: third}


class Gap(PairEvaluator):
    groups = ("apart", "together")
    headline = ("gap",)
    measures = {"gap": "how far the means lie apart", "n": "pairs"}
    prefix = "gaps"

    def metrics(self, scores):
        apart, together = self.by_group(scores).values()
        return {"gap": float(together.mean() - apart.mean()), "n": len(scores), "unknown": None}


def test_similarity():
    evaluator = SimilarityEvaluator(pairs([0.0, 2.0, 5.0, 4.0], [0.1, 0.2, 0.8, 0.9], "score"), **FACTS)
    scores = evaluator(Chosen())
    # ranks 1 2 4 3 and 1 2 3 4: 1 - 6 (1 + 1) / (4 x 15)
    assert scores["similarity_spearman"] == pytest.approx(0.8)
    # deviations -2.75 -.75 2.25 1.25 and -.4 -.3 .3 .4: 2.5 / sqrt(14.75 x 0.5)
    assert scores["similarity_pearson"] == pytest.approx(2.5 / sqrt(7.375))
    gap = Gap(pairs([1, 0], [0.9, 0.5]), **FACTS)
    for _ in range(2):  # names are prefixed once
        both = SequentialEvaluator([gap, evaluator])(Chosen())
        assert both["gaps_gap"] == pytest.approx(0.4) and both["similarity_spearman"] == pytest.approx(0.8)
        assert (both["gaps_n"], both["gaps_unknown"]) == (2, None)


def test_models_are_compared(tmp_path, figures):
    class Nothing(Gap):
        def scores(self, model, cache=None):
            return None

    similarity = SimilarityEvaluator(pairs([0.0, 1.0, 2.0], [0.1, 0.2, 0.3], "score"), **FACTS)
    evaluators = [Gap(pairs([1, 0, 0], [0.75, 0.5, 0.25]), **FACTS), Nothing(pairs([1], [0.5]), **FACTS), similarity]
    models = {"base": Chosen(), "trained": Chosen(-0.25)}
    first, second = evaluate_models(evaluators, models, dict.fromkeys(models), tmp_path)
    assert (first["name"], second["name"]) == ("gaps", "similarity")  # what has no rows is left out
    assert first["headline"] == ["gaps_gap"]
    assert first["measures"] == {"gaps_gap": "how far the means lie apart", "gaps_n": "pairs"}
    assert first["figures"]["trained"] == {"gaps_gap": pytest.approx(0.375), "gaps_n": 3, "gaps_unknown": None}
    assert first["caption"] == "Cosine similarity of a title, by model: base, trained (Invented (test))."
    assert (tmp_path / "plots" / "gaps.png").is_file() and second["caption"] is None
    assert [axis.get_title() for axis in figures[0].axes] == ["base\ngap 0.375", "trained\ngap 0.375"]


def test_auroc_with_its_interval():
    # four of each, 14 of 16 comparisons right
    auroc, low, high = auroc_interval([0.9, 0.8, 0.7, 0.3, 0.5, 0.4, 0.2, 0.1], [1, 1, 1, 1, 0, 0, 0, 0])
    assert auroc == 14 / 16
    for end in (low, high):  # each lies 1.96 of its own standard errors away: Q1 = A / (2 - A), Q2 = 2 A^2 / (1 + A)
        excess = 3 * (end / (2 - end) - end**2) + 3 * (2 * end**2 / (1 + end) - end**2)
        assert abs(auroc - end) == pytest.approx(1.959964 * sqrt((end * (1 - end) + excess) / 16), rel=1e-5)
    assert 0 < low < auroc < high < 1
    # no point where all are told apart, and narrower with more texts
    assert [auroc_interval([0.1] * n + [0.9] * n, [0] * n + [1] * n)[1] for n in (5, 500)] == [
        pytest.approx(0.6427, abs=1e-4),
        pytest.approx(0.9961, abs=1e-4),
    ]
    assert auroc_interval([1, 2], [1, 0])[::2] == (0.0, pytest.approx(0.7935, abs=1e-4))


def test_intervals_are_those_of_the_outer_groups():
    class Auroc(Gap):
        groups = ("low", "middle", "high")
        measures = {"auroc": "a"}

    evaluator = Auroc(pairs([0, 1, 2, 2], [0.1, 0.9, 0.5, 0.6]), **FACTS)
    assert evaluator.intervals(evaluator.scores(Chosen())) == {"auroc": auroc_interval([0.1, 0.5, 0.6], [0, 1, 1])[1:]}


def test_a_row_without_text_is_named():
    rows = pairs([0, 1], [0.5, 0.6]) | {"sentence2": ["0.5", None]}
    with pytest.raises(ValueError, match=r"^Invented \(test\), row 1: sentence2 is None, no text .* build it again"):
        Gap(rows, **FACTS)
    with pytest.raises(ValueError, match=r"Invented \(test\): there is no column 'sentence1'; it has .*label"):
        Gap({key: rows[key] for key in rows if key != "sentence1"}, **FACTS)


def test_pairs_across_are_always_of_two_groups():
    groups = np.random.default_rng(0).integers(0, 4, 200)
    other = of_another_group(groups, 0)
    assert (groups[other] != groups).all()
    assert len(set(other)) > 100  # spread over the rows
