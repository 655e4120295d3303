"""Embedding by an engine: the bytes of one process, resumed by part, and an index that is asked as any other."""

import shutil
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

from dataset_scripts.base.engine import start_engine
from modeling.base import runtimes
from modeling.base.models import load_model
from modeling.search import scale
from modeling.search.index import Index
from tests.tiny import TOPICS, arguments

TEXTS = [text for topic in TOPICS[:2] for side in ("pro", "con") for text in arguments(topic, side)]


@pytest.fixture
def exported(tiny_base, tmp_path):
    """A folder of the tiny encoder that also holds what ONNX Runtime reads."""
    folder = shutil.copytree(tiny_base, tmp_path / "exported")
    runtimes.export(load_model(folder), folder, [("onnx", "fp32")])
    return str(folder)


def test_two_workers_write_what_one_process_does_and_keep_what_is_there(exported, tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "PART", 5)
    load, folder, threads = partial(load_model, exported, "onnx"), tmp_path / "parts", torch.get_num_threads()
    folder.mkdir()
    with pa.OSFile(str(tmp_path / "parts.arrow"), "wb") as file:
        table = pa.table({"text": TEXTS})
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    actor = scale.Actor(str(folder), load, 5, 3)
    assert [actor.embed(part) for part in range(5)] == [5, 5, 5, 5, 4]
    torch.set_num_threads(threads)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())}
    for path in list(before)[1:]:
        path.unlink()
    start_engine("native")
    vectors = scale.embed(pa.array(TEXTS), load, folder, 3, workers=2)
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())}
    assert [content for content, _ in after.values()] == [content for content, _ in before.values()]
    assert [path.name for path in before if after[path] == before[path]] == ["000000.npy"]
    expected = load_model(exported).encode_document(TEXTS, normalize_embeddings=True)  # by torch
    assert vectors.dtype == np.float16 and np.abs(vectors - expected).max() < 1e-3


def test_an_index_of_half_precision_is_asked_and_added_to(exported, tmp_path, monkeypatch):
    def embed(texts, load, folder, batch_size, workers):
        """What the engine returns, and where it leaves what."""
        folder.mkdir(parents=True)
        assert isinstance(load()[0].model, runtimes.Runtime)
        vectors = load().encode_document(texts.to_pylist(), normalize_embeddings=True)
        stored = np.lib.format.open_memmap(folder.with_suffix(".npy"), "w+", np.float16, vectors.shape)
        stored[:] = vectors
        return stored

    monkeypatch.setattr(scale, "embed", embed)
    source = pd.DataFrame({"text": TEXTS})
    plain = Index.build(source, tmp_path / "plain", model=exported)
    half = Index.build(source, tmp_path / "half", model=exported, engine=True, backend="onnx")
    assert half.vectors.dtype == np.float16 and plain.vectors.dtype == np.float32
    hits = [index.ask(TEXTS[3], top=6) for index in (plain, half)]
    assert hits[0]["text"].tolist() == hits[1]["text"].tolist()
    assert np.allclose(hits[0]["similarity"], hits[1]["similarity"], atol=2e-3)
    more = half.add(pd.DataFrame({"text": ["One more text."]}))
    assert len(more) == len(TEXTS) + 1 and more.ask(TEXTS[3], top=1)["text"].tolist() == [TEXTS[3]]
