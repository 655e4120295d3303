"""Pictures of the probes: what is drawn where."""

import matplotlib.pyplot as plt
import pytest

from modeling.senticse.probing import plots
from modeling.senticse.probing.plots import plot_components, plot_correlation


@pytest.fixture
def drawn(monkeypatch):
    """The figures that were saved, still open."""
    figures = []
    monkeypatch.setattr(plots, "save_figure", lambda figure, path, title: figures.append(figure))
    yield figures
    plt.close("all")


def test_a_panel_per_model(drawn, tmp_path):
    found = {"explained": [0.25, 0.1], "points": [[0, 1], [2, 3]], "labels": [0, 1]}
    plot_components({"a": found, "b_$": found}, ["negative", "positive"], tmp_path / "x.png", "title")
    axes = [axis for axis in drawn[0].axes if axis.get_visible()]
    assert [axis.get_title() for axis in axes] == ["a", r"b_\$"]
    assert axes[1].get_xlabel() == "component 1 (25% of variance)" and axes[1].get_ylabel() == "component 2 (10%)"
    assert axes[1].collections[0].get_offsets().tolist() == [[0, 1], [2, 3]]
    assert [text.get_text() for text in drawn[0].legends[0].get_texts()] == ["negative", "positive"]


def test_a_point_per_model_and_corpus(drawn, tmp_path):
    points = [("a", "mr", 0.1, 0.5), ("b", "mr", 0.7, 0.9)]
    plot_correlation([{"name": "5 per class", "points": points}], tmp_path / "x.png", "title")
    (axis,) = [axis for axis in drawn[0].axes if axis.get_visible()]
    assert [group.get_offsets().tolist() for group in axis.collections[:2]] == [[[0.1, 50.0]], [[0.7, 90.0]]]
    assert [text.get_text() for text in drawn[0].legends[0].get_texts()] == ["mr", "a", "b"]


def test_a_file_is_written(tmp_path):
    found = {"explained": [0.25, 0.1], "points": [[0, 1], [2, 3]], "labels": [0, 1]}
    plot_components(dict.fromkeys("abcd", found), ["negative", "positive"], tmp_path / "x.png", "title")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
