"""Embeddings: computed once, continued after an interruption, and compared row by row."""

import threading

import numpy as np
import pytest

from modeling.base import vectors as embeddings
from modeling.base.adapters import PROBES
from modeling.base.models import load_backbone, resolve
from modeling.base.vectors import embed, pair_similarities
from tests.tiny import TOPICS, arguments, save_encoder

TEXTS = [text for topic in TOPICS[:2] for text in arguments(topic, "pro")]  # 12 different ones


class Spy:
    """Counts the chunks an encoder is given, and fails at one of them if asked to."""

    def __init__(self, model, monkeypatch):
        self.chunks, self.fail_at, self._encode = [], None, model.encode
        monkeypatch.setattr(model, "encode", self)

    def __call__(self, texts, **options):
        if list(texts) != list(PROBES):  # those tell models apart, and are asked for at every call
            if len(self.chunks) == self.fail_at:
                raise KeyboardInterrupt
            self.chunks.append(list(texts))
        return self._encode(texts, **options)


class Chosen:
    """An encoder whose vectors are chosen by the test."""

    vectors = {"a": (1, 0), "b": (0, 1), "c": (0.6, 0.8), "d": (-1, 0), "long": (1.00001, 0)}

    def __init__(self):
        self.asked = []

    def encode(self, texts, **options):
        self.asked.append(texts)
        return np.array([self.vectors[text] for text in texts], dtype=np.float32)


@pytest.fixture(scope="module")
def model(tiny_base):
    return load_backbone(resolve(str(tiny_base), "org/tiny"))


@pytest.fixture
def spy(model, monkeypatch):
    monkeypatch.setattr(embeddings, "CHUNK", 5)
    return Spy(model, monkeypatch)


def test_computed_once_and_read_the_second_time(model, spy, tmp_path):
    first = embed(model, TEXTS, tmp_path)
    assert [len(chunk) for chunk in spy.chunks] == [5, 5, 2]
    assert (first.shape, first.dtype) == ((12, 32), np.float32)
    assert np.linalg.norm(first, axis=1) == pytest.approx(np.ones(12), abs=1e-5)
    second = embed(model, TEXTS, tmp_path)
    assert len(spy.chunks) == 3
    assert np.array_equal(first, second)
    assert first == pytest.approx(model.encode(TEXTS, normalize_embeddings=True), abs=1e-5)
    assert [path.suffix for path in tmp_path.iterdir()] == [".npy"]  # nothing partial is left
    with pytest.raises(ValueError, match="read-only"):
        second[0, 0] = 0


def test_an_interruption_is_continued(model, spy, tmp_path):
    embed(model, TEXTS, tmp_path / "whole")
    spy.chunks.clear()
    spy.fail_at = 2
    with pytest.raises(KeyboardInterrupt):
        embed(model, TEXTS, tmp_path / "cut")
    assert not [path for path in (tmp_path / "cut").glob("*.npy") if ".partial" not in path.name]
    spy.chunks.clear()
    spy.fail_at = None
    embed(model, TEXTS, tmp_path / "cut")
    assert spy.chunks == [TEXTS[10:]]  # ten texts were done
    (whole,), (cut,) = (list((tmp_path / name).iterdir()) for name in ("whole", "cut"))
    assert whole.name == cut.name
    assert whole.read_bytes() == cut.read_bytes()


def test_an_interruption_before_the_first_chunk(model, spy, tmp_path):
    spy.fail_at = 0
    with pytest.raises(KeyboardInterrupt):
        embed(model, TEXTS, tmp_path)
    spy.fail_at = None
    assert np.isfinite(embed(model, TEXTS, tmp_path)).all()
    assert [len(chunk) for chunk in spy.chunks] == [5, 5, 2]


def test_two_runs_at_the_same_time_compute_once(model, spy, tmp_path):
    found, begin = [], threading.Barrier(2)

    def run():
        begin.wait()
        found.append(embed(model, TEXTS, tmp_path))

    runs = [threading.Thread(target=run) for _ in range(2)]
    for thread in runs:
        thread.start()
    for thread in runs:
        thread.join()
    assert len(found) == 2 and np.array_equal(*found)
    assert [len(chunk) for chunk in spy.chunks] == [5, 5, 2]
    assert [path.suffix for path in tmp_path.iterdir()] == [".npy"]


def test_other_texts_another_order_or_another_model_are_another_file(model, tmp_path, monkeypatch):
    other = load_backbone(resolve(str(save_encoder(tmp_path / "other", seed=1)), "org/other"))
    folder = tmp_path / "vectors"
    embed(model, TEXTS[:3], folder)
    assert len(list(folder.iterdir())) == 1
    for count, (encoder, texts) in enumerate(
        [(model, TEXTS[:2]), (model, TEXTS[2::-1]), (model, [TEXTS[0] + TEXTS[1], TEXTS[2]]), (other, TEXTS[:3])], 2
    ):
        embed(encoder, texts, folder)
        assert len(list(folder.iterdir())) == count
    # the probe sentences, by which models are told apart, are shorter than either limit
    monkeypatch.setattr(model[0], "max_seq_length", 40)
    embed(model, TEXTS[:3], folder)
    assert len(list(folder.iterdir())) == 6
    monkeypatch.undo()
    embed(model, TEXTS[:3], folder)
    assert len(list(folder.iterdir())) == 6


def test_no_texts(model, tmp_path):
    with pytest.raises(ValueError, match="there are no texts to embed"):
        embed(model, [], tmp_path)


def test_similarities_of_two_columns():
    model = Chosen()
    # a.c = 0.6, b.c = 0.8, a.a = 1, a.d = -1
    found = pair_similarities(model, [["a", "b", "a", "a"], ["c", "c", "a", "d"]])
    assert found.shape == (1, 4)
    assert found[0] == pytest.approx([0.6, 0.8, 1, -1])
    assert model.asked == [["a", "b", "c", "d"]]  # every text once


def test_similarities_of_three_columns():
    # rows (a, b, c) and (b, c, d): first with second, first with third, second with third
    found = pair_similarities(Chosen(), [["a", "b"], ["b", "c"], ["c", "d"]])
    expected = [[0, 0.8], [0.6, 0], [0.8, -0.6]]  # a.b b.c | a.c b.d | b.c c.d
    assert found == pytest.approx(np.array(expected))


def test_rounding_does_not_leave_the_range():
    assert pair_similarities(Chosen(), [["long"], ["long"]]).tolist() == [[1.0]]


def test_blocks_give_what_one_product_gives():
    vectors = np.random.default_rng(0).normal(size=(7, 3)) / 10
    left, right = np.array([0, 1, 2, 3, 4]), np.array([6, 5, 4, 3, 2])
    expected = [vectors[i] @ vectors[j] for i, j in zip(left, right, strict=True)]
    for block in (1, 2, 5, 100):
        assert embeddings._row_dots(vectors, left, right, block) == pytest.approx(expected, abs=1e-12)


def test_similarities_from_disk(model, spy, tmp_path):
    columns = [TEXTS[:4], TEXTS[4:8]]
    kept = pair_similarities(model, columns, tmp_path)
    assert len(spy.chunks) == 2  # eight texts, five at a time
    assert pair_similarities(model, columns, tmp_path) == pytest.approx(kept, abs=0)
    assert len(spy.chunks) == 2
    assert pair_similarities(model, columns) == pytest.approx(kept, abs=1e-5)
