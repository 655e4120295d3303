"""What the docstrings of the builders show is what their code gives."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((ROOT / "dataset_scripts").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    if "twitter_stream" in name:
        pytest.importorskip("daft")
    assert doctest.testmod(importlib.import_module(name)).failed == 0
