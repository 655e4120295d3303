"""Encoders of the page: each gives its own figures, also at the same time, and what they share is there once."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import gradio as gr
import numpy as np
import pytest

from modeling.app import page
from modeling.app.answers import Answers
from modeling.base.models import load_model
from modeling.search.index import Index

TEXTS = ["I love pineapple on pizza.", "I hate pineapple on pizza.", "Pineapple makes every pizza taste better."] * 20


def test_models_share_weights_and_give_the_figures_of_each(models):
    assert list(models) == ["bundled", "stance-minilm", "senticse-minilm"]
    vectors = {name: model.encode(TEXTS, show_progress_bar=False) for name, model in models.items()}
    for name in ("stance-minilm", "bundled"):
        alone = load_model(name).encode(TEXTS, show_progress_bar=False)
        np.testing.assert_allclose(vectors[name][:, :384], alone, atol=1e-6)
    np.testing.assert_allclose(vectors["stance-minilm"][:, 384:], vectors["bundled"], atol=1e-6)
    assert np.abs(vectors["stance-minilm"] - vectors["senticse-minilm"]).max() > 0.1
    encoders = [each for model in models.values() for each in (model, getattr(model, "topic", model))]
    held = [parameter for each in encoders for parameter in each.parameters()]
    once = {parameter.data_ptr(): parameter.nbytes for parameter in held}
    base = sum(parameter.nbytes for parameter in models["bundled"].parameters())
    assert sum(once.values()) < 2.2 * base < sum(parameter.nbytes for parameter in held) / 2
    with ThreadPoolExecutor(8) as pool:  # of one model and of several, short texts and long ones
        asked = [name for _ in range(6) for name in models]
        found = list(pool.map(lambda name: models[name].encode(TEXTS, show_progress_bar=False), asked))
    for name, each in zip(asked, found, strict=True):
        assert each == pytest.approx(vectors[name], abs=1e-6)


def test_an_index_of_one_lens_is_asked_or_refused_at_once(models, root, tmp_path, monkeypatch):
    for model in ("bundled", "stance-minilm"):
        Index.build(root / "docs" / "comments.csv", tmp_path / model, model=model, lens="side", text="comment")
    (tmp_path / "visitors").mkdir()
    own = Answers(models, list(models), tmp_path / "visitors", tmp_path / "bundled", 100)
    request = SimpleNamespace(session_hash="a")
    assert own.ask(TEXTS[0], 3, "both", request).count("<tr>") == 4
    with pytest.raises(gr.Error) as said:
        own.ask(TEXTS[0], 3, "topic", request)
    assert "bundled has one lens alone" in said.value.message and str(tmp_path) not in said.value.message
    monkeypatch.setenv("GRADIO_TEMP_DIR", "")  # which the page sets, as it does what a signal means
    monkeypatch.setattr(page.signal, "signal", lambda *_: None)
    monkeypatch.setattr(page, "load_models", lambda names: models)
    with pytest.raises(ValueError, match="two lenses instead of one"):
        page.serve(tmp_path / "stance-minilm", ["stance-minilm"])
