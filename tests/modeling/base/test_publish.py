"""From a run to the Hub and back, or to the models that come with the project: only what was proved."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file, save_file
from sentence_transformers import SentenceTransformer
from typer.testing import CliRunner

from dataset_scripts.base import hub
from dataset_scripts.base.files import read_json, write_json, write_text
from dataset_scripts.base.hub import StagingError
from modeling.base import names, publish
from modeling.base.adapters import distance, load_adapter, save_adapter
from modeling.base.commands import app
from modeling.base.models import BUNDLED_ID, load_backbone, load_model, resolve
from modeling.base.publish import publish_released, publish_run, release
from modeling.base.recipe import load_recipe
from modeling.base.run import run
from tests.tiny import adapted, save_run

ROOT = Path(__file__).resolve().parents[3]
CARD = "---\nlicense: apache-2.0\n---\n# {{repo_id}}\n\nIts adapter is {{adapter_repo_id}}.\n"
SENTENCE = "School uniforms make mornings easier for every parent."
TEXTS = ["we love the trams", "the parks are awful", "they make the streets better", "good"]
PAIRS = {"sentence1": ["dogs are good", "cats are bad"], "sentence2": ["dogs bark", "cats are"], "label": [1, 0]}

DATA_CARD = """---
configs:
- config_name: pairs
  default: true
  data_files:
  - {split: train, path: pairs/train-*.parquet}
  - {split: test, path: pairs/test-*.parquet}
---
# Tiny stance
"""


FRESH_PROCESS = """
import json, sys
import datasets, evaluate
from peft import PeftModel
from sentence_transformers import SentenceTransformer

sentences = json.loads(sys.argv[1])
# The data sets' viewer lives on a host of its own, "datasets-server.<endpoint>", which has no loopback counterpart.
datasets.config.USE_PARQUET_EXPORT = False

merged = SentenceTransformer("org/tiny", device="cpu")
base = SentenceTransformer("org/base", device="cpu")
result = {"merged": merged.encode(sentences).tolist(), "base": base.encode(sentences).tolist()}
result["modules"] = [type(module).__name__ for module in merged]
base.load_adapter("org/tiny-adapter")
result["load_adapter"] = base.encode(sentences).tolist()
other = SentenceTransformer("org/base", device="cpu")
other[0].model = PeftModel.from_pretrained(other[0].model, "org/tiny-adapter")
result["from_pretrained"] = other.encode(sentences).tolist()

pairs = datasets.load_dataset("org/tiny-stance", "pairs")
result["pairs"] = {split: rows.to_dict() for split, rows in pairs.items()}
result["default"] = datasets.load_dataset("org/tiny-stance", split="test").to_dict()

result["sgts"] = evaluate.load("org/sgts").compute(predictions=[0.9, 0.2, 0.6, 0.7], references=[1, 0, 1, 0])
print("RESULT" + json.dumps(result))
"""


@pytest.fixture(scope="module")
def trained(tiny_base, tiny_data, tmp_path_factory):
    """A run that trained an adapter: its folder, with all that is published; and the live model's vectors."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    model = save_run(folder, tiny_base, "org/base")
    write_text(folder / "merged" / "README.md", CARD)
    write_text(folder / "adapter" / "README.md", "---\nlicense: mit\n---\n# {{adapter_repo_id}}, merged: {{repo_id}}\n")
    options = {"base": tiny_base, "base_id": "org/base", "data": tiny_data, "stance": "none", "similarity": "none"}
    recipe = load_recipe("stance-demo", {name: str(value) for name, value in options.items()})
    write_json(folder / "recipe.json", recipe.identity())
    return folder, model.encode(TEXTS)


@pytest.fixture
def run_dir(trained, tmp_path):
    return Path(shutil.copytree(trained[0], tmp_path / "trained"))


