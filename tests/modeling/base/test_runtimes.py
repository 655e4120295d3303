"""Encoders in other runtimes: the vectors of torch, files that strangers can read, and nothing that loses much."""

import os
import subprocess
import sys

import numpy as np
import onnxruntime
import pytest
from tokenizers import Tokenizer

from dataset_scripts.base.files import write_json, write_text
from modeling.base import runtimes
from modeling.base.models import identity, load_model
from modeling.base.publish import publish_run
from modeling.base.runtimes import COPIES, FILES, HEADING
from modeling.search.index import Index
from tests.tiny import save_run

TEXTS = ["trams", "we love the trams in summer", "the parks are awful for children and visitors , every day " * 9]


@pytest.fixture(scope="module")
def run_dir(tiny_base, tiny_data, tmp_path_factory):
    """A run of which all files are published."""
    folder = tmp_path_factory.mktemp("runtimes") / "run"
    save_run(folder, tiny_base)
    for part in ("merged", "adapter"):
        write_text(folder / part / "README.md", "---\nlicense: mit\n---\n# {{repo_id}}\n")
    write_json(folder / "recipe.json", {"base": str(tiny_base)})  # where the adapter finds it
    with pytest.MonkeyPatch.context() as patch:
        measured_quickly(patch, tiny_data, folder)
        publish_run(folder, "org/tiny", text_scan=False, dry_run=True, runtimes=True)
    return folder


def measured_quickly(monkeypatch, data, folder):
    """On few rows, of which one that changes places counts for much."""
    tests = {name: (str(data), *rest) for name, (_, *rest) in runtimes.TESTS.items()}
    for name, value in (("TESTS", tests), ("LOSS", 0.5), ("CACHE", folder / "cache")):
        monkeypatch.setattr(runtimes, name, value)


@pytest.fixture(autouse=True)
def quick(monkeypatch, tiny_data, tmp_path):
    measured_quickly(monkeypatch, tiny_data, tmp_path)


def test_a_stranger_gets_the_vectors_of_torch_from_the_files_alone(run_dir):
    staged = run_dir / "staged" / "merged"
    expected = load_model(run_dir).encode(TEXTS)
    tokenizer = Tokenizer.from_file(str(staged / "tokenizer.json"))
    tokenizer.enable_padding()
    tokenizer.enable_truncation(load_model(run_dir).max_seq_length)
    encoded = tokenizer.encode_batch(TEXTS)
    given = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
    given = {name: np.array([getattr(text, key) for text in encoded]) for name, key in given.items()}
    for name, least in ((FILES["onnx", "fp32"], 0.9999), (COPIES[1], 0.99)):
        (tokens,) = onnxruntime.InferenceSession(staged / name).run(["last_hidden_state"], given)
        mask = given["attention_mask"][:, :, None]
        vectors = (tokens * mask).sum(axis=1) / mask.sum(axis=1)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        assert (vectors * expected).sum(axis=1).min() > least
    card = (staged / "README.md").read_text(encoding="utf-8")
    assert card.count(HEADING) == 1 and 'Tokenizer.from_pretrained("org/tiny")' in card
    assert all(name in card for name in FILES.values())


@pytest.mark.parametrize("runtime", FILES, ids="-".join)
def test_every_runtime_gives_the_vectors_of_torch_and_is_another_model(run_dir, runtime, monkeypatch):
    torch, least = load_model(run_dir), {"fp32": 0.99999, "bf16": 0.999, "int8": 0.99}[runtime[1]]
    monkeypatch.setattr(runtimes, "export", None)  # what is published is used
    model = load_model(run_dir, *runtime)
    assert (model.encode(TEXTS, batch_size=2) * torch.encode(TEXTS)).sum(axis=1).min() > least
    assert identity(model) != identity(torch)


def test_what_has_no_files_is_exported_once_and_foreign_files_are_not_trusted(
    run_dir, tiny_base, tmp_path, monkeypatch
):
    other = load_model(tiny_base)
    other.save(str(tmp_path / "other"))
    (tmp_path / "other" / "onnx").mkdir()
    (tmp_path / "other" / FILES["onnx", "fp32"]).write_bytes((run_dir / "merged" / FILES["onnx", "fp32"]).read_bytes())
    vectors = load_model(tmp_path / "other", "onnx").encode(TEXTS)
    assert np.allclose(vectors, other.encode(TEXTS), atol=1e-5)
    monkeypatch.setattr(runtimes, "export", None)
    assert np.array_equal(load_model(tmp_path / "other", "onnx").encode(TEXTS), vectors)
    (tmp_path / "other" / FILES["onnx", "fp32"]).write_bytes(b"")
    with pytest.raises(ValueError, match=r"model\.onnx is damaged"):
        runtimes.prove(other, tmp_path / "other")


def test_int8_that_loses_too_much_is_not_written(run_dir, monkeypatch, tmp_path):
    monkeypatch.setattr(runtimes, "LOSS", -1.0)  # nothing gains as much
    with pytest.raises(ValueError, match="int8 loses more than"):
        load_model(run_dir / "adapter", "onnx", "int8")
    table = runtimes.export(load_model(run_dir), tmp_path / "all")
    assert not (tmp_path / "all" / FILES["onnx", "int8"]).exists() and "int8" not in set(table["precision"])
    assert (tmp_path / "all" / FILES["openvino", "fp32"]).exists()
    assert not [folder for folder in sys.path if "onnxruntime" in folder]  # its metrics.py would be found before ours


def test_an_index_is_asked_by_the_runtime_that_it_was_made_with(run_dir, tmp_path):
    source = tmp_path / "texts.csv"
    source.write_text("text\n" + "\n".join(TEXTS[:2]), encoding="utf-8")
    options = {"model": str(run_dir / "adapter"), "backend": "onnx", "precision": "int8"}
    Index.build(source, tmp_path / "index", **options)
    index = Index.open(tmp_path / "index")
    assert index.lenses == 2 and index.model[0].model.inputs and index.model.topic[0].model.inputs
    assert index.ask(TEXTS[1], top=1)["text"].tolist() == TEXTS[1:2]
    assert {path.name for path in runtimes.CACHE.rglob("*.onnx")} == {"model_qint8_avx512_vnni.onnx"}
    with pytest.raises(ValueError, match="computed by onnx in int8 and is by torch in fp32 now"):
        Index.build(source, tmp_path / "index", model=options["model"])


def test_a_name_on_the_hub_is_served_from_its_files_and_nobody_is_told(run_dir, server, tmp_path):
    publish_run(run_dir, "org/tiny", text_scan=False, runtimes=True, token=server.token, endpoint=server.url)
    code = f"""
from modeling.base import runtimes
from modeling.base.models import load_model
import openvino
runtimes.export = None
openvino.Core()
print("RESULT", *load_model("org/tiny", "onnx", "int8").encode({TEXTS[1]!r}))
"""
    environment = os.environ | server.environment(tmp_path / "stranger") | {"HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    found = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("RESULT")]
    assert found, done.stderr
    assert np.allclose(np.array(found[0], float), load_model(run_dir, "onnx", "int8").encode(TEXTS[1]), atol=1e-6)
    # what the libraries leave where they tell their makers that they are used
    assert not list(tmp_path.glob("intel")) and not list(tmp_path.glob(".cache/Microsoft"))
