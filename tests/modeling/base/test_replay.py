"""Generic texts beside the training rows."""

import pytest
from datasets import Dataset

from modeling.base import replay
from modeling.base.models import load_backbone, resolve
from modeling.base.replay import add_replay

ROWS = Dataset.from_dict({"anchor": [f"text {n}" for n in range(7)]})


@pytest.fixture
def base(tiny_base):
    return load_backbone(resolve(str(tiny_base), "org/tiny"))


def test_every_text_is_used_once_before_any_comes_again(base, tmp_path):
    texts = ["trams are good", "parks are bad", "we love kites", "trams are good"]
    rows = add_replay(ROWS, texts, base, tmp_path, seed=0)
    assert rows["anchor"] == ROWS["anchor"]
    assert sorted(rows["replay"][:3]) == sorted(set(texts)) == sorted(rows["replay"][3:6])
    assert all(one != other for one, other in zip(rows["replay"], rows["replay_neighbour"], strict=True))
    assert set(rows["replay_neighbour"]) <= set(texts)
    again = add_replay(ROWS, texts[::-1], base, tmp_path, seed=0)
    assert again.to_dict() == rows.to_dict()


def test_the_neighbour_is_a_near_one(base, tmp_path, monkeypatch):
    monkeypatch.setattr(replay, "NEIGHBOURS", 1)
    texts = ["we love the trams every day", "we love the trams every night", "awful", "awful ."]
    rows = add_replay(ROWS, texts, base, tmp_path, seed=0)
    pairs = dict(zip(rows["replay"], rows["replay_neighbour"], strict=True))
    assert pairs[texts[0]] == texts[1] and pairs[texts[2]] == texts[3]


def test_one_text_has_no_neighbour(base, tmp_path):
    with pytest.raises(ValueError, match="at least two different texts, got 1"):
        add_replay(ROWS, ["trams", "trams"], base, tmp_path, seed=0)
