"""Each metric folder is a Space of its own: card, app, requirements, doctests, and what `evaluate.load` gives."""

import contextlib
import doctest
import importlib
import inspect
import io
import re
import runpy
import sys
from pathlib import Path

import evaluate
import numpy as np
import pytest
from datasets import Dataset
from evaluate.loading import get_imports
from huggingface_hub import SpaceCard, SpaceCardData

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.parent.name for path in (ROOT / "metrics").glob("*/README.md"))
# name -> predictions and references, options, the key of the headline figure
NUMBERS = [0.9, 0.2, 0.6, 0.5 + 1e-12, 0.5]  # in float32 the last two would tie
CASES = {
    "sgts": (NUMBERS, [1, 0, 1, 1, 0], {}, "spearman"),
    "stance_kl_divergence": (NUMBERS, [1, 0, 1, 1, 0], {"mode": "paper", "bins": 7}, "kl"),
    "opinion_similarity": (NUMBERS, [4, 0, 3, 1.5, 1], {"boundary": 2}, "pearson"),
    "alignment_precision": (NUMBERS, ["D", "R", "D", "R", "R"], {"target": "D", "threshold": 0.5, "k": 2}, "precision"),
    "counterargument_accuracy": (
        [[4, 7], [5, 1], [6, 0], [3, 1], [8, 2]],
        [[4], [3, 1], [0], [9], [8]],
        {"k": [2], "groups": ["a", "a", "b", "b", "c"]},
        "accuracy_at_1",
    ),
}
each_metric = pytest.mark.parametrize("name", NAMES)


def module(name):
    return importlib.import_module(f"metrics.{name}.{name}")


@each_metric
def test_folder_is_a_space(name):
    folder = ROOT / "metrics" / name
    files = {path.name for path in folder.iterdir() if path.is_file()}
    assert files == {f"{name}.py", "README.md", "requirements.txt", "app.py"}
    card = SpaceCard.load(folder / "README.md", ignore_metadata_errors=False)
    front = card.data.to_dict()
    assert str(card) == (folder / "README.md").read_text(encoding="utf-8") and SpaceCardData(**front).to_dict() == front
    assert front["title"].lower().replace(" ", "_") == name or front["title"] == "SgTS"
    assert len(front["description"]) > 80 and front["license"] == "apache-2.0" and front["pinned"] is False
    assert (front["sdk"], front["app_file"], front["python_version"]) == ("gradio", "app.py", "3.11")
    assert front["tags"] == ["evaluate", "metric"]
    hub_colours = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
    assert {front["colorFrom"], front["colorTo"]} <= hub_colours
    assert module(name)._CITATION.strip() in card.text


@each_metric
def test_requirements_are_the_imports(name):
    folder = ROOT / "metrics" / name
    # evaluate's own reading of the script, which is what tells a user what is missing.
    imported = {entry[1] for entry in get_imports(str(folder / f"{name}.py")) if entry[0] == "library"}
    packages = {"scikit-learn" if top == "sklearn" else top for top in imported - set(sys.stdlib_module_names)}
    required = {re.match(r"[\w-]+", line).group() for line in (folder / "requirements.txt").read_text().split()}
    assert required == packages


@each_metric
def test_examples_of_module_and_card_print_what_they_say(name, load_metric, monkeypatch):
    monkeypatch.chdir(ROOT)  # the examples load the metric by the path a user types in the repository's root
    results = doctest.testmod(module(name))
    assert results.attempted >= 3 and results.failed == 0
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "metrics" / name / "README.md").read_text("utf-8"), re.S)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(example, {})
    assert printed.getvalue().splitlines() == [line[2:] for line in example.splitlines() if line.startswith("# ")]


@each_metric
def test_lists_arrays_columns_and_batches_agree(name, load_metric):
    predictions, references, options, headline = CASES[name]
    expected = getattr(module(name), name)(predictions, references, **options)
    expected = {name: expected[headline], **expected}
    metric = load_metric(name)
    rows = Dataset.from_dict({"predictions": predictions, "references": references})
    arrays = [np.array(entry) for entry in predictions] if name == "counterargument_accuracy" else np.array(predictions)
    columns = {"predictions": rows["predictions"], "references": rows["references"]}
    for inputs in ({"predictions": predictions, "references": references}, columns):
        scores = metric.compute(**inputs, **options)
        assert scores == expected and next(iter(scores)) == metric.name == name
    assert metric.compute(predictions=arrays, references=references, **options) == expected
    metric.add_batch(predictions=predictions[:2], references=references[:2])
    metric.add_batch(predictions=predictions[2:], references=references[2:])
    assert metric.compute(**options) == expected


@each_metric
def test_loaded_metric_names_bad_input_and_keeps_nothing_of_it(name, load_metric):
    predictions, references, options, _ = CASES[name]
    metric = load_metric(name)
    with pytest.raises(ValueError, match=r"predictions\[1\] is"):
        metric.compute(predictions=[predictions[0], None], references=references[:2], **options)
    assert metric.compute(predictions=predictions, references=references, **options)


@each_metric
def test_app_offers_the_metric(name, load_metric, monkeypatch):
    launched = []
    monkeypatch.setattr(evaluate.utils, "launch_gradio_widget", launched.append)
    runpy.run_path(str(ROOT / "metrics" / name / "app.py"))
    predictions, references = CASES[name][:2]
    if name == "alignment_precision":  # the widget passes no options, and the app sets the group "A"
        references = ["A", "B", "A", "B", "B"]
    assert launched[0].compute(predictions=predictions, references=references)


@pytest.mark.parametrize("helper", ["as_numbers", "check_pairs", "refuse"])
def test_copies_of_a_helper_are_equal(helper):
    """A Space holds one script, so the checks are repeated in each: this keeps the copies one."""
    copies = {inspect.getsource(getattr(module(name), helper)) for name in NAMES if hasattr(module(name), helper)}
    assert len(copies) == 1