def test_what_is_published_serves_whoever_knows_its_name_alone(server, run_dir, trained, tiny_base, tmp_path, loads):
    options = {"token": server.token, "endpoint": server.url}
    sizes = [sum(path.is_file() for path in (run_dir / part).rglob("*")) for part in ("merged", "adapter")]
    dry = publish_run(run_dir, "org/tiny", dry_run=True)
    assert [(d["repo_id"], len(d["files"])) for d in dry] == [("org/tiny", sizes[0]), ("org/tiny-adapter", 4)]
    assert len(loads) == 2  # the model and the base of its adapter
    # a text of the run's corpus, another one, and none of either
    write_text(run_dir / "adapter" / "notes.txt", f"We LOVE the trams, every day.\n{SENTENCE}")
    for texts, number in (((), 1), (iter([SENTENCE]), 2)):
        with pytest.raises(StagingError, match=rf"notes.txt: holds {number} training text"):
            publish_run(run_dir, "org/tiny", texts, **options)
    publish_run(run_dir, "org/tiny", text_scan=False, dry_run=True)
    with pytest.raises(ValueError, match="no merged/ folder"):
        publish_run(run_dir / "adapter", "org/tiny")
    assert server.requests == []  # one bad part, and none is sent
    (run_dir / "adapter" / "notes.txt").unlink()
    loads.clear()
    results = publish_run(run_dir, "org/tiny", **options)
    assert [(r["repo_id"], r["uploaded"]) for r in results] == [("org/tiny", sizes[0]), ("org/tiny-adapter", 4)]
    assert server.read("org/tiny-adapter", "README.md").endswith(b"\n# org/tiny-adapter, merged: org/tiny\n")
    assert server.read("org/tiny", "README.md").endswith(b"# org/tiny\n\nIts adapter is org/tiny-adapter.\n")
    assert all(r["unchanged"] for r in publish_run(run_dir, "org/tiny", **options))
    assert len(server.commits("org/tiny")) == 2

    base = shutil.copytree(tiny_base, tmp_path / "base", ignore=shutil.ignore_patterns("README.md"))
    write_text(base / "README.md", "---\nlicense: mit\n---\n# Base\n")
    hub.push(hub.stage(base, tmp_path / "clean", "model")["folder"], "org/base", **options)
    rows = pa.table(PAIRS)
    for name, part in (("pairs/train-0", rows), ("pairs/test-0", rows.slice(1))):
        path = tmp_path / "data" / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(part, path)
    write_text(tmp_path / "data" / "README.md", DATA_CARD)
    hub.publish_dataset(tmp_path / "data", "org/tiny-stance", **options)
    assert len(server.commits("org/tiny-stance", "dataset")) == 2
    hub.publish_metric(ROOT / "metrics" / "sgts", "org/sgts", **options)

    # the fresh process has its own caches and runs in an empty folder, so it can only know what the Hub sends
    (tmp_path / "elsewhere").mkdir()
    command = [sys.executable, "-c", FRESH_PROCESS, json.dumps(TEXTS)]
    environment = {**os.environ, **server.environment(tmp_path / "fresh", token=False)}
    places = {"cwd": tmp_path / "elsewhere", "env": environment}
    fresh = subprocess.run(command, **places, capture_output=True, text=True, timeout=120)
    assert fresh.returncode == 0, fresh.stderr[-3000:]
    seen = json.loads(fresh.stdout.split("RESULT")[1])
    for way in ("merged", "load_adapter", "from_pretrained"):
        assert distance(np.array(seen[way]), trained[1]) < 3e-3, way
    base_vectors = SentenceTransformer(str(tiny_base)).encode(TEXTS)
    assert distance(np.array(seen["base"]), base_vectors) < 1e-4 and distance(base_vectors, trained[1]) > 0.1
    assert seen["modules"] == ["Transformer", "Pooling", "Normalize"]
    last = {column: values[1:] for column, values in PAIRS.items()}
    assert seen["pairs"]["train"] == PAIRS
    assert seen["pairs"]["test"] == seen["default"] == last
    # The similarities 0.9 0.7 0.6 0.2 have the gold 1 0 1 0: three of four (same, different) pairs are in order.
    assert seen["sgts"]["auroc"] == 0.75
    assert seen["sgts"]["spearman"] == pytest.approx(1 / 5**0.5)
    assert server.unknown == []


