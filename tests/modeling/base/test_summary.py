"""A paper's own table of models with our rows below."""

import dataclasses
import json

import pytest
import yaml

from modeling import get_system, systems
from modeling.base.report import print_report
from modeling.base.summary import Summary, render_summary, summarise
from modeling.base.system import Paper
from modeling.evaluate import main
from tests.modeling.base.test_report import RESULTS

RECORD = yaml.safe_load("""
title: Table 7
scale: 100
note: Invented.
columns: {A: a_ndcg, B: b_ndcg, Avg: [a_ndcg, b_ndcg], STS: similarity_spearman}
data: {STS: stsb}
rows:
  Theirs (small): [40.0, 50.0, 45.0, 70.1]
  Theirs (big): [60.0, 70.0, 65.0, null]
""")


def evaluation(name, key, data, **values):
    figures = {model: {f"{name}_{key}": value} for model, value in values.items()}
    return {"name": name, "dataset": f"{data} (test)", "dataset_id": data, "rows": 1200, "figures": figures}


def rows(text):
    """Cells of the table's rows, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]


def test_our_rows_below_the_papers():
    evaluations = [
        evaluation("a", "ndcg", "my-tweets", first=0.5, second=0.25),
        evaluation("b", "ndcg", "my-tweets", first=0.6, second=0.5),
        evaluation("similarity", "spearman", "stsb", first=0.8204, second=0.7),
    ]
    facts = summarise(Summary.read(RECORD), evaluations, {"first": "bundled (base)", "second": "org/any"})
    text = render_summary(facts)
    assert rows(text) == [
        ["paper", "Theirs (small)", "40.0", "50.0", "45.0", "70.1"],
        ["paper", "Theirs (big)", "60.0", "70.0", "65.0", ""],
        ["ours", "bundled (base)", "50.0", "60.0", "55.0", "82.0"],
        ["ours", "org/any", "25.0", "50.0", "37.5", "70.0"],
    ]
    assert text.startswith("### Table 7 of the paper, and ours below it\n\nInvented.\n\n|")
    assert text.endswith(
        "\n\nOurs, with the number of rows: A (1,200), B (1,200) on my-tweets (test); STS (1,200) on stsb (test)."
    )
    assert json.loads(json.dumps(facts)) == facts


def test_a_mean_needs_all_its_parts_and_other_data_are_marked():
    evaluations = [
        evaluation("a", "ndcg", "my-tweets", first=0.5),
        evaluation("similarity", "spearman", "demo", first=0.8),
    ]
    facts = summarise(Summary.read(RECORD), evaluations, {"first": "bundled"})
    assert rows(render_summary(facts))[2:] == [["ours", "bundled", "50.0", "", "", "80.0*"]]
    assert facts["elsewhere"] == ["STS"]
    assert render_summary(facts).endswith("STS (1,200) on demo (test). * other data than the paper's.")
    # measured, but nothing was found to compute it from
    nothing = [evaluation("a", "ndcg", "d", first=0.5), evaluation("b", "ndcg", "d", first=None)]
    (row,) = rows(render_summary(summarise(Summary.read(RECORD), nothing, {"first": "bundled"})))[2:]
    assert row == ["ours", "bundled", "50.0", "", "", ""]


def test_without_a_table_or_figures():
    assert summarise(None, [], {}) is None
    text = render_summary(summarise(Summary.read(RECORD), [], {}))
    assert len(rows(text)) == 2
    assert "Ours, with" not in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": {"Theirs": [1.0, 2.0]}}, "the row 'Theirs' has 2 figures for 4 columns"),
        ({"data": {"STSb": "stsb"}}, "data of STSb, of which there is no column"),
    ],
)
def test_a_table_that_does_not_fit_together(change, message):
    with pytest.raises(ValueError, match=message):
        Summary.read(RECORD | change)


@pytest.mark.parametrize("name", systems())
def test_printed_means_are_those_of_their_parts(name):
    """A mistyped figure shows: a printed mean and that of the printed parts differ by no more than rounding."""
    summary = Paper.load(name).summary
    if summary is None:
        return
    heads = {keys[0]: number for number, keys in enumerate(summary.columns.values()) if len(keys) == 1}
    for row, values in summary.rows.items():
        for number, keys in enumerate(summary.columns.values()):
            parts = [values[heads[key]] for key in keys]
            if None not in [*parts, values[number]]:
                assert sum(parts) / len(parts) == pytest.approx(values[number], abs=0.1 + 1e-9), row


def test_the_command_prints_it_first(tiny_base, tiny_data, tmp_path, monkeypatch, capsys):
    system = get_system("stance")
    monkeypatch.setattr(system, "PAPER", dataclasses.replace(system.PAPER, summary=Summary.read(RECORD)))
    words = [str(tiny_base), "--base", str(tiny_base), "--cache_dir", str(tmp_path / "cache")]
    sources = {"stance": tiny_data, "similarity": tiny_data, "inference": "none", "alignment": "none"}
    main([*words, "--out", str(tmp_path / "out"), *(str(w) for key, v in sources.items() for w in (f"--{key}", v))])
    printed = capsys.readouterr().out
    assert printed.index("### Table 7 of the paper") < printed.index("### stance: ")
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    (row,) = [row for row in results["summary"]["rows"] if row["of"] == "ours"]
    (similarity,) = [e for e in results["evaluations"] if e["name"] == "similarity"]
    spearman = similarity["figures"]["tiny"]["similarity_spearman"]
    assert (row["model"], row["values"]) == ("tiny (base)", [None, None, None, pytest.approx(100 * spearman)])
    assert f"{100 * spearman:.1f}*" in (tmp_path / "out" / "table.md").read_text(encoding="utf-8")


def test_the_report_of_a_run_shows_it(tmp_path, capsys):
    print_report(RESULTS, tmp_path)  # a run of before
    assert "of the paper, and ours" not in capsys.readouterr().out
    facts = summarise(Summary.read(RECORD), [evaluation("a", "ndcg", "d", trained=0.5)], {"trained": "stance-demo"})
    print_report(RESULTS | {"summary": facts}, tmp_path)
    assert "### Table 7 of the paper, and ours below it" in capsys.readouterr().out
