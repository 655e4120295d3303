"""What a run says of itself: tables, demonstrations, options that may be published."""

from importlib.metadata import version
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from modeling.base.recipe import load_recipe
from modeling.base.report import (
    HEADER,
    cell,
    comparison_rows,
    demonstrate,
    demonstration_rows,
    environment,
    evaluate_models,
    legend,
    paper_figures,
    print_report,
    public_options,
    text_table,
)
from modeling.base.system import PaperResult

RESULTS = {
    "evaluation_options": {},
    "name": "stance-demo",
    "trainable_parameters": 589824,
    "all_parameters": 23303040,
    "phases": [{"seconds": 40.2}, {"seconds": 21.0}],
    "evaluations": [
        {
            "dataset": "demo (test)",
            "dataset_id": "demo",
            "rows": 1234,
            "headline": ["stance_auroc", "stance_kl"],
            "base": {"stance_auroc": 0.5, "stance_kl": 0.12345, "stance_n_agree": 3},
            "trained": {"stance_auroc": 0.9, "stance_kl": 1.0, "stance_n_agree": 3},
        },
        {
            "dataset": "sts (test)",
            "dataset_id": "sts",
            "rows": 80,
            "headline": ["similarity_spearman"],
            "base": {"similarity_spearman": 0.83},
            "trained": {"similarity_spearman": -0.1},
        },
    ],
    "demonstrations": [{"first": "a", "second": "b", "shows": "other topic", "base": 0.125, "trained": -0.5}],
    "paper": {
        "similarity_spearman": {"table": "Table 3", "base": 0.83, "trained": 0.8},
        "stance_kl": {"table": "Table 2", "base": 0.004, "trained": None},
        "not_measured_here": {"table": "Table 9", "base": 1.0, "trained": 1.0},
    },
    "paper_setup": "a big encoder on many debates",
}


def test_text_table():
    table = text_table(["a", "long head"], [["wide cell", "1"], ["", "22"]])
    assert table.splitlines() == [
        "| a         | long head |",
        "| --------- | --------- |",
        "| wide cell | 1         |",
        "|           | 22        |",
    ]
    assert text_table(["a"], []) == "| a |\n| - |"


def test_a_row_with_a_cell_too_few_is_a_mistake():
    with pytest.raises((ValueError, IndexError)):
        text_table(["a", "b"], [["1"]])


def test_comparison():
    # headlines only, in their order; three decimals; empty where the paper or its row has no figure
    assert comparison_rows(RESULTS) == [
        ["stance_auroc", "demo (test)", "1,234", "", "0.500", "", "0.900"],
        ["stance_kl", "demo (test)", "1,234", "0.004", "0.123", "", "1.000"],
        ["similarity_spearman", "sts (test)", "80", "0.830", "0.830", "0.800", "-0.100"],
    ]
    assert len(HEADER) == 7


def test_cells():
    # a count is whole, a measure has three decimals, and where nothing was found there is no share
    assert [cell(value) for value in (1234, 0, 0.5, -1.0, None)] == ["1,234", "0", "0.500", "-1.000", ""]


def test_measures_are_explained_where_they_stand():
    assert [part.partition(":")[0] for part in legend(RESULTS).split("; ")] == ["auroc", "kl", "spearman"]
    results = {"evaluations": [{"headline": ["a_b_precision"], "measures": ["a_b_precision_at_10", "a_b_base_rate"]}]}
    assert [part.partition(":")[0] for part in legend(results).split("; ")] == ["precision"]
    assert [part.partition(":")[0] for part in legend(results, "measures").split("; ")] == ["precision_at", "base_rate"]


def test_demonstration_rows():
    assert demonstration_rows(RESULTS) == [["other topic", "a", "b", "0.12", "-0.50"]]


class Chosen:
    """An encoder whose vectors are chosen by the test."""

    def __init__(self, **vectors):
        self.vectors = vectors

    def encode(self, texts):
        return np.array([self.vectors[text] for text in texts])

    def similarity(self, first, second):
        return torch.from_numpy(first) @ torch.from_numpy(second).T


def test_demonstrate():
    system = SimpleNamespace(ASYMMETRIC=False, DEMONSTRATIONS=[("a", "b", "opposite"), ("b", "c", "other topic")])
    base = Chosen(a=(1.0, 0.0), b=(0.6, 0.8), c=(0.0, 1.0))
    trained = Chosen(a=(1.0, 0.0), b=(-1.0, 0.0), c=(0.0, 1.0))
    assert demonstrate(system, {"base": base, "trained": trained}) == [
        {"first": "a", "second": "b", "shows": "opposite", "cosines": {"base": pytest.approx(0.6), "trained": -1.0}},
        {"first": "b", "second": "c", "shows": "other topic", "cosines": {"base": pytest.approx(0.8), "trained": 0.0}},
    ]


