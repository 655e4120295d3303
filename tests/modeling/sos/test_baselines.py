"""Measures without training by hand, and the command that sets them beside the paper's figures."""

import math

import numpy as np
import pandas as pd
import pytest
from datasets import Dataset

from modeling.sos import baselines
from modeling.sos.baselines import rouge, tf_idf
from modeling.sos.baselines import word_movers as wmd
from modeling.sos.commands import app
from modeling.sos.tables import check_rows, figures, render

# unit vectors at right angles, but for their lengths, which are not to matter
COMPASS = {"good": (3.0, 0.0), "great": (0.0, 1.0), "bad": (-1.0, 0.0), "awful": (0.0, -0.5)}


def compass(words):
    return {word: np.array(COMPASS[word]) for word in words if word in COMPASS}


@pytest.mark.parametrize(
    ("kind", "replaced", "moved"),
    [
        ("rouge1", 3 / 4, 1),  # three words of four are shared; all are
        ("rouge2", 2 / 3, 1 / 3),  # "the trams", "trams are" of three; "the trams" of three
        ("rougeL", 3 / 4, 2 / 4),  # the longest common subsequence has three words; two ("the trams")
    ],
)
def test_rouge_by_hand(kind, replaced, moved):
    result = rouge(["The trams are good.", "The trams are good."], ["The trams are bad!", "Good are the trams"], kind)
    assert result == pytest.approx([replaced, moved])


def test_tf_idf_by_hand():
    # idf of a word in both of two texts: ln(3/3) + 1 = 1; in one: ln(3/2) + 1
    rare = math.log(1.5) + 1
    result = tf_idf(["Trams good", "Trams good"], ["trams bad", "Trams good"])
    assert result == pytest.approx([1 / (1 + rare**2), 1])
    assert tf_idf(["Trams good", "?"], ["trams bad", "Trams good"]) == pytest.approx([1 / (1 + rare**2), 0])


def test_word_movers_by_hand():
    others = ["bad awful", "good bad", "Good!", "trams"]
    result = wmd(["Good great", "good good great", "good", "good"], others, compass)
    # 1: each opposite is 2 away and each neighbour sqrt 2, so good goes to awful and great to bad.
    # 2: half of the mass stays with good; a sixth goes from good to bad (2 away), a third from great to bad (sqrt 2).
    assert result == pytest.approx([math.exp(-math.sqrt(2)), math.exp(-(1 + math.sqrt(2)) / 3), 1, 0])


def opinions(**columns):
    rows = {
        "id": ["a", "b", "c", "d"],
        "sentence1": ["trams are good"] * 4,
        "sentence2": ["the trams", "a", "b", "."],
        "score": [4.0, 3.0, 1.0, 0.0],
        "domain": ["laptop"] * 3 + ["restaurant"],
    }
    return Dataset.from_dict(rows | columns)


def test_figures_and_tables():
    pairs = check_rows(opinions(), "sos").assign(WMD=[0.3, 0.2, 0.1, 0.5], flat=0.0)
    frame = figures(pairs, ["WMD", "flat"], "sos")
    ours = frame[frame["who"] == "ours"].set_index(["model", "data", "metric"])["value"]
    assert ours["WMD", "laptop", "kendall"] == pytest.approx(1)
    assert math.isnan(ours["WMD", "laptop", "pearson_different"])  # of one pair
    assert math.isnan(ours["flat", "laptop", "pearson"]) and math.isnan(ours["WMD", "restaurant", "pearson"])
    text = render(frame, pairs, "sos")
    assert "laptop 1 broadly different and 2 similar pairs, restaurant 1 broadly different and 0" in text
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    assert rows[0] == ["who", "model", "laptop pearson", "laptop kendall", "restaurant pearson", "restaurant kendall"]
    assert [row for row in rows if row[1] == "WMD"][:2] == [
        ["paper", "WMD", "0.217", "0.184", "0.249", "0.151"],
        ["ours", "WMD", "0.982", "1.000", "", ""],
    ]
    assert "flat" not in text
    # on other data the paper's figures do not stand beside ours
    assert set(figures(pairs, ["WMD"], "news")["who"]) == {"ours"}


def test_the_command_writes_its_tables(tiny_data, tiny_base, tmp_path, monkeypatch):
    def measure(first, second):
        return np.arange(len(first), dtype=float)

    monkeypatch.setattr(baselines, "BASELINES", {"first": measure, "second": measure})
    words = ["baselines", "sos", str(tiny_data), "--model", str(tiny_base), "--cache-dir", str(tmp_path / "cache")]
    with pytest.raises(SystemExit, match="0"):
        app([*words, "-o", str(tmp_path / "out")])
    results = pd.read_csv(tmp_path / "out" / "results.csv")
    assert {"first", "second", "tiny"} == set(results["model"]) and set(results["who"]) == {"ours"}
    similarities = pd.read_csv(tmp_path / "out" / "similarities.csv")
    assert list(similarities) == ["id", "score", "domain", "first", "second", "tiny"]
    assert (tmp_path / "out" / "pearson.png").stat().st_size > 5000
