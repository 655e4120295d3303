"""Model cards: what the Hub reads, what a person reads, and what must not stand in them."""

import pytest
import yaml
from huggingface_hub import ModelCard

from modeling.base.cards import render_card
from modeling.base.names import RELEASED, released_models
from modeling.base.publish import released_facts

NAME = "stance-minilm"


@pytest.fixture
def facts():
    """The system of a released model and its facts, with a text that has quotation marks."""
    system, results = released_facts(NAME)
    system.USAGE = '\nIts heads: `Heads("{{repo_id}}")`.\n'
    results["demonstrations"][0]["second"] = 'He said: "I hate it!"'
    results["sources"] = ["debates", "org/kialo"]
    return system, results


@pytest.mark.parametrize("name", released_models())
def test_a_released_card_says_what_was_measured(name):
    # after a change of prose or template: python -c "from modeling.base.publish import *; write_released_cards()"
    assert (RELEASED / name / "README.md").read_text(encoding="utf-8") == render_card(*released_facts(name), "released")


def test_front_matter_of_the_merged_model(facts):
    system, results = facts
    card = render_card(system, results, "merged")
    front = yaml.safe_load(card.split("---\n")[1])
    (index,) = front["model-index"]
    assert (index["name"], front["license"]) == (NAME, results["evaluation_options"]["license"])
    assert (front["base_model"], front["base_model_relation"]) == (results["base_model"], "finetune")
    assert front["datasets"] == ["org/kialo"]  # "debates" is no id on the Hub
    assert set(system.TAGS) < set(front["tags"])
    figures = [metric["value"] for result in index["results"] for metric in result["metrics"]]
    trained = [each["trained"][metric] for each in results["evaluations"] for metric in each["headline"]]
    assert None in trained  # where there was nothing to measure, of which there is no result
    assert sorted(figures) == sorted(round(figure, 4) for figure in trained if figure is not None)
    assert len(figures) == len(ModelCard(card).data.eval_results)  # the Hub reads them
    example, rows = front["widget"][0], results["demonstrations"]
    assert example["source_sentence"] == rows[0]["first"]
    assert example["output"][0] == {"label": 'He said: "I hate it!"', "score": round(rows[0]["trained"], 4)}


@pytest.mark.parametrize("kind", ["merged", "adapter", "released"])
def test_nothing_private_and_nothing_left_over(facts, kind):
    card = render_card(*facts, kind)
    assert not any(place in card for place in ("/home/", "/root/", "/tmp/"))
    assert ("{{repo_id}}" in card) == (kind != "released")  # staging puts the name there
    assert ("{{adapter_repo_id}}" in card) == (kind == "adapter")
    assert "{%" not in card and "{{ " not in card and "\n\n\n" not in card
    assert ("](plots/stance.png)" in card) == (kind != "adapter")  # the pictures are published once


def test_usage_is_python_that_works(facts, monkeypatch):
    system, results = facts
    calls = []

    class Encoder:
        def __init__(self, name):
            calls.append(name)

        load_adapter = __init__

        def encode(self, texts):
            calls.append(texts)
            return texts

        def similarity(self, first, rest):
            return first, rest

    monkeypatch.setattr("sentence_transformers.SentenceTransformer", Encoder)
    monkeypatch.setattr("modeling.base.models.load_model", Encoder)
    first = results["demonstrations"][0]["first"]
    texts = [first, *(row["second"] for row in results["demonstrations"] if row["first"] == first)]
    names = {"merged": ["{{repo_id}}"], "adapter": [results["base_model"], "{{adapter_repo_id}}"], "released": [NAME]}
    for kind, loaded in names.items():
        calls.clear()
        card = render_card(system, results, kind)
        exec(card.split("```python\n")[1].split("```")[0], {})
        assert calls == [*loaded, texts]
        assert f'embeddings[1:]))\n```\n\nIts heads: `Heads("{loaded[-1]}")`.\n\n' in card
    system.ASYMMETRIC = True
    code = render_card(system, results, "merged")
    assert "print(model.similarity(model.encode_query(texts[:1]), model.encode_document(texts[1:])))\n" in code
