"""Training: interrupted, damaged, resumed, divided between processes, published; and what a loss owns."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
import torch
from datasets import Dataset, load_dataset
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss, SoftmaxLoss
from transformers import set_seed

from dataset_scripts.base.files import read_json, write_json
from modeling.base.adapters import distance, probe_vectors
from modeling.base.recipe import load_recipe
from modeling.base.run import claim_folder
from modeling.base.run import run as run_recipe
from modeling.base.system import Phase
from modeling.base.training import (
    COMPLETE,
    LOSS_WEIGHTS,
    Trainer,
    check_data,
    check_launch,
    remove_broken_checkpoints,
)
from tests.tiny import pairs, save_encoder

TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
ACCELERATE = ("-m", "accelerate.commands.launch")


@pytest.fixture(scope="module")
def options(tmp_path_factory, tiny_base, tiny_data):
    """A function that makes the options of a run of a demonstration with the tiny encoder and data."""
    cache = tmp_path_factory.mktemp("cache")

    def make(output: Path, recipe: str = "stance-demo", **changes) -> dict[str, str]:
        values = {"base": tiny_base, "base_id": "org/tiny", "data": tiny_data, "similarity": tiny_data}
        values |= {"cache_dir": cache, "output_dir": output, "batch_size": 8, "epochs": 2, "eval_steps": 8}
        values |= {"learning_rate": 0.01, "logging_steps": 1, "keep_best": False, "keep": 0, "margin": 0.4}
        if recipe == "stance-demo":
            values |= {"filter_pairs": None, "filter_triplets": None, "objective": "hybrid"}
        return {key: str(value) for key, value in (values | changes).items()}

    return make


@pytest.fixture(scope="module")
def run_here(options):
    """A function that runs a recipe in this process, with one thread as in those that are started; what it printed."""

    def run(output: Path, recipe: str = "stance-demo", **changes) -> str:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            run_recipe(load_recipe(recipe, options(output, recipe, **changes)))
        torch.set_num_threads(threads)
        return printed.getvalue()

    return run


@pytest.fixture(scope="module")
def command(options, root):
    """A function that makes the words of such a run as a user types them."""

    def make(output: Path, recipe="stance-demo", **changes) -> list[str]:
        flags = [word for key, value in options(output, recipe, **changes).items() for word in (f"--{key}", value)]
        return [str(root / "train.py"), recipe, *flags]

    return make


ENVIRONMENT = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


def kill_at(words: list[str], checkpoint: Path, **places) -> None:
    """Starts a command and kills it and its children at once when a checkpoint appears."""
    words, places = [sys.executable, *words], {"env": ENVIRONMENT} | places
    with subprocess.Popen(words, **places, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        deadline = time.monotonic() + 900  # on a busy machine
        while not checkpoint.exists():
            assert process.poll() is None, process.stderr.read()[-3000:]
            assert time.monotonic() < deadline
            time.sleep(0.005)
        for child in [*psutil.Process(process.pid).children(recursive=True), process]:
            child.kill()


def results_of(run_dir: Path) -> dict:
    return json.loads((run_dir / "results.json").read_text())


def weights(run_dir: Path) -> dict:
    return load_file(run_dir / "adapter" / "adapter_model.safetensors")


def losses(run_dir: Path) -> list[float]:
    return [entry["loss"] for entry in results_of(run_dir)["phases"][0]["log"] if "loss" in entry]


@pytest.fixture(scope="module")
def uninterrupted(run_here, tmp_path_factory):
    output = tmp_path_factory.mktemp("uninterrupted")
    return output / "stance-demo", run_here(output)


def test_a_run(uninterrupted, tiny_data):
    folder, printed = uninterrupted
    names = {"adapter", "checkpoints", "data", "merged", "phases", "recipe.json", "results.json"}
    assert {path.name for path in folder.iterdir()} == names
    assert not list((folder / "checkpoints").iterdir())  # the optimiser's states are not kept once a phase is done
    results = results_of(folder)
    # an epoch of each of the two phases: 216 // 8 and 396 // 8 steps
    assert [(phase["name"], phase["steps"]) for phase in results["phases"]] == [("triplets", 27), ("pairs", 49)]
    logged = set().union(*results["phases"][0]["log"])  # what trackers get
    assert logged >= {"loss", "eval_stance_auroc", "eval_similarity_spearman"}
    # a held-out topic, but the words that carry stance are those of training
    stance = results["evaluations"][0]
    assert stance["trained"]["stance_auroc"] > stance["base"]["stance_auroc"] + 0.1
    assert f'SentenceTransformer("{folder / "merged"}")' in printed
    assert_no_training_text(folder, tiny_data)
    assert not any(re.search(r"/(tmp|home|root)/", card.read_text()) for card in folder.rglob("README.md"))


def test_a_model_trained_in_half_precision_is_saved_as_it_computes(run_here, tmp_path):
    run_here(tmp_path, bf16=True, objective="triplet", max_steps=4)
    recorded = read_json(tmp_path / "stance-demo" / "adapter" / "fingerprint.json")["vectors"]
    saved = SentenceTransformer(str(tmp_path / "stance-demo" / "merged"))
    # five digits of 32 numbers are 3e-5 apart at most; computed in bfloat16 they were 8e-5
    assert distance(probe_vectors(saved), recorded) < 4e-5


def assert_no_training_text(folder: Path, data: Path) -> None:
    texts = {
        row[key]
        for config, keys in (("pairs", ("sentence1", "sentence2")), ("triplets", ("anchor", "negative")))
        for row in load_dataset(str(data), config, split="train")
        for key in keys
    }
    assert len(texts) == 6 * 12 + 6  # six topics of twelve arguments and a thesis
    cards = list(folder.rglob("README.md"))
    assert cards and not [(card, text) for card in cards for text in texts if text in card.read_text()]


def test_a_killed_run_resumes_to_the_same_weights_past_a_damaged_checkpoint(
    command, run_here, uninterrupted, tmp_path, tiny_data, caplog
):
    run_dir = tmp_path / "stance-demo"
    checkpoints = run_dir / "checkpoints" / "2-pairs"
    kill_at(command(tmp_path), checkpoints / "checkpoint-24" / COMPLETE)
    assert not (run_dir / "merged").exists()
    assert_no_training_text(tmp_path, tiny_data)  # checkpoints have model cards too
    (checkpoints / "checkpoint-24" / "rng_state.pth").write_bytes(b"not a state")
    for later in checkpoints.glob("checkpoint-[34]*"):  # written before the kill came
        shutil.rmtree(later)
    run_here(tmp_path)
    assert re.search(r"discarding .*checkpoint-24 \(rng_state.pth is damaged\)", caplog.text)
    assert results_of(run_dir)["phases"][1]["resumed_at_step"] in (8, 16)  # two are kept, one of them the best
    expected, resumed = weights(uninterrupted[0]), weights(run_dir)
    assert all(expected[key].equal(resumed[key]) for key in expected)


@pytest.fixture
def make_trainer(tiny_base, tmp_path):
    """A function that makes a trainer of a softmax loss on the tiny encoder, four rows a step."""

    def trainer(name, make_loss=None):
        set_seed(7)
        model = SentenceTransformer(str(tiny_base), device="cpu")
        loss = make_loss(model) if make_loss else SoftmaxLoss(model, 32, 2)
        rows = Dataset.from_list(pairs("trams")[:32]).select_columns(["sentence1", "sentence2", "label"])
        options = {"per_device_train_batch_size": 4, "max_steps": 6, "save_steps": 3, "learning_rate": 1e-2}
        options |= {"report_to": "none", "use_cpu": True, "disable_tqdm": True}
        arguments = SentenceTransformerTrainingArguments(output_dir=str(tmp_path / name), **options)
        return Trainer(model=model, args=arguments, train_dataset=rows, loss=loss)

    return trainer


def test_whatever_file_of_a_checkpoint_is_damaged_the_run_goes_on_from_the_one_before(make_trainer, tmp_path, caplog):
    make_trainer("whole").train()
    whole = tmp_path / "whole"
    names = [path.relative_to(whole / "checkpoint-6") for path in (whole / "checkpoint-6").rglob("*") if path.is_file()]
    # what was seen to end every rerun in a traceback
    seen = {"rng_state.pth", "scheduler.pt", "optimizer.pt", "trainer_state.json", "model.safetensors"}
    assert seen | {COMPLETE, LOSS_WEIGHTS} <= set(map(str, names))
    remove_broken_checkpoints(whole, needs_best=True)
    assert len(list(whole.iterdir())) == 2
    for name in names:
        folder = shutil.copytree(whole, tmp_path / "damaged", dirs_exist_ok=True)
        path = folder / "checkpoint-6" / name
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        remove_broken_checkpoints(folder, needs_best=True)
        assert [left.name for left in folder.iterdir()] == ["checkpoint-3"], name
    assert f"discarding {folder / 'checkpoint-6'}" in caplog.text
    # one is of no use without the best one that it names
    folder = whole / "checkpoint-6"
    shutil.rmtree(folder.with_name("checkpoint-3"))
    state, complete = (folder / name for name in ("trainer_state.json", COMPLETE))
    write_json(state, read_json(state) | {"best_model_checkpoint": str(folder.with_name("checkpoint-3"))})
    record = read_json(complete)
    record["files"][state.name] = sha256(state.read_bytes()).hexdigest()
    write_json(complete, record)
    remove_broken_checkpoints(folder.parent, needs_best=False)
    assert folder.is_dir()
    remove_broken_checkpoints(folder.parent, needs_best=True)
    assert not folder.exists()


def test_what_a_loss_owns_is_trained_and_continued(make_trainer, tmp_path):
    assert make_trainer("plain", CosineSimilarityLoss).owned == {}
    whole = make_trainer("whole")
    assert set(whole.owned) == {"classifier.weight", "classifier.bias"}
    before = whole.loss.classifier.weight.detach().clone()
    whole.train()
    stored = load_file(tmp_path / "whole" / "checkpoint-3" / LOSS_WEIGHTS)
    assert (stored["classifier.weight"] - before).abs().max() > 1e-3
    assert (stored["classifier.weight"] - whole.loss.classifier.weight).abs().max() > 1e-3
    # another start, so that nothing but the checkpoint can bring the two together
    resumed = make_trainer("whole")
    torch.nn.init.constant_(resumed.loss.classifier.weight, 0.5)
    resumed.train(resume_from_checkpoint=str(tmp_path / "whole" / "checkpoint-3"))
    for one, other in zip(whole.loss.parameters(), resumed.loss.parameters(), strict=True):  # and of its encoder
        assert torch.equal(one, other)


def test_what_is_done_is_not_done_again(options, uninterrupted, tmp_path, capsys):
    output = shutil.copytree(uninterrupted[0].parent, tmp_path / "runs")
    folder, before = output / "stance-demo", results_of(uninterrupted[0])
    written = {path: path.stat().st_mtime_ns for path in folder.rglob("*.safetensors")}
    run_recipe(load_recipe("stance-demo", options(output)))
    assert "opposite stance" in capsys.readouterr().out
    assert written == {path: path.stat().st_mtime_ns for path in folder.rglob("*.safetensors")}
    # another evaluation, another licence and another scale of the adapter: written again without training
    changes = {"lora_scale": 0.5, "evaluate_on": "validation", "max_test_rows": 40, "license": "cc-by-4.0"}
    after = run_recipe(load_recipe("stance-demo", options(output, **changes)))
    half = weights(folder)
    for key, full in weights(uninterrupted[0]).items():
        # halves of the smallest numbers of half precision are rounded
        np.testing.assert_allclose(half[key], full * (0.5 if "lora_B" in key else 1), rtol=1e-2, atol=1e-6)
    assert after["phases"] == before["phases"]  # their seconds, too
    assert {evaluation["dataset"] for evaluation in after["evaluations"]} == {"tiny-debates (validation)"}
    assert "license: cc-by-4.0" in (folder / "merged" / "README.md").read_text()
    with pytest.raises(ValueError, match=r"holds a run with other options \(--margin 0\.4, now 0\.9\): .*--overwrite"):
        run_recipe(load_recipe("stance-demo", options(output, margin=0.9)))


# runs one recipe after another; one process reads its checkpoints late, as on a busy machine
SEVERAL = """
import json, os, runpy, sys, time
from modeling.base.training import Trainer
load = Trainer._load_from_checkpoint
def slowly(self, path):
    time.sleep(4 * (os.environ["RANK"] == "1"))
    load(self, path)
