"""A Bipolar-encoder as it is used, saved, loaded, refused, released and published."""

import math
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from huggingface_hub import constants
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from torch import nn

from dataset_scripts.base.files import write_json, write_text
from modeling.base import models
from modeling.base import publish as hub
from modeling.base.adapters import AdapterError, save_adapter, save_merged
from modeling.base.models import BUNDLED_ID, load_backbone, load_model, resolve
from modeling.bipolar.encoder import BipolarEncoder
from modeling.bipolar.heads import DESCRIPTION, WEIGHTS, BipolarHeads, attach_heads, heads_of, save_heads
from tests.tiny import adapted

TEXTS = ["we love the trams every day", "the trams are awful for visitors", "streets in winter"]
HALF = {"rtol": 1e-2, "atol": 1e-2}  # adapters are saved in half precision


def trained(base, **shape):
    """The base, and an encoder with an adapter and heads, all unlike what training starts with."""
    model = adapted(base, BUNDLED_ID)
    model.max_seq_length = 24
    heads = BipolarHeads(model.get_embedding_dimension(), **shape)
    for parameter in heads.parameters():
        parameter.data += torch.randn_like(parameter) * 0.2
    attach_heads(model, heads)
    return resolve(str(base), BUNDLED_ID), model


def save_run(folder, backbone, model, weight=None):
    """Writes the folder of a run, as training leaves it."""
    heads_of(model).fusion_weight = weight
    system = SimpleNamespace(recipe=SimpleNamespace(system="bipolar"), save_modules=save_heads)
    base = load_backbone(backbone)
    merged = save_adapter(model, folder / "adapter", base, system)
    save_merged(merged, folder / "merged", base, system, merged.max_seq_length)
    write_json(folder / "recipe.json", {"base": backbone.path, "base_id": backbone.hub_id})
    for part, name in (("merged", "{{repo_id}}"), ("adapter", "{{adapter_repo_id}}")):
        write_text(folder / part / "README.md", f"# {name}\n")
    return folder


@pytest.fixture(scope="module")
def run(tiny_base, tmp_path_factory):
    """A run with a head each for queries and documents: its folder, and what was trained."""
    backbone, model = trained(tiny_base, shared=False)
    return save_run(tmp_path_factory.mktemp("bipolar") / "run", backbone, model, weight=0.5), model


@pytest.fixture(autouse=True)
def base_is_bundled(tiny_base, monkeypatch):
    """The tiny encoder in the place of the bundled one."""
    tiny = resolve(str(tiny_base), BUNDLED_ID)
    monkeypatch.setattr(models, "resolve", lambda base, *rest: tiny if base == "bundled" else resolve(base, *rest))


@pytest.fixture
def copied(run, tmp_path):
    return Path(shutil.copytree(run[0], tmp_path / "copied"))


def outputs(encoder: BipolarEncoder) -> np.ndarray:
    """All that an encoder makes of the texts: u, both embeddings, and log-odds."""
    u = encoder.encode(TEXTS)
    margins = np.array([encoder.margins(one, u) for one in u])
    return np.concatenate(
        [u, encoder.retrieval_embeddings(u, queries=True), encoder.retrieval_embeddings(u), margins], 1
    )


# Saved and loaded


@pytest.mark.parametrize(("shared", "normalised"), [(True, True), (False, False)])
def test_a_merged_folder_is_a_sentence_transformer_and_a_bipolar_encoder(tiny_base, tmp_path, shared, normalised):
    backbone, model = trained(tiny_base, shared=shared, normalised=normalised)
    folder, heads = save_run(tmp_path / "run", backbone, model, 0.25), heads_of(model)
    u = model.encode(TEXTS, convert_to_tensor=True)
    with torch.no_grad():
        queries, documents, logits = heads.queries(u), heads.documents(u), heads.classify(u[[0, 0, 0]], u)

    plain = SentenceTransformer(str(folder / "merged"), trust_remote_code=False)
    assert [type(module).__module__.split(".")[0] for module in plain] == ["sentence_transformers"] * len(plain)
    kinds = ["Transformer", "Pooling", "Normalize", "Dense" if shared else "Router", *["Normalize"] * normalised]
    assert [type(module).__name__ for module in plain] == kinds
    assert plain.similarity_fn_name == ("cosine" if normalised else "dot")
    assert np.allclose(plain.encode_query(TEXTS), queries, **HALF)
    assert np.allclose(plain.encode_document(TEXTS), documents, **HALF)
    assert np.allclose(plain.encode(TEXTS), documents, **HALF)

    expected = np.concatenate([u, queries, documents], 1)
    for source in (folder, folder / "merged", folder / "adapter"):
        loaded = BipolarEncoder.from_pretrained(source)
        assert np.allclose(outputs(loaded)[:, :96], expected, **HALF)
        assert np.allclose(outputs(loaded)[0, 96:], logits[:, 1] - logits[:, 0], **HALF)
        assert loaded.heads.fusion_weight == 0.25
        assert loaded.encoder.max_seq_length == 24  # that of the training, not the base's 48
        assert np.allclose(load_model(source).encode(TEXTS), documents, **HALF)


# Ranking

POINT = "trams"
VECTORS = {"trams": (1.0, 0.0), "a": (0.8, 0.6), "b": (0.6, 0.8), "c": (1.0, 0.0), "d": (0.0, 1.0)}
CANDIDATES = ["a", "", "b", " trams ", "c", "d"]


