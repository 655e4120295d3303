"""SentiCSE: both losses by hand, leaks, the system, its evaluators and the paper's figures."""

from functools import partial
from math import exp, log, sqrt

import pytest
import torch
from datasets import Dataset
from torch import nn
from transformers import BertConfig, BertForMaskedLM

from dataset_scripts.base.quality import bare
from modeling.base.models import resolve
from modeling.senticse import Options
from modeling.senticse import system as senticse
from modeling.senticse.evaluation import SgtsEvaluator
from modeling.senticse.losses import SenticseLoss
from modeling.senticse.system import SenticseSystem, without_leaks
from modeling.senticse.words import WordPolarity, load_head
from tests.modeling.base.test_evaluation import FACTS, Chosen, pairs
from tests.tiny import VOCABULARY

ROW = ["we love the trams every day", "the trams are great for visitors", "we hate the trams", "the trams are awful"]


@pytest.fixture
def make(make_system, tiny_data):
    """A function that makes a system on the tiny encoder and data."""
    return partial(make_system, "senticse-demo", lexicon=tiny_data, masking=1, max_length=32, lora_rank=4)


def unit(degrees):
    angle = torch.deg2rad(torch.tensor(degrees))
    return torch.stack([angle.cos(), angle.sin()], dim=1)


def test_sentence_loss_by_hand():
    # two quadruples on the circle, vectors of other lengths than one: p at 0 and 270 degrees, n at 90 and 180. The
    # cosine of a row's two positives is 1, like that of its negatives; p has 0 and -1 with both n, and n with both p+
    p, n = unit([0.0, 270.0]), unit([90.0, 180.0])
    loss = SenticseLoss(None, Options(tau=0.5, alpha=2.0))
    value = loss.compute_sentence_from_embeddings([p, 3 * p, n, 2 * n]).item()
    # share of the partner: e^2 / (e^2 + 2 (e^0 + e^-2)), the same four times; two of them per quadruple
    expected = -2 * log(exp(2) / (exp(2) + 2 * (1 + exp(-2))))
    assert value == pytest.approx(expected, rel=1e-5)


class Fixed(nn.Module):
    """A head that scores the masked tokens as it was told, whatever the vectors are."""

    def __init__(self, probabilities):
        super().__init__()
        rows = []
        for row in probabilities:
            rest = (1 - sum(row.values())) / (len(VOCABULARY) - len(row))
            rows.append([row.get(word, rest) for word in VOCABULARY])
        self.logits = torch.tensor(rows).log()

    def forward(self, hidden):
        assert len(hidden) == len(self.logits)
        return self.logits


# great (+) is taken for good (+), awful (-) for trams (neither), love (+) for hate (-); trams is no candidate
PREDICTED = [{"good": 0.5, "great": 0.25}, {"trams": 0.5, "awful": 0.25}, {"hate": 0.5, "love": 0.125}]
WORDS = {"great": 1, "good": 1, "love": 1, "awful": -1, "hate": -1}


@pytest.mark.parametrize(
    ("reduction", "expected"),
    # without the polarity of the original: awful, whose own probability is 1/4, and love, 1/8
    [("sum", log(4) + log(8)), ("mean", (log(4) + log(8)) / 3)],
)
def test_word_loss_of_four_words_by_hand(make, reduction, expected):
    model = make().build_model()
    polarity = WordPolarity(model.tokenizer, WORDS)
    options = Options(lambda_w=1, masking=1, word_reduction=reduction)
    mask = model.tokenizer.mask_token_id
    loss = SenticseLoss(model, options, polarity, Fixed(PREDICTED), mask)
    seen = []
    model[0].register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]["input_ids"].tolist()))
    features = [dict(model.preprocess(["great awful trams love"])), dict(model.preprocess(["the town"]))]
    assert loss.predict_words(features).item() == pytest.approx(expected, rel=1e-5)
    (texts,) = seen
    (ids,) = texts  # the text without such words is not encoded again
    assert ids[3] == VOCABULARY.index("trams")
    assert ids[0] == VOCABULARY.index("[CLS]") and ids[5] == VOCABULARY.index("[SEP]")
    assert [ids[i] for i in (1, 2, 4)] == [mask] * 3


def test_nothing_to_predict_costs_nothing(make):
    system = make()
    model = system.build_model()
    loss = system._loss(model)
    value = loss.predict_words([dict(model.preprocess(["the town", "trams"]))])
    value.backward()
    assert value.item() == 0
    assert loss.head.dense.weight.grad.abs().max() == 0  # not None: other processes wait for it


