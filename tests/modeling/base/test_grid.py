"""Grids: the paper's tables with ours beside its figures, and seeds taken together."""

import itertools
from types import SimpleNamespace

import pytest
import yaml

from modeling.base import run as running
from modeling.base.recipe import expand_grid, load_recipe
from modeling.base.run import grid_tables
from tests.modeling.conftest import cells


def facts(trained, base=0.5, paper=None, metric="dq_ndcg", table="Table 1"):
    """The facts of a run with one measure."""
    evaluation = {"headline": [metric], "base": {metric: base}, "trained": {metric: trained}}
    figures = {} if paper is None else {metric: {"table": table, "base": 0.4, "trained": paper}}
    return {"evaluations": [evaluation], "paper": figures, "paper_setup": "a big one", "evaluation_options": {}}


def test_the_papers_tables_as_they_are_printed(root):
    # three rows of table 2 of the paper on stance, whose columns are the ten margins
    printed = yaml.safe_load((root / "modeling" / "stance" / "paper.yaml").read_text())["tables"][0]
    kinds = {("siamese", None): 0, ("siamese", 0.5): 1, ("triplet", 0.5): 2}
    finished = []
    for ((objective, least), row), (column, margin) in itertools.product(kinds.items(), enumerate(printed["points"])):
        point = {"objective": objective, "filter_pairs": least, "margin": margin}
        paper = printed["rows"][row]["values"][column]
        finished.append((point, facts(0.1 * column, 0.003, paper, printed["metric"], table="Table 2")))
    table = grid_tables(finished)
    assert "### Table 2: stance_filtered_kl_paper" in table
    header, *rows = cells(table)
    assert header == ["margin →", "base", *[str(margin) for margin in printed["points"]]]
    names = [f"objective={objective}, filter_pairs={least or 'none'}" for objective, least in kinds]
    assert [row[0] for row in rows] == names
    for row, values in zip(rows, printed["rows"], strict=False):
        assert row[1] == "0.400 / 0.003"
        assert row[2:] == [f"{value:.3f} / {0.1 * column:.3f}" for column, value in enumerate(values["values"])]


@pytest.mark.parametrize(
    ("bases", "base"),
    [
        ((0.4, 0.6, 0.4, 0.6), "/ 0.500"),  # each seed draws another sample of the test data
        ((0.4, 0.6, 0.5, 0.6), ""),  # of one seed, on two sources
    ],
)
def test_seeds_are_taken_together(bases, base):
    # mean .6 and deviation .1 of .5 and .7, less one degree of freedom: sqrt(.02)
    points = [(2, 1, 0.5), (2, 2, 0.7), (5, 1, 0.8), (5, 2, 0.8)]
    runs = [facts(value, of) for (*_, value), of in zip(points, bases, strict=True)]
    finished = [({"batch_size": size, "seed": seed}, run) for (size, seed, _), run in zip(points, runs, strict=True)]
    assert cells(grid_tables(finished))[1] == ["dq_ndcg", base, "/ 0.600 ± 0.141", "/ 0.800 ± 0.000"]
    assert cells(grid_tables([({"seed": seed}, run) for seed, run in enumerate(runs[:2])]))[1][2] == "/ 0.600 ± 0.141"


def test_measures_that_not_all_runs_have():
    finished = [
        ({"similarity": None}, facts(0.6, paper=0.7)),
        ({"similarity": "data/stsb"}, facts(None, metric="similarity_spearman", paper=0.8)),
        ({"similarity": "data/sick"}, facts(0.8, metric="similarity_spearman")),
    ]
    assert cells(grid_tables(finished)) == [
        ["similarity →", "base", "none", "data/stsb", "data/sick"],
        ["dq_ndcg", "0.400 / 0.500", "0.700 / 0.600", "", ""],
        ["similarity_spearman", "0.400 / 0.500", "", "0.800 /", "/ 0.800"],
    ]


def test_a_grid_is_run_and_a_point_that_fails_is_named(tmp_path, monkeypatch, capsys):
    def run(point):
        if point["margin"] == 0.2:
            raise ValueError("too wide")
        return facts(point["margin"])

    monkeypatch.setattr(running, "run", run)
    monkeypatch.setattr(running, "process_state", lambda: SimpleNamespace(is_main_process=True))
    recipe = load_recipe("stance-demo", {"output_dir": str(tmp_path)})
    running.run_grid(recipe, expand_grid(recipe, ["margin=0.1:0.3:0.1", "seed=1"]))
    printed = capsys.readouterr().out
    assert "failed: {'margin': 0.2, 'seed': 1}: too wide" in printed
    assert "Ours is the mean over seeds ± their standard deviation." in printed
    assert cells(printed)[0] == ["margin →", "base", "0.1", "0.3"]
    assert (tmp_path / "stance-demo-grid" / "margin,seed.md").read_text().startswith("Paper: a big one. Each cell: ")
    with pytest.raises(ValueError, match=r"every point of the grid failed: .*too wide"):
        running.run_grid(recipe, expand_grid(recipe, ["margin=0.2"]))
