"""The bi-encoder, trained by the same recipe, run and trainer as all systems."""

import json

import numpy as np
from sentence_transformers import SentenceTransformer

from modeling.base.run import run

TEXTS = ["we love the trams every day", "the trams are awful for visitors"]


def test_a_bi_encoder_is_trained_from_end_to_end(recipe):
    options = recipe("bipolar-bi-encoder", epochs=2, learning_rate=0.01, similarity="none", keep_best="false")
    results = run(options)
    assert [phase["name"] for phase in results["phases"]] == ["epoch-1", "epoch-2"]
    negatives = [json.loads((options.run_dir / "data" / f"negatives-{n}.json").read_text()) for n in (1, 2)]
    assert negatives[0] != negatives[1]
    model = SentenceTransformer(str(options.run_dir / "merged"))
    queries, documents = model.encode_query(TEXTS), model.encode_document(TEXTS)
    assert np.allclose(np.linalg.norm(queries, axis=1), 1) and np.abs(queries - documents).max() > 1e-3
    assert results["evaluations"][0]["name"] == "clean"
