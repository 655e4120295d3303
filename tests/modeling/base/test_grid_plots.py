"""Pictures of grids: lines, bases, rings and bands, and the files beside them."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

from modeling.base import run as running
from modeling.base.grid_plots import write_grid
from modeling.base.plots import CYCLE
from modeling.base.recipe import expand_grid, load_recipe

SIZES = {2: 0.6, 5: 0.7, 10: 0.75, 50: 0.76}


def facts(*evaluations, **paper):
    """The facts of a run: (metric, base, trained) each, and the paper's figures."""
    return {
        "evaluations": [
            {"dataset_id": "tweets", "headline": [metric], "base": {metric: base}, "trained": {metric: trained}}
            for metric, base, trained in evaluations
        ],
        "paper": {metric: {"data": "", "base": None, "trained": value} for metric, value in paper.items()},
        "paper_setup": "a big one",
        "evaluation_options": {},
    }


def drawn_lines(panel, *styles):
    """Those of a panel's lines that have one of the styles and are to be seen."""
    lines = [line for line in panel.get_lines() if line.get_linestyle() in styles]
    return [line for line in lines if not np.isnan(line.get_ydata()).all()]


def test_a_panel_per_kind_and_a_line_per_measure(tmp_path, figures):
    pit = ("pit_pearson", 0.6, 0.65)
    finished = [
        ({"batch_size": size}, facts(("dq_ndcg", 0.5, value), ("cq_ndcg", 0.4, value - 0.2), pit))
        for size, value in reversed(SIZES.items())
    ]
    _, written = write_grid(finished, tmp_path, "some-recipe")
    assert written == [tmp_path / "batch_size.md", tmp_path / "batch_size.png"]
    ndcg, pearson = figures[0].axes
    assert [panel.get_title(loc="left") for panel in (ndcg, pearson)] == ["ndcg", "pit_pearson"]
    dq, cq = drawn_lines(ndcg, "-")
    assert list(dq.get_xdata()) == [2, 5, 10, 50]  # in order, whatever the grid's was
    assert list(dq.get_ydata()) == list(SIZES.values())
    assert [to_hex(line.get_color()).upper() for line in (dq, cq)] == list(CYCLE[:2])
    assert dq.get_marker() != cq.get_marker()
    # the base's dashes have the colour of their line
    bases = {to_hex(line.get_color()).upper(): line.get_ydata()[0] for line in drawn_lines(ndcg, "--")}
    assert bases == {CYCLE[0]: 0.5, CYCLE[1]: 0.4}
    assert [text.get_text() for text in ndcg.get_legend().get_texts()] == ["dq", "cq"]
    # from 2 to 50 the axis is logarithmic, and has a tick at each size
    assert (ndcg.get_xscale(), ndcg.get_xlabel()) == ("log", "batch_size (log scale)")
    assert [label.get_text() for label in ndcg.get_xticklabels()] == ["2", "5", "10", "50"]
    assert figures[0].get_suptitle() == "some-recipe, test data, over batch_size\ndashed: untrained base"
    with Image.open(written[1]) as picture:
        assert picture.size == (1104, 468)
    text = written[0].read_text(encoding="utf-8")
    assert text.endswith("![some-recipe, test data, over batch_size (dashed: untrained base)](batch_size.png)\n")


def test_seeds_make_a_band_and_the_paper_rings(tmp_path, figures):
    finished = [
        ({"margin": margin, "seed": seed}, facts(("dq_ndcg", 0.5, value), dq_ndcg=0.9))
        for margin, values in ((0.1, (0.5, 0.6, 0.7)), (0.2, (0.7, 0.8, 0.9)))
        for seed, value in enumerate(values)
    ]
    _, written = write_grid(finished, tmp_path, "r")
    assert [path.name for path in written] == ["margin,seed.md", "margin,seed.png"]
    (panel,) = figures[0].axes
    (line,) = drawn_lines(panel, "-")
    assert list(line.get_ydata()) == pytest.approx([0.6, 0.8])
    (band,) = panel.collections
    edges = band.get_paths()[0].vertices
    assert (edges[:, 1].min(), edges[:, 1].max()) == pytest.approx((0.5, 0.9))  # .6 - .1 and .8 + .1
    (rings,) = drawn_lines(panel, "None")
    assert (list(rings.get_ydata()), rings.get_markerfacecolor()) == ([0.9, 0.9], "none")
    assert (
        figures[0]
        .get_suptitle()
        .endswith(
            "over margin\ndashed: untrained base; rings: paper; "
            "bands: ± one standard deviation of 3 seeds around their mean"
        )
    )


