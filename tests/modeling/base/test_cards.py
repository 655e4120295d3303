"""Model cards: what the Hub reads, what a person reads, and what must not stand in them."""

from types import SimpleNamespace

import pytest
import yaml
from huggingface_hub import ModelCard

from modeling.base.cards import FOLDER, render_card, write_cards
from modeling.base.recipe import load_recipe
from modeling.base.results import public_options

PRIVATE = {"data": "/secret/debates,org/kialo", "similarity": "/secret/stsb", "cache_dir": "/secret/cache"}
RECIPE = PRIVATE | {"base": "/secret/base", "base_id": "org/base", "license": "mit", "seed": "7"}
PHASE = {"name": "pairs", "steps": 38, "rows": 1234, "epochs": 1.5, "seconds": 61.7, "rows_per_second": 39.5}
DEMONSTRATIONS = [
    ("Cats are fine.", "Cats aren't fine.", "opposite stance", 0.91234567, 0.1),
    ("Cats are fine.", 'He said: "cats!"', "same stance", 0.5, 0.87654321),
    ("Dogs bark.", "Dogs make a noise.", "paraphrase", 0.7, 0.8),
]


def evaluation(name, headline, base, trained, caption=None):
    return {
        "name": name, "title": f"what {name} is", "dataset": "kialo (test)", "dataset_id": "org/kialo", "rows": 90,
        "task": "sentence-similarity", "headline": [f"{name}_{key}" for key in headline],
        "base": {f"{name}_{key}": value for key, value in base.items()},
        "trained": {f"{name}_{key}": value for key, value in trained.items()},
        "caption": caption, "plot": f"plots/{name}.png", "measures": {f"{name}_{key}": f"the {key}" for key in base},
    }  # fmt: skip


@pytest.fixture
def system():
    return SimpleNamespace(
        recipe=load_recipe("stance-demo", RECIPE),
        paper=SimpleNamespace(citation="@inproceedings{invented, pages = {1--2}}\n"),
        TAGS=["stance"],
        USAGE="",
        ASYMMETRIC=False,
        SOURCES=("stance", "similarity", "inference"),
    )


@pytest.fixture
def results(system):
    """The facts of an invented run."""
    return {
        "name": "stance-demo",
        "system": "stance",
        "base_model": "org/base",
        "recipe": public_options(system),
        "evaluation_options": {"evaluate_on": "test"},
        "sources": ["debates", "org/kialo"],
        "counts": {"pairs before the filter": 12345, "pairs in training": 1234},
        "trainable_parameters": 2359296,
        "all_parameters": 111845760,
        "phases": [PHASE],
        "evaluations": [
            evaluation(
                "stance", ["auroc", "kl"], {"auroc": 0.5, "kl": 0.1}, {"auroc": 0.876543, "kl": 1.25}, "Picture."
            ),
            evaluation("similarity", ["spearman"], {"spearman": 0.81}, {"spearman": 0.79}),
        ],
        "demonstrations": [
            dict(zip(("first", "second", "shows", "base", "trained"), row, strict=True)) for row in DEMONSTRATIONS
        ],
        "paper": {"stance_kl": {"table": "Table 2", "base": 0.004, "trained": None}},
        "paper_setup": "a big encoder on many debates",
        "summary": None,
        "environment": {"python": "3.11.9", "torch": "2.13.0"},
    }  # fmt: skip


def parts(card):
    """Front matter and text."""
    start, front, text = card.split("---\n", 2)
    assert start == ""
    return yaml.safe_load(front), text


def test_front_matter_of_the_merged_model(system, results):
    front, _ = parts(render_card(system, results, "merged"))
    index = front.pop("model-index")
    widget = front.pop("widget")
    assert front == {
        "language": "en",
        "license": "mit",
        "library_name": "sentence-transformers",
        "pipeline_tag": "sentence-similarity",
        "base_model": "org/base",
        "base_model_relation": "finetune",
        "datasets": ["org/kialo"],  # "debates" is no id on the Hub
        "tags": ["sentence-transformers", "sentence-similarity", "feature-extraction", "stance"],
    }
    assert widget == [
        {
            "source_sentence": "Cats are fine.",
            "sentences": ["Cats aren't fine.", 'He said: "cats!"'],
            "output": [{"label": "Cats aren't fine.", "score": 0.1}, {"label": 'He said: "cats!"', "score": 0.8765}],
        },
        {
            "source_sentence": "Dogs bark.",
            "sentences": ["Dogs make a noise."],
            "output": [{"label": "Dogs make a noise.", "score": 0.8}],
        },
    ]
    (entry,) = index
    assert entry["name"] == "stance-demo"
    found = {metric["type"]: metric["value"] for result in entry["results"] for metric in result["metrics"]}
    assert found == {"auroc": 0.8765, "kl": 1.25, "spearman": 0.79}
    assert {(result["dataset"]["type"], result["dataset"]["name"], result["dataset"]["split"])
            for result in entry["results"]} == {("org/kialo", "kialo (test)", "test")}  # fmt: skip


def test_what_could_not_be_measured_is_no_result(system, results):
    found = evaluation("alignment", ["a_precision", "a_retrieved"], {"a_precision": 0.5, "a_retrieved": 2},
                       {"a_precision": None, "a_retrieved": 0})  # fmt: skip
    front, text = parts(render_card(system, results | {"evaluations": [found]}, "merged"))
    (entry,) = front["model-index"]
    assert [metric["type"] for result in entry["results"] for metric in result["metrics"]] == ["a_retrieved"]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "kialo (test)" in line]
    assert rows == [["alignment_a_precision", "kialo (test)", "90", "0.500", ""],
                    ["alignment_a_retrieved", "kialo (test)", "90", "2", "0"]]  # fmt: skip


