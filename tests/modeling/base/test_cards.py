"""Model cards: what the Hub reads, what a person reads, and what must not stand in them."""

from types import SimpleNamespace

import pytest
import yaml
from huggingface_hub import ModelCard

from modeling.base.cards import render_card
from modeling.base.names import RELEASED, released_models
from modeling.base.publish import released_facts
from modeling.base.recipe import load_recipe

PRIVATE = {"data": "/secret/debates,org/kialo", "similarity": "/secret/stsb", "cache_dir": "/secret/cache"}
RECIPE = PRIVATE | {"base": "/secret/base", "base_id": "org/base", "license": "mit", "seed": "7"}
PHASE = {"name": "pairs", "steps": 38, "rows": 1234, "epochs": 1.5, "seconds": 61.7, "rows_per_second": 39.5}
DEMONSTRATIONS = [
    ("Cats are fine.", "Cats aren't fine.", "opposite stance", 0.91234567, 0.1),
    ("Cats are fine.", 'He said: "cats!"', "same stance", 0.5, 0.87654321),
    ("Dogs bark.", "Dogs make a noise.", "paraphrase", 0.7, 0.8),
]


def evaluation(name, base, trained, caption=None):
    """Facts of an evaluator; `base` and `trained` are dicts of measure -> figure, all of which the card shows."""
    figures = [{f"{name}_{key}": value for key, value in each.items()} for each in (base, trained)]
    return {
        "name": name,
        "title": f"what {name} is",
        "dataset": "kialo (test)",
        "dataset_id": "org/kialo",
        "rows": 90,
        "task": "sentence-similarity",
        "headline": list(figures[0]),
        "measures": {key: f"meaning of {key}" for key in figures[0]},
        "base": figures[0],
        "trained": figures[1],
        "caption": caption,
        "plot": f"plots/{name}.png",
    }


@pytest.fixture
def system():
    return SimpleNamespace(
        recipe=load_recipe("stance-demo", RECIPE),
        paper=SimpleNamespace(citation="@inproceedings{invented, pages = {1--2}}\n"),
        TAGS=["stance"],
        USAGE='\nIts heads: `Heads("{{repo_id}}")`.\n',
        ASYMMETRIC=False,
    )


@pytest.fixture
def results(system):
    """The facts of an invented run."""
    measured = [
        evaluation("stance", {"auroc": 0.5, "kl": 0.1}, {"auroc": 0.876543, "kl": 1.25}, "Picture."),
        evaluation("similarity", {"spearman": 0.81, "found": 2}, {"spearman": None, "found": 0}),
    ]
    rows = [dict(zip(("first", "second", "shows", "base", "trained"), row, strict=True)) for row in DEMONSTRATIONS]
    return {
        "name": "stance-demo",
        "system": "stance",
        "base_model": "org/base",
        "recipe": system.recipe.public_options(),
        "evaluation_options": {"evaluate_on": "test", "license": "mit"},
        "sources": ["debates", "org/kialo"],
        "counts": {"pairs before the filter": 12345, "pairs in training": 1234},
        "trainable_parameters": 2359296,
        "all_parameters": 111845760,
        "phases": [PHASE],
        "evaluations": measured,
        "demonstrations": rows,
        "paper": {"stance_kl": {"table": "Table 2", "base": 0.004, "trained": None}},
        "paper_setup": "a big encoder on many debates",
        "environment": {"python": "3.11.9", "torch": "2.13.0"},
    }


def parts(card):
    """Front matter and text."""
    start, front, text = card.split("---\n", 2)
    assert start == ""
    return yaml.safe_load(front), text


@pytest.mark.parametrize("name", released_models())
def test_a_released_card_says_what_was_measured(name):
    # after a change of prose or template: python -c "from modeling.base.publish import *; write_released_cards()"
    assert (RELEASED / name / "README.md").read_text(encoding="utf-8") == render_card(*released_facts(name), "released")


def test_front_matter_of_the_merged_model(system, results):
    card = render_card(system, results, "merged")
    front, _ = parts(card)
    (index,), widget = front.pop("model-index"), front.pop("widget")
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
    assert index["name"] == "stance-demo"
    figures = {metric["type"]: metric["value"] for result in index["results"] for metric in result["metrics"]}
    assert figures == {"auroc": 0.8765, "kl": 1.25, "found": 0}  # of what could not be measured there is no result
    assert {tuple(result["dataset"][key] for key in ("type", "name", "split")) for result in index["results"]} == {
        ("org/kialo", "kialo (test)", "test")
    }
    assert len(ModelCard(card).data.eval_results) == 3  # the Hub reads them
    assert "datasets" not in parts(render_card(system, results | {"sources": ["demo"]}, "merged"))[0]


@pytest.mark.parametrize("kind", ["merged", "adapter", "released"])
def test_nothing_private_and_nothing_left_over(system, results, kind):
    card = render_card(system, results, kind)
    assert "/secret" not in card
    assert ("{{repo_id}}" in card) == (kind != "released")  # staging puts the name there
    assert ("{{adapter_repo_id}}" in card) == (kind == "adapter")
    assert "{%" not in card and "{{ " not in card and "\n\n\n" not in card
    assert ("![Picture.](plots/stance.png)" in card) == (kind != "adapter")  # the pictures are published once


def test_usage_is_python_that_works(system, results, monkeypatch):
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

    monkeypatch.setattr("sentence_transformers.SentenceTransformer", Encoder)
    monkeypatch.setattr("modeling.base.models.load_model", Encoder)
    names = {"merged": ["{{repo_id}}"], "adapter": ["org/base", "{{adapter_repo_id}}"], "released": ["stance-demo"]}
    for kind, loaded in names.items():
        calls.clear()
        card = render_card(system, results, kind)
        exec(card.split("```python\n")[1].split("```")[0], {})
        # quotation marks and apostrophes in a text do no harm
        assert calls == [*loaded, ["Cats are fine.", "Cats aren't fine.", 'He said: "cats!"']]
        assert f'embeddings[1:]))\n```\n\nIts heads: `Heads("{loaded[-1]}")`.\n\n' in card
    system.ASYMMETRIC = True
    code = render_card(system, results, "merged")
    assert "print(model.similarity(model.encode_query(texts[:1]), model.encode_document(texts[1:])))\n" in code
