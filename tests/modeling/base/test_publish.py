"""From a run to the Hub and back, or to the models that come with the project: only what was proved."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from huggingface_hub import constants
from safetensors.numpy import load_file, save_file
from typer.testing import CliRunner

from dataset_scripts.base import hub
from dataset_scripts.base.build import build
from dataset_scripts.base.cli import validate
from dataset_scripts.base.files import write_json, write_text
from dataset_scripts.base.hub import StagingError
from dataset_scripts.base.metadata import get_corpus, load_metadata
from dataset_scripts.base.sources import DEMO_FOLDER
from modeling.base import names, publish
from modeling.base.adapters import distance, load_adapter
from modeling.base.commands import app
from modeling.base.models import BUNDLED_ID, load_backbone, load_model, resolve
from modeling.base.publish import publish_released, publish_run, release
from modeling.base.recipe import load_recipe
from modeling.base.run import run
from tests.tiny import save_run

ROOT = Path(__file__).resolve().parents[3]
CARD = "---\nlicense: apache-2.0\n---\n# {{repo_id}}\n\nIts adapter is {{adapter_repo_id}}.\n"
SENTENCE = "School uniforms make mornings easier for every parent."
TEXTS = ["we love the trams", "the parks are awful", "they make the streets better", "good"]
STRANGER = """
import contextlib, io, json, sys
import datasets, evaluate, torch
from huggingface_hub import hf_hub_download
from peft import PeftModel
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

models, texts, metrics = json.loads(sys.argv[1])
# The data sets' viewer lives on a host of its own, "datasets-server.<endpoint>", which has no loopback counterpart.
datasets.config.USE_PARQUET_EXPORT = False
result = {"models": {}, "metrics": {}}
for name, base in models.items():
    plain, tuned = SentenceTransformer(f"org/{name}"), SentenceTransformer(base)
    tuned[0].model = PeftModel.from_pretrained(tuned[0].model, f"org/{name}-adapter")
    tokens = AutoTokenizer.from_pretrained(f"org/{name}")(texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        states = AutoModel.from_pretrained(f"org/{name}")(**tokens).last_hidden_state
    mask = tokens["attention_mask"][..., None]
    mean = torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1))
    vectors = {"query": plain.encode_query(texts), "document": plain.encode_document(texts)}
    vectors |= {"adapter": tuned.encode(texts), "mean": mean, "modules": [type(each).__name__ for each in plain]}
    for repository in (f"org/{name}", f"org/{name}-adapter"):  # the card's usage is Python that works
        with open(hf_hub_download(repository, "README.md")) as card, contextlib.redirect_stdout(io.StringIO()) as shown:
            exec(card.read().split("```python")[1].split("```")[0], {})
        assert shown.getvalue().startswith("tensor("), repository
    result["models"][name] = {key: each if key == "modules" else each.tolist() for key, each in vectors.items()}
rows = datasets.load_dataset("org/debates", "pairs")
result["rows"] = {split: each.num_rows for split, each in rows.items()}
streamed = datasets.load_dataset("org/debates", "pairs", split="test", streaming=True)
result["first"] = [next(iter(streamed)), rows["test"][0]]
for name, inputs in metrics.items():
    result["metrics"][name] = evaluate.load(f"org/{name}").compute(**inputs)