def test_options_that_may_be_published():
    paths = {name: "/secret/place" for name in ("base", "data", "output_dir", "cache_dir", "stance", "similarity")}
    recipe = load_recipe("stance-demo", paths | {"base_id": "org/x", "inference": "/secret/place", "margin": "0.3",
                                                 "push_to_hub": "org/unannounced"})  # fmt: skip
    options = public_options(SimpleNamespace(recipe=recipe, SOURCES=("stance", "similarity", "inference")))
    assert "secret" not in str(options)
    assert "unannounced" not in str(options)
    # what another person needs to do the same again
    for key in ("seed", "epochs", "batch_size", "learning_rate", "lora_rank", "max_length", "warmup", "weight_decay"):
        assert options[key] == recipe[key]
    assert (options["objective"], options["margin"], options["filter_pairs"]) == ("triplet", 0.3, 0.5)


def test_paper_figures():
    results = [
        PaperResult("Table 1", "kl", 0.1, {}, of_base=True),
        PaperResult("Table 1", "kl", 0.2, {"margin": 0.4}),
        PaperResult("Table 1", "kl", 0.3, {"margin": 0.5}),
        PaperResult("Table 2", "pearson", 0.9, {"margin": 0.5}),
    ]
    system = SimpleNamespace(PAPER=SimpleNamespace(results=results), recipe={"margin": 0.4})
    assert paper_figures(system) == {"kl": {"table": "Table 1", "data": "", "base": 0.1, "trained": 0.2}}
    system.recipe = {"margin": 0.5}
    assert paper_figures(system)["kl"]["trained"] == 0.3
    assert paper_figures(system)["pearson"] == {"table": "Table 2", "data": "", "base": None, "trained": 0.9}
    assert paper_figures(system, {"margin": 0.4}).keys() == {"kl"}  # of these settings, whatever the recipe's


def test_environment(monkeypatch):
    facts = environment()
    assert facts["torch"] == version("torch")
    assert facts["sentence-transformers"] == version("sentence-transformers")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert environment()["device"] == "CPU (3 threads)"


def test_print_report(tmp_path, capsys):
    print_report(RESULTS, tmp_path)
    printed = capsys.readouterr().out
    assert "stance-demo: 589,824 of 23,303,040 parameters trained in 61 s" in printed  # 40.2 + 21.0
    assert "Paper: a big encoder on many debates." in printed
    assert text_table(HEADER, comparison_rows(RESULTS)) in printed
    assert f'SentenceTransformer("{tmp_path / "merged"}")' in printed


def test_a_paper_figure_on_other_data_is_not_shown():
    evaluation = {"name": "similarity", "headline": ["similarity_spearman"], "dataset": "ours (test)",
                  "base": {"similarity_spearman": 0.9}, "trained": {"similarity_spearman": 0.8}}  # fmt: skip
    paper = {"similarity_spearman": {"table": "Table 3", "data": "stsb", "base": 0.83, "trained": 0.81}}
    for dataset_id, shown in (
        ("demonstration", ["", "0.900", "", "0.800"]),
        ("org/STSB", ["0.830", "0.900", "0.810", "0.800"]),
    ):
        results = {"evaluations": [evaluation | {"dataset_id": dataset_id, "rows": 9}], "paper": paper}
        assert comparison_rows(results)[0][3:] == shown


def test_every_evaluator_with_every_model(tmp_path):
    class Length:
        """Measures how many letters a model's name has; a short one it cannot measure."""

        name, title, dataset, dataset_id, rows, task = "length", "letters", "names (test)", "names", 2, "none"
        headline, measures = ("letters",), ("letters", "n")

        def scores(self, model, cache):
            asked.append((model, cache))
            return len(model)

        def prefixed(self, scores):
            return {"length_letters": None if scores < 3 else float(scores), "length_n": 2}

        def draw(self, scores, path):
            asked.append((scores, path))
            return "A picture."

    asked = []
    models, caches = {"base": "ab", "ours": "abcd"}, {"base": tmp_path / "kept", "ours": tmp_path / "passing"}
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "old.png").touch()
    (found,) = evaluate_models([Length()], models, caches, tmp_path)
    assert asked == [("ab", tmp_path / "kept"), ("abcd", tmp_path / "passing"),
                     ({"base": 2, "ours": 4}, tmp_path / "plots" / "length.png")]  # fmt: skip
    assert found["figures"] == {"base": {"length_letters": None, "length_n": 2},
                                "ours": {"length_letters": 4.0, "length_n": 2}}  # fmt: skip
    assert (found["headline"], found["measures"]) == (["length_letters"], ["length_letters", "length_n"])
    assert (found["caption"], found["plot"], found["rows"]) == ("A picture.", "plots/length.png", 2)
    assert (tmp_path / "plots" / "old.png").exists()  # it may be the user's own
    assert evaluate_models([Length()], models, caches, None)[0]["caption"] is None
