"""A saved model is refused unless it is what was trained: every way in which it can be broken has its message."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer

from modeling.base import adapters
from modeling.base.adapters import (
    FINGERPRINT,
    WEIGHTS,
    AdapterError,
    add_lora,
    copy_adapter,
    load_adapter,
    load_merged,
    probe_vectors,
    save_adapter,
    save_merged,
)
from modeling.base.models import load_backbone, resolve
from tests.tiny import save_encoder


@pytest.fixture(scope="module")
def backbone(tiny_base):
    return resolve(str(tiny_base), "org/tiny")


@pytest.fixture(scope="module")
def trained(backbone):
    """An encoder with an adapter that does something: B starts at zero, here it is random."""
    model = load_backbone(backbone)
    add_lora(model, rank=4, alpha=4)
    torch.manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.5)
    return model


@pytest.fixture(scope="module")
def saved(trained, backbone, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    save_adapter(trained, folder / "adapter", backbone)
    save_merged(load_adapter(folder / "adapter", backbone), folder / "merged", backbone)
    return folder


@pytest.fixture
def adapter(saved, tmp_path):
    return Path(shutil.copytree(saved / "adapter", tmp_path / "adapter"))


def test_scaling_an_adapter_scales_what_it_adds(backbone):
    def loaded(factor):
        model = load_backbone(backbone)
        add_lora(model, rank=4, alpha=8)
        layer = model.get_submodule("0.model.encoder.layer.0.attention.self.query")
        with torch.no_grad():
            for weight in (layer.lora_A["default"].weight, layer.lora_B["default"].weight):
                weight.copy_(torch.arange(weight.numel()).reshape(weight.shape) / 100)
        adapters.scale_adapter(model, factor)
        return layer.get_delta_weight("default")

    # (B A)[0, 0] with A and B counting up in hundredths: A's first column is 0, .32, .64, .96 and B's first row
    # 0, .01, .02, .03; times alpha / r = 2
    assert loaded(1.0)[0, 0].item() == pytest.approx(2 * (0.0032 + 0.0128 + 0.0288))
    torch.testing.assert_close(loaded(0.25), loaded(1.0) / 4)


def test_number_of_parameters(backbone):
    model = load_backbone(backbone)
    before = sum(p.numel() for p in model.parameters())
    # two layers, four projections of 32 x 32, A and B of rank 4: 2 * 4 * (4 * 32 + 32 * 4)
    assert add_lora(model, rank=4) == (2048, before + 2048)


def test_merged_files_give_the_vectors_of_the_live_model(trained, saved):
    merged = load_merged(saved / "merged")
    np.testing.assert_allclose(probe_vectors(merged), probe_vectors(trained), atol=1e-5)
    texts = ["we love the trams", "they hate it", "good"]
    np.testing.assert_allclose(merged.encode(texts), trained.encode(texts), atol=1e-5)


def test_merging_changes_something(saved, tiny_base):
    # assigning to a read-only property instead of the module's model merges nothing and raises nothing
    base = SentenceTransformer(str(tiny_base))
    assert np.abs(probe_vectors(load_merged(saved / "merged")) - probe_vectors(base)).max() > 0.01


def test_merged_folder_is_plain(saved):
    files = {path.relative_to(saved / "merged").as_posix() for path in (saved / "merged").rglob("*") if path.is_file()}
    assert not [name for name in files if "adapter" in name or name.endswith((".py", ".bin", ".pt"))]
    assert "model.safetensors" in files
    modules = json.loads((saved / "merged" / "modules.json").read_text())
    assert all(module["type"].startswith("sentence_transformers.") for module in modules)
    assert not [key for key in load_file(saved / "merged" / "model.safetensors") if "lora" in key]


def test_merged_model_keeps_the_limit_of_the_base(backbone, tmp_path):
    model = load_backbone(backbone, max_length=8)  # as in training
    with torch.no_grad():
        next(model.parameters()).add_(torch.randn_like(next(model.parameters())))
    save_merged(model, tmp_path / "merged", backbone)
    assert load_merged(tmp_path / "merged").max_seq_length == 48


def test_no_local_path_is_saved(saved, tiny_base):
    for path in saved.rglob("*.json"):
        assert str(tiny_base.parent) not in path.read_text(), path
    config = json.loads((saved / "adapter" / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == "org/tiny"


def test_equal_adapters_are_equal_files(trained, backbone, saved, tmp_path):
    save_adapter(trained, tmp_path / "again", backbone)
    for path in (saved / "adapter").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes(), path.name


def test_wrong_key_prefix(adapter, backbone):
    weights = load_file(adapter / WEIGHTS)
    save_file({key.removeprefix("base_model.model."): value for key, value in weights.items()}, adapter / WEIGHTS)
    # two tensors for each of eight projections
    with pytest.raises(AdapterError, match=r"wrong key prefix.*16 expected keys missing.*16 unknown"):
        load_adapter(adapter, backbone)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers(adapter, backbone, value):
    weights = load_file(adapter / WEIGHTS)
    name = sorted(weights)[3]
    weights[name][0, 0] = value
    save_file(weights, adapter / WEIGHTS)
    with pytest.raises(AdapterError, match=rf"NaN or infinite weights in {name}"):
        load_adapter(adapter, backbone)


def test_truncated_file(adapter, backbone):
    data = (adapter / WEIGHTS).read_bytes()
    (adapter / WEIGHTS).write_bytes(data[:-100])
    with pytest.raises(AdapterError, match="truncated or damaged"):
        load_adapter(adapter, backbone)


def test_base_of_another_name(adapter, tiny_base):
    with pytest.raises(AdapterError, match="foreign base: trained on 'org/tiny', loaded onto 'org/other'"):
        load_adapter(adapter, resolve(str(tiny_base), "org/other"))


def test_base_of_the_same_name_with_other_weights(adapter, tmp_path):
    other = save_encoder(tmp_path / "other", seed=5)
    with pytest.raises(AdapterError, match="foreign base: the base's vectors differ"):
        load_adapter(adapter, resolve(str(other), "org/tiny"))


def test_base_of_another_width(adapter, tmp_path):
    wider = save_encoder(tmp_path / "wider", hidden_size=64)
    with pytest.raises(AdapterError, match=r"foreign base: .* has shape \(4, 32\), this base needs \(4, 64\)"):
        load_adapter(adapter, resolve(str(wider), "org/tiny"))


def test_the_base_is_loaded_once(adapter, backbone, monkeypatch):
    calls = []
    monkeypatch.setattr(adapters, "load_backbone", lambda *given: calls.append(given) or load_backbone(*given))
    load_adapter(adapter, backbone)
    assert calls == [(backbone,)]
    load_adapter(adapter, backbone, base=load_backbone(backbone))
    assert len(calls) == 1


def test_a_model_of_another_width_than_its_base_is_saved(tmp_path, backbone):
    wider = load_backbone(resolve(str(save_encoder(tmp_path / "wider", hidden_size=64)), "org/wider"))
    save_merged(wider, tmp_path / "merged", backbone)
    assert load_merged(tmp_path / "merged").get_embedding_dimension() == 64


def test_weights_of_another_training(adapter, backbone):
    weights = load_file(adapter / WEIGHTS)
    save_file({key: value * 0.5 for key, value in weights.items()}, adapter / WEIGHTS)
    with pytest.raises(AdapterError, match="does not reproduce the trained model"):
        load_adapter(adapter, backbone)


@pytest.mark.parametrize("name", [WEIGHTS, FINGERPRINT, "adapter_config.json"])
def test_missing_file(adapter, backbone, name):
    (adapter / name).unlink()
    with pytest.raises(AdapterError, match=f"{name} is missing"):
        load_adapter(adapter, backbone)


def test_untrained_adapter_is_not_saved(backbone, tmp_path):
    model = load_backbone(backbone)
    add_lora(model, rank=4)
    with pytest.raises(AdapterError, match="equals its base"):
        save_adapter(model, tmp_path / "adapter", backbone)
    assert not list(tmp_path.iterdir())  # nothing half-written is left


def test_diverged_model_is_not_saved(backbone, tmp_path):
    model = load_backbone(backbone)
    with torch.no_grad():
        next(model.parameters()).fill_(float("nan"))
    with pytest.raises(AdapterError, match="lower --learning_rate"):
        save_merged(model, tmp_path / "merged", backbone)


def test_merged_model_with_exchanged_weights(saved, tmp_path, tiny_base):
    folder = Path(shutil.copytree(saved / "merged", tmp_path / "merged"))
    shutil.copy(tiny_base / "model.safetensors", folder / "model.safetensors")
    with pytest.raises(AdapterError, match="does not reproduce"):
        load_merged(folder)


def test_training_starts_from_another_adapter(trained, saved, backbone):
    model = load_backbone(backbone)
    add_lora(model, rank=4, alpha=4)
    assert np.abs(probe_vectors(model) - probe_vectors(trained)).max() > 0.01
    copy_adapter(saved / "adapter", model)
    assert np.allclose(probe_vectors(model), probe_vectors(trained), atol=1e-6)
    other = load_backbone(backbone)
    add_lora(other, rank=2, alpha=4)
    with pytest.raises(AdapterError, match="another shape: start from it with --lora_rank 4 --lora_alpha 4"):
        copy_adapter(saved / "adapter", other)
    with pytest.raises(AdapterError, match=r"adapter_config\.json is missing"):
        copy_adapter(saved, model)
