"""Ranking of counter-arguments, worked out on seven texts in the plane."""

import numpy as np
import pytest
import torch

from modeling.bipolar_heads import BipolarHeads
from modeling.counter_evaluators import LEARNED, CounterargumentEvaluator, Heads, rank_all
from modeling.counterarguments.candidates import Candidates

# debate, stance, point, counter, seen_in
ROWS = [
    ("one", "pro", "p0", "c0", ""),
    ("one", "pro", "p1", "c1", "train"),
    ("one", "con", "p2", "c2", ""),
    ("two", "pro", "p3", "c3", ""),
]


def columns():
    debates, stances, points, counters, seen = zip(*ROWS, strict=True)
    return {"debate": debates, "theme": ["town"] * 4, "stance": stances, "point": points, "counter": counters,
            "conclusion": points, "premises": [""] * 4, "seen_in": seen}  # fmt: skip


def vectors(**degrees):
    """Unit vectors of the texts in the order of the candidates."""
    angles = np.deg2rad([degrees[text] for text in Candidates(columns()).texts])
    return torch.tensor(np.stack([np.cos(angles), np.sin(angles)], axis=1), dtype=torch.float32)


# p0 is nearest to p1, then c2, then c1, then c0; p1 to p0; p2 to its counter; p3 to c3
ANGLES = {"p0": 0, "p1": 5, "c2": -10, "c1": 20, "c0": -30, "p2": -14, "p3": 90, "c3": 95}


def test_candidates_of_the_settings_decide():
    ranked = rank_all(Candidates(columns()), vectors(**ANGLES), None)
    # sdoc: counters of points of the same debate and side; sda: of the debate; epc: all counters; epa: everything
    assert ranked.hits["sdoc"].tolist() == [False, True, True, True]  # p0: c1 at 20 before c0 at -30
    assert ranked.hits["epc"].tolist() == [False, False, True, True]  # p1: c2 and c1 are 15 away, the first wins
    assert ranked.hits["epa"].tolist() == [False, False, True, True]
    assert ranked.hits["retrieval"].tolist() == ranked.hits["epa"].tolist()
    assert ranked.recall == {10: 1.0, 30: 1.0, 50: 1.0} and ranked.weight is None


def heads_for(odds):
    """Heads that keep similarities, with a classifier whose log-odds are those of the candidate's first coordinate."""
    heads = BipolarHeads(2, difference=False)
    heads.norm = torch.nn.Identity()
    with torch.no_grad():
        heads.classifier.bias.zero_()
        heads.classifier.weight.copy_(torch.tensor([[0.0] * 4, odds]))
    return heads


def test_the_classifier_re_ranks():
    # log-odds are minus ten times the candidate's y: the lowest angle wins
    heads = heads_for([0.0, 0.0, 0.0, -10.0])
    ranked = rank_all(Candidates(columns()), vectors(**ANGLES), Heads(heads, None))
    # c0 is at -30, lowest of all: the answer of p0 alone
    assert ranked.hits["epa"].tolist() == [True, False, False, False]
    assert ranked.hits["classification_10"].tolist() == [True, False, False, False]
    assert ranked.hits["retrieval"].tolist() == [False, False, True, True]


def test_a_weight_joins_the_scores_and_is_learned():
    heads = heads_for([0.0, 0.0, 0.0, -1.0])
    candidates, texts = Candidates(columns()), vectors(**ANGLES)
    none = rank_all(candidates, texts, Heads(heads, 0.0))
    assert none.hits["epa"].tolist() == none.hits["retrieval"].tolist()
    accuracies = {w: rank_all(candidates, texts, Heads(heads, w)).hits["epa"].mean() for w in (0.0, 0.2, None)}
    learned = rank_all(candidates, texts, Heads(heads, LEARNED))
    assert learned.hits["epa"].mean() >= max(accuracies.values())
    assert learned.weight == 0.0  # nothing beats retrieval alone, and of equals the smallest is taken


def test_metrics_have_the_unseen_part():
    facts = {"title": "counters", "dataset": "towns", "dataset_id": "towns"}
    evaluator = CounterargumentEvaluator(columns(), **facts)
    found = evaluator.prefixed(rank_all(evaluator.candidates, vectors(**ANGLES), None))
    assert found["counters_accuracy_epa"] == pytest.approx(2 / 4)
    assert found["counters_accuracy_epa_unseen"] == pytest.approx(2 / 3) and found["counters_n_unseen"] == 3
    assert found["counters_accuracy_sdoc"] == pytest.approx(3 / 4)
    assert found["counters_classification_10"] is None and found["counters_recall_10"] == 1.0
