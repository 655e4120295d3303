"""Model cards: what the Hub reads, what a person reads, and what must not stand in them."""

import pytest
import yaml
from huggingface_hub import ModelCard, ModelCardData

from dataset_scripts.base.metadata import list_corpora, load_metadata
from modeling.base.cards import METRICS, render_card
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


@pytest.mark.parametrize("name", released_models())
def test_the_hub_reads_all_of_a_card(name, tmp_path):
    system, results = released_facts(name)
    hubs = {load_metadata(corpus).hub for corpus in list_corpora()}
    for kind, page in {"merged": "org/x#", "adapter": "org/x-adapter#", "released": "opinion-transformers#"}.items():
        text = render_card(system, results, kind)
        text = text.replace("{{repo_id}}", "org/x").replace("{{adapter_repo_id}}", "org/x-adapter")
        (tmp_path / "README.md").write_text(text)
        card = ModelCard.load(tmp_path / "README.md", ignore_metadata_errors=False)
        front = card.data.to_dict()
        assert card.content == text and ModelCardData(**front).to_dict() == front
        assert yaml.safe_load(text.split("---\n")[1]) == yaml.safe_load(card.data.to_yaml())
        relation = ("finetune", "sentence-transformers") if kind == "merged" else ("adapter", "peft")
        assert (front["base_model_relation"], front["library_name"]) == relation
        assert front["base_model"] == results["base_model"] and set(system.TAGS) < set(front["tags"])
        assert (front["license"] == "other") == ("license_name" in front) == (page in front.get("license_link", ""))
        assert set(front.get("datasets", [])) <= hubs and set(front["metrics"]) <= set(METRICS.values())
        # the figures of the files that were loaded again, none where there was nothing to measure
        headline = [each["trained"][metric] for each in results["evaluations"] for metric in each["headline"]]
        assert [each.metric_value for each in card.data.eval_results] == [
            round(x, 4) for x in headline if x is not None
        ]
        scores = [row["score"] for example in front["widget"] for row in example["output"]]
        assert sorted(scores) == sorted(round(row["trained"], 4) for row in results["demonstrations"])
        # what it cannot do comes before what it can; then how to load it, and whose work it is
        parts = [text.index(f"\n## {head}\n") for head in ("Where it fails", "Results", "Use", "Licence", "Citation")]
        assert parts == sorted(parts) and system.paper.link in text[parts[-1] :]


def test_what_a_card_knows_of_its_data(facts):
    front = ModelCard(render_card(*facts, "merged")).data
    # "debates" is no id on the Hub, and of stance-mpnet, which taught it, two corpora have one
    assert front.datasets == ["Anthropic/model-written-evals", "ibm-research/argument_quality_ranking_30k", "org/kialo"]
    assert front.metrics == ["roc_auc", "spearmanr"]
    assert {each.dataset_type for each in front.eval_results} >= {"kialo", "sentence-transformers/stsb", "RobZamp/sick"}
    card = render_card(*facts, "released")
    assert "| texts of one discussion and of two (AUROC) " in card and "| kialo (test) " in card
    assert "| 0.971 | 0.913 " in card.split("## Results")[0] and "0.502" not in card.split("## Results")[0]
    assert "name the authors and pass built data on under the same licence" in card.split("## Licence")[1]


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
    names = {"merged": ["{{repo_id}}"], "adapter": [results["base_model"], "{{adapter_repo_id}}"]}
    names["released"] = [results["base_model"], f"model_cards/{NAME}"]
    for kind, loaded in names.items():
        calls.clear()
        card = render_card(system, results, kind)
        exec(card.split("```python\n")[1].split("```")[0], {})
        assert calls == [*loaded, texts]
        ours = NAME if kind == "released" else "{{repo_id}}"
        assert card.index("SentenceTransformer(") < card.index(f'`load_model("{ours}")`')  # needs nothing of ours first
        assert f'.\n\nIts heads: `Heads("{NAME if kind == "released" else loaded[-1]}")`.\n\n' in card
    system.ASYMMETRIC = True
    code = render_card(system, results, "merged")
    assert "print(model.similarity(model.encode_query(texts[:1]), model.encode_document(texts[1:])))\n" in code
