"""What the miner's tests share: the native engine, and one mine of the invented conversations."""

from __future__ import annotations

import pytest

from dataset_scripts.base.engine import start_engine
from dataset_scripts.twitter_stream.mining import mine
from dataset_scripts.twitter_stream.options import MiningOptions
from tests.dataset_scripts.twitter_stream.streams import conversations, write

OPTIONS = {"test": 0.3, "validation": 0.2, "keep_ids": True}


@pytest.fixture(scope="session")
def native():
    """The engine of this process."""
    start_engine("native")


@pytest.fixture(scope="session")
def stream(tmp_path_factory):
    """Three files of the invented conversations."""
    folder, items = tmp_path_factory.mktemp("stream"), conversations()
    third = len(items) // 3
    return [write(folder / f"{n:02}.json.bz2", items[n * third : (n + 1) * third if n < 2 else None]) for n in range(3)]


@pytest.fixture(scope="session")
def mined(native, stream, tmp_path_factory):
    """Folder and counts of a mine of them."""
    folder = tmp_path_factory.mktemp("mined")
    return folder / "out", mine(stream, folder / "out", folder / "work", MiningOptions(**OPTIONS), partitions=1)
