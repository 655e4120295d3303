"""Training as users start it, in processes of its own: interrupted, resumed, divided, published."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from datasets import load_dataset
from safetensors.torch import load_file

from modeling.base.training import remove_broken_checkpoints
from tests.hub_server import HubServer
from tests.tiny import save_encoder

TWO = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")


@pytest.fixture(scope="module")
def command(tmp_path_factory, tiny_base, tiny_data, root):
    """Builds the words of a training command for the tiny encoder and data."""
    cache = tmp_path_factory.mktemp("cache")

    def words(
        output: Path, *extra: str, base: Path = tiny_base, launcher=(sys.executable,), recipe="stance-demo"
    ) -> list[str]:
        options = {"base": base, "base_id": "org/tiny", "data": tiny_data, "similarity": tiny_data,
                   "cache_dir": cache, "output_dir": output, "batch_size": 8, "epochs": 4, "eval_steps": 8,
                   "learning_rate": 0.01, "logging_steps": 1, "keep_best": "false", "keep": 0,
                   "margin": 0.4}  # fmt: skip
        if recipe == "stance-demo":
            options |= {"filter_pairs": "none", "filter_triplets": "none", "objective": "hybrid"}
        flags = [word for key, value in options.items() for word in (f"--{key}", str(value))]
        return [*launcher, str(root / "train.py"), recipe, *flags, *extra]

    return words


def run(words: list[str], **variables: str) -> str:
    """Runs a command to its end and returns what it printed."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", **variables}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def uninterrupted(command, tmp_path_factory):
    output = tmp_path_factory.mktemp("uninterrupted")
    printed = run(command(output))
    return output / "stance-demo", printed


def weights(run_dir: Path) -> dict:
    return load_file(run_dir / "adapter" / "adapter_model.safetensors")


def losses(run_dir: Path, phase: int) -> list[float]:
    log = json.loads((run_dir / "results.json").read_text())["phases"][phase]["log"]
    return [entry["loss"] for entry in log if "loss" in entry]


def test_run_folder_is_complete(uninterrupted):
    folder, printed = uninterrupted
    assert {path.name for path in folder.iterdir()} == {
        "adapter", "checkpoints", "data", "merged", "phases", "recipe.json", "results.json"
    }  # fmt: skip
    assert not list((folder / "checkpoints").iterdir())  # the optimiser's states are not kept once a phase is done
    results = json.loads((folder / "results.json").read_text())
    # four epochs in two phases of two: 216 // 8 = 27 and 396 // 8 = 49 steps a pass
    assert [(phase["name"], phase["steps"]) for phase in results["phases"]] == [("triplets", 54), ("pairs", 98)]
    assert f'SentenceTransformer("{folder / "merged"}")' in printed
    assert "opposite stance" in printed


def test_training_learns(uninterrupted):
    results = json.loads((uninterrupted[0] / "results.json").read_text())
    stance = results["evaluations"][0]
    assert stance["name"] == "stance"
    # a held-out topic, but the words that carry stance are those of training
    assert stance["trained"]["stance_auroc"] > stance["base"]["stance_auroc"] + 0.1


