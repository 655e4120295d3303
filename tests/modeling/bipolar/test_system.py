"""The Bipolar-encoder: heads and losses by hand, the system's phases, and a run from end to end."""

from math import exp, log, sqrt

import pytest
import torch

from modeling.base.run import run
from modeling.bipolar import Options
from modeling.bipolar.encoder import BipolarEncoder
from modeling.bipolar.heads import BipolarHeads
from modeling.bipolar.losses import BipolarLoss


def heads_of_two(**options):
    """Heads on the plane whose classifier's log-odds are the sum of |u - v|, undone by no norm."""
    heads = BipolarHeads(2, **options)
    heads.norm = torch.nn.Identity()
    with torch.no_grad():
        heads.classifier.bias.zero_()
        heads.classifier.weight.copy_(torch.tensor([[0.0] * 6, [0, 0, 0, 0, 1, 1]]))
    return heads


def plane(*rows):
    return torch.tensor(rows, dtype=torch.float32)


def keys(*rows):
    return [torch.tensor(row) for row in rows]


TRIPLET = [plane([1, 0]), plane([0.6, 0.8]), plane([0, 1])]


def test_the_classifier_by_hand():
    heads = BipolarHeads(1)
    heads.classifier.weight.data = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    heads.classifier.bias.data = torch.tensor([0.0, 2.0])
    # [u; v; |u - v|] = [1, 0, 1] has mean 2/3 and variance 2/9: normalised [0.7071, -1.4142, 0.7071]
    logits = heads.classify(torch.tensor([[1.0]]), torch.tensor([[0.0]]))
    assert torch.allclose(logits, torch.tensor([[0.7071, -0.7071 + 2]]), atol=1e-3)
    # the other way round it is [0, 1, 1]: the order of point and candidate counts
    logits = heads.classify(torch.tensor([[0.0]]), torch.tensor([[1.0]]))
    assert torch.allclose(logits, torch.tensor([[-1.4142, 1.4142 + 2]]), atol=1e-3)


def test_the_papers_loss_by_hand():
    loss = BipolarLoss(None, heads_of_two(normalised=False), Options(margin=1.0))
    parts = loss.compute_loss_from_embeddings(TRIPLET, keys([1], [2], [3]))
    # distances sqrt(.16 + .64) and sqrt(2); log-odds .4 + .8 of the counter and 1 + 1 of the negative
    assert parts["retrieval"].item() == pytest.approx(1 - (sqrt(2) - sqrt(0.8)), abs=1e-4)
    assert parts["classification"].item() == pytest.approx(log(1 + exp(-1.2)) + log(1 + exp(2.0)), abs=1e-5)


def test_ranking_by_hand():
    loss = BipolarLoss(None, heads_of_two(), Options(objective="ranking", scale=2.0, hardest=1))
    points, counters = plane([1, 0], [0, 1]), plane([0.6, 0.8], [0.8, 0.6])
    parts = loss.compute_loss_from_embeddings([points, counters], keys([1, 2], [3, 4]))
    # similarities of the first point: its counter .6, the other counter .8, the other point 0, never itself;
    # those of the second are the same
    assert parts["retrieval"].item() == pytest.approx(log(1 + exp(2 * 0.2) + exp(-2 * 0.6)), abs=1e-5)
    # the hardest is the other counter: log-odds .2 + .6 = .8 of it against .4 + .8 = 1.2 of the right one
    assert parts["classification"].item() == pytest.approx(log(1 + exp(0.8 - 1.2)), abs=1e-5)


def test_copies_are_no_wrong_answers():
    loss = BipolarLoss(None, heads_of_two(), Options(objective="ranking", scale=2.0, hardest=3))
    points, counters = plane([1, 0], [0, 1]), plane([0.6, 0.8], [0.6, 0.8])
    alone = loss.compute_loss_from_embeddings([points, counters], keys([1, 2], [3, 3]))
    # the only wrong answer that is left is the other point, with a similarity of 0
    expected = (log(1 + exp(-2 * 0.6)) + log(1 + exp(-2 * 0.8))) / 2
    assert alone["retrieval"].item() == pytest.approx(expected, abs=1e-5)
    # |u - v| of the other point is 2 for either; of the counter 1.2 and .8
    expected = (log(1 + exp(2 - 1.2)) + log(1 + exp(2 - 0.8))) / 2
    assert alone["classification"].item() == pytest.approx(expected, abs=1e-5)


def test_a_run_from_end_to_end(recipe):
    options = recipe(epochs=1, eval_steps=0.5, learning_rate=0.01, max_test_rows=20, sides="demo")
    results = run(options)
    names = [evaluation["name"] for evaluation in results["evaluations"]]
    assert names == ["clean", "official", "sides", "similarity"]
    assert results["evaluations"][2]["rows"] == 20
    clean = results["evaluations"][0]
    assert clean["rows"] == 12 and 0 <= clean["trained"]["clean_accuracy_epa"] <= 1
    assert clean["base"]["clean_fusion_weight"] is None
    encoder = BipolarEncoder.from_pretrained(str(options.run_dir / "merged"))
    ranking = encoder.rank("we love the trams every day", ["the trams are awful", "we hate the trams every day"])
    assert {row["corpus_id"] for row in ranking} == {0, 1} and ranking[0]["score"] >= ranking[1]["score"]
    # files that are written again have the heads of the phase that is complete, and train nothing
    (options.run_dir / "results.json").unlink()
    again = run(options)
    assert again["evaluations"] == results["evaluations"] and again["phases"] == results["phases"]
    before, after = encoder.heads, BipolarEncoder.from_pretrained(str(options.run_dir / "merged")).heads
    assert all(torch.equal(one, other) for one, other in zip(before.parameters(), after.parameters(), strict=True))
    assert not torch.equal(before.classifier.weight, BipolarHeads(32, shared=False).classifier.weight)