class Lookup(nn.Module):
    """An encoder of five texts that counts what it encodes."""

    device = torch.device("cpu")

    def __init__(self):
        super().__init__()
        self.seen = []

    def encode(self, texts, **options):
        self.seen += texts
        return np.array([VECTORS[text] for text in texts])


@pytest.fixture
def by_hand():
    """Similarities to the point: a .8, b .6, c 1, d 0; log-odds: the second component, .6, .8, 0 and 1."""
    heads = BipolarHeads(2)
    heads.norm = nn.Identity()
    heads.classifier.bias.data.zero_()
    heads.classifier.weight.data = torch.tensor([[0.0] * 6, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]])
    return BipolarEncoder(Lookup(), heads)


def shown(results):
    return [(CANDIDATES[r["corpus_id"]], round(r["score"], 3)) for r in results]


def test_ranking_by_the_classifier_alone(by_hand):
    # 1 / (1 + exp(-x)) of 1, .8, .6, 0; the empty text and the point itself are not ranked
    expected = [("d", 0.731), ("b", 0.69), ("a", 0.646), ("c", 0.5)]
    assert shown(by_hand.rank(POINT, CANDIDATES)) == expected
    assert shown(by_hand.rank(POINT, CANDIDATES, weight=math.inf, shortlist=None)) == expected
    # d is the least similar, so that a shortlist of three is without it
    assert shown(by_hand.rank(POINT, CANDIDATES, shortlist=3)) == expected[1:]
    assert shown(by_hand.rank(POINT, CANDIDATES, shortlist=3, top_k=2)) == expected[1:3]
    assert shown(by_hand.rank(POINT, CANDIDATES, shortlist=1, top_k=4)) == expected  # as many as are asked for


def test_ranking_by_both_scores(by_hand):
    # a .8 + .75 * .6, b .6 + .75 * .8, c 1, d .75
    expected = [("a", 1.25), ("b", 1.2), ("c", 1.0), ("d", 0.75)]
    assert shown(by_hand.rank(POINT, CANDIDATES, weight=0.75)) == expected
    assert shown(by_hand.rank(POINT, CANDIDATES, weight=0)) == [("c", 1.0), ("a", 0.8), ("b", 0.6), ("d", 0.0)]
    by_hand.heads.fusion_weight = 0.75
    assert shown(by_hand.rank(POINT, CANDIDATES)) == expected


def test_candidates_that_are_encoded_cost_no_forward_pass(by_hand):
    u = np.array([VECTORS.get(text.strip(), (0, 0)) for text in CANDIDATES])
    results = by_hand.rank(POINT, CANDIDATES, top_k=1, return_documents=True, candidate_embeddings=u)
    assert results == [{"corpus_id": 5, "score": pytest.approx(0.7311, abs=1e-4), "text": "d"}]
    assert by_hand.encoder.seen == [POINT]
    with pytest.raises(ValueError, match="5 candidate_embeddings for 6 candidates"):
        by_hand.rank(POINT, CANDIDATES, candidate_embeddings=u[1:])
    with pytest.raises(ValueError, match=r"shape \(6, 1\): this model needs \(n, 2\)"):
        by_hand.rank(POINT, CANDIDATES, candidate_embeddings=u[:, :1])


# Refused


def change(path, weights, which=""):
    """Replaces weights of a file, those whose name begins so, by a function of them."""
    tensors = load_file(path)
    save_file({k: weights(t).contiguous() if k.startswith(which) else t for k, t in tensors.items()}, path)


def other(tensor):
    return tensor + torch.linspace(-0.5, 0.5, tensor.numel()).reshape(tensor.shape)


DAMAGE = {
    "merged, no description": lambda f: (f / DESCRIPTION).unlink(),
    "adapter, truncated": lambda f: (f / WEIGHTS).write_bytes((f / WEIGHTS).read_bytes()[:-10]),
    "merged, NaN": lambda f: change(f / WEIGHTS, lambda t: torch.full_like(t, torch.nan), "classifier"),
    "adapter, another retrieval": lambda f: change(f / WEIGHTS, other, "query"),
    "merged, another native head": lambda f: change(f / "3_Router" / "query_0_Dense" / "model.safetensors", other),
    "merged, another encoder": lambda f: change(f / "model.safetensors", other),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_or_foreign_head_is_refused(copied, name):
    folder = copied / name.partition(",")[0]
    DAMAGE[name](folder)
    with pytest.raises(AdapterError, match="copy or download the model again"):
        BipolarEncoder.from_pretrained(folder)


# Released and published


def test_a_published_model_is_read_back_by_its_name(run, server, tmp_path, monkeypatch):
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, server.url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "ENDPOINT", server.url)
    local = BipolarEncoder.from_pretrained(run[0])
    results = hub.publish_run(run[0], "org/run", text_scan=False, token=server.token, endpoint=server.url)
    assert [result["repo_id"] for result in results] == ["org/run", "org/run-adapter"]
    for repo in ("org/run", "org/run-adapter"):
        assert np.allclose(outputs(BipolarEncoder.from_pretrained(repo)), outputs(local), rtol=1e-3, atol=1e-4)
    plain = SentenceTransformer("org/run", cache_folder=str(tmp_path / "other"), trust_remote_code=False)
    expected = local.retrieval_embeddings(local.encode(TEXTS), queries=True)
    assert np.allclose(plain.encode_query(TEXTS), expected, rtol=1e-3, atol=1e-4)
