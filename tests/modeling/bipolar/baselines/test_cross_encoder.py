import numpy as np
import pytest
import torch
from datasets import Dataset
from sentence_transformers import CrossEncoder
from transformers import set_seed

from modeling.bipolar.baselines import cross_encoder, fine_tuning
from modeling.bipolar.baselines.cross_encoder import as_one_logit, build, reranking
from modeling.bipolar.baselines.fine_tuning import FreshNegatives, Settings, candidates_of
from modeling.bipolar.negatives import hard_negatives, random_negatives
from tests.tiny import TOPICS, counters

TRAIN = Dataset.from_list([row for topic in TOPICS[:3] for row in counters(topic)])
VALIDATION = Dataset.from_list(counters(TOPICS[3]))
PAIRS = [("we love the new trams .", "they make the streets worse ."), ("a joy .", "the old town in winter .")]


def settings(base, **changes):
    common = {"data": "tiny", "base": str(base), "base_id": "org/tiny", "max_length": 32, "learning_rate": 1e-3}
    return Settings(**{"kind": "cross-encoder", "epochs": 2, "batch_size": 8, "eval_points": 4, **common, **changes})


def run(given, out, cache):
    """Trains as the command does."""
    fine_tuning.claim(given, TRAIN, out, overwrite=False)
    set_seed(given.seed)
    return cross_encoder.train(given, TRAIN, VALIDATION, out, cache)


@pytest.fixture(scope="module")
def trained(tiny_base, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return folder / "cross", run(settings(tiny_base), folder / "cross", folder / "cache")


def test_the_saved_model_scores_with_the_probability_of_class_1(tiny_base):
    model = build(settings(tiny_base))
    assert model.num_labels == 2
    logits = model.predict(PAIRS, show_progress_bar=False)
    as_one_logit(model)
    found = model.predict(PAIRS, show_progress_bar=False)
    expected = np.exp(logits[:, 1]) / np.exp(logits).sum(axis=1)  # softmax, by its definition
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert not np.allclose(found, 0.5)


def test_training_changes_the_weights_and_the_files_have_them(trained, tiny_base):
    out, results = trained
    loaded = CrossEncoder(str(out), local_files_only=True)
    assert (loaded.num_labels, loaded.max_seq_length) == (1, 32)
    untrained = build(settings(tiny_base))
    name = "bert.encoder.layer.0.attention.self.query.weight"
    assert (untrained.model.state_dict()[name] - loaded.model.state_dict()[name]).abs().max() > 1e-4
    assert (results["steps"], results["rows"]) == (8, 36)  # 72 pairs are four batches of 16, the rest is left out
    best = loaded.rank(PAIRS[0][0], [other for _, other in PAIRS])
    assert {"corpus_id", "score"} <= set(best[0]) and 0 <= best[1]["score"] <= best[0]["score"] <= 1


def test_no_training_text_is_written(trained):
    texts = {text for rows in (TRAIN, VALIDATION) for column in ("point", "counter") for text in rows[column]}
    written = [*trained[0].rglob("*.md"), *trained[0].rglob("results.json")]
    assert len(written) == 2
    for path in written:
        content = path.read_text(encoding="utf-8")
        assert not [text for text in texts if text in content]
        assert str(trained[0].parent) not in content


def test_each_epoch_has_other_negatives_and_all_positives(tiny_base, tmp_path, monkeypatch):
    batches = []
    call = FreshNegatives.__call__

    def seen(self, rows):
        batch = call(self, rows)
        batches.append(list(zip(batch["point"], batch["text"], batch["label"].tolist(), strict=True)))
        return batch

    monkeypatch.setattr(FreshNegatives, "__call__", seen)
    run(settings(tiny_base, batch_size=18, max_steps=4), tmp_path / "cross", tmp_path / "cache")
    candidates, points = candidates_of(TRAIN), list(TRAIN["point"])
    for epoch in (1, 2):
        rows = [row for batch in batches[2 * epoch - 2 : 2 * epoch] for row in batch]
        assert sorted(row[:2] for row in rows if row[2] == 1) == sorted(zip(points, TRAIN["counter"], strict=True))
        drawn = random_negatives(candidates, (42, epoch))
        assert sorted(row[:2] for row in rows if row[2] == 0) == sorted(zip(points, drawn, strict=True))


def test_hard_negatives_are_mined_by_the_base(tiny_base, tmp_path, monkeypatch):
    drawn = []

    def mined(*arguments, **options):
        drawn.append(hard_negatives(*arguments, **options))
        assert (arguments[2], arguments[4], options) == (0.5, "point", {"pool_size": 3})
        return drawn[-1]

    monkeypatch.setattr(cross_encoder, "hard_negatives", mined)
    given = settings(tiny_base, hard=0.5, anchor="point", pool_size=3, max_steps=1)
    run(given, tmp_path / "cross", tmp_path / "cache")
    assert len(drawn) == 1


def test_re_ranking_keeps_to_the_shortlist(tiny_base, tmp_path):
    candidates = candidates_of(VALIDATION)

    class Oracle:
        """Knows the counters, and finds all else equally bad."""

        def predict(self, pairs, **options):
            assert len(pairs) == 3
            right = {
                candidates.texts[point]: answers
                for point, answers in zip(candidates.points, candidates.answers, strict=True)
            }
            return np.array([float(candidates.texts.index(text) in right[point]) for point, text in pairs])

    found = reranking(Oracle(), candidates, settings(tiny_base, shortlist=3, eval_points=100), tmp_path)
    assert found["points measured"] == 12
    # who knows the counters finds them wherever they were retrieved
    assert found["accuracy@1/3, re-ranked"] == found["accuracy@3 of it, the upper limit"]
    assert found["accuracy@1 of the untrained encoder that retrieves"] <= found["accuracy@1/3, re-ranked"]


def test_the_same_seed_gives_the_same_new_layer(tiny_base):
    first, again, other = (build(settings(tiny_base, seed=seed)).model.classifier.weight for seed in (1, 1, 2))
    assert torch.equal(first, again) and not torch.equal(first, other)


def test_more_tokens_than_the_base_has_positions_are_refused(tiny_base):
    with pytest.raises(ValueError, match="--max_length 200 is more than the 128 tokens that org/tiny can read"):
        build(settings(tiny_base, max_length=200))