def kill_at(words: list[str], checkpoint: Path) -> None:
    """Starts a command and kills it and its children at once when a checkpoint appears."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        deadline = time.monotonic() + 120
        while not checkpoint.exists():
            assert process.poll() is None, process.stderr.read()[-3000:]
            assert time.monotonic() < deadline
            time.sleep(0.005)
        for child in [*psutil.Process(process.pid).children(recursive=True), process]:
            child.kill()


def test_killed_run_resumes_to_the_same_weights(command, uninterrupted, tmp_path, tiny_data):
    words = command(tmp_path)
    kill_at(words, tmp_path / "stance-demo" / "checkpoints" / "2-pairs" / "checkpoint-24")
    assert not (tmp_path / "stance-demo" / "merged").exists()
    check_no_training_text(tmp_path, tiny_data)  # checkpoints have model cards too

    run(words)
    results = json.loads((tmp_path / "stance-demo" / "results.json").read_text())
    assert results["phases"][1]["resumed_at_step"] in (16, 24)  # 24 if its checkpoint was whole when the kill came
    expected, resumed = weights(uninterrupted[0]), weights(tmp_path / "stance-demo")
    assert all(expected[key].equal(resumed[key]) for key in expected)


def check_no_training_text(folder: Path, data: Path) -> None:
    cards = list(folder.rglob("README.md"))
    assert cards
    texts = {row[key] for config, keys in (("pairs", ("sentence1", "sentence2")), ("triplets", ("anchor", "negative")))
             for row in load_dataset(str(data), config, split="train") for key in keys}  # fmt: skip
    assert len(texts) == 6 * 12 + 6  # six topics of twelve arguments and a thesis
    for card in cards:
        found = [text for text in texts if text in card.read_text()]
        assert not found, (card, found)


def test_no_training_text_and_no_local_path_in_cards(uninterrupted, tiny_data, tiny_base):
    folder = uninterrupted[0]
    check_no_training_text(folder, tiny_data)
    for card in folder.rglob("README.md"):
        assert not re.search(r"/(tmp|home|root)/", card.read_text())


LOAD = """
import json, sys
from sentence_transformers import SentenceTransformer
from modeling.base.adapters import PROBES
vectors = SentenceTransformer("org/tiny-stance", device="cpu").encode(list(PROBES))
print(json.dumps(vectors.tolist()))
"""


def test_published_run_is_loaded_by_its_name(command, uninterrupted, tmp_path, tiny_data, root):
    output = shutil.copytree(uninterrupted[0].parent, tmp_path / "runs")
    with HubServer() as server:
        words = command(output, "--push_to_hub", "org/tiny-stance")
        variables = server.environment(tmp_path / "home")
        printed = run(words, **variables)
        assert printed.count("published ") == 2
        for repo, weights_file in (("org/tiny-stance", "model"), ("org/tiny-stance-adapter", "adapter_model")):
            assert len(server.commits(repo)) == 2  # the repository's creation, and everything else
            files = server.files(repo)
            assert {Path(name).suffix for name in files} - {""} <= {".safetensors", ".json", ".txt", ".md", ".png"}
            assert f"{weights_file}.safetensors" in files
            card = server.read(repo, "README.md").decode()
            assert f'"{repo}"' in card and "{{" not in card
            assert server.token not in card
        check_no_training_text(output / "stance-demo" / "staged", tiny_data)
        assert run(words, **variables).count("(unchanged)") == 2
        loaded = run([sys.executable, "-c", LOAD], **variables, PYTHONPATH=str(root))
    stored = json.loads((output / "stance-demo" / "merged" / "fingerprint.json").read_text())
    np.testing.assert_allclose(json.loads(loaded), stored["vectors"], atol=1e-4)


def test_finished_run_is_not_repeated(command, uninterrupted):
    before = {path: path.stat().st_mtime_ns for path in uninterrupted[0].rglob("*.safetensors")}
    printed = run(command(uninterrupted[0].parent))
    assert "opposite stance" in printed
    assert before == {path: path.stat().st_mtime_ns for path in uninterrupted[0].rglob("*.safetensors")}


def test_another_scale_writes_the_files_again_and_trains_nothing(command, uninterrupted, tmp_path):
    shutil.copytree(uninterrupted[0], tmp_path / "stance-demo")
    run(command(tmp_path, "--lora_scale", "0.5", "--evaluate_on", "validation"))
    full, half = weights(uninterrupted[0]), weights(tmp_path / "stance-demo")
    for key in full:
        np.testing.assert_allclose(half[key], full[key] * (0.5 if "lora_B" in key else 1))
    before, after = (
        json.loads((folder / "results.json").read_text()) for folder in (uninterrupted[0], tmp_path / "stance-demo")
    )
    assert after["phases"] == before["phases"]  # their seconds, too: nothing was trained
    assert {evaluation["dataset"] for evaluation in after["evaluations"]} == {"tiny-debates (validation)"}


def test_two_processes_equal_one(command, tmp_path):
    base = save_encoder(tmp_path / "base", dropout=0.0)  # dropout draws differ between processes
    # a loss that owns a classifier, in which the processes have to agree, too; and a small learning rate: at a large
    # one, sums in another order grow to other minima within twenty steps
    extra = ("--lora_dropout", "0", "--learning_rate", "0.0005", "--objective", "siamese", "--epochs", "2",
             "--keep", "1", "--opinions", "none")  # fmt: skip
    run(command(tmp_path / "one", *extra, base=base, recipe="sos-demo"))
    two_processes = command(tmp_path / "two", *extra, "--world_size", "2", base=base, launcher=TWO, recipe="sos-demo")
    # in the second epoch: the sampler has to learn of it after the resumption
    kill_at(two_processes, tmp_path / "two" / "sos-demo" / "checkpoints" / "1-pairs" / "checkpoint-72")
    run(two_processes)
    one, two = tmp_path / "one" / "sos-demo", tmp_path / "two" / "sos-demo"
    # the loss of every step agrees, so the rows of every step do, in both epochs
    assert len(losses(one, 0)) == 98
    assert losses(two, 0) == pytest.approx(losses(one, 0), abs=1e-3)
    assert np.std(losses(one, 0)) > 0.01  # batches differ by far more than that
    metrics = [
        json.loads((run_dir / "results.json").read_text())["evaluations"][0]["trained"] for run_dir in (one, two)
    ]
    assert metrics[1]["triplets_accuracy"] == pytest.approx(metrics[0]["triplets_accuracy"], abs=0.01)


def test_full_fine_tuning_in_two_processes(command, tmp_path):
    run(command(tmp_path, "--lora", "false", "--max_steps", "3", launcher=TWO))
    folder = tmp_path / "stance-demo"
    assert not (folder / "adapter").exists()
    results = json.loads((folder / "results.json").read_text())
    # the pooler, 32 x 32 weights and 32 biases, is not used and not trained
    assert results["all_parameters"] - results["trainable_parameters"] == 32 * 32 + 32


def test_changed_data_do_not_continue_a_run(uninterrupted, tmp_path):
    from datasets import Dataset

    from modeling.base.system import Phase
    from modeling.base.training import _check_data

    rows = Dataset.from_dict({"sentence1": ["a"], "sentence2": ["b"], "label": [1]})
    _check_data(Phase("pairs", rows, None, 1), tmp_path / "1-pairs.json")
    _check_data(Phase("pairs", rows, None, 1), tmp_path / "1-pairs.json")
    changed = Dataset.from_dict({"sentence1": ["a"], "sentence2": ["b"], "label": [0]})
    with pytest.raises(ValueError, match="changed since this run began"):
        _check_data(Phase("pairs", changed, None, 1), tmp_path / "1-pairs.json")


def test_overwriting_a_linked_folder_discards_what_it_links_to(command, uninterrupted, tmp_path):
    from types import SimpleNamespace

    from modeling.base.run import claim_folder

    elsewhere = shutil.copytree(uninterrupted[0], tmp_path / "elsewhere")
    (tmp_path / "link").symlink_to(elsewhere)
    recipe = SimpleNamespace(run_dir=tmp_path / "link", overwrite=True)
    claim_folder(SimpleNamespace(recipe=recipe, identity=lambda: {"margin": 0.9}))
    assert [path.name for path in (tmp_path / "link").iterdir()] == ["recipe.json"]


def test_an_unreadable_test_source_is_found_before_training(command, tmp_path):
    words = command(tmp_path, "--inference", str(tmp_path / "nowhere"))
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0 and "nowhere" in done.stderr
    assert not (tmp_path / "stance-demo" / "checkpoints").exists()


def test_wrong_number_of_processes_is_an_error(command, tmp_path):
    words = command(tmp_path, "--world_size", "2")
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "2 processes were asked for but 1 run(s)" in done.stderr
    assert "torchrun --nproc_per_node 2" in done.stderr


def test_other_options_do_not_continue_a_run(command, uninterrupted):
    done = subprocess.run(
        command(uninterrupted[0].parent, "--margin", "0.9"), capture_output=True, text=True, timeout=120
    )
    assert done.returncode != 0
    assert "--overwrite true" in done.stderr and "margin" in done.stderr
    assert "Traceback" not in done.stderr


def test_half_written_checkpoints_are_removed(uninterrupted, tmp_path):
    import torch

    for step in (8, 16, 24):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        (folder / "trainer_state.json").write_text("{}")
        torch.save({"state": torch.zeros(1000)}, folder / "optimizer.pt")
    (tmp_path / "checkpoint-16" / "trainer_state.json").write_text('{"log_history": [')
    optimizer = tmp_path / "checkpoint-24" / "optimizer.pt"
    optimizer.write_bytes(optimizer.read_bytes()[:500])
    remove_broken_checkpoints(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-8"]


def test_a_folder_that_is_no_run_is_left_alone(command, tmp_path):
    (tmp_path / "stance-demo").mkdir()
    (tmp_path / "stance-demo" / "thesis.docx").write_text("three years of work")
    done = subprocess.run(command(tmp_path), capture_output=True, text=True, timeout=120)
    assert done.returncode != 0 and "is not a run of this project" in done.stderr
    assert (tmp_path / "stance-demo" / "thesis.docx").read_text() == "three years of work"


def test_other_evaluation_options_evaluate_again_without_training(command, uninterrupted, tmp_path):
    output = shutil.copytree(uninterrupted[0].parent, tmp_path / "runs")
    run(command(output, "--max_test_rows", "40", "--license", "cc-by-4.0"))
    results = json.loads((output / "stance-demo" / "results.json").read_text())
    counts = results["evaluations"][0]["trained"]
    assert counts["stance_n_agree"] + counts["stance_n_oppose"] == 40
    assert "license: cc-by-4.0" in (output / "stance-demo" / "merged" / "README.md").read_text()
    assert results["phases"] == json.loads((uninterrupted[0] / "results.json").read_text())["phases"]


def test_a_mistyped_source_does_not_block_the_next_command(command, tmp_path):
    from types import SimpleNamespace

    from modeling.base.run import claim_folder

    recipe = SimpleNamespace(run_dir=tmp_path / "run", overwrite=False)
    claim_folder(SimpleNamespace(recipe=recipe, identity=lambda: {"data": "a typo"}))
    claim_folder(SimpleNamespace(recipe=recipe, identity=lambda: {"data": "right"}))  # nothing was trained yet
    assert json.loads((tmp_path / "run" / "recipe.json").read_text()) == {"data": "right"}
    (tmp_path / "run" / "phases" / "1-pairs").mkdir(parents=True)
    with pytest.raises(ValueError, match="--overwrite true"):
        claim_folder(SimpleNamespace(recipe=recipe, identity=lambda: {"data": "other"}))