Trainer._load_from_checkpoint = slowly
for words in json.loads(sys.argv[1]):
    sys.argv = words
    runpy.run_path(words[0], run_name="__main__")
"""


def test_two_processes_learn_what_one_learns(command, run_here, tmp_path, tiny_data, root):
    base = save_encoder(tmp_path / "base", dropout=0.0)  # dropout draws differ between processes
    # a small learning rate: at a large one, sums in another order grow to other minima within twenty steps
    shared = {"base": base, "lora_dropout": 0, "learning_rate": 0.0005}
    families = shared | {"objective": "families", "keep": 1, "batch_size": 24, "eval_steps": 6, "replay": tiny_data}
    families |= {"epochs": 1}
    # a loss that owns a classifier, in which the processes have to agree, too
    siamese = shared | {"recipe": "sos-demo", "opinions": None, "objective": "siamese", "keep": 1, "eval_steps": 24}
    # without LoRA, and with a best checkpoint to read
    tweets = shared | {"recipe": "tweets-demo", "lora": False, "keep_best": True, "batch_size": 4, "max_steps": 4}
    tweets |= {"eval_steps": 2}
    for changes in (families, siamese, tweets):
        run_here(tmp_path / "one", **changes)
    ours = [command(tmp_path / "two", **changes) for changes in (families, siamese, tweets)]
    (tmp_path / "several.py").write_text(SEVERAL)
    places = {"env": ENVIRONMENT | {"PYTHONPATH": str(root)}}
    # killed in the second epoch: the sampler has to learn of it after the resumption
    words = [*TORCHRUN, str(tmp_path / "several.py"), json.dumps(ours[:2])]
    kill_at(words, tmp_path / "two" / "sos-demo" / "checkpoints" / "1-pairs" / "checkpoint-72", **places)
    config = {"compute_environment": "LOCAL_MACHINE", "distributed_type": "MULTI_GPU", "use_cpu": True}
    config |= {"num_machines": 1, "num_processes": 2, "main_process_port": 0}
    (tmp_path / "accelerate.yaml").write_text(json.dumps(config))
    launcher = [sys.executable, *ACCELERATE, "--config_file", str(tmp_path / "accelerate.yaml")]
    words = [*launcher, str(tmp_path / "several.py"), json.dumps(ours[1:])]
    done = subprocess.run(words, **places, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    # the loss of every step agrees, so the rows of every step do, in both epochs; and they differ by far more than that
    for name, steps, spread in (("stance-demo", 6, 0.003), ("sos-demo", 98, 0.01), ("tweets-demo", 4, 0.001)):
        one, two = (losses(tmp_path / number / name) for number in ("one", "two"))
        assert len(one) == steps and two == pytest.approx(one, abs=1e-3)
        assert np.std(one) > spread
    results = results_of(tmp_path / "two" / "tweets-demo")
    # the pooler, 32 x 32 weights and 32 biases, is not used and not trained
    assert results["all_parameters"] - results["trainable_parameters"] == 32 * 32 + 32


def test_a_launcher_that_starts_one_process_instead_of_several_is_refused(monkeypatch):
    check_launch()
    for name, value in {"ACCELERATE_USE_CPU": "True", "MASTER_ADDR": "127.0.0.1"}.items():  # as it sets them
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=r"^several .*accelerate launch --multi_gpu"):
        check_launch()


def test_changed_data_do_not_continue_a_run(tmp_path):
    phases = [Phase("pairs", Dataset.from_dict({"text": ["a"], "label": [label]}), None, 1) for label in (1, 1, 0)]
    for phase in phases[:2]:
        check_data(phase, tmp_path / "1-pairs.json")
    with pytest.raises(ValueError, match="changed since this run began"):
        check_data(phases[2], tmp_path / "1-pairs.json")


def test_whose_folder_it_is(tmp_path):
    def claim(name, overwrite=False, **options):
        claim_folder(SimpleNamespace(run_dir=tmp_path / name, overwrite=overwrite, model_dump=lambda: options))

    claim("run", data="a typo")
    claim("run", data="right")  # nothing was trained yet
    assert read_json(tmp_path / "run" / "recipe.json") == {"data": "right"}
    (tmp_path / "run" / "phases" / "1-pairs").mkdir(parents=True)
    # a link to a run: what it links to is discarded, not the link
    (tmp_path / "link").symlink_to(tmp_path / "run")
    claim("link", overwrite=True, data="other")
    assert [path.name for path in (tmp_path / "link").iterdir()] == ["recipe.json"]
    # a folder that is no run is left alone
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.docx").write_text("three years of work")
    with pytest.raises(ValueError, match="is not a run of this project"):
        claim("thesis", overwrite=True, data="right")
    assert (tmp_path / "thesis" / "thesis.docx").is_file()


def test_an_unreadable_test_source_and_a_damaged_phase_are_named(options, uninterrupted, tmp_path):
    output = shutil.copytree(uninterrupted[0].parent, tmp_path / "runs")
    with pytest.raises(ValueError, match="nowhere"):  # before training
        run_recipe(load_recipe("stance-demo", options(tmp_path, seed=3, inference=tmp_path / "nowhere")))
    assert not (tmp_path / "stance-demo" / "checkpoints").exists()
    (output / "stance-demo" / "results.json").unlink()
    (output / "stance-demo" / "phases" / "2-pairs" / "weights.safetensors").write_bytes(b"")
    with pytest.raises(ValueError, match=r"2-pairs/weights\.safetensors is missing or damaged .*--overwrite"):
        run_recipe(load_recipe("stance-demo", options(output)))
