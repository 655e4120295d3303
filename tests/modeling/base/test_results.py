"""The paper's figures beside ours, and what a run says of itself."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from dataset_scripts.base.tables import markdown
from modeling.base.paper import Paper
from modeling.base.recipe import load_recipe
from modeling.base.results import comparison, demonstrate, render_summary, summarise
from modeling.base.rooms import get_system, systems
from tests.modeling.conftest import cells

RECORD = """
base: org/big-encoder
setup: a small encoder, tested on ten rows
link: https://arxiv.org/abs/2001.00001
citation: "@misc{nobody2020}"
headline:
  name: rather deep
  settings: {margin: 0.2, lora: true, depth: null}
tables:
  - table: Table 2
    data: tweets
    base: {found: 129}
    rows: [{settings: {lora: true}, values: {found: 47, precision: 0.91}}]
  - table: Table 1
    metric: stance_kl
    base: 0.5
    axis: margin
    points: [0.1, 0.2]
    rows: [{settings: {lora: true, depth: null}, values: [1, 2]}, {settings: {lora: false}, values: [3, 4]}]
summary:
  title: Table 7
  note: Invented.
  scale: 100
  columns: {A: a_ndcg, B: b_ndcg, Avg: [a_ndcg, b_ndcg], STS: similarity_spearman}
  data: {STS: stsb}
  rows:
    Theirs (small): [40.0, 50.0, 45.0, 70.1]
    Theirs (big): [60.0, 70.0, 65.0, null]
"""


@pytest.fixture
def paper(tmp_path):
    """A function that reads the paper, changed."""

    def read(old="", new=""):
        (tmp_path / "paper.yaml").write_text(RECORD.replace(old, new))
        return Paper.read(tmp_path / "paper.yaml")

    return read


def evaluation(name, key, data, **values):
    metric = f"{name}_{key}"
    figures = {model: {metric: value} for model, value in values.items()}
    facts = {"name": name, "dataset": f"{data} (test)", "dataset_id": data, "rows": 1200}
    return facts | {"headline": [metric], "measures": {metric: f"the {key}"}, "figures": figures}


def test_a_row_has_a_figure_for_each_column(paper):
    with pytest.raises(ValueError, match="shorter"):
        paper("[3, 4]", "[3]")
    with pytest.raises(ValueError, match=r"'Theirs \(big\)' has 3 figures for 4 columns"):
        paper("65.0, null", "65.0")


def test_a_figure_applies_to_options_that_have_all_its_settings(paper):
    for lora, margin, depth, trained in (
        (True, 0.2, None, 2),
        (True, 0.2, 3, None),  # the paper had none of this
        (False, 0.1, 3, 3),  # the paper does not say
        (False, 0.15, None, None),
    ):
        printed = paper().printed({"lora": lora, "margin": margin, "depth": depth})
        assert printed["stance_kl"] == {"table": "Table 1", "data": "", "base": 0.5, "trained": trained}
    # corpora are parts of the names of sources
    of = paper("settings: {lora: true}", "settings: {data: [kialo, mr]}")
    for data, applies in ((["x/Kialo", "my-mr"], False), (["data/kialo-1", "mr"], True), (["kialo"], False)):
        assert (of.printed({"data": data, "lora": None, "margin": 1})["found"]["trained"] is not None) == applies
    # a figure stands only beside the same base and data
    for base, data in (("Big-Encoder", "my-Tweets"), ("small-encoder", "my-Tweets"), ("big-encoder", "debates")):
        evaluations = [evaluation("found", "", f"org/{data}", base=1, trained=2) | {"measures": {"found": "f"}}]
        beside = paper().beside(evaluations, f"org/{base}", paper().headline)
        assert bool(beside) == (base == "Big-Encoder")


def test_the_paper_stands_beside_our_figures():
    first = evaluation("stance", "auroc", "demo", base=0.5, trained=None)
    first["headline"].append("stance_n")
    first["figures"]["base"]["stance_n"], first["figures"]["trained"]["stance_n"] = 1234, 7
    second = evaluation("similarity", "spearman", "sts", base=0.83, trained=-0.1)
    paper = {"similarity_spearman": {"base": 0.83, "trained": 0.8}}
    results = {"evaluations": [first, second], "paper": paper}
    frame = comparison(results)
    assert frame.columns.tolist() == ["measure", "data", "rows", "paper, base", "base", "paper", "ours"]
    assert cells(markdown(frame))[1:] == [
        ["stance_auroc", "demo (test)", "1,200", "", "0.500", "", ""],
        ["stance_n", "demo (test)", "1,200", "", "1,234", "", "7"],
        ["similarity_spearman", "sts (test)", "1,200", "0.830", "0.830", "0.800", "-0.100"],
    ]
    # a model that is called as one of the columns takes none of them away
    assert comparison(results, heads={"trained": "paper"}, base=None)["paper"].values.tolist()[2] == [0.8, -0.1]


def test_our_rows_below_the_papers(paper):
    evaluations = [
        evaluation("a", "ndcg", "my-tweets", first=0.5, second=0.25),
        evaluation("b", "ndcg", "my-tweets", first=0.6, second=None),
        evaluation("similarity", "spearman", "demo", first=0.8204, second=0.7),
    ]
    facts = summarise(paper().summary, evaluations, {"first": "bundled (base)", "second": "org/any"})
    text = render_summary(facts)
    assert cells(text)[1:] == [
        ["paper", "Theirs (small)", "40.0", "50.0", "45.0", "70.1"],
        ["paper", "Theirs (big)", "60.0", "70.0", "65.0", ""],
        ["ours", "bundled (base)", "50.0", "60.0", "55.0", "82.0*"],
        ["ours", "org/any", "25.0", "", "", "70.0*"],  # a mean needs all its parts
    ]
    assert "A: my-tweets (test), 1,200 rows" in text and text.endswith("*: other data than the paper's.")
    assert json.loads(json.dumps(facts)) == facts


@pytest.mark.parametrize("name", systems())
def test_what_the_papers_print(name):
    paper = get_system(name)(load_recipe(f"{name}-demo")).paper
    assert paper.citation.startswith("@") and paper.setup and "/" in paper.base
    assert paper.printed(paper.headline | {"data": paper.headline.get("data", [])})
    if paper.summary is None:
        return
    # a mistyped figure shows: a printed mean and that of the printed parts differ by no more than rounding
    columns = list(paper.summary["columns"].values())
    for row, values in paper.summary["rows"].items():
        for keys, value in zip(columns, values, strict=True):
            if isinstance(keys, list):
                parts = [values[columns.index(key)] for key in keys]
                assert np.mean(parts) == pytest.approx(value, abs=0.1 + 1e-9), row


def test_demonstrations_are_measured_as_queries_and_documents_where_these_differ():
    class Chosen:
        """An encoder of one dimension that is chosen by the test."""

        def __init__(self, **numbers):
            self.encode = self.encode_query = lambda texts: [numbers[text] for text in texts]
            self.encode_document = lambda texts: [-numbers[text] for text in texts]
            self.similarity = lambda first, second: first[0] * second[0]

    encoders = {"base": Chosen(a=1.0, b=0.6), "trained": Chosen(a=1.0, b=-1.0)}
    for asymmetric, sign in ((False, 1), (True, -1)):
        system = SimpleNamespace(ASYMMETRIC=asymmetric, DEMONSTRATIONS=[("a", "b", "opposite")])
        (row,) = demonstrate(system, encoders)
        assert row["cosines"] == {"base": sign * 0.6, "trained": -sign}