def test_front_matter_of_the_adapter(system, results):
    front, _ = parts(render_card(system, results, "adapter"))
    assert (front["base_model"], front["base_model_relation"]) == ("org/base", "adapter")
    assert front["library_name"] == "peft"
    assert front["tags"][-2:] == ["lora", "peft"]
    assert "model-index" not in front  # the figures are those of the merged files


def test_no_data_set_on_the_hub(system, results):
    front, _ = parts(render_card(system, results | {"sources": ["demo"]}, "merged"))
    assert "datasets" not in front


@pytest.mark.parametrize("kind", ["merged", "adapter"])
def test_the_hub_can_load_it(system, results, kind):
    card = ModelCard(render_card(system, results, kind))
    assert card.data.license == "mit"
    assert card.data.base_model == "org/base"
    if kind == "merged":
        assert sorted(result.metric_value for result in card.data.eval_results) == [0.79, 0.8765, 1.25]


@pytest.mark.parametrize("kind", ["merged", "adapter"])
def test_nothing_private_and_nothing_left_over(system, results, kind):
    card = render_card(system, results, kind)
    assert "/secret" not in card
    assert "{{repo_id}}" in card  # staging puts the name there
    assert ("{{adapter_repo_id}}" in card) == (kind == "adapter")
    assert "$" not in card


def test_text_of_the_merged_model(system, results):
    _, text = parts(render_card(system, results, "merged"))
    lines = text.splitlines()
    assert text.lstrip().startswith("# stance-demo\n")
    assert [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "kialo (test)" in line] == [
        ["stance_auroc", "kialo (test)", "90", "", "0.500", "", "0.877"],  # a cell without a figure stays empty
        ["stance_kl", "kialo (test)", "90", "0.004", "0.100", "", "1.250"],
        ["similarity_spearman", "kialo (test)", "90", "", "0.810", "", "0.790"],
    ]
    assert [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| opposite")] == [
        ["opposite stance", "Cats are fine.", "Cats aren't fine.", "0.91", "0.10"]
    ]
    assert "![Picture.](plots/stance.png)" in lines
    assert "plots/similarity.png" not in text  # it has no picture
    assert "12,345 pairs before the filter, 1,234 pairs in training" in text
    phase = "- pairs: 38 optimiser steps over 1,234 rows (1.5 epochs at most) in 62 s, 40 rows/s"
    assert phase in lines
    assert "- trainable parameters: 2,359,296 of 111,845,760 (2.11 %)" in lines
    assert "a big encoder on many debates" in text
    assert "@inproceedings{invented, pages = {1--2}}" in lines
    assert (FOLDER / "stance" / "README.md").read_text(encoding="utf-8").strip() in text
    assert "Trained with python 3.11.9, torch 2.13.0." in lines
    assert ["|", "seed", "|", "7", "|"] in [line.split() for line in lines]


def usage(card):
    """The Python example of a card."""
    return card.split("```python\n")[1].split("```")[0]


def test_usage_is_python_that_works(system, results):
    calls = []

    class Encoder:
        def __init__(self, name):
            calls.append(name)

        def load_adapter(self, name):
            calls.append(name)

        def encode(self, texts):
            calls.append(texts)
            return texts

        def similarity(self, first, rest):
            return first, rest

    for kind, names in {"merged": ["{{repo_id}}"], "adapter": ["org/base", "{{adapter_repo_id}}"]}.items():
        calls.clear()
        code = usage(render_card(system, results, kind))
        exec(
            code.replace("from sentence_transformers import SentenceTransformer", ""), {"SentenceTransformer": Encoder}
        )
        # quotation marks and apostrophes in a text do no harm
        assert calls == [*names, ["Cats are fine.", "Cats aren't fine.", 'He said: "cats!"']]


def test_queries_and_documents_are_embedded_as_such(system, results):
    system.ASYMMETRIC = True
    code = usage(render_card(system, results, "merged"))
    assert "print(model.similarity(model.encode_query(texts[:1]), model.encode_document(texts[1:])))\n" in code


def test_a_system_adds_its_own_usage(system, results):
    system.USAGE = '\nIts heads: `Heads("{{repo_id}}")`.\n'
    names = {"merged": "{{repo_id}}", "adapter": "{{adapter_repo_id}}", "released": "stance-demo"}
    for kind, name in names.items():
        card = render_card(system, results, kind)
        assert f'embeddings[1:]))\n```\n\nIts heads: `Heads("{name}")`.\n\n' in card


def test_cards_are_written_where_there_is_a_model(system, results, tmp_path):
    (tmp_path / "merged").mkdir()
    write_cards(system, results, tmp_path)
    assert (tmp_path / "merged" / "README.md").read_text(encoding="utf-8") == render_card(system, results, "merged")
    assert not (tmp_path / "adapter").exists()  # all weights were trained
    (tmp_path / "adapter").mkdir()
    write_cards(system, results, tmp_path)
    assert "# stance-demo (LoRA adapter)" in (tmp_path / "adapter" / "README.md").read_text(encoding="utf-8")


def test_a_released_adapter_is_loaded_by_its_name(system, results):
    card = render_card(system, results, "released")
    assert 'model = load_model("stance-demo")' in card
    assert "{{" not in card
    assert "![Picture.](plots/stance.png)" in card
    assert yaml.safe_load(card.split("---")[1])["base_model_relation"] == "adapter"
