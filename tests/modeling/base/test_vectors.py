"""Vectors: each text computed once per model, continued after an interruption, and compared row by row."""

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import numpy as np
import pytest

from modeling.base import vectors as module
from modeling.base.models import identity, load_backbone, resolve
from modeling.base.vectors import Vectors, pair_similarities, precision
from tests.tiny import TOPICS, arguments, save_encoder

TEXTS = [text for topic in TOPICS[:2] for text in arguments(topic, "pro")]  # 12 different ones


class Spy:
    """Counts the chunks an encoder is given, and fails at one of them if asked to."""

    def __init__(self, model, monkeypatch):
        self.chunks, self.fail_at, self._encode = [], None, model.encode
        monkeypatch.setattr(model, "encode", self)

    def __call__(self, texts, **options):
        if len(self.chunks) == self.fail_at:
            raise KeyboardInterrupt
        self.chunks.append(list(texts))
        return self._encode(texts, **options)


class Chosen:
    """An encoder whose vectors are chosen by the test."""

    vectors = {"a": (1, 0), "b": (0, 1), "c": (0.6, 0.8), "d": (-1, 0), "long": (1.00001, 0), "nan": (np.nan, 0)}

    def encode(self, texts, **options):
        self.asked = texts
        return np.array([self.vectors[text] for text in texts], dtype=np.float32)


@pytest.fixture
def spy(model, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 5)
    return Spy(model, monkeypatch)


def test_each_text_is_computed_once_in_whatever_company(model, spy, tmp_path):
    first = Vectors(model, tmp_path)(TEXTS[:6])
    assert [len(chunk) for chunk in spy.chunks] == [5, 1]
    assert (first.shape, first.dtype, first.flags.writeable) == ((6, 32), np.float32, False)
    assert np.linalg.norm(first, axis=1) == pytest.approx(np.ones(6), rel=1e-5)
    # texts of before in another order, one of them twice, among new ones
    again = Vectors(model, tmp_path)([TEXTS[3], TEXTS[7], TEXTS[0], TEXTS[6], TEXTS[3]])
    assert spy.chunks[2:] == [[TEXTS[7], TEXTS[6]]]
    assert np.array_equal(again[[0, 2, 4]], first[[3, 0, 3]])
    assert again == pytest.approx(spy._encode([TEXTS[n] for n in (3, 7, 0, 6, 3)], normalize_embeddings=True), abs=1e-5)
    in_memory = Vectors(model)
    assert in_memory(TEXTS) == pytest.approx(np.asarray(Vectors(model, tmp_path)(TEXTS)), abs=1e-5)


def test_vectors_of_half_precision_are_never_taken_for_whole_ones(model, tmp_path):
    with precision(True):
        half = Vectors(model, tmp_path)(TEXTS)
    whole = Vectors(model, tmp_path)(TEXTS)
    assert 1e-5 < np.abs(half - whole).max() < 0.02
    with precision(None):
        assert np.array_equal(Vectors(model, tmp_path)(TEXTS), whole)


def test_an_interruption_is_continued(model, spy, tmp_path):
    whole = np.array(Vectors(model, tmp_path / "whole")(TEXTS))
    spy.chunks.clear()
    spy.fail_at = 2
    with pytest.raises(KeyboardInterrupt):
        Vectors(model, tmp_path / "cut")(TEXTS)
    # as a process leaves it that is killed between writing vectors and writing their hashes
    (folder,) = (tmp_path / "cut").iterdir()
    for name, torn in (("vectors", b"x" * 77), ("hashes", b"half")):
        with (folder / name).open("ab") as file:
            file.write(torn)
    spy.chunks.clear()
    spy.fail_at = None
    assert np.array_equal(Vectors(model, tmp_path / "cut")(TEXTS), whole)
    assert list(chain(*spy.chunks)) == TEXTS[10:]


def test_several_at_the_same_time_compute_each_text_once(model, spy, tmp_path):
    begin = threading.Barrier(2)

    def run(_):
        begin.wait()
        return np.array(Vectors(model, tmp_path)(TEXTS))

    with ThreadPoolExecutor(2) as pool:
        assert np.array_equal(*pool.map(run, range(2)))
    assert sorted(chain(*spy.chunks)) == sorted(TEXTS)


def test_another_model_has_other_vectors(model, tmp_path, monkeypatch):
    other = load_backbone(resolve(str(save_encoder(tmp_path / "other", seed=1)), "org/other"))
    identities = {identity(model), identity(other)}
    # it reads fewer tokens; it puts words before a text
    for of, key, value in ((model[0], "max_seq_length", 40), (model, "prompts", {"query": "Reply to: "})):
        with monkeypatch.context() as patch:
            patch.setattr(of, key, value)
            patch.setattr(model, "default_prompt_name", "query" if key == "prompts" else None)
            identities.add(identity(model))
    assert len(identities) == 4 and identity(model) in identities
    ours, theirs = (Vectors(each, tmp_path / "vectors")(TEXTS[:3]) for each in (model, other))
    assert np.abs(ours - theirs).max() > 0.01


def test_what_cannot_be_embedded(model, tmp_path):
    with pytest.raises(ValueError, match="there are no texts to embed"):
        Vectors(model, tmp_path)([])
    with pytest.raises(ValueError, match="no finite vector of 'nan'"):
        Vectors(Chosen())(["a", "nan"])
    Vectors(model, tmp_path)(TEXTS)
    (path,) = tmp_path.glob("*/vectors")
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ValueError, match="damaged: delete it"):
        Vectors(model, tmp_path)(TEXTS)


def test_similarities_of_columns():
    encoder = Chosen()
    # a.c = 0.6, b.c = 0.8, a.a = 1, a.d = -1
    similarities = pair_similarities(encoder, [["a", "b", "a", "a"], ["c", "c", "a", "d"]])
    assert similarities.shape == (1, 4) and similarities[0] == pytest.approx([0.6, 0.8, 1, -1])
    assert encoder.asked == ["a", "b", "c", "d"]  # every text once
    # rows (a, b, c) and (b, c, d): first with second, first with third, second with third
    similarities = pair_similarities(encoder, [["a", "b"], ["b", "c"], ["c", "d"]])
    assert similarities == pytest.approx(np.array([[0, 0.8], [0.6, 0], [0.8, -0.6]]))  # a.b b.c | a.c b.d | b.c c.d
    assert pair_similarities(Chosen(), [["long"], ["long"]]).tolist() == [[1.0]]  # rounding does not leave the range
