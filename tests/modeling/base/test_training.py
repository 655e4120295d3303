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
from modeling.base.recipe import load_recipe
from modeling.base.run import claim_folder
from modeling.base.run import run as run_recipe
from modeling.base.system import Phase
from modeling.base.trainer import COMPLETE, LOSS_WEIGHTS, Trainer, remove_broken_checkpoints
from modeling.base.training import check_data, check_launch
from tests.tiny import pairs, save_encoder

TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
ACCELERATE = (sys.executable, "-m", "accelerate.commands.launch")


@pytest.fixture(scope="module")
def options(tmp_path_factory, tiny_base, tiny_data):
    """A function that makes the options of a run of a demonstration with the tiny encoder and data."""
    cache = tmp_path_factory.mktemp("cache")

    def make(output: Path, recipe: str = "stance-demo", **changes) -> dict[str, str]:
        values = {"base": tiny_base, "base_id": "org/tiny", "data": tiny_data, "similarity": tiny_data}
        values |= {"cache_dir": cache, "output_dir": output, "batch_size": 8, "epochs": 4, "eval_steps": 8}
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

    def make(output: Path, launcher=(sys.executable,), script=None, recipe="stance-demo", **changes) -> list[str]:
        flags = [word for key, value in options(output, recipe, **changes).items() for word in (f"--{key}", value)]
        return [*launcher, str(script or root / "train.py"), recipe, *flags]

    return make


ENVIRONMENT = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


def run(words: list[str], **variables: str) -> None:
    done = subprocess.run(words, env=ENVIRONMENT | variables, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]


def kill_at(words: list[str], checkpoint: Path) -> None:
    """Starts a command and kills it and its children at once when a checkpoint appears."""
    with subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        deadline = time.monotonic() + 300  # on a busy machine
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
    # four epochs in two phases of two: 216 // 8 = 27 and 396 // 8 = 49 steps a pass
    assert [(phase["name"], phase["steps"]) for phase in results["phases"]] == [("triplets", 54), ("pairs", 98)]
    # a held-out topic, but the words that carry stance are those of training
    stance = results["evaluations"][0]
    assert stance["trained"]["stance_auroc"] > stance["base"]["stance_auroc"] + 0.1
    assert f'SentenceTransformer("{folder / "merged"}")' in printed
    assert_no_training_text(folder, tiny_data)
    assert not any(re.search(r"/(tmp|home|root)/", card.read_text()) for card in folder.rglob("README.md"))


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
    for later in checkpoints.glob("checkpoint-3*"):  # written before the kill came
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


def test_a_tracker_gets_the_measures_of_the_system(run_here, tmp_path, monkeypatch):
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "tracked"))  # which trackio reads when it is imported
    from trackio import SQLiteStorage

    run_here(tmp_path, max_steps=5, eval_steps=5, objective="triplet", report_to="trackio")
    assert (tmp_path / "tracked" / "stance.db").is_file()
    logged = SQLiteStorage.get_logs("stance", "stance-demo-triplets")
    assert sum("train/loss" in names for names in logged) == 5
    assert sum({"eval/stance_auroc", "eval/similarity_spearman"} <= set(names) for names in logged) == 1


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


def test_a_checkpoint_is_of_no_use_without_the_best_one_that_it_names(make_trainer, tmp_path):
    make_trainer("whole").train()
    folder = tmp_path / "whole" / "checkpoint-6"
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


def test_two_processes_equal_one(command, run_here, tmp_path):
    base = save_encoder(tmp_path / "base", dropout=0.0)  # dropout draws differ between processes
    # a loss that owns a classifier, in which the processes have to agree, too; and a small learning rate: at a large
    # one, sums in another order grow to other minima within twenty steps
    changes = {"base": base, "lora_dropout": 0, "learning_rate": 0.0005, "recipe": "sos-demo", "opinions": None}
    changes |= {"objective": "siamese", "epochs": 2, "keep": 1}
    run_here(tmp_path / "one", **changes)
    words = command(tmp_path / "two", TORCHRUN, **changes)
    # in the second epoch: the sampler has to learn of it after the resumption
    kill_at(words, tmp_path / "two" / "sos-demo" / "checkpoints" / "1-pairs" / "checkpoint-72")
    run(words)
    one, two = tmp_path / "one" / "sos-demo", tmp_path / "two" / "sos-demo"
    # the loss of every step agrees, so the rows of every step do, in both epochs
    assert len(losses(one)) == 98
    assert losses(two) == pytest.approx(losses(one), abs=1e-3)
    assert np.std(losses(one)) > 0.01  # batches differ by far more than that
    accuracy = [results_of(folder)["evaluations"][0]["trained"]["triplets_accuracy"] for folder in (one, two)]
    assert accuracy[1] == pytest.approx(accuracy[0], abs=0.01)


def test_two_processes_learn_from_families_what_one_learns(command, run_here, tmp_path, tiny_data):
    base = save_encoder(tmp_path / "base", dropout=0.0)
    changes = {"base": base, "lora_dropout": 0, "learning_rate": 0.0005, "objective": "families", "keep": 1}
    changes |= {"batch_size": 24, "epochs": 1, "eval_steps": 6, "replay": tiny_data}
    run_here(tmp_path / "one", **changes)
    run(command(tmp_path / "two", TORCHRUN, **changes))
    one, two = (losses(tmp_path / name / "stance-demo") for name in ("one", "two"))
    # distances, and the mean over anchors, are of all texts of a batch, whichever process embeds them
    assert len(one) == 6 and two == pytest.approx(one, rel=1e-3)
    assert np.std(one) > 0.003


