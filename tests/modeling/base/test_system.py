"""The contract of a system, and the record of a paper's figures."""

import pytest

from modeling import get_system, systems
from modeling.base import system
from modeling.base.recipe import Recipe
from modeling.base.system import Data, Paper, PaperResult, System

PAPER = """
setup: a small encoder, tested on ten rows
citation: "@misc{nobody2020}"
headline:
  name: rather deep
  settings: {margin: 0.2, lora: true, depth: null}
tables:
  - table: Table 2
    data: tweets
    base: {found: 129}
    rows:
      - settings: {lora: true}
        values: {found: 47, precision: 0.91}
  - table: Table 1
    metric: stance_kl
    base: 0.5
    axis: margin
    points: [0.1, 0.2]
    rows:
      - settings: {lora: true, depth: null}
        values: [1, 2]
      - settings: {lora: false}
        values: [3, 4]
"""


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """A paper with one table of two rows and two columns."""
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "small.yaml").write_text(PAPER)
    monkeypatch.setattr(system, "__file__", str(tmp_path / "system.py"))
    return Paper.load("small")


def test_a_table_becomes_figures(paper):
    assert (paper.setup, paper.citation) == ("a small encoder, tested on ten rows", "@misc{nobody2020}")
    assert (paper.headline_name, paper.headline) == ("rather deep", {"margin": 0.2, "lora": True, "depth": None})
    assert paper.results == [
        PaperResult("Table 2", "found", 129, {}, of_base=True, data="tweets"),
        PaperResult("Table 2", "found", 47, {"lora": True}, data="tweets"),
        PaperResult("Table 2", "precision", 0.91, {"lora": True}, data="tweets"),
        PaperResult("Table 1", "stance_kl", 0.5, {}, of_base=True),
        PaperResult("Table 1", "stance_kl", 1, {"lora": True, "depth": None, "margin": 0.1}),
        PaperResult("Table 1", "stance_kl", 2, {"lora": True, "depth": None, "margin": 0.2}),
        PaperResult("Table 1", "stance_kl", 3, {"lora": False, "margin": 0.1}),
        PaperResult("Table 1", "stance_kl", 4, {"lora": False, "margin": 0.2}),
    ]


@pytest.mark.parametrize(
    ("lora", "options", "figures"),
    [
        (True, {"margin": 0.2, "depth": None}, [0.5, 2]),
        (True, {"margin": 0.2, "depth": 3}, [0.5]),  # the paper had none of this
        (False, {"margin": 0.1, "depth": 3}, [0.5, 3]),  # the paper does not say
        (False, {"margin": 0.15, "depth": None}, [0.5]),
    ],
)
def test_a_figure_applies_to_a_recipe_with_all_its_settings(paper, lora, options, figures):
    recipe = Recipe("mine", "stance", lora=lora, options=options)
    table = [result for result in paper.results if result.table == "Table 1"]
    assert [result.value for result in table if result.applies(recipe)] == figures


def test_the_headline_is_a_setting_like_any_other(paper):
    assert [result.value for result in paper.results if result.applies(paper.headline)] == [129, 47, 0.91, 0.5, 2]


def test_a_row_with_a_figure_too_few_is_refused(tmp_path, paper):
    (tmp_path / "papers" / "small.yaml").write_text(PAPER.replace("[3, 4]", "[3]"))
    with pytest.raises(ValueError, match="shorter"):
        Paper.load("small")


def test_an_incomplete_system_cannot_be_made():
    class Half(System):
        def load_data(self):
            return Data({}, [])

    with pytest.raises(TypeError, match=r"abstract methods .*evaluators.*phases"):
        Half(Recipe("mine", "half"))


def test_registry():
    assert get_system("stance").__name__ == systems()["stance"].split(":")[1] == "StanceSystem"
    with pytest.raises(ValueError, match="unknown system 'stanc'; choose one of "):
        get_system("stanc")
