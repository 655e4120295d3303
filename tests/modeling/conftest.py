"""What tests of several rooms look at."""

import shutil

import pytest

from modeling.base import plots
from modeling.base.models import load_backbone, resolve
from modeling.base.recipe import load_recipe
from modeling.base.rooms import get_system


@pytest.fixture(scope="session")
def tiny_cache(tmp_path_factory):
    """Where tests that only read keep prepared data and vectors, once for all of them."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def model(tiny_base):
    """The tiny encoder, as a run starts from it."""
    return load_backbone(resolve(str(tiny_base), "org/tiny")).eval()


@pytest.fixture
def make_system(tiny_base, tiny_data, tiny_cache):
    """A function that makes the system of a recipe on the tiny encoder and data."""

    def system(recipe, **options):
        words = {"base": tiny_base, "base_id": "org/tiny", "data": tiny_data, "similarity": tiny_data}
        words |= {"cache_dir": tiny_cache, "lora_targets": "none"} | options
        recipe = load_recipe(recipe, {name: str(value) for name, value in words.items()})
        return get_system(recipe.system)(recipe)

    return system


@pytest.fixture(scope="session")
def second(tiny_data, tmp_path_factory):
    """Another folder with the same rows."""
    return shutil.copytree(tiny_data, tmp_path_factory.mktemp("second") / "second-debates")


@pytest.fixture
def figures(monkeypatch):
    """The figures drawn, as they were when they were closed."""
    drawn, close = [], plots.plt.close

    def keep(figure):
        drawn.append(figure)
        close(figure)

    monkeypatch.setattr(plots.plt, "close", keep)
    return drawn


def cells(text):
    """The rows of Markdown tables, the head first."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in [lines[0], *lines[2:]]]
