"""The trainer: what a loss owns is trained, kept in checkpoints and continued from them."""

import pytest
import torch
from datasets import Dataset
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss, SoftmaxLoss
from transformers import set_seed

from modeling.base.trainer import LOSS_WEIGHTS, Trainer
from tests.tiny import pairs


@pytest.fixture
def make(tiny_base, tmp_path):
    """A function that makes a trainer of a softmax loss on the tiny encoder, four rows a step."""

    def trainer(name, make_loss=None):
        set_seed(7)
        model = SentenceTransformer(str(tiny_base), device="cpu")
        loss = make_loss(model) if make_loss else SoftmaxLoss(model, 32, 2)
        rows = Dataset.from_list(pairs("trams")[:32]).select_columns(["sentence1", "sentence2", "label"])
        arguments = SentenceTransformerTrainingArguments(
            output_dir=str(tmp_path / name), per_device_train_batch_size=4, max_steps=6, save_steps=3, report_to="none",
            save_strategy="steps", learning_rate=1e-2, use_cpu=True, disable_tqdm=True, logging_steps=100,
        )  # fmt: skip
        return Trainer(model=model, args=arguments, train_dataset=rows, loss=loss)

    return trainer


def test_what_a_loss_owns(make):
    assert set(make("one").loss_parameters()) == {"classifier.weight", "classifier.bias"}
    assert make("two", CosineSimilarityLoss).loss_parameters() == {}


def test_it_is_trained_and_continued_from_a_checkpoint(make, tmp_path):
    whole = make("whole")
    before = whole.loss.classifier.weight.detach().clone()
    whole.train()
    stored = load_file(tmp_path / "whole" / "checkpoint-3" / LOSS_WEIGHTS)
    assert (stored["classifier.weight"] - before).abs().max() > 1e-3
    assert (stored["classifier.weight"] - whole.loss.classifier.weight).abs().max() > 1e-3
    # another start, so that nothing but the checkpoint can bring the two together
    resumed = make("whole")
    torch.nn.init.constant_(resumed.loss.classifier.weight, 0.5)
    resumed.train(resume_from_checkpoint=str(tmp_path / "whole" / "checkpoint-3"))
    for name, parameter in whole.loss_parameters().items():
        assert torch.equal(parameter, resumed.loss_parameters()[name])
    for one, other in zip(whole.model.parameters(), resumed.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_loss_that_owns_nothing_writes_nothing(make, tmp_path):
    make("plain", CosineSimilarityLoss).train()
    assert (tmp_path / "plain" / "checkpoint-6" / "model.safetensors").is_file()
    assert not list((tmp_path / "plain").rglob(LOSS_WEIGHTS))