def test_two_axes_make_a_panel_per_measure(tmp_path, figures):
    finished = [
        ({"objective": name, "batch_size": size}, facts(("dq_ndcg", 0.5, value - less), ("pit_pearson", 0.6, 0.65)))
        for (name, less), (size, value) in itertools.product({"mnrl": 0, "triplet": 0.1}.items(), SIZES.items())
    ]
    write_grid(finished, tmp_path, "r")
    dq, pit = figures[0].axes
    assert [panel.get_title(loc="left") for panel in (dq, pit)] == ["dq_ndcg", "pit_pearson"]
    first, second = drawn_lines(dq, "-")
    assert list(second.get_ydata()) == pytest.approx([value - 0.1 for value in SIZES.values()])
    (base,) = drawn_lines(dq, "--")  # the same for both: once, in neither's colour
    assert base.get_ydata()[0] == 0.5
    assert base.get_color() not in (first.get_color(), second.get_color())
    assert [text.get_text() for text in figures[0].legends[0].get_texts()] == ["objective=mnrl", "objective=triplet"]


def test_words_are_not_joined_and_bases_may_differ(tmp_path, figures):
    finished = [
        ({"base": base, "lora": lora}, facts(("dq_ndcg", value, value + 0.1)))
        for base, value in (("small", 0.4), ("big", 0.5), ("huge", None))
        if value
        for lora in (True, False)
    ]
    write_grid(finished, tmp_path, "r")
    (panel,) = figures[0].axes
    assert [label.get_text() for label in panel.get_xticklabels()] == ["small", "big"]
    assert drawn_lines(panel, "-") == []
    one, other = drawn_lines(panel, "None")
    assert list(one.get_ydata()) == list(other.get_ydata()) == pytest.approx([0.5, 0.6])
    assert one.get_xdata()[0] < other.get_xdata()[0]  # side by side: neither hides the other
    assert [list(line.get_ydata()) for line in drawn_lines(panel, "--")] == [[0.4, 0.5], [0.4, 0.5]]


def test_what_could_not_be_computed_is_a_gap(tmp_path, figures):
    values = {1: 0.5, 2: None, 3: 0.7}
    write_grid([({"k": k}, facts(("a_precision", None, value))) for k, value in values.items()], tmp_path, "r")
    (line,) = drawn_lines(figures[0].axes[0], "-")
    assert np.isnan(line.get_ydata()).tolist() == [False, True, False]


def test_crowded_ticks_have_fewer_labels(tmp_path, figures):
    write_grid([({"n": n}, facts(("a_ndcg", 0.1, 0.2))) for n in (10, 1000, 1001, 4000)], tmp_path, "r")
    labels = [label.get_text() for label in figures[0].axes[0].get_xticklabels()]
    assert labels == ["10", "1,000", "", "4,000"]


def test_seeds_alone_are_not_drawn(tmp_path, figures):
    _, written = write_grid([({"seed": seed}, facts(("a_ndcg", 0.1, 0.2))) for seed in (1, 2)], tmp_path, "r")
    assert (written, figures) == ([tmp_path / "seed.md"], [])
    assert "![" not in written[0].read_text(encoding="utf-8")


def test_two_grids_of_one_recipe_keep_both(tmp_path, monkeypatch, capsys):
    """The grid's command, without its training; a point that fails is left out."""
    recipe = load_recipe("stance-demo", {"output_dir": str(tmp_path)})

    def run(point):
        if point.batch_size == 3:
            raise ValueError("no memory")
        return facts(("stance_auroc", 0.5, 0.6))

    monkeypatch.setattr(running, "run", run)
    monkeypatch.setattr(running, "process_state", lambda: SimpleNamespace(is_main_process=True))
    for axis in ("batch_size=2,3,4", "margin=0.1,0.2"):
        running.run_grid(recipe, expand_grid(recipe, [axis]))
    printed = capsys.readouterr().out
    folder = tmp_path / "stance-demo-grid"
    assert sorted(path.name for path in folder.iterdir()) == [
        "batch_size.md", "batch_size.png", "margin.md", "margin.png"
    ]  # fmt: skip
    assert f"written to {folder / 'batch_size.md'} and {folder / 'batch_size.png'}\nfailed: " in printed
    assert "{'batch_size': 3}: no memory" in printed