print("RESULT" + json.dumps(result))
"""
MODELS = ["stance-minilm", "bipolar-minilm"]  # the second has heads after its encoder
OPINIONS = ["I love pineapple on pizza.", "Nobody should have to pay for the tram."]
SCORES = {"predictions": [0.9, 0.2, 0.6, 0.7]}
METRICS = {name: SCORES | {"references": [1, 0, 1, 0]} for name in ("sgts", "stance_kl_divergence")}
METRICS |= {
    "opinion_similarity": SCORES | {"references": [4, 0, 3, 1], "boundary": 2},
    "alignment_precision": SCORES | {"references": ["D", "R", "R", "D"], "target": "D", "threshold": 0.5},
    "counterargument_accuracy": {"predictions": [[4, 7], [5, 1]], "references": [[4], [1]]},
}


def test_all_that_can_be_published_serves_a_fresh_process_that_knows_its_name(server, tmp_path, monkeypatch):
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, server.url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "ENDPOINT", server.url)
    base, stored = names.bundled_folder(), {}
    for path in (path for path in base.rglob("*") if path.is_file()):
        stored[path.relative_to(base).as_posix()] = server.store(path.read_bytes(), path.suffix == ".safetensors")
    repo = {"id": BUNDLED_ID, "type": "model", "sdk": None, "commits": [], "private": False}
    server.add_commit(repo, "base", stored)
    server.repositories["model", BUNDLED_ID] = repo
    options = {"token": server.token, "endpoint": server.url}
    for name in MODELS:
        publish_released(name, f"org/{name}", text_scan=False, **options)
    record, debates = load_metadata("kialo"), tmp_path / "debates"
    built = validate(record.options_model, record.demo.options).model_dump()
    build(get_corpus("kialo"), [DEMO_FOLDER / record.demo.raw], debates, built)
    for _ in range(2):
        sent = [hub.publish_dataset(debates, "org/debates", private=True, **options)]
        sent += [hub.publish_metric(ROOT / "metrics" / name, f"org/{name}", **options) for name in METRICS]
    assert all(each["unchanged"] for each in sent)
    # it has caches of its own and runs in an empty folder, so it can only know what the Hub sends
    (tmp_path / "elsewhere").mkdir()
    environment = {**os.environ, **server.environment(tmp_path / "fresh"), "HF_TOKEN": server.read_token}
    command = [sys.executable, "-c", STRANGER, json.dumps([dict.fromkeys(MODELS, BUNDLED_ID), OPINIONS, METRICS])]
    places = {"cwd": tmp_path / "elsewhere", "env": environment}
    fresh = subprocess.run(command, **places, capture_output=True, text=True, timeout=600)
    assert fresh.returncode == 0, fresh.stderr[-3000:]
    seen = json.loads(fresh.stdout.split("RESULT")[1])
    for name, found in seen["models"].items():
        ours = load_model(name)
        for side, encode in (("query", ours.encode_query), ("document", ours.encode_document)):
            assert distance(np.array(found[side]), encode(OPINIONS)) < 1e-4
        assert distance(np.array(found["adapter"]), found["mean"]) < 3e-3  # whose weights are in half precision
        card, adapter = (server.read(f"org/{name}{end}", "README.md").decode() for end in ("", "-adapter"))
        assert f'SentenceTransformer("org/{name}")' in card and f"See org/{name}." in adapter
        assert all(f"]({path})" in card for path in server.files(f"org/{name}") if path.startswith("plots/"))
    assert distance(np.array(seen["models"][MODELS[0]]["mean"]), seen["models"][MODELS[0]]["query"]) < 1e-4
    assert seen["models"][MODELS[0]]["modules"] == ["Transformer", "Pooling", "Normalize"]
    streamed, loaded = seen["first"]
    assert streamed == loaded and set(loaded) >= {"sentence1", "sentence2", "label"} and set(seen["rows"]) > {"test"}
    # the similarities 0.9 0.7 0.6 0.2 have the gold 1 0 1 0: three of four (same, different) pairs are in order
    assert seen["metrics"]["sgts"]["auroc"] == seen["metrics"]["stance_kl_divergence"]["auroc"] == 0.75
    assert seen["metrics"]["alignment_precision"]["precision"] == pytest.approx(2 / 3)  # of 0.9, 0.7 and 0.6: D, D, R
    assert seen["metrics"]["counterargument_accuracy"]["counterargument_accuracy"] == 0.5
    assert seen["metrics"]["opinion_similarity"]["pearson"] == pytest.approx(
        np.corrcoef([9, 2, 6, 7], [4, 0, 3, 1])[0, 1]
    )


@pytest.fixture(scope="module")
def trained(tiny_base, tiny_data, tmp_path_factory):
    """A run that trained an adapter: its folder, with all that is published; and the live model's vectors."""
    folder = tmp_path_factory.mktemp("trained") / "stance-demo"
    model = save_run(folder, tiny_base, "org/base")
    write_text(folder / "merged" / "README.md", CARD)
    write_text(folder / "adapter" / "README.md", "---\nlicense: mit\n---\n# {{adapter_repo_id}}, merged: {{repo_id}}\n")
    options = {"base": tiny_base, "base_id": "org/base", "data": tiny_data, "stance": "none", "similarity": "none"}
    recipe = load_recipe("stance-demo", {name: str(value) for name, value in options.items()})
    write_json(folder / "recipe.json", recipe.model_dump())
    return folder, model.encode(TEXTS)


