"""Few-shot classification: draws, a classifier on frozen vectors, and an encoder trained with its head."""

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from modeling.senticse.probing import few_shot
from modeling.senticse.probing.data import load_corpus
from modeling.senticse.probing.few_shot import Classifier, draw, fine_tuned, frozen
from modeling.senticse.probing.linear_probe import Vectors

CLASSES = ["negative", "positive"]
LABELS = np.array([0] * 30 + [1] * 20)


def test_a_draw():
    train, rest = draw(LABELS, CLASSES, 5, seed=0, validation=30)
    assert np.bincount(LABELS[train]).tolist() == [5, 5]
    assert len(rest) == len(set(rest)) == 30 and not set(train) & set(rest)
    again, other = draw(LABELS, CLASSES, 5, seed=0, validation=30), draw(LABELS, CLASSES, 5, seed=1, validation=30)
    assert (again[0].tolist(), again[1].tolist()) == (train.tolist(), rest.tolist())
    assert set(other[0]) != set(train)
    assert len(draw(LABELS, CLASSES, 5, seed=0, validation=500)[1]) == 40  # all that are left


def test_too_few_texts():
    with pytest.raises(ValueError, match="21 training texts per class were asked for, class 'positive' has 20: lower"):
        draw(LABELS, CLASSES, 21, 0)
    with pytest.raises(ValueError, match="1 texts per class leave none of 2 training texts to validate on"):
        draw(np.array([0, 1]), CLASSES, 1, 0)


def test_one_text_per_class_is_enough_where_classes_are_points():
    vectors = np.stack([LABELS, 1 - LABELS], axis=1).astype(np.float32)
    train = Vectors(vectors, LABELS)
    wrong = Vectors(vectors, np.where(np.arange(50) < 10, LABELS, 1 - LABELS))  # but for ten of fifty
    assert frozen(train, train, CLASSES, 1, 0, 10)["accuracy"] == 1.0
    assert frozen(train, wrong, CLASSES, 1, 0, 10)["accuracy"] == 0.2


@pytest.fixture(scope="module")
def corpus(tiny_data, tmp_path_factory):
    return load_corpus(str(tiny_data), "tiny", tmp_path_factory.mktemp("cache"))


def test_the_head_starts_undecided(tiny_base, corpus):
    classifier = Classifier(SentenceTransformer(str(tiny_base)), 2)
    found = classifier(**classifier.collate(list(zip(corpus.test.texts, corpus.test.labels.tolist(), strict=True))))
    assert found["logits"].shape == (12, 2) and not found["logits"].any()
    assert found["loss"].item() == pytest.approx(np.log(2))


def test_training_encoder_and_head(tiny_base, corpus, monkeypatch):
    monkeypatch.setattr(few_shot, "EVALUATE_EVERY", 5)
    monkeypatch.setattr(few_shot, "EPOCHS", 10)
    model = SentenceTransformer(str(tiny_base))
    before = {name: weights.clone() for name, weights in model.state_dict().items()}
    found = fine_tuned(model, corpus, corpus.test, k=24, seed=1, validation=20, learning_rate=5e-3)
    # the words of either side are the same in all topics: what 48 texts show holds on a topic they do not have
    assert found["accuracy"] >= 0.9 and found["validation_accuracy"] >= 0.9
    assert found["steps"] in range(5, 31, 5)  # three steps an epoch
    assert all(torch.equal(weights, before[name]) for name, weights in model.state_dict().items())
    assert fine_tuned(model, corpus, corpus.test, 24, 1, 20, 5e-3) == found


def test_training_stops_when_nothing_gets_better(tiny_base, corpus, monkeypatch):
    monkeypatch.setattr(few_shot, "EVALUATE_EVERY", 1)
    monkeypatch.setattr(few_shot, "PATIENCE", 2)
    evaluated = []
    evaluate = few_shot.Trainer.evaluate
    monkeypatch.setattr(few_shot.Trainer, "evaluate", lambda *a, **k: evaluated.append(1) or evaluate(*a, **k))
    found = fine_tuned(SentenceTransformer(str(tiny_base)), corpus, corpus.test, 1, 0, 20, 1e-12)
    # the first state is the best; two more evaluations, and the one on the test texts
    assert (found["steps"], len(evaluated)) == (1, 4)