@pytest.mark.parametrize("part", ["merged", "adapter"])
def test_changed_weights_are_not_sent(server, run_dir, part):
    path = next((run_dir / part).glob("*.safetensors"))
    save_file({name: tensor * 2 for name, tensor in load_file(path).items()}, path, metadata={"format": "pt"})
    with pytest.raises(ValueError, match="does not reproduce the trained model"):
        publish_run(run_dir, "org/tiny", token=server.token, endpoint=server.url)
    assert server.requests == []


@pytest.fixture
def finished(tiny_base, tmp_path, monkeypatch):
    """A system whose run has an adapter, its model, and an empty folder for releases; the card is one line."""
    options = {"base": str(tiny_base), "base_id": BUNDLED_ID, "output_dir": str(tmp_path / "runs")}
    system = SimpleNamespace(recipe=load_recipe("stance-demo", options))
    model, folder = adapted(tiny_base, BUNDLED_ID), system.recipe.run_dir
    save_adapter(model, folder / "adapter", load_backbone(resolve(str(tiny_base), BUNDLED_ID)))
    write_text(folder / "adapter" / "README.md", "{{repo_id}}")
    write_text(folder / "merged" / "plots" / "a.txt", "a picture")
    monkeypatch.setattr(names, "RELEASED", tmp_path / "model_cards")
    monkeypatch.setattr(publish, "render_card", lambda system, results, kind: f"A {kind} model, {results['text']}.\n")
    return system, model


RESULTS = {"text": "measured", "phases": []}


def test_a_release_reproduces_the_trained_model(finished, tiny_base):
    system, model = finished
    folder = release(system, RESULTS, ["a text that stands nowhere in the card"])
    files = {"adapter_config.json", "adapter_model.safetensors", "fingerprint.json", "README.md", "results.json"}
    assert {path.name for path in folder.iterdir()} == files | {"plots"}
    assert (folder / "README.md").read_text() == "A released model, measured.\n"
    assert read_json(folder / "results.json") == RESULTS
    assert names.released_models() == ["stance-demo"]
    loaded = load_adapter(folder, load_backbone(resolve(str(tiny_base), BUNDLED_ID)))
    assert distance(loaded.encode(TEXTS), model.encode(TEXTS)) < 3e-3  # half precision


def test_what_is_not_released(finished, tiny_base, tmp_path, monkeypatch):
    system, _ = finished
    with pytest.raises(StagingError, match="training text"):
        release(system, RESULTS | {"text": "we all love the old trams"}, ["We all love the old trams!"])
    assert names.released_models() == []
    bare = SimpleNamespace(recipe=load_recipe("stance-minilm", {"output_dir": str(tmp_path)}))
    with pytest.raises(ValueError, match="--release needs an adapter"):
        release(bare, RESULTS)
    with monkeypatch.context() as patch, pytest.raises(ValueError, match="more than 1,000: train with a lower"):
        patch.setattr(publish, "LIMIT", 1000)
        release(system, RESULTS)
    write_text(tmp_path / "model_cards" / "stance-demo" / "README.md", "prose of a system")
    with pytest.raises(ValueError, match="stance-demo in model_cards/ is no release"):
        release(system, RESULTS)