@pytest.fixture
def run_dir(trained, tmp_path):
    return Path(shutil.copytree(trained[0], tmp_path / "stance-demo"))


def test_a_run_goes_out_whole_or_not_at_all(server, run_dir, loads):
    options = {"token": server.token, "endpoint": server.url}
    sizes = [sum(path.is_file() for path in (run_dir / part).rglob("*")) for part in ("merged", "adapter")]
    dry = publish_run(run_dir, "org/tiny", dry_run=True)
    assert [(d["repo_id"], len(d["files"])) for d in dry] == [("org/tiny", sizes[0]), ("org/tiny-adapter", 4)]
    assert len(loads) == 2  # the model and the base of its adapter
    # a text of the run's corpus, another one, and none of either
    write_text(run_dir / "adapter" / "notes.txt", f"We LOVE the trams, every day.\n{SENTENCE}")
    with pytest.raises(StagingError, match=r"notes\.txt: holds 2 training text"):
        publish_run(run_dir, "org/tiny", iter([SENTENCE]), **options)
    publish_run(run_dir, "org/tiny", text_scan=False, dry_run=True)
    (run_dir / "adapter" / "notes.txt").unlink()
    path = run_dir / "adapter" / "adapter_model.safetensors"
    weights = load_file(path)
    save_file({name: tensor * 2 for name, tensor in weights.items()}, path, metadata={"format": "pt"})
    with pytest.raises(ValueError, match="does not reproduce the trained model"):
        publish_run(run_dir, "org/tiny", **options)
    assert server.requests == []  # one bad part, and none is sent
    save_file(weights, path, metadata={"format": "pt"})
    results = publish_run(run_dir, "org/tiny", **options)
    assert [(r["repo_id"], r["uploaded"]) for r in results] == [("org/tiny", sizes[0]), ("org/tiny-adapter", 4)]
    assert server.read("org/tiny-adapter", "README.md").endswith(b"\n# org/tiny-adapter, merged: org/tiny\n")
    assert server.read("org/tiny", "README.md").endswith(b"# org/tiny\n\nIts adapter is org/tiny-adapter.\n")
    assert all(r["unchanged"] for r in publish_run(run_dir, "org/tiny", **options))
    assert len(server.commits("org/tiny")) == 2


RESULTS = {"text": "measured", "phases": []}


