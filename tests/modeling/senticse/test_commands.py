"""`opinion probe`: figures of models on corpora beside the paper's, kept, and told apart."""

import shutil

import pandas as pd
import pytest

from modeling.senticse.commands import app
from modeling.senticse.probing import probes
from modeling.senticse.probing.tables import correlations
from tests.tiny import save_encoder


def run(*words):
    with pytest.raises(SystemExit) as end:
        app(["probe", *map(str, words)])
    return end.value.code


def test_figures_stand_beside_the_paper_and_are_computed_once(tiny_data, tmp_path, monkeypatch, capsys):
    mr = shutil.copytree(tiny_data, tmp_path / "mr")
    models = [save_encoder(tmp_path / f"random-{seed}", seed=seed) for seed in (1, 2, 3)]
    options = ["--sentiment", f"{mr},{tiny_data}", "--seeds", 1, "--shots", 1, "--cache-dir", tmp_path / "cache"]
    monkeypatch.setattr(probes, "GRID", (1.0,))
    assert run(*models[:2], *options, "-o", tmp_path / "two") == 0
    calls = []
    probe = probes.linear_probe
    monkeypatch.setattr(probes, "linear_probe", lambda *parts: calls.append(1) or probe(*parts))
    assert run(*models, *options, "-o", tmp_path / "three") == 0
    assert len(calls) == 1 + 1  # of the third model, on what is one corpus by two names
    two, three = (pd.read_csv(tmp_path / name / "results.csv") for name in ("two", "three"))
    assert len(two) == 2 * 2 * (8 + 2 + 1 + 1) and len(three) == 1.5 * len(two)
    both = two.merge(three, on=["model", "data", "metric", "k", "seed"])
    assert (both["value_x"] == both["value_y"]).all() and len(both) == len(two)
    table = (tmp_path / "three" / "table.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| ")]
    first = next(row for row in rows if row[:2] == ["mr", "spearman"])
    assert first[2:4] == ["0.040", "0.690"]  # the paper's, on the corpus of that name alone
    assert next(row for row in rows if row[:2] == ["tiny-debates", "spearman"])[2:4] == ["", ""]
    mean = next(row for row in rows if row[:2] == ["mean", "spearman"])
    values = three[(three["metric"] == "spearman") & (three["model"] == "random-1")]["value"]
    assert mean[2:4] == ["", ""] and float(mean[4]) == pytest.approx(values.mean(), abs=6e-4)
    assert "SgTS and few-shot accuracy over models" in table
    for name in ("components-mr.png", "sgts-few-shot.png"):
        assert (tmp_path / "three" / "plots" / name).stat().st_size > 5000


def test_correlations_need_three_models():
    rows = [("spearman", model, None, x) for model, x in zip("abc", (0.1, 0.2, 0.4), strict=True)]
    rows += [("few_shot", model, 1, y) for model, y in zip("abc", (0.5, 0.6, 0.8), strict=True)]
    frame = pd.DataFrame(rows, columns=["metric", "model", "k", "value"]).assign(data="mr", variant="frozen", seed=0)
    (row,) = correlations(frame).to_numpy().tolist()
    assert row == ["mr", 1, "classifier", 3, pytest.approx(1), pytest.approx(1)]
    assert correlations(frame[frame["model"] != "c"]).empty
