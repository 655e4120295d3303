"""Pictures: what is told apart is drawn apart, each kind is drawn of few and of no values, any format is written."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from modeling.base.plots import densities

SIGNATURES = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


def values(mean, count=40):
    return np.random.default_rng(0).normal(mean, 0.1, count).clip(-1, 1)


def test_each_group_has_a_colour_and_dashes_of_its_own(figures, tmp_path):
    groups = "abcde"
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
