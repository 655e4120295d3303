"""From a finished run to a model that comes with the project."""

from types import SimpleNamespace

import pytest

from dataset_scripts.base.files import write_text
from dataset_scripts.base.hub import StagingError
from modeling.base import models, release
from modeling.base.adapters import distance, load_adapter, save_adapter
from modeling.base.models import BUNDLED_ID, load_backbone, resolve
from modeling.base.recipe import load_recipe
from tests.tiny import adapted


@pytest.fixture
def finished(tiny_base, tmp_path, monkeypatch):
    """A run with an adapter, and an empty folder for releases; the card is one line."""
    options = {"base": str(tiny_base), "base_id": BUNDLED_ID, "output_dir": str(tmp_path / "runs")}
    system = SimpleNamespace(recipe=load_recipe("stance-demo", options))
    backbone = resolve(str(tiny_base), BUNDLED_ID)
    model = adapted(tiny_base, BUNDLED_ID)
    save_adapter(model, system.recipe.run_dir / "adapter", load_backbone(backbone))
    write_text(system.recipe.run_dir / "adapter" / "README.md", "{{repo_id}}")
    monkeypatch.setattr(release, "RELEASED", tmp_path / "model_cards")
    monkeypatch.setattr(models, "RELEASED", tmp_path / "model_cards")
    monkeypatch.setattr(release, "render_card", lambda system, results, kind: f"A {kind} model, {results['text']}.\n")
    return system, model, backbone


def test_a_release_reproduces_the_trained_model(finished):
    system, model, backbone = finished
    folder = release.release(system, {"text": "measured"}, ["a text that stands nowhere in the card"])
    assert {path.name for path in folder.iterdir()} == {
        "adapter_config.json", "adapter_model.safetensors", "fingerprint.json", "README.md"
    }  # fmt: skip
    assert (folder / "README.md").read_text() == "A released model, measured.\n"
    assert models.released_models() == ["stance-demo"]
    text = "we love the trams"
    loaded = load_adapter(folder, load_backbone(backbone))
    assert distance(loaded.encode([text]), model.encode([text])) < 1e-4


def test_a_training_text_in_the_card_is_not_released(finished):
    with pytest.raises(StagingError, match="training text"):
        release.release(finished[0], {"text": "we all love the old trams"}, ["We all love the old trams!"])
    assert models.released_models() == []


def test_a_large_adapter_is_not_released(finished, monkeypatch):
    monkeypatch.setattr(release, "LIMIT", 1000)
    with pytest.raises(ValueError, match="bytes, more than 1,000: train with a lower --lora_rank"):
        release.release(finished[0], {"text": "measured"})


def test_a_run_without_an_adapter_is_not_released(finished, tmp_path):
    system = SimpleNamespace(recipe=load_recipe("stance-minilm", {"output_dir": str(tmp_path)}))
    with pytest.raises(ValueError, match="--release needs an adapter"):
        release.release(system, {})


def test_a_folder_of_prose_is_not_replaced(finished, tmp_path):
    write_text(tmp_path / "model_cards" / "stance-demo" / "README.md", "prose of a system")
    with pytest.raises(ValueError, match="stance-demo in model_cards/ is no release"):
        release.release(finished[0], {"text": "measured"})


def test_a_model_on_a_base_of_its_own_is_not_released(finished, tiny_base):
    system = SimpleNamespace(recipe=load_recipe("stance-demo", {"base": str(tiny_base), "base_id": "org/tiny"}))
    with pytest.raises(ValueError, match="--release needs the base that comes with the project"):
        release.release(system, {})
