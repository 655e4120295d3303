"""A saved model is refused unless it is what was trained: every way in which it can be broken has its message."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from modeling.base.adapters import (
    FINGERPRINT,
    WEIGHTS,
    AdapterError,
    add_lora,
    copy_adapter,
    distance,
    load_adapter,
    load_merged,
    probe_vectors,
    save_adapter,
    save_merged,
    scale_adapter,
)
from modeling.base.models import load_backbone, resolve
from tests.tiny import adapted, save_encoder, save_run

TEXTS = ["we love the trams", "they hate it", "good"]


@pytest.fixture(scope="module")
def run(tiny_base, tmp_path_factory):
    """The folder of a run, and the encoder that was trained in it."""
    folder = tmp_path_factory.mktemp("run")
    return folder, save_run(folder, tiny_base)


@pytest.fixture
def base(tiny_base):
    return load_backbone(resolve(str(tiny_base), "org/tiny"))


@pytest.fixture
def copied(run, tmp_path):
    return Path(shutil.copytree(run[0], tmp_path / "copied"))


def test_scaling_an_adapter_scales_what_it_adds(tiny_base):
    def update(factor):
        model = load_backbone(resolve(str(tiny_base), "org/tiny"))
        add_lora(model, rank=4, alpha=8)
        layer = model.get_submodule("0.model.encoder.layer.0.attention.self.query")
        with torch.no_grad():
            for weight in (layer.lora_A["default"].weight, layer.lora_B["default"].weight):
                weight.copy_(torch.arange(weight.numel()).reshape(weight.shape) / 100)
        scale_adapter(model, factor)
        return layer.get_delta_weight("default")

    torch.testing.assert_close(update(0.25), update(1.0) / 4)


def test_distance_is_relative_to_the_length():
    # of (3, 4), which is 5 long, (3, 3) is 1 away: a fifth; (0, 2) of (0, 1) is 1 away: all of it
    assert distance(np.array([[3.0, 3.0], [0.0, 1.0]]), [[3, 4], [0, 1]]) == pytest.approx(0.2)
    assert distance(np.array([[3.0, 3.0], [0.0, 2.0]]), [[3, 4], [0, 1]]) == pytest.approx(1)
    assert distance(np.array([[np.nan, 4.0]]), [[3, 4]]) == distance(np.array([[3.0]]), [[3, 4]]) == np.inf


def test_the_files_give_the_vectors_of_the_live_model_and_not_the_bases(run, base, tiny_base, tmp_path):
    folder, trained = run
    save_adapter(trained, tmp_path / "again", base)
    for path in (folder / "adapter").iterdir():  # equal adapters are equal files
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes(), path.name
    assert distance(probe_vectors(trained), probe_vectors(base)) > 0.1
    for model in (load_merged(folder / "merged"), load_adapter(folder / "adapter", base)):
        assert distance(model.encode(TEXTS), trained.encode(TEXTS)) < 1e-4
        assert all(parameter.requires_grad for parameter in model[0].model.encoder.parameters())  # may be trained on
    # the merged one is plain, and neither names a local path
    modules = json.loads((folder / "merged" / "modules.json").read_text())
    assert all(module["type"].startswith("sentence_transformers.") for module in modules)
    assert not [key for key in load_file(folder / "merged" / "model.safetensors") if "lora" in key]
    for path in folder.rglob("*.json"):
        assert str(tiny_base.parent) not in path.read_text(), path
    assert json.loads((folder / "adapter" / "adapter_config.json").read_text())["base_model_name_or_path"] == "org/tiny"


def test_a_limit_in_training_is_not_saved_and_does_not_change_the_proof(tiny_base, base, tmp_path):
    model = load_backbone(resolve(str(tiny_base), "org/tiny"), max_length=8)
    with torch.no_grad():
        next(model.parameters()).add_(torch.randn_like(next(model.parameters())))
    assert save_merged(model, tmp_path / "merged", base).max_seq_length == 48
    model = adapted(tiny_base)
    model.max_seq_length = 4  # shorter than the probe sentences
    save_adapter(model, tmp_path / "adapter", base)
    assert (load_adapter(tmp_path / "adapter", base).max_seq_length, model.max_seq_length) == (48, 4)


def rewrite(change):
    """Damage: changes the weights of a file."""
    return lambda path: save_file(change(load_file(path)), path, metadata={"format": "pt"})


def halved(weights):
    return {name: value * 0.5 for name, value in weights.items()}


def renamed(weights):
    return {name.removeprefix("base_model.model."): value for name, value in weights.items()}


def with_one(number):
    return lambda weights: weights | {min(weights): torch.full_like(weights[min(weights)], number)}


def without_normalize(path):
    modules = json.loads(path.read_text())
    path.write_text(json.dumps([module for module in modules if not module["type"].endswith("Normalize")]))


def cut(path):
    path.write_bytes(path.read_bytes()[:-100])


def delete(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def text(content):
    return lambda path: path.write_text(content)


CURE = "copy or download the model again, all files of one version"
# file of the run, what happens to it, what is said
DAMAGE = [
    (f"adapter/{WEIGHTS}", delete, f"{WEIGHTS} is missing"),
    (f"adapter/{WEIGHTS}", rewrite(renamed), "wrong key prefix or other layers"),
    (f"adapter/{WEIGHTS}", rewrite(halved), "does not reproduce the trained model"),
    (f"adapter/{WEIGHTS}", rewrite(with_one(torch.nan)), "NaN or infinite weights in 0.model.encoder.layer.0"),
    ("adapter/adapter_config.json", text("{}"), "adapter_config.json: damaged, it has no 'base_model_name_or_path'"),
    ("adapter/adapter_config.json", text('{"r": 4'), "adapter_config.json: damaged, it is no JSON"),
    (f"adapter/{FINGERPRINT}", delete, f"{FINGERPRINT} is missing"),
    ("merged/model.safetensors", cut, "incomplete or damaged (SafetensorError"),
    ("merged/model.safetensors", rewrite(with_one(torch.nan)), "NaN or infinite weights in 0.model."),
    ("merged/1_Pooling", delete, "incomplete or damaged"),
    # without their Normalize module the vectors point the same way, and are six times as long
    ("merged/modules.json", delete, "does not reproduce the trained model"),
    ("merged/modules.json", without_normalize, "does not reproduce the trained model"),
    ("merged/modules.json", text("{}"), "incomplete or damaged"),
]


@pytest.mark.parametrize(("name", "damage", "message"), DAMAGE, ids=[f"{d[0]}: {d[2][-35:]}" for d in DAMAGE])
def test_a_damaged_model_is_refused_in_a_line(copied, base, name, damage, message):
    damage(copied / name)
    part = copied / name.split("/")[0]
    with pytest.raises(AdapterError, match=rf"^{re.escape(str(copied))}/.*{re.escape(message)}") as error:
        load_merged(part) if part.name == "merged" else load_adapter(part, base)
    assert "\n" not in str(error.value) and str(error.value).endswith((CURE, "the file is bad"))


def test_a_foreign_base_is_refused(copied, tiny_base, tmp_path):
    wider = save_encoder(tmp_path / "wider", seed=5, hidden_size=64)
    for path, name, message in (
        (tiny_base, "org/other", "foreign base: trained on 'org/tiny', loaded onto 'org/other'"),
        (wider, "org/tiny", "foreign base: its vectors differ"),
    ):
        with pytest.raises(AdapterError, match=message):
            load_adapter(copied / "adapter", load_backbone(resolve(str(path), name)))


def test_a_slightly_trained_model_is_told_from_its_base(tiny_base, base, tmp_path):
    model = adapted(tiny_base)
    scale_adapter(model, 0.04)
    save_adapter(model, tmp_path / "adapter", base)
    moved = distance(probe_vectors(model), probe_vectors(base))
    assert 2e-3 < moved < 1e-2  # what is tolerated where nothing smaller was learned
    rewrite(lambda weights: {key: value * 0 for key, value in weights.items()})(tmp_path / "adapter" / WEIGHTS)
    with pytest.raises(AdapterError, match="does not reproduce the trained model"):
        load_adapter(tmp_path / "adapter", base)


def test_what_is_not_worth_saving(tiny_base, base, tmp_path):
    model = load_backbone(resolve(str(tiny_base), "org/tiny"))
    add_lora(model, rank=4)
    with pytest.raises(AdapterError, match="equals its base"):
        save_adapter(model, tmp_path / "adapter", base)
    save_adapter(model, tmp_path / "trial", base, allow_unchanged=True)
    model = load_backbone(resolve(str(tiny_base), "org/tiny"))
    with torch.no_grad():
        next(model.parameters()).fill_(float("nan"))
    with pytest.raises(AdapterError, match="lower --learning-rate"):
        save_merged(model, tmp_path / "merged", base)
    assert [path.name for path in tmp_path.iterdir()] == ["trial"]  # nothing half-written is left


def test_training_starts_from_another_adapter(run, copied, tiny_base):
    model = adapted(tiny_base, seed=2)
    assert distance(probe_vectors(model), probe_vectors(run[1])) > 0.1
    copy_adapter(copied / "adapter", model)
    assert distance(probe_vectors(model), probe_vectors(run[1])) < 3e-3
    with pytest.raises(AdapterError, match="another shape: start from it with --lora-rank 4 --lora-alpha 4"):
        copy_adapter(copied / "adapter", adapted(tiny_base, rank=2))
    rewrite(lambda weights: {"other": weights[min(weights)]})(copied / "adapter" / WEIGHTS)
    with pytest.raises(AdapterError, match="weights of other layers"):
        copy_adapter(copied / "adapter", model)
