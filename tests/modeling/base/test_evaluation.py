"""Evaluators on cosines chosen by hand: pair i has the cosine that its first text spells."""

from math import log, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from sentence_transformers.base.evaluation import SequentialEvaluator

from dataset_scripts import get_corpus
from modeling.base.evaluation import (
    AlignmentEvaluator,
    Evaluator,
    InferenceEvaluator,
    Query,
    SimilarityEvaluator,
    StanceEvaluator,
    TopicEvaluator,
    of_another_group,
)
from modeling.base.models import load_model
from modeling.stance.system import QUERIES as QUERIED

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
    assert evaluator.draw({"base": evaluator.scores(Chosen())}, None) is None


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
    assert evaluator.draw({"base": 3, "trained": 7}, None) is None


def test_vectors_of_a_model_that_does_not_change_are_kept(stance, monkeypatch, tmp_path):
    folders = []

    def similarities(model, columns, folder):
        folders.append(folder)
        return np.array([[0.9, 0.8, 0.3, 0.5, 0.1, -0.2]])

    monkeypatch.setattr("modeling.base.evaluation.pair_similarities", similarities)
    stance.scores(Chosen(), tmp_path)
    stance(Chosen())  # in training the model changes with every step
    assert folders == [tmp_path, None]


def test_pictures(stance, tmp_path, monkeypatch):
    drawn = {}
    monkeypatch.setattr(
        "modeling.base.evaluation.plot_distributions",
        lambda models, path, title: drawn.update(models, title=title),
    )
    scores = {"before": stance.scores(Chosen()), "after": stance.scores(Chosen(shift=0.05))}
    caption = stance.draw(scores, tmp_path / "a.png")
    assert caption == "Cosine similarity of a title, by model: before, after (Invented (test))."
    assert drawn["title"] == "Invented (test): a title"
    assert drawn["before"]["agree"] == pytest.approx([0.9, 0.8, 0.3])
    assert drawn["after"]["agree"] == pytest.approx([0.95, 0.85, 0.35])
    assert drawn["after"]["oppose"] == pytest.approx([0.55, 0.15, -0.15])
    evaluator = inference([0.1, 0.5, 0.9])
    evaluator.draw({"before": evaluator.scores(Chosen())}, tmp_path / "b.png")
    assert {name: values.tolist() for name, values in drawn["before"].items()} == {
        "contradiction": pytest.approx([0.1]), "neutral": pytest.approx([0.5]), "entailment": pytest.approx([0.9])
    }  # fmt: skip


def test_a_picture_is_written(stance, tmp_path):
    scores = stance.scores(Chosen())
    stance.draw({"base": scores, "trained": scores}, tmp_path / "plots" / "stance.png")
    with Image.open(tmp_path / "plots" / "stance.png") as picture:
        assert picture.format == "PNG"


def test_some_rows_count(stance):
    # of .9 .8 .3 (agreeing) and .5 .1 -.2 (opposing) only .9, .3 and .5
    counted = np.array([True, False, True, True, False, False])
    some = StanceEvaluator(rows([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.3, 0.5, 0.1, -0.2]), counted=counted, **FACTS)
    assert some.columns == stance.columns  # so that both find the same vectors
    assert (some.rows, stance.rows) == (3, 6)
    scores = some(Chosen())
    assert scores["stance_auroc"] == 0.5  # 0.9 above 0.5, 0.3 below
    assert (scores["stance_n_agree"], scores["stance_n_oppose"]) == (2, 1)
    assert isinstance(scores["stance_n_agree"], int)


# texts at cosine .9 .8 .6 .6 .1 of the first statement, so .436 .6 .8 .8 .995 of the second
TEXTS = {"text": ["0.9", "0.8", "0.6", "0.6", "0.1"], "group": ["D", "R", "D", "I", "D"]}
QUERIES = [Query("for", "x", "D", 0.7), Query("against", "0.0", "R", 0.999)]


@pytest.fixture
def alignment(monkeypatch):
    """A function that makes an evaluator with cut-offs that five texts allow for."""
    monkeypatch.setattr(AlignmentEvaluator, "cutoffs", (2, 4, 10))
    return lambda rows=TEXTS, **options: AlignmentEvaluator(rows, QUERIES, **options, **FACTS)


def test_alignment(alignment):
    scores = alignment()(Chosen())
    assert scores == {
        "alignment_for_precision": 0.5,  # .9 by D, .8 by R
        "alignment_for_retrieved": 2,
        "alignment_for_retrieved_D": 1, "alignment_for_retrieved_I": 0, "alignment_for_retrieved_R": 1,
        "alignment_for_base_rate": 0.6,  # three of five
        "alignment_for_precision_at_2": 0.5,
        "alignment_for_precision_at_4": 0.5,  # D R D I; there are no ten
        "alignment_against_precision": None,  # the nearest text is at .995
        "alignment_against_retrieved": 0,
        "alignment_against_retrieved_D": 0, "alignment_against_retrieved_I": 0, "alignment_against_retrieved_R": 0,
        "alignment_against_base_rate": 0.2,
        "alignment_against_precision_at_2": 0.0,  # D D
        "alignment_against_precision_at_4": 0.25,  # D D I R
    }  # fmt: skip


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
    assert evaluator.primary_metric == "alignment_for_against_contrast_auroc"


def test_statements_of_one_group_are_not_opposed(monkeypatch):
    queries = [Query("for", "x", "D", 0.7), Query("too", "0.0", "D", 0.7)]
    assert AlignmentEvaluator(TEXTS, queries, on_topic=True, **FACTS).headline == ("for_auroc", "too_auroc")


