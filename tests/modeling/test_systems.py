"""What holds for the systems that train one encoder: gradients reach the adapter alone, and similarity can be held."""

import pytest

from modeling.base.keep import KeepSimilarityLoss

PLAIN = {"filter_pairs": "none", "filter_triplets": "none"}
SYSTEMS = {
    "stance": ("stance-demo", PLAIN | {"objective": "hybrid", "margin": 2}),
    "sos-siamese": ("sos-demo", {"objective": "siamese", "margin": 1.9, "normalised": "true"}),
    "sos-triplet": ("sos-demo", {"objective": "triplet", "margin": 1.9, "normalised": "true"}),
    "tweets": ("tweets-demo", {"objective": "mnrl", "batch_size": 4}),
    "tweets-triplet": ("tweets-demo", {"objective": "triplet", "margin": 1.9, "normalised": "true"}),
    "senticse": ("senticse-demo", {"masking": 1}),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_gradients_reach_the_adapter_and_the_loss_alone(make_system, tiny_data, name):
    recipe, options = SYSTEMS[name]
    own = {"lexicon": tiny_data} if name == "senticse" else {}
    system = make_system(recipe, keep=0.5, replay=tiny_data, replay_weight=7, **options, **own)
    data, model = system.load_data(), system.build_model()
    assert set(data.sources) == {"tiny-debates"}
    for phase in system.phases(model, data):
        assert isinstance(phase.loss, KeepSimilarityLoss)
        assert phase.dataset.column_names[-2:] == ["replay", "replay_neighbour"]
        assert (phase.loss.weight, phase.loss.replay_weight) == (0.5, 7)
        model.zero_grad()
        rows = phase.dataset.select(range(2))
        texts = [column for column in rows.column_names if column != "label"]
        labels = rows.with_format("torch")["label"][:] if "label" in rows.column_names else None
        loss = phase.loss([dict(model.preprocess(rows[column])) for column in texts], labels)
        sum(loss.values() if isinstance(loss, dict) else [loss]).backward()
        gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
        assert all(gradients[name] is None for name in gradients if "lora_" not in name)
        moved = [name for name in gradients if "lora_B" in name and gradients[name].abs().max() > 0]
        assert len(moved) == 8  # 2 layers x q, k, v, o
        heads = [parameter for name, parameter in phase.loss.named_parameters() if "classifier" in name]
        assert len(heads) == 2 * (name == "sos-siamese") and all(each.grad.abs().max() > 0 for each in heads)