def test_gradients_reach_encoder_and_head(make):
    system = make(lora="false")
    model = system.build_model()
    loss = system._loss(model)
    parts = loss([dict(model.preprocess([text] * 2)) for text in ROW], None)
    assert set(parts) == {"sentence", "word"}
    parts["word"].backward()
    assert loss.head.dense.weight.grad.abs().max() > 0 and loss.head.bias.grad.abs().max() > 0
    # the embeddings are shared: kites are in no text, but one of the words to choose from
    assert model[0].model.get_input_embeddings().weight.grad[VOCABULARY.index("kites")].abs().max() > 0
    # the trainer keeps and resumes what the loss owns: the head, and not the embeddings, which are the encoder's
    owned = {name for name, each in loss.named_parameters() if not name.startswith("model.")}
    assert owned == {"head.bias", "head.dense.weight", "head.dense.bias", "head.norm.weight", "head.norm.bias"}


def test_the_checkpoint_s_own_head_is_taken(tiny_base, tmp_path, make):
    model = make().build_model()
    config = BertConfig.from_pretrained(tiny_base)
    whole = BertForMaskedLM(config)
    nn.init.constant_(whole.cls.predictions.bias, 0.25)
    whole.save_pretrained(tmp_path / "masked")
    head = load_head(model, resolve(str(tmp_path / "masked"), "org/masked"))
    assert torch.equal(head.dense.weight, whole.cls.predictions.transform.dense.weight)
    assert torch.equal(head.bias, torch.full((len(VOCABULARY),), 0.25))
    # with the encoder's embeddings in the place of its own
    hidden = torch.randn(3, config.hidden_size)
    whole.bert.embeddings.word_embeddings.weight = model[0].model.get_input_embeddings().weight
    whole.cls.predictions.decoder.weight = whole.bert.embeddings.word_embeddings.weight
    assert torch.allclose(head(hidden), whole.cls(hidden), atol=1e-5)


def quadruples(rows):
    return Dataset.from_list([dict(zip(senticse.COLUMNS, row, strict=True)) for row in rows])


def test_sentences_that_are_measured_are_taken_out():
    rows = quadruples([("a", "b", "x", "y"), ("Leaked!", "c", "x", "z"), ("d", "leaked", "y", "z")])
    clean, number = without_leaks(rows, {bare("LEAKED.")}, seed=0)
    assert number == 2  # two spellings of one sentence
    # the second row begins with it; in the third another positive sentence takes its place
    assert clean["positive1"] == ["a", "d"]
    assert clean["positive2"][0] == "b" and clean["positive2"][1] in ("a", "b", "c")
    assert clean["negative1"] == ["x", "y"] and clean["negative2"] == ["y", "z"]
    assert without_leaks(rows, {"nothing"}, seed=0) == (rows, 0)
    with pytest.raises(ValueError, match="train on other data than is measured"):
        without_leaks(rows, {"x", "y"}, seed=0)
    # a partner is another sentence
    rows = quadruples([("a", "leaked", "x", "y"), ("b", "a", "y", "x")] * 20)
    clean, _ = without_leaks(rows, {"leaked"}, seed=0)
    assert all(one != two for one, two in zip(clean["positive1"], clean["positive2"], strict=True))


def test_evaluators(make, tiny_data, second):
    system = make(sentiment=f"{tiny_data}, {second}", max_test_rows=5)
    testing, validating = system.evaluators("test"), system.evaluators("validation")
    assert [each.name for each in testing] == ["sgts_tiny_debates", "sgts_second_debates", "similarity"]
    assert [each.rows for each in testing] == [5, 5, 4]
    assert [each.name for each in validating] == ["sgts", "similarity"]
    assert f"{validating[0].name}_{validating[0].headline[0]}" == SenticseSystem.PRIMARY
    assert validating[0].dataset == "tiny-debates (validation)"
    # of the metric's figures by hand see its own test
    figures = SgtsEvaluator(pairs([0, 1, 0, 1], [0.1, 0.3, 0.5, 0.7]), **FACTS)(Chosen())
    assert figures["sgts_spearman"] == pytest.approx(1 / sqrt(5))
    assert (figures["sgts_mean_same"], figures["sgts_mean_different"]) == pytest.approx((0.5, 0.3))
    assert {f"sgts_{key}" for key in SgtsEvaluator.measures} == set(figures)
    chosen = make(sentiment=f"{tiny_data},{second}", evaluate_on="validation", similarity="none")
    assert [each.name for each in chosen.evaluators("validation")] == ["sgts", "sgts_second_debates"]


def test_the_paper_s_pooling(make):
    model = make(pooling="cls_mlp", lora="false", keep=0).build_model()
    assert [type(module).__name__ for module in model] == ["Transformer", "Pooling", "Dense", "Normalize"]
    model.eval()
    features = model.preprocess(["we love trams"])
    first = model[0](dict(features))["token_embeddings"][:, 0]
    expected = nn.functional.normalize(torch.tanh(model[2].linear(first)), dim=1)
    torch.testing.assert_close(model(dict(features))["sentence_embedding"], expected)
    assert model.max_seq_length == 32 and model.model_card_data.base_model == "org/tiny"