def test_what_does_not_depend_on_the_level_of_cosines(alignment):
    high, low = (alignment(on_topic=True)(Chosen(shift)) for shift in (0.05, -0.25))
    assert (high["alignment_for_retrieved"], low["alignment_for_retrieved"]) == (2, 0)
    for key in ("auroc", "precision_at_2", "precision_at_4", "base_rate"):
        assert high[f"alignment_for_{key}"] == low[f"alignment_for_{key}"]


def test_tables_of_alignment(alignment):
    for evaluator in (alignment(), alignment(on_topic=True)):
        metrics = evaluator.metrics(evaluator.scores(Chosen()))
        assert set(evaluator.headline) <= set(evaluator.measures) <= set(metrics)
    # a statement's measures stand together
    assert alignment(on_topic=True).measures == (
        "for_against_contrast_auroc", "for_auroc", "for_precision_at_2", "for_precision_at_4", "for_base_rate",
        "against_auroc", "against_precision_at_2", "against_precision_at_4", "against_base_rate",
    )  # fmt: skip
    assert evaluator.rows == 5


def test_every_distinct_text_is_embedded_once(alignment, monkeypatch, tmp_path):
    asked = []

    def embed(model, texts, folder):
        asked.append((texts, folder))
        return model.encode(texts)

    monkeypatch.setattr("modeling.base.evaluation.embed", embed)
    kept, fresh = (alignment().scores(Chosen(), cache) for cache in (tmp_path, None))
    assert asked == [(["0.9", "0.8", "0.6", "0.1"], tmp_path)]
    assert kept[0] == pytest.approx([0.9, 0.8, 0.6, 0.6, 0.1])
    assert fresh == pytest.approx(kept)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"text": ["0.9"], "label": [1]}, r"Invented \(test\): no column group; it has \['text', 'label'\]"),
        ({"text": ["0.9", "0.1"], "group": ["I", "I"]}, "'x' needs texts of 'D' and of others .*; there are 'I'"),
        ({"text": ["0.9", "0.1"], "group": ["D", "D"]}, "'x' needs texts of 'D' and of others .*; there are 'D'"),
        ({"text": [], "group": []}, "'x' needs texts of 'D' .*; there are none"),
    ],
)
def test_texts_that_cannot_be_aligned(alignment, rows, message):
    with pytest.raises(ValueError, match=message):
        alignment(rows)


def test_picture_of_alignment(alignment, monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr("modeling.base.evaluation.plot_alignment", lambda panels, path, title: drawn.extend(panels))
    evaluator = alignment()
    caption = evaluator.draw({"base": evaluator.scores(Chosen())}, tmp_path / "a.png")
    assert caption == "Share of the statement's own group among a title, by cosine and by rank (Invented (test))."
    assert [(panel[0], panel[1], panel[2].tolist()) for panel in drawn] == [
        ("x (D)", 0.7, [True, False, True, False, True]),
        ("0.0 (R)", 0.999, [False, True, False, False, False]),
    ]
    assert drawn[0][3]["base"] == pytest.approx([0.9, 0.8, 0.6, 0.6, 0.1])


@pytest.mark.corpora
def test_the_base_finds_topics_and_no_views(corpora, tmp_path):
    """Measured with this code on all-MiniLM-L6-v2, which was trained for similarity alone."""
    builder = get_corpus("congress").open(corpora / "congress", "issues", cache_dir=tmp_path)
    builder.download_and_prepare()
    tweets = builder.as_dataset()["test"].filter(lambda row: row["topic"] == "abort")
    scores = AlignmentEvaluator(tweets, QUERIED, on_topic=True, **FACTS)(load_model("bundled"))
    # both statements find those who write the word that both have in common; by the difference it is chance
    assert scores["alignment_healthcare_auroc"] == pytest.approx(0.326, abs=0.005)
    assert scores["alignment_murder_auroc"] == pytest.approx(0.679, abs=0.005)
    assert scores["alignment_healthcare_murder_contrast_auroc"] == pytest.approx(0.484, abs=0.005)
    assert scores["alignment_healthcare_base_rate"] == 113 / 160


def test_topics_by_hand():
    # in the plane, an angle for each text: group 0 at 0 and 10 degrees, group 1 at 90 and 100; each row has one choice
    class Angles:
        def encode(self, texts, **options):
            radians = np.radians([float(text) for text in texts])
            return np.stack([np.cos(radians), np.sin(radians)], axis=1)

    rows = {"sentence1": ["0", "90"], "sentence2": ["10", "100"], "group": ["a", "b"]}
    evaluator = TopicEvaluator(rows, **FACTS)
    scores = evaluator.scores(Angles())
    # within: 10 degrees twice; across: 0 with 100 and 90 with 10
    np.testing.assert_allclose(scores, np.cos(np.radians([10, 10, 100, 80])), atol=1e-6)
    found = evaluator.metrics(scores)
    assert found["auroc"] == 1.0
    assert found["mean_same"] == pytest.approx(np.cos(np.radians(10)), abs=1e-6)
    assert found["mean_other"] == pytest.approx(0, abs=1e-6)
    assert evaluator.metrics(np.array([0.1, 0.1, 0.5, 0.1]))["auroc"] == 0.25  # beaten twice, level twice


@pytest.mark.parametrize("seed", range(5))
def test_pairs_across_are_always_of_two_groups(seed):
    groups = np.random.default_rng(seed).integers(0, 4, 200)
    other = of_another_group(groups, seed)
    assert (groups[other] != groups).all()
    assert len(set(other)) > 100  # spread over the rows
