"""Loads metrics the way a user does, `evaluate.load(absolute path)`, with every cache in a temporary folder."""

import itertools
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def load_metric(tmp_path_factory):
    """A function from a metric's name to the loaded module."""
    import evaluate

    # One folder for all tests: evaluate imports its copies as one package, which remembers where it lies.
    cache = tmp_path_factory.mktemp("evaluate")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate.config, "HF_MODULES_CACHE", str(cache / "modules"))
        patch.setattr(evaluate.config, "HF_METRICS_CACHE", str(cache / "metrics"))
        patch.setattr(evaluate.config, "HF_EVALUATE_OFFLINE", True)
        # A metric that raised keeps its file locked, and the next one of the same name waits a second for it.
        names = itertools.count()
        yield lambda name: evaluate.load(str(ROOT / "metrics" / name), experiment_id=f"test{next(names)}")
