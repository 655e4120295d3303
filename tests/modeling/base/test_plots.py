"""Pictures: what is told apart is drawn apart, each kind is drawn of few and of no values, any format is written."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from modeling.base.plots import CYCLE, OTHER, densities, dots, group_colours, lines, scatter

SIGNATURES = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


def values(mean, count=40):
    return np.random.default_rng(0).normal(mean, 0.1, count).clip(-1, 1)


@pytest.mark.parametrize(
    "groups", [("one",), ("two topics", "one topic"), ("lower", "middle", "upper"), tuple("abcde")]
)
def test_each_group_has_a_colour_and_dashes_of_its_own(figures, tmp_path, groups):
    densities({"base": {name: values(n / 5) for n, name in enumerate(groups)}}, tmp_path / "p.png", "any names")
    curves = [line for line in figures[0].axes[0].lines if len(line.get_xdata()) > 2]
    means = [line for line in figures[0].axes[0].lines if len(line.get_xdata()) == 2]
    for drawn in (curves, means):
        assert len({to_hex(line.get_color()) for line in drawn}) == len(groups) == len(drawn)
    assert len({line.get_linestyle() for line in curves}) >= min(len(groups), 3)


def test_densities_show_the_measure_and_groups_of_few_or_none(figures, tmp_path):
    models = {f"m{n}": {"apart": np.empty(0), "together": np.array([0.5])} for n in range(4)}
    models["m3"]["apart"] = values(0.1)
    densities(models, tmp_path / "plots" / "p.png", "costs $5 and $6", dict.fromkeys(models, "AUROC 0.50"))
    visible = [axis for axis in figures[0].axes if axis.get_visible()]
    assert [axis.get_title() for axis in visible] == [f"m{n}\nAUROC 0.50" for n in range(4)]
    highest = max(line.get_ydata().max() for line in visible[3].lines if len(line.get_xdata()) > 2)
    assert visible[0].get_ylim()[1] > highest  # one scale for all, which cuts none off


@pytest.mark.parametrize("ending", SIGNATURES)
def test_a_picture_is_of_the_format_that_its_name_says(tmp_path, ending):
    for name in ("a", "b"):
        densities({"base": {"low": values(0), "high": values(0.5)}}, tmp_path / f"{name}{ending}", "title")
    first, second = ((tmp_path / f"{name}{ending}").read_bytes() for name in "ab")
    assert first.startswith(SIGNATURES[ending])
    assert first == second
    with pytest.raises(ValueError, match=r"p\.jpeg' has to end in \.png, \.pdf or \.svg"):
        densities({"base": {"low": values(0)}}, tmp_path / "p.jpeg", "title")


def test_dots_are_ours_with_intervals_and_rings_of_the_paper(figures, tmp_path):
    frame = pd.DataFrame(
        [
            ("ours", "cosine", "laptop", "all", 0.4, 0.3, 0.5),
            ("ours", "WMD", "laptop", "all", 0.2, np.nan, np.nan),
            ("paper", "WMD", "laptop", "all", 0.25, np.nan, np.nan),
            ("paper", "SPICE", "phone", "different", 0.1, np.nan, np.nan),
            ("ours", "SPICE", "phone", "different", np.nan, np.nan, np.nan),
        ],
        columns=["who", "model", "data", "metric", "value", "low", "high"],
    )
    dots(frame, tmp_path / "p.png", "title", "Pearson", panel="metric")
    left, right = figures[0].axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["cosine", "WMD", "SPICE"]
    *ours_and_papers, _ = left.lines  # the last one is the origin
    assert {line.get_markerfacecolor() == "none": list(line.get_xdata()) for line in ours_and_papers} == {
        False: [0.4, 0.2],
        True: [0.25],
    }
    assert list(right.lines[0].get_xdata()) == [0.1]
    assert [text.get_text() for text in figures[0].legends[0].texts] == ["laptop", "laptop, paper", "phone, paper"]


def test_lines_and_points(figures, tmp_path):
    frame = pd.DataFrame(
        [
            ("ours", "a", 30, 0.5, 0.4, 0.6, "test"),
            ("ours", "a", 10, 0.4, 0.3, 0.5, "test"),
            ("paper", "a", 10, 0.7, None, None, "test"),
        ],
        columns=["who", "model", "x", "value", "low", "high", "data"],
    )
    lines(frame, tmp_path / "p.png", "title", "K", "accuracy")
    ours, paper = figures[0].axes[0].lines
    assert (list(ours.get_xdata()), list(ours.get_ydata())) == ([10, 30], [0.4, 0.5])
    assert paper.get_linestyle() == ":" and ours.get_linestyle() == "-"
    frame = pd.DataFrame({"model": ["a", "a", "b"], "x": [0, 1, 2], "y": [0, 1, 2], "class": ["neg", "pos", "pos"]})
    scatter(frame, tmp_path / "p.png", "title", "x", "y", colour="class")
    points = figures[1].axes[0].collections[0]
    assert len({tuple(colour) for colour in points.get_facecolors()}) == 2


def test_parties_have_the_colours_that_people_expect():
    blue, red = CYCLE[0], CYCLE[3]
    assert group_colours(["R", "D"]) == {"R": red, "D": blue}
    assert blue not in group_colours(["R", "tenants"]).values()  # would be taken for the other party's
    assert list(group_colours([*"uvwxyz", "seventh"]).values()) == [*CYCLE, OTHER]
