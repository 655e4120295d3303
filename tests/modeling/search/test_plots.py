"""Pictures of groups: what is drawn, whole labels, and that nothing breaks them."""

import numpy as np
import pandas as pd
import pytest

from modeling.search.plots import plot_axis
from modeling.search.questions import Axis

LONG = (
    "Rents in this city should be capped at once, since nobody who teaches, nurses or drives a tram here can pay them."
)


def axis_of(groups, scores, facts=None):
    texts = pd.DataFrame({"group": pd.Categorical(groups), "score": scores})
    texts["positive"], texts["negative"] = 0.5 + texts["score"] / 2, 0.5 - texts["score"] / 2
    return Axis([LONG, "For $5 or $6."], ["Against.", "Against it."], texts, pd.DataFrame(), facts or {})


def test_an_axis_with_whole_labels_and_its_measure(tmp_path, figures):
    random = np.random.default_rng(0)
    groups = ["D"] * 60 + ["R"] * 30 + ["I", None]
    scores = np.concatenate([random.normal(0.2, 0.1, 60), random.normal(-0.2, 0.1, 30), [0, 0]])
    facts = {"auroc": 0.987, "low": 0.951, "high": 0.998, "first": "D", "second": "R"}
    plot_axis(axis_of(groups, scores, facts), tmp_path / "a.svg", "Invented")
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")
    left, right = figures[0].axes
    points, *means = left.collections
    assert len(points.get_offsets()) == 92
    expected = [0.5 + scores[:60].mean() / 2, 0.5 - scores[:60].mean() / 2]
    assert means[0].get_offsets()[0].tolist() == pytest.approx(expected)
    labels = [text.get_text() for text in left.get_legend().get_texts()]
    names = ("D (n=60)", "R (n=30)", "I (n=1)", "no group (n=1)")
    assert labels == [*(f"{name}, mean marked" for name in names), "as similar to both sides"]
    assert LONG in left.get_xlabel().replace("\n", " ") and "For \\$5" in left.get_xlabel()
    assert "0.99 [0.95, 1.00]" in right.get_title()
    # nothing is cut off: every label lies within the figure
    figure = figures[0]
    box = figure.get_tightbbox()
    assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.get_figwidth() and box.y1 <= figure.get_figheight()
