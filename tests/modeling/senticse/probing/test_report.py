"""The tables: the paper's figures beside ours, ablations, correlations worked out by hand."""

import json

import pytest

from modeling.base.system import Paper
from modeling.senticse.probing.paper import PaperColumns, paper_corpus, run_options
from modeling.senticse.probing.report import paper_columns, tables
from modeling.senticse.probing.run import correlations, few_shot_summary

BEST = {"lambda_w": 0.15, "tau": 0.05, "alpha": 1.0, "masking": 0.1, "keep": 0.0}


@pytest.fixture(scope="module")
def paper():
    return PaperColumns(Paper.load("senticse"), {"data/mr": "mr", "films": None, "imdb": "imdb"})


def figures(sgts, accuracy, probe=0.5):
    return {"sgts": {"spearman": sgts, "normalized": sgts, "auroc": 0.5}, "linear_probe": {"accuracy": probe},
            "geometry": {"alignment": 1.0, "uniformity": -1.0},
            "few_shot": {"frozen": {"5": few_shot_summary([{"accuracy": accuracy}])}}}  # fmt: skip


def results(corpora, run_options=None):
    models = list(next(iter(corpora.values())))
    found = {"models": models, "figures": corpora, "run_options": dict.fromkeys(models) | (run_options or {})}
    facts = [{"name": name, "paper": paper_corpus(name)} for name in corpora]
    return found | {"corpora": facts, "correlations": correlations(found)}


def test_names_of_corpora():
    assert [paper_corpus(name) for name in ("mr", "data/my-mr", "org/sst2", "yelp_polarity", "SST2")] == [
        "mr", "mr", "sst2", "yelp", "sst2"]  # fmt: skip
    assert [paper_corpus(name) for name in ("demo", "mrpc", "amr")] == [None, None, None]


def test_the_papers_columns(paper):
    assert paper.of("linear_probe_{}", "data/mr") == [0.5038, 0.8949]
    assert paper.of("few_shot_1_{}", "imdb") == [0.52, 0.8264]
    assert paper.of("few_shot_5_{}", "data/mr") == [0.5678, 0.88]
    assert paper.of("sgts_{}_spearman", "imdb") == [0.06, 0.77]
    assert paper.of("uniformity_{}", "data/mr") == [-0.01, -1.19]
    assert paper.of("linear_probe_{}", "films") == paper.of("few_shot_3_{}", "data/mr") == [None, None]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, (0.8949, "Table 5")),
        ({"lambda_w": 0.0}, (0.8818, "Table 7")),
        ({"lambda_w": 0.2, "masking": 0.5}, (0.879, "Table 8")),
        ({"masking": 0.9}, (0.8837, "Table 9")),
        ({"alpha": 2.0}, None),
        ({"tau": 0.1}, None),
    ],
)
def test_the_papers_figure_for_the_options_of_a_run(paper, changed, expected):
    assert paper.of_options("linear_probe_{}", "data/mr", BEST | changed) == expected


def test_the_options_of_a_run(tmp_path):
    run = tmp_path / "run"
    (run / "merged").mkdir(parents=True)
    assert run_options(str(run)) is None and run_options("bundled") is None
    (run / "results.json").write_text(json.dumps({"system": "senticse", "recipe": BEST}), encoding="utf-8")
    assert run_options(str(run)) == run_options(str(run / "merged")) == BEST
    (run / "results.json").write_text(json.dumps({"system": "stance", "recipe": BEST}), encoding="utf-8")
    assert run_options(str(run)) is None


def test_an_ablation_stands_beside_the_papers():
    found = results({"mr": {"base": figures(0.1, 0.5), "ours": figures(0.3, 0.6, probe=0.7)}},
                    {"ours": BEST | {"lambda_w": 0.0}})  # fmt: skip
    made = {title: rows for title, _, rows in tables(found, paper_columns(found))}
    (rows,) = [rows for title, rows in made.items() if "by the options of runs" in title]
    assert rows == [["mr", "ours", "lambda_w 0.0, tau 0.05, alpha 1.0, masking 0.1", "Table 7", "88.18 / 70.00"]]
    # without a run there is no such table; one draw has no deviation
    found = results({"mr": {"base": figures(0.1, 0.5)}})
    made = {title: rows for title, _, rows in tables(found, paper_columns(found))}
    assert not [title for title in made if "options" in title]
    assert made["Few-shot accuracy, % (table 4)"] == [["mr", "5", "classifier", "56.78", "88.00", "50.00"]]


def test_means_and_deviations_by_hand():
    found = few_shot_summary([{"accuracy": 0.5}, {"accuracy": 0.7}, {"accuracy": 0.6}])
    assert found["mean"] == pytest.approx(0.6) and found["deviation"] == pytest.approx(0.1)
    assert few_shot_summary([{"accuracy": 0.5}])["deviation"] is None


def test_correlations_by_hand():
    one = {"a": figures(0.0, 0.5), "b": figures(0.1, 0.6), "c": figures(0.2, 0.6)}
    two = {"a": figures(0.0, 0.9), "b": figures(0.1, 0.8), "c": figures(0.2, 0.7)}
    same = {"a": figures(0.0, 0.5), "b": figures(0.1, 0.5), "c": figures(0.2, 0.5)}
    first, second, third, every = correlations({"models": ["a", "b", "c"], "figures": {"x": one, "y": two, "z": same}})
    # ranks 1 2 3 and 1 2.5 2.5: a covariance of 1.5 / 2, deviations of 1 and sqrt(.75)
    assert [first["pearson"], first["spearman"]] == pytest.approx([0.75**0.5] * 2)
    assert (second["pearson"], second["spearman"]) == (pytest.approx(-1), pytest.approx(-1))
    assert (third["pearson"], third["spearman"]) == (None, None)
    assert (every["corpus"], every["points"]) == ("all", 9)
    two_models = {"models": ["a", "b"], "figures": {"x": {"a": one["a"], "b": one["b"]}}}
    assert correlations(two_models)[0]["pearson"] is None
