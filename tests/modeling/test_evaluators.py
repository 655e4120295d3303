"""Evaluators on cosines chosen by hand: pair i has the cosine that its first text spells."""

from math import log, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from sentence_transformers.base.evaluation import SequentialEvaluator

from modeling.evaluators import Evaluator, InferenceEvaluator, SimilarityEvaluator, StanceEvaluator

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


def rows(third, cosines, name="label"):
    return {"sentence1": [str(cosine) for cosine in cosines], "sentence2": ["x"] * len(cosines), name: third}


@pytest.fixture
def stance():
    # agreeing pairs at .9 .8 .3, opposing ones at .5 .1 -.2
    return StanceEvaluator(rows([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.3, 0.5, 0.1, -0.2]), **FACTS)


def test_stance(stance):
    scores = stance(Chosen())
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


def test_names_are_prefixed_once(stance):
    assert stance.primary_metric == "auroc"
    for _ in range(2):
        assert set(stance(Chosen())) == {
            f"stance_{key}" for key in ("auroc", "kl", "kl_paper", "n_agree", "n_oppose", "mean_agree", "mean_oppose")
        }
        assert stance.primary_metric == "stance_auroc"
    other = StanceEvaluator(rows([1, 0], [0.9, 0.1]), "stance_filtered", **FACTS)
    assert other(Chosen())["stance_filtered_auroc"] == 1
    assert (other.title, other.dataset, other.dataset_id) == ("a title", "Invented (test)", "org/invented")
    assert other.task == "sentence-similarity"


def test_headlines_are_measured(stance):
    for evaluator in (stance, inference([0.1, 0.5, 0.9])):
        assert set(evaluator.headline) <= set(evaluator.metrics(evaluator.scores(Chosen())))


def inference(cosines, labels=(0, 1, 2)):
    return InferenceEvaluator(rows(list(labels), cosines), **FACTS)


def test_inference():
    scores = inference([0.1, 0.3, 0.5, 0.9, 0.2], [0, 0, 1, 2, 2])(Chosen())
    assert scores["inference_mean_contradiction"] == pytest.approx(0.2)
    assert scores["inference_mean_neutral"] == pytest.approx(0.5)
    assert scores["inference_mean_entailment"] == pytest.approx(0.55)
    assert scores["inference_ordered"] == 1.0
    # entailing above contradicting: 0.9 above both, 0.2 above 0.1 alone; the neutral pair does not count
    assert scores["inference_auroc"] == pytest.approx(3 / 4)


@pytest.mark.parametrize(
    ("cosines", "ordered"), [([0.1, 0.5, 0.9], 1.0), ([0.5, 0.1, 0.9], 0.0), ([0.1, 0.9, 0.5], 0.0)]
)
def test_order_of_contradiction_neutral_and_entailment(cosines, ordered):
    assert inference(cosines)(Chosen())["inference_ordered"] == ordered


def test_similarity():
    evaluator = SimilarityEvaluator(rows([0.0, 2.0, 5.0, 4.0], [0.1, 0.2, 0.8, 0.9], "score"), **FACTS)
    scores = evaluator(Chosen())
    # ranks 1 2 4 3 and 1 2 3 4: 1 - 6 (1 + 1) / (4 x 15)
    assert scores["similarity_spearman"] == pytest.approx(0.8)
    # deviations -2.75 -.75 2.25 1.25 and -.4 -.3 .3 .4: 2.5 / sqrt(14.75 x 0.5)
    assert scores["similarity_pearson"] == pytest.approx(2.5 / sqrt(7.375))
    assert set(scores) == {"similarity_spearman", "similarity_pearson"}
    assert evaluator.draw(scores, scores, None) is None


def test_several_at_once(stance):
    # as in training: every metric is there, and the first evaluator has the one that chooses checkpoints
    similarity = SimilarityEvaluator(rows([0.0, 1.0, 2.0], [0.1, 0.2, 0.3], "score"), **FACTS)
    scores = SequentialEvaluator([stance, similarity])(Chosen())
    assert scores["stance_auroc"] == pytest.approx(8 / 9)
    assert scores["similarity_spearman"] == pytest.approx(1)


def test_an_evaluator_says_what_it_measures():
    class Half(Evaluator):
        headline = ("half",)

        def scores(self, model, cache=None):
            return {"chosen": 3, "other": 7}[model]

        def metrics(self, scores):
            return {"half": scores / 2}

    evaluator = Half("mine", **FACTS)
    assert evaluator("chosen") == {"mine_half": 1.5}
    # scores are kept, so that metrics and plot do not ask the model twice
    assert evaluator.prefixed(evaluator.scores("other")) == {"mine_half": 3.5}
    assert evaluator.draw(3, 7, None) is None


def test_vectors_of_a_model_that_does_not_change_are_kept(stance, monkeypatch, tmp_path):
    folders = []

    def similarities(model, columns, folder):
        folders.append(folder)
        return np.array([[0.9, 0.8, 0.3, 0.5, 0.1, -0.2]])

    monkeypatch.setattr("modeling.evaluators.pair_similarities", similarities)
    stance.scores(Chosen(), tmp_path)
    stance(Chosen())  # in training the model changes with every step
    assert folders == [tmp_path, None]


def test_pictures(stance, tmp_path, monkeypatch):
    drawn = {}
    monkeypatch.setattr(
        "modeling.evaluators.plot_distributions",
        lambda before, after, path, title: drawn.update(before=before, after=after, title=title),
    )
    scores = [stance.scores(model) for model in (Chosen(), Chosen(shift=0.05))]
    caption = stance.draw(*scores, tmp_path / "a.png")
    assert caption == "Cosine similarity of a title, before and after training (Invented (test))."
    assert drawn["title"] == "Invented (test): cosine similarity of pairs"
    assert drawn["before"]["agree"] == pytest.approx([0.9, 0.8, 0.3])
    assert drawn["after"]["agree"] == pytest.approx([0.95, 0.85, 0.35])
    assert drawn["after"]["oppose"] == pytest.approx([0.55, 0.15, -0.15])
    evaluator = inference([0.1, 0.5, 0.9])
    evaluator.draw(evaluator.scores(Chosen()), evaluator.scores(Chosen()), tmp_path / "b.png")
    assert {name: values.tolist() for name, values in drawn["before"].items()} == {
        "contradiction": pytest.approx([0.1]), "neutral": pytest.approx([0.5]), "entailment": pytest.approx([0.9])
    }  # fmt: skip


def test_a_picture_is_written(stance, tmp_path):
    scores = stance.scores(Chosen())
    stance.draw(scores, scores, tmp_path / "plots" / "stance.png")
    with Image.open(tmp_path / "plots" / "stance.png") as picture:
        assert picture.format == "PNG"
