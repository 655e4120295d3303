"""Grids: the paper's tables with ours beside its figures, seeds taken together, and the picture."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from modeling.base import run as running
from modeling.base.grid import grid_frame, write_grid
from modeling.base.recipe import expand_grid, load_recipe


def facts(trained, base=0.5, paper=None, metric="dq_ndcg", table="Table 1"):
    """The facts of a run with one measure."""
    evaluation = {"headline": [metric], "base": {metric: base}, "trained": {metric: trained}}
    figures = {} if paper is None else {metric: {"table": table, "base": 0.4, "trained": paper}}
    return {"evaluations": [evaluation], "paper": figures, "paper_setup": "a big one", "evaluation_options": {}}


def cells(table):
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in [lines[0], *lines[2:]]]


def test_one_axis(tmp_path):
    finished = [({"margin": 0.1}, facts(0.61, paper=0.7)), ({"margin": 0.2}, facts(None, paper=0.8))]
    table, written = write_grid(finished, tmp_path, "some-recipe")
    assert table.startswith("Paper: a big one. Each cell: paper / ours.\n\n|")
    assert cells(table) == [
        ["margin →", "base", "0.1", "0.2"],
        ["dq_ndcg", "0.400 / 0.500", "0.700 / 0.610", "0.800 /"],
    ]
    assert written == [tmp_path / "margin.md", tmp_path / "margin.png"]
    assert written[0].read_text() == f"{table}\n\n![some-recipe, test data, over margin](margin.png)\n"


def test_the_papers_tables_as_they_are_printed(tmp_path, root):
    # three rows of table 2 of the paper on stance, whose columns are the ten margins
    printed = yaml.safe_load((root / "modeling" / "stance" / "paper.yaml").read_text())["tables"][0]
    kinds = {("siamese", None): 0, ("siamese", 0.5): 1, ("triplet", 0.5): 2}
    finished = []
    for ((objective, least), row), (column, margin) in itertools.product(kinds.items(), enumerate(printed["points"])):
        point = {"margin": margin, "objective": objective, "filter_pairs": least}
        paper = printed["rows"][row]["values"][column]
        finished.append((point, facts(0.1 * column, 0.003, paper, printed["metric"], table="Table 2")))
    table, _ = write_grid(finished, tmp_path, "stance-mpnet")
    assert "### Table 2: stance_filtered_kl_paper" in table
    header, *rows = cells(table)
    assert header == ["margin →", "base", *[str(margin) for margin in printed["points"]]]
    names = [f"objective={objective}, filter_pairs={least or 'none'}" for objective, least in kinds]
    assert [row[0] for row in rows] == names
    for row, values in zip(rows, printed["rows"], strict=False):
        assert row[1] == "0.400 / 0.003"
        assert row[2:] == [f"{value:.3f} / {0.1 * column:.3f}" for column, value in enumerate(values["values"])]


def test_seeds_are_taken_together(tmp_path, figures):
    # mean .6 and deviation sqrt((.01 + 0 + .01) / 2) = .1 of .5, .6, .7; a single run has no deviation
    values = [(2, 1, 0.5), (2, 2, 0.6), (2, 3, 0.7), (5, 1, 0.8)]
    finished = [({"batch_size": size, "seed": seed}, facts(value)) for size, seed, value in values]
    table, _ = write_grid(finished, tmp_path, "some-recipe")
    assert "Ours is the mean over seeds ± their standard deviation." in table
    assert cells(table)[1] == ["dq_ndcg", "/ 0.500", "/ 0.600 ± 0.100", "/ 0.800"]
    (bars,) = figures[0].axes[0].containers
    assert bars.lines[0].get_ydata().tolist() == pytest.approx([0.6, 0.8])
    assert np.ptp(bars.lines[2][0].get_segments()[0][:, 1]) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("bases", "expected"),
    [
        ({(2, 1): 0.4, (2, 2): 0.6, (5, 1): 0.4, (5, 2): 0.6}, 0.5),  # each seed draws another sample of the test data
        ({(2, 1): 0.4, (2, 2): 0.6, (5, 1): 0.5, (5, 2): 0.6}, np.nan),  # of one seed, on two sources
    ],
)
def test_the_base(bases, expected):
    finished = [({"batch_size": size, "seed": seed}, facts(0.7, base=base)) for (size, seed), base in bases.items()]
    assert grid_frame(finished)[0]["base"].tolist() == pytest.approx([expected] * 2, nan_ok=True)


def test_measures_that_not_all_runs_have(tmp_path):
    finished = [
        ({"similarity": None}, facts(0.6)),
        ({"similarity": "data/stsb"}, facts(0.9, metric="similarity_spearman")),
        ({"similarity": "data/sick"}, facts(0.8, metric="similarity_spearman")),
    ]
    assert cells(write_grid(finished, tmp_path, "some-recipe")[0]) == [
        ["similarity →", "base", "none", "data/stsb", "data/sick"],
        ["dq_ndcg", "/ 0.500", "/ 0.600", "", ""],
        ["similarity_spearman", "/ 0.500", "", "/ 0.900", "/ 0.800"],
    ]


@pytest.mark.parametrize(
    ("axes", "main"),
    [
        ({"objective": ["a", "b", "c"], "margin": [0.1, 0.2]}, "margin"),
        ({"margin": [0.1, 0.2], "batch_size": [2, 5, 10]}, "batch_size"),
        ({"margin": [0.1], "objective": ["a", "b"]}, "objective"),
        ({"lora": [True, False], "objective": ["a", "b", "c"]}, "objective"),
        ({"filter": [None, 0.5]}, "filter"),
    ],
)
def test_the_main_axis(axes, main):
    points = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    assert grid_frame([(values, facts(0.5)) for values in points])[1] == main


def test_a_grid_is_run_and_a_point_that_fails_is_named(tmp_path, monkeypatch, capsys):
    def run(point):
        if point["margin"] == 0.2:
            raise ValueError("too wide")
        return facts(point["margin"])

    monkeypatch.setattr(running, "run", run)
    monkeypatch.setattr(running, "process_state", lambda: SimpleNamespace(is_main_process=True))
    recipe = load_recipe("stance-demo", {"output_dir": str(tmp_path)})
    running.run_grid(recipe, expand_grid(recipe, ["margin=0.1:0.3:0.1"]))
    printed = capsys.readouterr().out
    assert "failed: {'margin': 0.2}: too wide" in printed
    assert cells(printed)[0] == ["margin →", "base", "0.1", "0.3"]
    assert (tmp_path / "stance-demo-grid" / "margin.md").is_file()
    with pytest.raises(ValueError, match=r"every point of the grid failed: .*too wide"):
        running.run_grid(recipe, expand_grid(recipe, ["margin=0.2"]))
