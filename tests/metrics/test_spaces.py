"""Each metric folder is a Space of its own: card, app, requirements, doctests, helpers that must not drift."""

import contextlib
import doctest
import importlib
import inspect
import io
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import evaluate
import pytest
import yaml
from evaluate.loading import get_imports

ROOT = Path(__file__).resolve().parents[2]
METRICS = {
    "sgts": "Sgts",
    "stance_kl_divergence": "StanceKlDivergence",
    "opinion_similarity": "OpinionSimilarity",
    "alignment_precision": "AlignmentPrecision",
    "counterargument_accuracy": "CounterargumentAccuracy",
}
HUB_COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
each_metric = pytest.mark.parametrize("name", METRICS)


def module(name):
    return importlib.import_module(f"metrics.{name}.{name}")


def test_every_folder_is_listed():
    assert {path.parent.name for path in (ROOT / "metrics").glob("*/README.md")} == set(METRICS)


@each_metric
def test_folder_is_complete(name):
    files = {path.name for path in (ROOT / "metrics" / name).iterdir() if path.is_file()}
    assert files == {f"{name}.py", "README.md", "requirements.txt", "app.py"}


@each_metric
def test_front_matter(name):
    folder = ROOT / "metrics" / name
    front = yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert set(front) >= {"title", "emoji", "colorFrom", "colorTo", "sdk", "sdk_version", "app_file", "pinned", "tags"}
    assert front["sdk"] == "gradio"
    assert front["app_file"] == "app.py" and (folder / front["app_file"]).is_file()
    assert {front["colorFrom"], front["colorTo"]} <= HUB_COLOURS
    assert front["tags"] == ["evaluate", "metric"]


@each_metric
def test_card_holds_the_citation_of_the_module(name):
    assert module(name)._CITATION.strip() in (ROOT / "metrics" / name / "README.md").read_text(encoding="utf-8")


@each_metric
def test_requirements_are_the_imports(name):
    folder = ROOT / "metrics" / name
    # evaluate's own reading of the script, which is what tells a user what is missing.
    imported = {entry[1] for entry in get_imports(str(folder / f"{name}.py")) if entry[0] == "library"}
    packages = {"scikit-learn" if top == "sklearn" else top for top in imported - set(sys.stdlib_module_names)}
    required = {re.match(r"[\w-]+", line).group() for line in (folder / "requirements.txt").read_text().split()}
    assert required == packages


@each_metric
def test_loads_by_absolute_path(name, load_metric):
    metric = load_metric(name)
    assert metric.name == name
    assert type(metric).__name__ == METRICS[name]
    assert metric.citation and metric.description and "Raises:" in metric.inputs_description


@each_metric
def test_doctests_run(name, load_metric, monkeypatch):
    monkeypatch.chdir(ROOT)  # the examples load the metric by the path a user types in the repository's root
    results = doctest.testmod(module(name))
    assert results.attempted >= 3 and results.failed == 0


@each_metric
def test_card_example_prints_what_it_says(name, load_metric, monkeypatch):
    monkeypatch.chdir(ROOT)
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "metrics" / name / "README.md").read_text("utf-8"), re.S)
    stated = [line[2:] for line in example.splitlines() if line.startswith("# ")]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(example, {})
    assert printed.getvalue().splitlines() == stated


@each_metric
def test_app_offers_the_metric(name, load_metric, monkeypatch):
    launched = []
    monkeypatch.setattr(evaluate.utils, "launch_gradio_widget", launched.append)
    runpy.run_path(str(ROOT / "metrics" / name / "app.py"))
    predictions, references = {
        "alignment_precision": ([0.9, 0.1], ["A", "B"]),
        "counterargument_accuracy": ([[0, 1], [2]], [[0], [1]]),
    }.get(name, ([0.9, 0.1], [1, 0]))
    assert launched[0].name == name
    assert launched[0].compute(predictions=predictions, references=references)  # the widget passes nothing else


@pytest.mark.parametrize("helper", ["as_numbers", "as_cosines", "check_lengths", "check_pairs", "check_both_classes"])
def test_copies_of_a_helper_are_equal(helper):
    """A Space holds one script, so the checks are repeated in each: this keeps the copies one."""
    copies = {inspect.getsource(getattr(module(name), helper)) for name in METRICS if hasattr(module(name), helper)}
    assert len(copies) == 1


def test_fresh_process_offline(tmp_path):
    """What a user without network and with empty caches gets, from any folder."""
    script = "import evaluate, sys; print([evaluate.load(path).name for path in sys.argv[1:]])"
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")}
    for override in ("HF_MODULES_CACHE", "HF_EVALUATE_CACHE", "HF_METRICS_CACHE"):
        environment.pop(override, None)
    paths = [str(ROOT / "metrics" / name) for name in METRICS]
    run = subprocess.run(
        [sys.executable, "-c", script, *paths], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert run.stdout.strip() == str(list(METRICS)), run.stderr
