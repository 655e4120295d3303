"""What is published can be used: everything is sent to a loopback Hub and loaded in a fresh process by its name alone.

The fresh process has its own caches and runs in an empty folder, so it can only know what the Hub sends.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sentence_transformers import SentenceTransformer

from dataset_scripts.base import hub
from dataset_scripts.base.files import write_json, write_text
from modeling.base.adapters import distance
from modeling.base.publish import publish_run
from tests.hub_server import HubServer
from tests.tiny import save_run

ROOT = Path(__file__).resolve().parents[3]
SENTENCES = ["we love the trams", "the parks are awful", "they make the streets better", "good"]
PAIRS = {"sentence1": ["dogs are good", "cats are bad"], "sentence2": ["dogs bark", "cats are"], "label": [1, 0]}

DATA_CARD = """---
configs:
- config_name: pairs
  default: true
  data_files:
  - {split: train, path: pairs/train-*.parquet}
  - {split: test, path: pairs/test-*.parquet}
- config_name: triplets
  data_files:
  - {split: train, path: triplets/train-*.parquet}
---
# Tiny stance
"""

METRIC_CARD = "---\ntitle: Agreement\nsdk: gradio\napp_file: app.py\n---\n# Agreement\n"
METRIC = '''"""Share of equal predictions and references."""

import datasets
import evaluate


class Agreement(evaluate.Metric):
    def _info(self):
        features = datasets.Features({"predictions": datasets.Value("int64"), "references": datasets.Value("int64")})
        return evaluate.MetricInfo(description="d", citation="c", inputs_description="i", features=features)

    def _compute(self, predictions, references):
        return {"agreement": sum(p == r for p, r in zip(predictions, references)) / len(references)}
'''

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
result["triplets"] = datasets.load_dataset("org/tiny-stance", "triplets", split="train").to_dict()

result["agreement"] = evaluate.load("org/agreement").compute(predictions=[1, 1, 0, 0], references=[1, 1, 1, 0])
result["sgts"] = evaluate.load("org/sgts").compute(predictions=[0.9, 0.2, 0.6, 0.7], references=[1, 0, 1, 0])
print("RESULT" + json.dumps(result))
"""


@pytest.fixture(scope="module")
def published(tiny_base, tmp_path_factory):
    """Publishes a model, its adapter, a data set and metrics; yields what a fresh process saw and should see."""
    folder = tmp_path_factory.mktemp("publish")
    with pytest.MonkeyPatch.context() as monkeypatch, HubServer() as server:
        server.prepare_this_process(monkeypatch, folder / "home")
        options = {"token": server.token, "endpoint": server.url}
        run = folder / "run"
        trained = save_run(run, tiny_base, "org/base")
        base = shutil.copytree(tiny_base, folder / "base", ignore=shutil.ignore_patterns("README.md"))
        write_text(base / "README.md", "---\nlicense: mit\n---\n# Base\n")
        write_json(run / "recipe.json", {"base": str(tiny_base), "base_id": "org/base"})
        for part, name in (("merged", "{{repo_id}}"), ("adapter", "{{adapter_repo_id}}")):
            write_text(run / part / "README.md", f"---\nlicense: mit\n---\n# {name}\n")
        hub.push(hub.stage(base, folder / "clean", "model")["folder"], "org/base", **options)
        publish_run(run, "org/tiny", **options)

        rows = pa.table(PAIRS)
        for name, part in (("pairs/train-0", rows), ("pairs/test-0", rows.slice(1)), ("triplets/train-0", rows)):
            path = folder / "data" / f"{name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(part, path)
        (folder / "data" / "README.md").write_text(DATA_CARD)
        hub.publish_dataset(folder / "data", "org/tiny-stance", **options)

        metric = folder / "agreement"
        metric.mkdir()
        for name, text in (("README.md", METRIC_CARD), ("agreement.py", METRIC), ("requirements.txt", "evaluate\n")):
            (metric / name).write_text(text)
        hub.publish_metric(metric, "org/agreement", **options)
        hub.publish_metric(ROOT / "metrics" / "sgts", "org/sgts", **options)

        elsewhere = tmp_path_factory.mktemp("elsewhere")
        environment = {**os.environ, **server.environment(folder / "fresh", token=False)}
        command = [sys.executable, "-c", FRESH_PROCESS, json.dumps(SENTENCES)]
        fresh = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, timeout=120)
        assert fresh.returncode == 0, fresh.stderr[-3000:]
        result = json.loads(fresh.stdout.split("RESULT")[1])
        yield {
            **result,
            "base_vectors": SentenceTransformer(str(tiny_base)).encode(SENTENCES),
            "trained_vectors": trained.encode(SENTENCES),
            "server": server,
        }


def test_model_and_adapter_give_the_vectors_of_the_trained_model(published):
    for way in ("merged", "load_adapter", "from_pretrained"):
        assert distance(np.array(published[way]), published["trained_vectors"]) < 1e-4, way
    assert distance(np.array(published["base"]), published["base_vectors"]) < 1e-4
    assert distance(published["base_vectors"], published["trained_vectors"]) > 0.1
    assert published["modules"] == ["Transformer", "Pooling", "Normalize"]


def test_the_data_set_has_its_configurations(published):
    assert published["pairs"]["train"] == published["triplets"] == PAIRS
    last = {column: values[1:] for column, values in PAIRS.items()}
    assert published["pairs"]["test"] == published["default"] == last


def test_metrics_load_from_their_spaces(published):
    assert published["agreement"] == {"agreement": 0.75}
    # The similarities 0.9 0.7 0.6 0.2 have the gold 1 0 1 0: three of four (same, different) pairs are in order.
    assert published["sgts"]["auroc"] == 0.75
    assert published["sgts"]["spearman"] == pytest.approx(1 / 5**0.5)


def test_the_server_knew_every_request(published):
    server = published["server"]
    assert server.unknown == []
    assert len(server.commits("org/tiny")) == len(server.commits("org/tiny-stance", "dataset")) == 2
    assert server.read("org/tiny-adapter", "README.md").endswith(b"# org/tiny-adapter\n")