# one process reads its best checkpoint late, as on a busy machine
SLOW = """
import os, runpy, sys, time
from modeling.base.trainer import Trainer
load = Trainer._load_from_checkpoint
def slowly(self, path):
    time.sleep(4 * (os.environ["RANK"] == "1"))
    load(self, path)
Trainer._load_from_checkpoint = slowly
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_accelerate_launches_two_processes_whose_negatives_compete(command, run_here, tmp_path, root):
    (tmp_path / "slow.py").write_text(SLOW)
    config = {"compute_environment": "LOCAL_MACHINE", "distributed_type": "MULTI_GPU", "use_cpu": True}
    config |= {"num_machines": 1, "num_processes": 2, "main_process_port": 0}
    (tmp_path / "accelerate.yaml").write_text(json.dumps(config))
    launcher = (*ACCELERATE, "--config_file", str(tmp_path / "accelerate.yaml"), str(tmp_path / "slow.py"))
    base = save_encoder(tmp_path / "base", dropout=0.0)
    changes = {"base": base, "lora": False, "learning_rate": 0.0005, "recipe": "tweets-demo", "keep_best": True}
    changes |= {"batch_size": 4, "max_steps": 4, "eval_steps": 2}
    run_here(tmp_path / "one", **changes)
    run(command(tmp_path / "two", launcher, **changes), PYTHONPATH=str(root))
    one, two = (losses(tmp_path / name / "tweets-demo") for name in ("one", "two"))
    # among two texts instead of four the loss of similar texts would be log(2) instead of log(4)
    assert len(one) == 4 and two == pytest.approx(one, rel=1e-3)
    folder = tmp_path / "two" / "tweets-demo"
    assert not (folder / "adapter").exists()
    results = results_of(folder)
    # the pooler, 32 x 32 weights and 32 biases, is not used and not trained
    assert results["all_parameters"] - results["trainable_parameters"] == 32 * 32 + 32


def test_a_launcher_that_starts_one_process_instead_of_several_is_refused(monkeypatch):
    check_launch()
    for name, value in {"ACCELERATE_USE_CPU": "True", "MASTER_ADDR": "127.0.0.1"}.items():  # as it sets them
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=r"^several .*accelerate launch --multi_gpu"):
        check_launch()


def test_changed_data_do_not_continue_a_run(tmp_path):
    def phase(label):
        return Phase("pairs", Dataset.from_dict({"sentence1": ["a"], "sentence2": ["b"], "label": [label]}), None, 1)

    check_data(phase(1), tmp_path / "1-pairs.json")
    check_data(phase(1), tmp_path / "1-pairs.json")
    with pytest.raises(ValueError, match="changed since this run began"):
        check_data(phase(0), tmp_path / "1-pairs.json")


def claim(folder, overwrite=False, **identity):
    claim_folder(SimpleNamespace(run_dir=folder, overwrite=overwrite, identity=lambda: identity))


def test_whose_folder_it_is(tmp_path):
    run_dir = tmp_path / "run"
    claim(run_dir, data="a typo")
    claim(run_dir, data="right")  # nothing was trained yet
    assert json.loads((run_dir / "recipe.json").read_text()) == {"data": "right"}
    (run_dir / "phases" / "1-pairs").mkdir(parents=True)
    with pytest.raises(ValueError, match="--overwrite"):
        claim(run_dir, data="other")
    # a link to a run: what it links to is discarded, not the link
    (tmp_path / "link").symlink_to(run_dir)
    claim(tmp_path / "link", overwrite=True, data="other")
    assert [path.name for path in (tmp_path / "link").iterdir()] == ["recipe.json"]
    (run_dir / "phases").mkdir()
    claim(run_dir, data="other")
    assert (run_dir / "phases").is_dir()  # the same run goes on
    claim(run_dir, overwrite=True, data="other")
    assert not (run_dir / "phases").exists()
    # a folder that is no run is left alone
    thesis = tmp_path / "thesis" / "thesis.docx"
    thesis.parent.mkdir()
    thesis.write_text("three years of work")
    with pytest.raises(ValueError, match="is not a run of this project"):
        claim(thesis.parent, overwrite=True, data="right")
    assert thesis.read_text() == "three years of work"


def test_an_unreadable_test_source_is_found_before_training(options, tmp_path):
    with pytest.raises(ValueError, match="nowhere"):
        run_recipe(load_recipe("stance-demo", options(tmp_path, inference=tmp_path / "nowhere")))
    assert not (tmp_path / "stance-demo" / "checkpoints").exists()


def test_a_damaged_phase_is_named(options, uninterrupted, tmp_path):
    output = shutil.copytree(uninterrupted[0].parent, tmp_path / "runs")
    (output / "stance-demo" / "results.json").unlink()
    (output / "stance-demo" / "phases" / "2-pairs" / "weights.safetensors").write_bytes(b"")
    with pytest.raises(ValueError, match=r"2-pairs/weights\.safetensors is missing or damaged .*--overwrite"):
        run_recipe(load_recipe("stance-demo", options(output)))
