"""Pictures of groups: what is drawn, in which colour, and that nothing breaks them."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from modeling.search import group_plots
from modeling.search.axis import Axis
from modeling.search.group_plots import OTHER, group_colours, plot_axis, plot_thresholds
from tests.modeling.search.chosen import chosen_index


@pytest.fixture
def figures(monkeypatch):
    """The figures drawn, as they were when they were closed."""
    drawn, close = [], group_plots.plt.close
    monkeypatch.setattr(group_plots.plt, "close", lambda figure: (drawn.append(figure), close(figure)))
    return drawn


def axis_of(groups, scores):
    texts = pd.DataFrame({"group": pd.Categorical(groups), "score": scores})
    texts["positive"], texts["negative"] = 0.5 + texts["score"] / 2, 0.5 - texts["score"] / 2
    return Axis(["For $5 or $6."], ["Against.", "Against it."], texts, pd.DataFrame(), {})


def test_parties_have_the_colours_people_expect():
    colours = group_colours(["Republican", "democrats", "Green"])
    assert (colours["democrats"], colours["Republican"]) == ("#0077BB", "#CC3311")
    assert colours["Green"] not in ("#0077BB", "#CC3311", OTHER)
    many = group_colours([f"group {number}" for number in range(8)])
    assert len(set(many.values())) == 7 and many["group 7"] == OTHER


def test_precision_and_rows_over_thresholds(tmp_path, figures):
    table = chosen_index(tmp_path / "index").align([("for", "G"), ("against", "B")], [-0.1, 0.7, 1.0])
    plot_thresholds(table, tmp_path / "new" / "a.png", "Invented")
    (figure,) = figures
    assert len(figure.axes) == 4
    precision, rows = figure.axes[:2]
    line, base = precision.get_lines()
    assert line.get_ydata().tolist() == [0.75, 1.0, 1.0]
    assert base.get_ydata()[0] == 0.6
    assert [line.get_label() for line in rows.get_lines()] == ["G", "B"]
    assert rows.get_lines()[1].get_ydata().tolist() == [1, 0, 0]
    assert rows.get_ylim()[1] > 4 and rows.get_ylim()[0] < 0  # none and all are both to be seen
    with Image.open(tmp_path / "new" / "a.png") as picture:
        assert picture.format == "PNG"
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.png"]


def test_an_axis(tmp_path, figures):
    random = np.random.default_rng(0)
    scores = np.concatenate([random.normal(0.1, 0.05, 60), random.normal(-0.1, 0.05, 30), [0.3, 0.2]])
    axis = axis_of(["D"] * 60 + ["R"] * 30 + ["I", None], scores)
    axis.facts |= {"auroc": 0.987, "first": "D", "second": "R"}
    plot_axis(axis, tmp_path / "a.png", "Invented")
    left, right = figures[0].axes
    assert left.get_xlim() == left.get_ylim()
    points, *means = left.collections
    assert len(points.get_offsets()) == 92
    assert means[0].get_offsets()[0].tolist() == pytest.approx(
        [0.5 + scores[:60].mean() / 2, 0.5 - scores[:60].mean() / 2]
    )
    labels = [text.get_text() for text in left.get_legend().get_texts()]
    assert labels == [f"{name}, mean marked" for name in ("D (n=60)", "R (n=30)", "I (n=1)", "no group (n=1)")]
    assert right.get_title() == "AUROC of D above R: 0.99 (0.5: no difference)"
    curve = next(line for line in right.get_lines() if line.get_label().startswith("D, mean"))
    assert np.trapezoid(curve.get_ydata(), curve.get_xdata()) == pytest.approx(1, abs=0.05)
    assert [text.get_text().endswith("(too few for a curve)") for text in right.get_legend().get_texts()] == [
        *(False, False, True, True)
    ]


def test_many_groups_many_points_and_odd_scores(tmp_path, figures, monkeypatch):
    monkeypatch.setattr(group_plots, "MOST_POINTS", 50)
    axis = axis_of([f"g{number % 9}" for number in range(270)], np.linspace(-0.5, 0.5, 270))
    plot_axis(axis, tmp_path / "a.png", "Invented")
    left = figures[0].axes[0]
    assert left.get_title() == "50 of 270 rows"
    labels = [text.get_text() for text in left.get_legend().get_texts()]
    assert len(labels) == 7 and labels[-1] == "other groups (n=90), mean marked"
    for groups, scores in ((["D"] * 30, [0.1] * 30), ([None], [0.1]), (["$a_", "_b 🚋"] * 30, np.linspace(0, 1, 60))):
        plot_axis(axis_of(groups, scores), tmp_path / "b.png", "Invented")
