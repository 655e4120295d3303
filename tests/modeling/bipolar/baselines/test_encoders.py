"""The bi-encoder and the cross-encoder, trained by the same recipe, run and trainer as all systems."""

import json

import numpy as np
import pytest
from sentence_transformers import CrossEncoder, SentenceTransformer

from modeling.base.run import run
from modeling.bipolar.baselines.encoders import load_cross_encoder

TEXTS = ["we love the trams every day", "the trams are awful for visitors"]


TRAINING = {"epochs": 2, "learning_rate": 0.01, "eval_steps": 0.5, "similarity": "none"}


def test_a_bi_encoder_is_trained_from_end_to_end(recipe):
    options = recipe("bipolar-bi-encoder", **TRAINING)
    results = run(options)
    assert [phase["name"] for phase in results["phases"]] == ["epoch-1", "epoch-2"]
    negatives = [json.loads((options.run_dir / "data" / f"negatives-{n}.json").read_text()) for n in (1, 2)]
    assert negatives[0] != negatives[1]
    model = SentenceTransformer(str(options.run_dir / "merged"))
    queries, documents = model.encode_query(TEXTS), model.encode_document(TEXTS)
    assert np.allclose(np.linalg.norm(queries, axis=1), 1) and np.abs(queries - documents).max() > 1e-3
    assert results["evaluations"][0]["name"] == "clean"


def test_a_cross_encoder_is_trained_from_end_to_end(recipe):
    options = recipe("bipolar-cross-encoder", **TRAINING)
    results = run(options)
    figures = results["evaluations"][0]
    assert figures["base"]["clean_accuracy_epa"] == figures["base"]["clean_retrieval"]
    assert figures["trained"]["clean_accuracy_epa"] <= figures["trained"]["clean_recall_10"]
    model = load_cross_encoder(str(options.run_dir))
    assert isinstance(model, CrossEncoder) and model.num_labels == 1
    card = (options.run_dir / "merged" / "README.md").read_text(encoding="utf-8")
    assert "CrossEncoder" in card and "we are for" not in card


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"architecture": "bi-encoder"}, "needs --negatives random, debate or hard"),
        ({"architecture": "cross-encoder", "negatives": "random"}, "trains all weights: use --lora false"),
        (
            {"architecture": "cross-encoder", "negatives": "random", "lora": "false", "release": "true"},
            "neither released",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(recipe, options, message):
    with pytest.raises(ValueError, match=message):
        recipe(**options)
