"""SgTS of an encoder, on cosines chosen by hand."""

from math import sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from modeling.senticse.evaluation import SgtsEvaluator

FACTS = {"title": "a title", "dataset": "Invented (test)", "dataset_id": "org/invented"}


class Chosen:
    """An encoder that puts the text "0.6" at cosine 0.6 from the text "x"."""

    similarity_fn_name = "cosine"
    model_card_data = SimpleNamespace(set_evaluation_metrics=lambda *arguments: None)

    def encode(self, texts, **options):
        cosines = [1.0 if text == "x" else float(text) for text in texts]
        return np.array([(cosine, sqrt(1 - cosine**2)) for cosine in cosines])


def evaluator(labels, cosines, **options):
    rows = {"sentence1": [str(cosine) for cosine in cosines], "sentence2": ["x"] * len(cosines), "label": labels}
    return SgtsEvaluator(rows, **options, **FACTS)


def test_by_hand():
    # ranks 1 to 4 of .1 .3 .5 .7; same polarity has the ranks 2 and 4, whose mean exceeds that of the others by 1.
    # Covariance 1/4 * 1, variances 1/4 of the labels and 5/4 of the ranks: 0.25 / sqrt(5/16) = 0.447; at best, with
    # the ranks 3 and 4, it is twice that
    scores = evaluator([0, 1, 0, 1], [0.1, 0.3, 0.5, 0.7])(Chosen())
    assert scores["sgts_spearman"] == pytest.approx(1 / sqrt(5))
    assert scores["sgts_ceiling"] == pytest.approx(2 / sqrt(5))
    assert scores["sgts_normalized"] == pytest.approx(0.5)
    assert scores["sgts_auroc"] == pytest.approx(3 / 4)  # of four comparisons only .3 and .5 go the wrong way
    assert scores["sgts_mean_same"] == pytest.approx(0.5)
    assert scores["sgts_mean_different"] == pytest.approx(0.3)
    assert (scores["sgts_n_same"], scores["sgts_n_different"]) == (2, 2)


def test_names_and_headline():
    found = evaluator([1, 0], [0.9, 0.1], name="sgts_mr")
    assert found.headline == ("spearman", "normalized", "auroc")
    assert set(found.measures) == {name.removeprefix("sgts_mr_") for name in found(Chosen())}


def test_one_class_is_an_error():
    with pytest.raises(ValueError, match="All 2 references equal 1"):
        evaluator([1, 1], [0.9, 0.1])(Chosen())


def test_picture(tmp_path):
    found = evaluator([0, 1, 0, 1], [0.1, 0.3, 0.5, 0.7])
    caption = found.draw({"base": found.scores(Chosen())}, tmp_path / "sgts.png")
    assert "a title" in caption and "Invented" in caption
    assert Image.open(tmp_path / "sgts.png").width > 300
