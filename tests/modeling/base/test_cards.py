"""Model cards: what the Hub reads, what a person reads, and what must not stand in them."""

import pytest
import yaml
from huggingface_hub import ModelCard, ModelCardData

from dataset_scripts.base.metadata import list_corpora, load_metadata
from modeling.base.cards import METRICS, render_card
from modeling.base.names import RELEASED, released_models
from modeling.base.publish import released_facts


@pytest.fixture
def facts():
    """The system of a released model and its facts."""
    system, results = released_facts("stance-minilm")
    results["sources"] = ["debates", "org/kialo"]
    return system, results


@pytest.mark.parametrize("name", released_models())
def test_the_hub_reads_all_of_a_card_which_says_what_was_measured(name, tmp_path):
    system, results = released_facts(name)
    # after a change of prose or template: python -c "from modeling.base.publish import *; write_released_cards()"
    assert (RELEASED / name / "README.md").read_text(encoding="utf-8") == render_card(system, results, "released")
    hubs = {load_metadata(corpus).hub for corpus in list_corpora()}
    for kind, page in {"merged": "org/x#", "adapter": "org/x-adapter#", "released": "opinion-transformers#"}.items():
        text = render_card(system, results, kind)
        text = text.replace("{{repo_id}}", "org/x").replace("{{adapter_repo_id}}", "org/x-adapter")
        assert not any(part in text for part in ("/home/", "/root/", "/tmp/", "{%", "{{ "))
        assert ("](plots/" in text) == (kind != "adapter")  # the pictures are published once
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
