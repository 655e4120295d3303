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
# name -> predictions and references, options, the key of the headline figure
NUMBERS = [0.9, 0.2, 0.6, 0.5 + 1e-12, 0.5]  # in float32 the last two would tie
CASES = {
    "sgts": (NUMBERS, [1, 0, 1, 1, 0], {}, "spearman"),
    "stance_kl_divergence": (NUMBERS, [1, 0, 1, 1, 0], {"mode": "paper", "bins": 7}, "kl"),
    "opinion_similarity": (NUMBERS, [4, 0, 3, 1.5, 1], {"boundary": 2}, "pearson"),
    "alignment_precision": (NUMBERS, ["A", "B", "A", "B", "B"], {"target": "A", "threshold": 0.5, "k": 2}, "precision"),
    "counterargument_accuracy": (
        [[4, 7], [5, 1], [6, 0], [3, 1], [8, 2]],
        [[4], [3, 1], [0], [9], [8]],
        {"k": [2], "groups": ["a", "a", "b", "b", "c"]},
        "accuracy_at_1",
    ),
}
each_metric = pytest.mark.parametrize("name", sorted(path.parent.name for path in ROOT.glob("metrics/*/README.md")))


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
    assert (front["sdk"], front["app_file"], front["tags"]) == ("gradio", "app.py", ["evaluate", "metric"])
    assert module(name)._CITATION.strip() in card.text
    # evaluate's own reading of the script, which is what tells a user what is missing
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
def test_a_loaded_metric_gives_the_functions_scores_and_survives_bad_input(name, load_metric, monkeypatch):
    predictions, references, options, headline = CASES[name]
    expected = getattr(module(name), name)(predictions, references, **options)
    expected = {name: expected[headline], **expected}
    metric = load_metric(name)
    rows = Dataset.from_dict({"predictions": predictions, "references": references})
    arrays = [np.array(entry) for entry in predictions] if name == "counterargument_accuracy" else np.array(predictions)
    for inputs in (predictions, arrays, rows["predictions"]):
        scores = metric.compute(predictions=inputs, references=references, **options)
        assert scores == expected and next(iter(scores)) == metric.name == name
    with pytest.raises(ValueError, match=r"predictions\[1\] is"):
        metric.compute(predictions=[predictions[0], None], references=references[:2], **options)
    metric.add_batch(predictions=predictions[:2], references=references[:2])
    metric.add_batch(predictions=predictions[2:], references=references[2:])
    assert metric.compute(**options) == expected
    launched = []
    monkeypatch.setattr(evaluate.utils, "launch_gradio_widget", launched.append)
    runpy.run_path(str(ROOT / "metrics" / name / "app.py"))
    assert launched[0].compute(predictions=predictions, references=references)


@pytest.mark.parametrize("helper", ["as_numbers", "check_pairs"])
def test_copies_of_a_helper_are_equal(helper):
    """A Space holds one script, so the checks are repeated in each: this keeps the copies one."""
    assert (
        len({inspect.getsource(getattr(module(name), helper)) for name in CASES if hasattr(module(name), helper)}) == 1
    )
