"""What every test shares: no network, a tiny encoder and a tiny data set, made in memory in a fraction of a second."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
if "PYTEST_XDIST_WORKER" in os.environ:  # as many processes as cores: more threads would only wait for each other
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def tiny_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a two-layer BERT encoder of 32 dimensions with random weights."""
    from tests.tiny import save_encoder

    return save_encoder(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture(scope="session")
def tiny_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like those `opinion corpus build` writes, with pairs, triplets and similarity."""
    from tests.tiny import save_data

    return save_data(tmp_path_factory.mktemp("data") / "tiny-debates")


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of real corpora; the test is skipped where there is none."""
    folder = os.environ.get("CORPORA_DIR")
    if not folder:
        pytest.skip("CORPORA_DIR is not set")
    return Path(folder)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A Hub on the loopback address that this process may publish to."""
    from tests.hub_server import HubServer

    with HubServer() as running:
        running.prepare_this_process(monkeypatch, tmp_path / "home")
        yield running


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is loaded as a SentenceTransformer from disk, in order."""
    from sentence_transformers import SentenceTransformer

    paths, load = [], SentenceTransformer.__init__

    def count(self, *args, **options):
        paths.extend(args[:1])
        load(self, *args, **options)

    monkeypatch.setattr(SentenceTransformer, "__init__", count)
    return paths
