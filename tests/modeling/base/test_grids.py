"""Grids: seeds taken together, the table, and what is drawn over which axis."""

import pytest

from modeling.base.grids import (
    by_kind,
    fold_seeds,
    grid_table,
    is_numeric,
    is_wide,
    kind,
    main_axis,
    short,
    shown,
    spread,
)


def run(trained, base=0.5, paper=None, metric="dq_ndcg", data="tweets"):
    """The facts of a run with one measure."""
    evaluation = {"dataset_id": data, "headline": [metric], "base": {metric: base}, "trained": {metric: trained}}
    figures = {} if paper is None else {metric: {"data": "", "base": 0.4, "trained": paper}}
    return {"evaluations": [evaluation], "paper": figures, "paper_setup": "a big one", "evaluation_options": {}}


def cells(table):
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in [lines[0], *lines[2:]]]


def test_table_of_one_axis():
    finished = [({"margin": 0.1}, run(0.61, paper=0.7)), ({"margin": 0.2}, run(None, paper=0.8))]
    table = grid_table(finished)
    assert table.startswith("Paper: a big one. Each cell: paper / ours.\n\n|")
    assert cells(table) == [
        ["margin", "dq_ndcg"],
        ["base", "0.400 / 0.500"],
        ["0.1", "0.700 / 0.610"],
        ["0.2", "0.800 /"],
    ]


def test_seeds_are_taken_together():
    # mean .6 and deviation sqrt((.01 + 0 + .01) / 2) = .1 of .5, .6, .7; a single run has no deviation
    values = [(2, 1, 0.5), (2, 2, 0.6), (2, 3, 0.7), (5, 1, 0.8)]
    finished = [({"batch_size": size, "seed": seed}, run(value)) for size, seed, value in values]
    table = grid_table(finished)
    assert "Ours is the mean over seeds ± their standard deviation." in table
    assert cells(table) == [
        ["batch_size", "seeds", "dq_ndcg"],
        ["base", "", "/ 0.500"],
        ["2", "3", "/ 0.600 ± 0.100"],
        ["5", "1", "/ 0.800"],
    ]
    first, second = fold_seeds(finished)
    assert (first.values, first.runs, first.figures["dq_ndcg"].ours) == ({"batch_size": 2}, 3, [0.5, 0.6, 0.7])
    assert (second.values, second.runs) == ({"batch_size": 5}, 1)


def test_a_base_that_differs_by_the_sample_of_a_seed():
    values = [(2, 1, 0.4), (2, 2, 0.6), (5, 1, 0.4), (5, 2, 0.6)]
    finished = [({"batch_size": size, "seed": seed}, run(0.7, base=base)) for size, seed, base in values]
    assert cells(grid_table(finished))[1] == ["base", "", "/ 0.500 ± 0.141"]  # sqrt((.01 + .01) / 1)


def test_nothing_but_seeds():
    finished = [({"seed": seed}, run(value)) for seed, value in ((1, 0.5), (2, 0.7))]
    # sqrt((.01 + .01) / 1) = .1414
    assert cells(grid_table(finished)) == [
        ["", "seeds", "dq_ndcg"],
        ["base", "", "/ 0.500"],
        ["trained", "2", "/ 0.600 ± 0.141"],
    ]
    assert main_axis(fold_seeds(finished)) is None


def test_measures_that_not_all_runs_have():
    finished = [
        ({"similarity": "none"}, run(0.6)),
        ({"similarity": "data/stsb"}, run(0.9, metric="similarity_spearman")),
        ({"similarity": "data/sick"}, run(0.8, base=0.4, metric="similarity_spearman")),
    ]
    assert cells(grid_table(finished)) == [
        ["similarity", "dq_ndcg", "similarity_spearman"],
        ["base", "/ 0.500", ""],  # the base's differ, on two sources
        ["none", "/ 0.600", ""],
        ["data/stsb", "", "/ 0.900"],
        ["data/sick", "", "/ 0.800"],
    ]


def test_the_papers_figure_on_other_data_is_no_comparison():
    results = run(0.6, paper=0.7)
    results["paper"]["dq_ndcg"]["data"] = "kialo"
    assert cells(grid_table([({"margin": 0.1}, results)]))[1:] == [["base", "/ 0.500"], ["0.1", "/ 0.600"]]


def test_spread():
    assert spread([]) == (None, None)
    assert spread([0.5]) == (0.5, None)
    assert spread([0.5, 0.7]) == (pytest.approx(0.6), pytest.approx(0.02**0.5))


@pytest.mark.parametrize(
    ("axes", "chosen"),
    [
        ({"objective": ["a", "b", "c"], "margin": [0.1, 0.2]}, "margin"),
        ({"margin": [0.1, 0.2], "batch_size": [2, 5, 10]}, "batch_size"),
        ({"margin": [0.1], "objective": ["a", "b"]}, "objective"),
        ({"lora": [True, False], "objective": ["a", "b", "c"]}, "objective"),
        ({"filter": [None, 0.5]}, "filter"),
    ],
)
def test_the_axis_to_draw_along(axes, chosen):
    names = list(axes)
    combinations = [{}]
    for name in names:
        combinations = [{**one, name: value} for one in combinations for value in axes[name]]
    assert main_axis(fold_seeds([(values, run(0.5)) for values in combinations])) == chosen


def test_values_of_axes():
    assert is_numeric([1, 0.5]) and not is_numeric([True, False]) and not is_numeric([None, 0.5])
    assert is_wide([2, 5, 10, 25, 50])
    assert not is_wide([500, 1000, 4000])  # by a factor of 8
    assert not is_wide([0, 10, 1000])
    assert not is_wide([number / 10 for number in range(1, 11)])  # even steps, though by a factor of 10
    assert [shown(value) for value in (None, True, 0.1, ["a", "b"], "x")] == ["none", "true", "0.1", "a,b", "x"]


def test_measures_by_kind():
    assert [kind(metric) for metric in ("dq_ndcg", "stance_kl_paper", "a_b_precision_at_10", "a_retrieved_D")] == [
        "ndcg", "kl_paper", "precision_at", "D"
    ]  # fmt: skip
    assert [short(metric) for metric in ("dq_ndcg", "stance_filtered_kl_paper")] == ["dq", "stance_filtered"]
    many = [f"m{number}_auroc" for number in range(7)]
    assert by_kind(["dq_ndcg", "pit_pearson", "cq_ndcg", *many]) == {
        "ndcg": ["dq_ndcg", "cq_ndcg"],
        "pit_pearson": ["pit_pearson"],
        "auroc": many[:6],
        "m6_auroc": many[6:],
    }