def test_a_release_reproduces_the_trained_model_or_is_refused(run_dir, trained, tiny_base, tmp_path, monkeypatch):
    options = {"base": str(tiny_base), "base_id": "org/base", "output_dir": str(tmp_path)}
    system = SimpleNamespace(recipe=load_recipe("stance-demo", options))
    write_text(run_dir / "merged" / "plots" / "a.txt", "a picture")
    monkeypatch.setattr(names, "RELEASED", tmp_path / "model_cards")
    monkeypatch.setattr(publish, "render_card", lambda system, results, kind: f"A {kind} model, {results['text']}.\n")
    with pytest.raises(StagingError, match="training text"):
        release(system, RESULTS | {"text": "we all love the old trams"}, ["We all love the old trams!"])
    with monkeypatch.context() as patch, pytest.raises(ValueError, match="more than 1,000: train with a lower"):
        patch.setattr(publish, "LIMIT", 1000)
        release(system, RESULTS)
    bare = SimpleNamespace(recipe=load_recipe("stance-minilm", {"output_dir": str(tmp_path)}))
    with pytest.raises(ValueError, match="--release needs an adapter"):
        release(bare, RESULTS)
    assert names.released_models() == []
    folder = release(system, RESULTS, ["a text that stands nowhere in the card"])
    files = {"adapter_config.json", "adapter_model.safetensors", "fingerprint.json", "README.md", "results.json"}
    assert {path.name for path in folder.iterdir()} == files | {"plots"}
    assert (folder / "README.md").read_text() == "A released model, measured.\n"
    assert names.released_models() == ["stance-demo"]
    loaded = load_adapter(folder, load_backbone(resolve(str(tiny_base), "org/base")))
    assert distance(loaded.encode(TEXTS), trained[1]) < 3e-3  # half precision
    (folder / "adapter_config.json").unlink()  # prose of a system may lie under that name
    with pytest.raises(ValueError, match="stance-demo in model_cards/ is no release"):
        release(system, RESULTS)


@pytest.fixture
def signed_in(server, monkeypatch):
    """The Hub, with what a user has set who may write to it."""
    monkeypatch.setenv("HF_TOKEN", server.token)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.url)
    return server


def test_command_line(run_dir, signed_in, tmp_path, monkeypatch):
    def opinion(*words):
        done = CliRunner().invoke(app, [str(word) for word in words], prog_name="opinion")
        return done.stdout if done.exit_code == 0 else done.stderr

    listed = opinion("models")
    figures = next(line for line in listed.splitlines() if "agreeing and opposing pairs (AUROC)" in line)
    assert [cell.strip() for cell in figures.split("|")][1::2] == ["stance-minilm", "kialo (test)", "0.591"]
    assert listed.count(" MB |") == len(names.released_models())
    monkeypatch.chdir(tmp_path)  # where there are no corpora
    for words, message in (
        (["model", "stanc-minilm"], "did you mean 'stance-minilm'?"),
        (["model", "stance-minilm"], "there is no folder data/arct; build it with opinion corpus"),
        (["corpus", "data/kialo"], "opinion corpus build kialo RAW -o data/kialo"),
    ):
        assert message in opinion("publish", *words, "org/tiny", "--dry-run")
    shutil.rmtree(run_dir / "adapter")
    (run_dir / "merged" / "training_args.bin").write_bytes(b"\x80\x04.")
    dry = opinion("publish", "model", run_dir, "org/tiny", "--dry-run", "--without-runtimes")
    assert dry.startswith("org/tiny: would send 1_Pooling/config.json, ")
    assert dry.endswith("; skipped: training_args.bin\n")
    assert signed_in.requests == []
    write_text(tmp_path / "texts.txt", "its adapter is: org/tiny-adapter\n")
    options = ("--private", "--without-runtimes")
    refused = opinion("publish", "model", run_dir, "org/tiny", *options, "--forbidden-texts", tmp_path / "texts.txt")
    assert "- README.md: holds 1 training text(s)" in refused
    sent = opinion("publish", "model", run_dir, "org/tiny", *options)
    count, oid = len(dry.split("; skipped")[0].split(", ")), signed_in.commits("org/tiny")[-1]["oid"]
    assert sent == f"{signed_in.url}/org/tiny: {count} files sent, commit {oid}\n"
    assert signed_in.repositories["model", "org/tiny"]["private"] is True
    assert signed_in.unknown == []


def test_from_training_to_the_hub_nothing_is_loaded_twice(
    signed_in, tiny_base, tiny_data, tmp_path, loads, monkeypatch
):
    monkeypatch.setattr("modeling.base.run.missing_runtimes", lambda: ["onnx"])  # which load the model once more
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