@pytest.mark.parametrize("name", ["stance-minilm", "bipolar-minilm"])
def test_a_released_model_goes_to_the_hub_whole(server, name, tmp_path, loads):
    merged, adapter = publish_released(name, "org/model", text_scan=False, token=server.token, endpoint=server.url)
    assert len(loads) <= 4
    folder = tmp_path / "downloaded"
    for file in server.files("org/model"):
        if file != ".gitattributes":
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(server.read("org/model", file))
    released = load_model(name)
    assert distance(load_model(folder).encode(TEXTS), released.encode(TEXTS)) < 1e-4
    plain = SentenceTransformer(str(folder))  # as anybody loads it, without this project
    assert distance(plain.encode(TEXTS), released.encode(TEXTS)) < 1e-4
    card = (folder / "README.md").read_text()
    assert f"# {name}\n" in card and 'SentenceTransformer("org/model")' in card and "model-index:" in card
    assert all(f"]({path})" in card for path in server.files("org/model") if path.startswith("plots/"))
    card = server.read("org/model-adapter", "README.md").decode()
    assert 'model.load_adapter("org/model-adapter")' in card and "See org/model." in card
    assert not merged["unchanged"] and not adapter["unchanged"]


@pytest.fixture
def signed_in(server, monkeypatch):
    """The Hub, with what a user has set who may write to it."""
    monkeypatch.setenv("HF_TOKEN", server.token)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.url)
    return server


def test_command_line(run_dir, signed_in, tmp_path):
    def opinion(*words):
        return CliRunner().invoke(app, [str(word) for word in words], prog_name="opinion")

    listed = opinion("models").stdout
    assert "agreeing and opposing pairs (AUROC): 0.502 -> 0.591 on kialo (test), 38,291 rows" in listed
    assert listed.count(" MB on ") == len(names.released_models())
    missed = opinion("publish", "model", "stanc-minilm", "org/tiny", "--dry_run")
    assert missed.exit_code == 2 and "did you mean 'stance-minilm'?" in missed.stderr
    shutil.rmtree(run_dir / "adapter")
    (run_dir / "merged" / "training_args.bin").write_bytes(b"\x80\x04.")
    dry = opinion("publish", "model", run_dir, "org/tiny", "--dry-run").stdout
    assert dry.startswith("org/tiny: would send 1_Pooling/config.json, 2_Normalize/config.json, README.md, ")
    assert dry.endswith("; skipped: training_args.bin\n")
    assert signed_in.requests == []
    count = len(dry.split("; skipped")[0].split(", "))
    sent = opinion("publish", "model", run_dir, "org/tiny", "--private").stdout
    oid = signed_in.commits("org/tiny")[-1]["oid"]
    assert sent == f"{signed_in.url}/org/tiny: {count} files sent, commit {oid}\n"
    assert signed_in.repositories["model", "org/tiny"]["private"] is True
    write_text(tmp_path / "texts.txt", "its adapter is: org/tiny-adapter\n")
    refused = opinion("publish", "model", run_dir, "org/tiny", "--forbidden-texts", tmp_path / "texts.txt")
    assert refused.exit_code == 2 and "- README.md: holds 1 training text(s)" in refused.stderr
    assert signed_in.unknown == []


def test_from_training_to_the_hub_nothing_is_loaded_twice(signed_in, tiny_base, tiny_data, tmp_path, loads):
    sources = {"data": tiny_data, "similarity": tiny_data}
    sources |= dict.fromkeys(("replay", "filter_pairs", "filter_triplets"))
    places = {"base": tiny_base, "base_id": "org/tiny", "cache_dir": tmp_path / "cache", "output_dir": tmp_path}
    options = {"quick": True, "push_to_hub": "org/quick", "stance": None, "keep_best": False} | sources | places
    results = run(load_recipe("stance-demo", {key: str(value) for key, value in options.items()}))
    # a quick run is a run of its own
    assert {phase["steps"] for phase in results["phases"]} == {5} and (tmp_path / "stance-demo-quick").is_dir()
    assert len(signed_in.commits("org/quick")) == len(signed_in.commits("org/quick-adapter")) == 2
    # the encoder to train, the base, the saved model, the base once more to filter the test's pairs; and what is sent
    assert len(loads) <= 4 + 2, loads
