"""One line from a name to an encoder."""

import numpy as np
import pytest
import torch

from dataset_scripts.base.files import read_json, write_json
from modeling.base import models
from modeling.base.adapters import AdapterError, add_lora, load_adapter, save_adapter, save_merged
from modeling.base.models import load_adapters, load_backbone, load_model, released_models, resolve

TEXT = "we love the trams every day"


@pytest.fixture
def run_folder(tiny_base, tmp_path):
    """A run's folder: adapter/ and merged/ of an encoder that differs from its base."""
    backbone = resolve(str(tiny_base), "org/tiny")
    model = load_backbone(backbone)
    add_lora(model, rank=4)
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            parameter.data.normal_(std=0.5)
    save_adapter(model, tmp_path / "run" / "adapter", backbone)
    save_merged(load_adapter(tmp_path / "run" / "adapter", backbone), tmp_path / "run" / "merged", backbone)
    return tmp_path / "run"


@pytest.fixture
def base_is_bundled(tiny_base, monkeypatch):
    """The tiny encoder in the place of the bundled one."""
    found = resolve(str(tiny_base), models.BUNDLED_ID)
    monkeypatch.setattr(models, "resolve", lambda base, *rest: found if base == "bundled" else resolve(base, *rest))


def test_a_run_its_merged_folder_and_its_adapter_give_the_same_vectors(run_folder, base_is_bundled):
    config = read_json(run_folder / "adapter" / "adapter_config.json")
    write_json(run_folder / "adapter" / "adapter_config.json", config | {"base_model_name_or_path": models.BUNDLED_ID})
    vectors = [load_model(path).encode(TEXT) for path in (run_folder, run_folder / "merged", run_folder / "adapter")]
    assert np.allclose(vectors[0], vectors[1], atol=0)
    assert np.allclose(vectors[0], vectors[2], atol=1e-5)
    assert not np.allclose(vectors[0], load_model("bundled").encode(TEXT), atol=1e-2)


def test_a_released_model_is_found_by_its_name_from_anywhere(run_folder, base_is_bundled, tmp_path, monkeypatch):
    config = read_json(run_folder / "adapter" / "adapter_config.json")
    write_json(run_folder / "adapter" / "adapter_config.json", config | {"base_model_name_or_path": models.BUNDLED_ID})
    (run_folder / "adapter").rename(tmp_path / "stance-tiny")
    monkeypatch.setattr(models, "RELEASED", tmp_path)
    monkeypatch.chdir(tmp_path.parent)
    assert released_models() == ["stance-tiny"]
    assert np.allclose(load_model("stance-tiny").encode(TEXT), load_model(run_folder).encode(TEXT), atol=1e-5)


def test_any_sentence_transformer_folder_loads(tiny_base):
    assert load_model(tiny_base).encode(TEXT).shape == (32,)


def test_a_damaged_run_is_refused(run_folder):
    weights = next((run_folder / "merged").glob("*.safetensors"))
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(AdapterError, match="truncated"):
        load_model(run_folder)


def test_a_model_that_is_nowhere_is_named_with_the_released_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(models, "released_models", lambda: ["stance-minilm"])
    monkeypatch.setattr(models.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ValueError, match=r"(?s)'stance-minimal' could not be loaded.*released model: stance-minilm"):
        load_model("stance-minimal")


@pytest.fixture
def two_adapters(tiny_base, tmp_path, base_is_bundled):
    """Folders of two different adapters of one base."""
    backbone = models.resolve("bundled")
    for number, name in enumerate(("calm", "loud"), start=1):
        torch.manual_seed(number)
        model = load_backbone(backbone)
        add_lora(model, rank=2 * number)
        for parameter_name, parameter in model.named_parameters():
            if "lora_B" in parameter_name:
                parameter.data.normal_(std=0.5)
        save_adapter(model, tmp_path / name / "adapter", backbone)
    return tmp_path / "calm", tmp_path / "loud" / "adapter"


def test_adapters_are_switched_on_one_base(two_adapters):
    model = load_adapters(*two_adapters)
    base = load_model("bundled")
    calm, loud = (load_model(folder).encode(TEXT) for folder in (two_adapters[0] / "adapter", two_adapters[1]))
    assert np.abs(calm - loud).max() > 0.01
    assert np.allclose(model.encode(TEXT), calm, atol=1e-5)  # the first is on
    model.set_adapter("loud")
    assert np.allclose(model.encode(TEXT), loud, atol=1e-5)
    model.disable_adapters()
    assert np.allclose(model.encode(TEXT), base.encode(TEXT), atol=1e-6)
    model.enable_adapters()
    model.set_adapter("calm")
    assert np.allclose(model.encode(TEXT), calm, atol=1e-5)
    # 2 layers x 4 projections of 32 x 32, ranks 2 and 4, and the base once
    added = sum(p.numel() for p in model.parameters()) - sum(p.numel() for p in base.parameters())
    assert added == 2 * 4 * (2 + 4) * (32 + 32)


def test_adapters_that_cannot_be_loaded_together(two_adapters, tmp_path):
    with pytest.raises(ValueError, match="two adapters are called 'calm'"):
        load_adapters(two_adapters[0], two_adapters[0] / "adapter")
    with pytest.raises(ValueError, match="there is no adapter at 'noon'"):
        load_adapters("noon")
    with pytest.raises(ValueError, match="at least one"):
        load_adapters()
    config = read_json(two_adapters[1] / "adapter_config.json")
    write_json(two_adapters[1] / "adapter_config.json", config | {"base_model_name_or_path": "org/other"})
    with pytest.raises(ValueError, match=r"different bases: .*org/other"):
        load_adapters(*two_adapters)
