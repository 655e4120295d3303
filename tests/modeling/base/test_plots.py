"""Pictures of distributions of similarities, and of whose texts a statement finds."""

import numpy as np
import pytest
from PIL import Image

from modeling.base.plots import plot_alignment, plot_distributions

RANDOM = np.random.default_rng(0)
BEFORE = {"agree": RANDOM.normal(0.6, 0.1, 200).clip(-1, 1), "oppose": RANDOM.normal(0.55, 0.1, 150).clip(-1, 1)}
AFTER = {"agree": RANDOM.normal(0.8, 0.05, 200).clip(-1, 1), "oppose": RANDOM.normal(-0.5, 0.1, 150).clip(-1, 1)}


def test_two_panels_on_the_same_axes(tmp_path, figures):
    models = {"base": BEFORE, "trained": AFTER}
    plot_distributions(models, tmp_path / "plots" / "a.png", "Invented: cosine similarity")
    (figure,) = figures
    base, trained = figure.axes
    assert (base.get_title(), trained.get_title()) == ("base", "trained")
    assert figure.get_suptitle() == "Invented: cosine similarity"
    assert base.get_xlim() == trained.get_xlim()
    assert base.get_ylim() == trained.get_ylim()
    assert base.get_ylim()[0] == 0
    assert [text.get_text() for text in base.get_legend().get_texts()] == ["agree (n=200)", "oppose (n=150)"]
    for axis, groups in ((base, BEFORE), (trained, AFTER)):
        # per group a density and a line at the mean, told apart by dashes and not by colour alone
        density_agree, mean_agree, density_oppose, mean_oppose = axis.get_lines()
        assert (density_agree.get_linestyle(), density_oppose.get_linestyle()) == ("-", "--")
        assert mean_agree.get_xdata()[0] == pytest.approx(groups["agree"].mean())
        assert mean_oppose.get_xdata()[0] == pytest.approx(groups["oppose"].mean())
        grid = density_agree.get_xdata()
        assert -1 <= grid[0] < min(AFTER["oppose"])  # nothing is cut off in either panel
        assert grid[-1] == 1
        assert max(density_agree.get_ydata()) < axis.get_ylim()[1]
        # the peak of a density lies near its mean, and the area under it is one
        assert grid[density_agree.get_ydata().argmax()] == pytest.approx(groups["agree"].mean(), abs=0.05)
        assert np.trapezoid(density_agree.get_ydata(), grid) == pytest.approx(1, abs=0.05)


def test_file(tmp_path):
    path = tmp_path / "a.png"
    models = {"base": BEFORE, "trained": AFTER}
    plot_distributions(models, path, "Invented")
    with Image.open(path) as picture:
        assert (picture.format, picture.size) == ("PNG", (1080, 408))  # 9 x 3.4 inches at 120 dots
        assert "Software" not in picture.info
        assert len(picture.convert("RGB").getcolors(100_000)) > 50
    plot_distributions(models, tmp_path / "b.png", "Invented")
    assert path.read_bytes() == (tmp_path / "b.png").read_bytes()


def test_equal_or_single_values_have_no_density(tmp_path, figures):
    groups = {"agree": np.array([0.5, 0.5]), "oppose": np.array([0.1])}
    plot_distributions({"base": groups}, tmp_path / "a.png", "Invented")
    lines = figures[0].axes[0].get_lines()
    assert lines[0].get_ydata().max() == 0
    assert lines[3].get_xdata()[0] == 0.1
    assert lines[0].get_xdata()[0] == -0.2  # where nothing is lower


def test_four_models_take_two_rows(tmp_path, figures):
    empty = {"agree": np.array([]), "oppose": np.array([0.1, 0.2])}  # a sample may lack a group
    plot_distributions({"a": BEFORE, "b": AFTER, "c": BEFORE, "d": empty}, tmp_path / "a.png", "Invented")
    assert [axis.get_title() for axis in figures[0].axes] == ["a", "b", "c", "d", "", ""]
    assert [axis.get_visible() for axis in figures[0].axes] == [True] * 4 + [False] * 2
    assert len(figures[0].axes[3].get_lines()) == 3  # a density each, and one mean


def test_alignment_by_cosine_and_by_rank(tmp_path, figures):
    # by falling cosine: aligned, aligned, not, aligned, not, not
    aligned = np.array([False, True, True, False, True, False])
    cosines = np.array([0.1, 0.9, 0.8, 0.7, 0.6, 0.5])
    models = {"base": cosines, "trained": cosines - 0.4}
    plot_alignment([("Trams are fine. (D)", 0.6, aligned, models)], tmp_path / "a.png", "Invented")
    by_cosine, by_rank = figures[0].axes
    assert by_cosine.get_title(loc="left") == "Trams are fine. (D)"
    base, trained, threshold, share = by_cosine.get_lines()
    # from the fifth text on: 3 of 5, 3 of 6
    assert base.get_xdata().tolist() == [0.5, 0.1]
    assert base.get_ydata().tolist() == trained.get_ydata().tolist() == pytest.approx([0.6, 0.5])
    assert trained.get_xdata() == pytest.approx([0.1, -0.3])
    assert threshold.get_xdata()[0] == 0.6
    assert share.get_ydata()[0] == 0.5
    # by rank the level of the cosines makes no difference
    assert [line.get_xdata().tolist() for line in by_rank.get_lines()[:2]] == [[5, 6], [5, 6]]
    assert base.get_linestyle() != trained.get_linestyle()
