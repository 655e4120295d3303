"""What is published can be used: everything is sent to a loopback Hub and loaded in a fresh process by its name alone.

The fresh process has its own caches and runs in an empty folder, so it can only know what the Hub sends.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modeling.base import publish as hub
from tests.hub_server import HubServer

ROOT = Path(__file__).resolve().parents[1]
SENTENCES = ["dogs are good", "cats are bad", "school uniforms are a good idea", "uniforms"]
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

sentences, with_sgts = json.loads(sys.argv[1]), sys.argv[2] == "True"
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
if with_sgts:
    result["sgts"] = evaluate.load("org/sgts").compute(predictions=[0.9, 0.2, 0.6, 0.7], references=[1, 0, 1, 0])
print("RESULT" + json.dumps(result))
"""


def make_run(folder: Path) -> tuple[Path, np.ndarray, np.ndarray]:
    """Writes base/, and adapter/ and merged/ in run/; returns the folder and the vectors of base and merged model."""
    import torch
    from peft import LoraConfig, get_peft_model
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    from dataset_scripts.base.files import write_json
    from modeling.base.adapters import FINGERPRINT, probe_vectors

    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", *dict.fromkeys(" ".join(SENTENCES).split()), *(f"word{i}" for i in range(50))]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]")
    wrapped.save_pretrained(folder / "encoder")
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(words), **size)).save_pretrained(folder / "encoder")
    model = SentenceTransformer(modules=[Transformer(str(folder / "encoder")), Pooling(32), Normalize()], device="cpu")
    base_vectors = model.encode(SENTENCES)
    model.save_pretrained(str(folder / "base"), create_model_card=False)
    # Without `init_lora_weights` the adapter differs from zero, as a trained one does.
    adapted = get_peft_model(model[0].model, LoraConfig(target_modules=["query", "value"], init_lora_weights=False))
    adapted.save_pretrained(folder / "run" / "adapter")
    model[0].model = adapted.merge_and_unload()
    model.save_pretrained(str(folder / "run" / "merged"), create_model_card=False)
    write_json(folder / "run" / "merged" / FINGERPRINT, {"vectors": probe_vectors(model).tolist()})
    return folder / "run", base_vectors, model.encode(SENTENCES)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Publishes a model, its adapter, a data set and metrics; yields what a fresh process saw and should see."""
    folder = tmp_path_factory.mktemp("publish")
    with pytest.MonkeyPatch.context() as monkeypatch, HubServer() as server:
        server.prepare_this_process(monkeypatch, folder / "home")
        options = {"token": server.token, "endpoint": server.url}
        run, base_vectors, merged_vectors = make_run(folder)

        (folder / "base" / "README.md").write_text("---\nlicense: mit\n---\n# Base\n")
        hub.push(hub.stage(folder / "base", folder / "clean", "model")["folder"], "org/base", **options)
        (run / "merged" / "README.md").write_text("---\nlicense: mit\n---\n# {{repo_id}}\n")

        # What peft writes by itself names the folder of the base model, in the card and in the configuration.
        with pytest.raises(hub.StagingError) as leaks:
            hub.publish_run(run, "org/tiny", **options)
        config = run / "adapter" / "adapter_config.json"
        config.write_text(json.dumps({**json.loads(config.read_text()), "base_model_name_or_path": "org/base"}))
        card = "---\nbase_model: org/base\nlibrary_name: peft\n---\n# {{adapter_repo_id}}\n"
        (run / "adapter" / "README.md").write_text(card)
        hub.publish_run(run, "org/tiny", **options)

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
        with_sgts = (ROOT / "metrics" / "sgts" / "sgts.py").is_file()
        if with_sgts:
            hub.publish_metric(ROOT / "metrics" / "sgts", "org/sgts", **options)

        elsewhere = tmp_path_factory.mktemp("elsewhere")
        environment = {**os.environ, **server.environment(folder / "fresh", token=False)}
        command = [sys.executable, "-c", FRESH_PROCESS, json.dumps(SENTENCES), str(with_sgts)]
        fresh = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, timeout=120)
        assert fresh.returncode == 0, fresh.stderr[-3000:]
        result = json.loads(fresh.stdout.split("RESULT")[1])
        yield {
            **result,
            "base_vectors": base_vectors,
            "merged_vectors": merged_vectors,
            "leaks": leaks.value.findings,
            "server": server,
        }


def test_the_merged_model_is_the_local_one(published):
    np.testing.assert_allclose(published["merged"], published["merged_vectors"], atol=1e-6)
    np.testing.assert_allclose(published["base"], published["base_vectors"], atol=1e-6)
    assert published["modules"] == ["Transformer", "Pooling", "Normalize"]


@pytest.mark.parametrize("way", ["load_adapter", "from_pretrained"])
def test_base_and_adapter_are_the_merged_model(published, way):
    np.testing.assert_allclose(published[way], published["merged_vectors"], atol=1e-5)
    assert np.abs(np.array(published[way]) - published["base_vectors"]).max() > 0.01


def test_the_data_set_has_its_configurations(published):
    assert published["pairs"]["train"] == published["triplets"] == PAIRS
    last = {column: values[1:] for column, values in PAIRS.items()}
    assert published["pairs"]["test"] == published["default"] == last


def test_metrics_load_from_their_spaces(published):
    assert published["agreement"] == {"agreement": 0.75}
    if "sgts" not in published:
        pytest.skip("metrics/sgts does not exist")
    # The similarities 0.9 0.7 0.6 0.2 have the gold 1 0 1 0: three of four (same, different) pairs are in order.
    assert published["sgts"]["auroc"] == 0.75
    assert published["sgts"]["spearman"] == pytest.approx(1 / 5**0.5)


def test_paths_that_peft_writes_are_refused_first(published):
    found = {finding.file for finding in published["leaks"] if "path of this machine" in finding.problem}
    assert found == {"README.md", "adapter_config.json"}


def test_the_server_knew_every_request(published):
    server = published["server"]
    assert server.unknown == []
    assert len(server.commits("org/tiny")) == len(server.commits("org/tiny-stance", "dataset")) == 2
    assert server.read("org/tiny-adapter", "README.md").endswith(b"# org/tiny-adapter\n")
