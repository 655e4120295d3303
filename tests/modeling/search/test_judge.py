"""A cross-encoder that judges hits: its verdicts by hand, calibrated, from a folder, and models that are none."""

import numpy as np
import pytest
import torch
from scipy.special import expit
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

from modeling.search.coded import Coded
from modeling.search.judge import Judge
from tests.tiny import VOCABULARY

LABELS = ["entailment", "neutral", "contradiction"]


def save_judge(folder, labels):
    """A cross-encoder of random weights."""
    torch.manual_seed(0)
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=len(VOCABULARY), id2label=dict(enumerate(labels)), **sizes)
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def judge_of(monkeypatch, folder, labels, logits):
    """A judge whose model answers with these logits, in its own order."""
    judge = Judge(save_judge(folder, labels))
    monkeypatch.setattr(judge.model, "predict", lambda pairs, **options: np.array(logits, np.float32))
    return judge


def test_verdicts_of_three_labels_and_of_one(tmp_path, monkeypatch):
    three = judge_of(monkeypatch, tmp_path / "three", LABELS, np.log([[6, 3, 1], [1, 8, 1], [2, 2, 6]]))
    found = three(["a", "b", "c"], ["s"] * 3)
    assert found["verdict"].tolist() == ["agrees", "open", "opposes"]
    assert found["probability"].tolist() == pytest.approx([0.6, 0.8, 0.6], rel=1e-5)
    one = judge_of(monkeypatch, tmp_path / "one", ["score"], [[2], [-1]])
    assert one(["a", "b"], ["s"] * 2)["probability"].tolist() == pytest.approx([expit(2), expit(1)], rel=1e-5)


def test_a_judge_that_errs_is_less_sure_once_calibrated(tmp_path, monkeypatch):
    labels = np.array([True] * 10 + [False] * 10)
    odds = np.where(labels, 4.0, -4.0)
    odds[[0, 1, 10, 11]] *= -1  # a fifth is wrong
    judge = judge_of(monkeypatch, tmp_path / "one", ["score"], odds[:, None])
    assert judge(["t"] * 20, ["s"] * 20)["probability"].max() > 0.98
    measured = judge.calibrate(Coded("coded.csv", ["t"] * 20, labels, {}), "s")
    assert measured["auroc"].tolist() == [pytest.approx(0.8)]
    assert judge(["t"] * 20, ["s"] * 20)["probability"].max() == pytest.approx(
        0.75, abs=0.05
    )  # 16 of 20, and some doubt


def test_models_that_are_no_judges(tmp_path, tiny_base):
    with pytest.raises(ValueError, match="it has no head for pairs of texts; name a model with one score"):
        Judge(tiny_base)
    with pytest.raises(ValueError, match="its labels are good, bad; name a model with one score, or contradiction"):
        Judge(save_judge(tmp_path / "other", ["good", "bad"]))
    with pytest.raises(ValueError, match="could not be loaded"):
        Judge(tmp_path)
