"""The engines agree; and a mine that is killed goes on from what it had finished."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import daft
import pytest
from daft.execution.udf import UdfHandle

from dataset_scripts.base import engine
from dataset_scripts.base.engine import engine_errors, limit_waiting, start_engine
from dataset_scripts.twitter_stream import parsing
from dataset_scripts.twitter_stream.mining import mine
from dataset_scripts.twitter_stream.options import MiningOptions
from tests.dataset_scripts.twitter_stream.conftest import OPTIONS
from tests.dataset_scripts.twitter_stream.streams import table, tables

ROOT = Path(__file__).parents[3]
PROCESS = {"cwd": ROOT, "env": {**os.environ, "PYTHONPATH": str(ROOT)}, "text": True}


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed")
def test_a_ray_cluster_of_two_workers_gives_the_same_rows(mined, stream, tmp_path):
    command = [sys.executable, "-m", "tests.dataset_scripts.twitter_stream.mine_ray"]
    words = [*command, tmp_path / "out", tmp_path / "work", *stream]
    done = subprocess.run(words, capture_output=True, timeout=300, **PROCESS)
    assert done.returncode == 0, done.stderr[-3000:]
    folder, counts = mined
    assert tables(tmp_path / "out") == {name: table(folder, name) for name in ("coreply", "cr")}
    counted = json.loads(done.stdout.splitlines()[-1])
    assert counted.pop("machines") == 2
    sets = {name: counts.sets[name] for name in ("coreply", "cr")}
    assert counted == {"lines": counts.lines, "tweets": counts.tweets, "sets": sets}


def test_addresses_that_are_none_or_do_not_answer_are_refused(native):
    start_engine("native")  # it may be chosen again
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        with pytest.raises(OSError, match=r"^--address 127\.0\.0\.1:.* no Ray cluster answers"):
            start_engine("ray", f"127.0.0.1:{silent.getsockname()[1]}")
    with pytest.raises(ValueError, match=r"^--address must be host:port .*'head'"):
        start_engine("ray", "head")
    with pytest.raises(ValueError, match=r"^--engine ray: this process works with native already; start another"):
        start_engine("ray")


def test_what_a_killed_worker_wrote_is_not_read(mined, stream, tmp_path, monkeypatch):
    real, left = daft.DataFrame.write_parquet, []

    def write_parquet(frame, folder, **options):
        """Leaves what a worker that was killed would: an empty file, and a whole one that was repeated."""
        written = real(frame, folder, **options)
        for path in map(Path, written.to_pydict()["path"] or ()):
            left.append(Path(shutil.copy(path, path.with_name("again.parquet"))))
            path.with_name("empty.parquet").touch()
        return written

    monkeypatch.setattr(daft.DataFrame, "write_parquet", write_parquet)
    counts = mine(stream, tmp_path / "out", tmp_path / "work", MiningOptions(**OPTIONS), partitions=2)
    assert len(left) >= 20 and not [*(tmp_path / "work").rglob("again.parquet"), *tmp_path.rglob("empty.parquet")]
    assert tables(tmp_path / "out") == tables(mined[0]) and counts == mined[1]


def test_a_worker_that_dies_before_it_connects_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("dataset_scripts.base.engine.CONNECT_SECONDS", 1)
    monkeypatch.setattr(sys, "executable", "/bin/false")  # what the engine starts
    limit_waiting()
    reason = r"^the engine stopped \(a worker process did not connect in 1 s: it died.* give the same command again$"
    with pytest.raises(OSError, match=reason), engine_errors():
        UdfHandle(None)


class Killed(BaseException):
    """Stands for the end of the process."""


def test_a_mine_goes_on_from_what_was_finished(mined, stream, tmp_path, monkeypatch):
    monkeypatch.setattr(parsing, "SMALLEST_SHARD", 1)
    out, work, real = tmp_path / "out", tmp_path / "work", engine.write_rows

    def run():
        return mine(stream, out, work, MiningOptions(**OPTIONS), partitions=2)

    def whole():
        """Folder of a stage -> when it was finished."""
        return {path: path.stat().st_mtime_ns for path in work.rglob("counts.json") if ".tmp" not in str(path)}

    finished = {}
    for after in (4, 10, 10):  # among the links, the pairs and the sets
        calls = []

        def write_rows(frame, folder, calls=calls, after=after):
            calls.append(folder)
            if len(calls) > after:
                (folder / "half.parquet").write_bytes(b"PAR1")
                raise Killed
            real(frame, folder)

        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr(engine, "write_rows", write_rows)
            run()
        now = whole()
        assert len(now.keys() - finished.keys()) <= after < len(calls)
        assert all(now.get(path, stamp) == stamp for path, stamp in finished.items())
        finished = now
    (sets,) = work.glob("paired-*/sets-*")
    (sets.with_name("pairs") / ".00001.1.tmp").mkdir(
        parents=True, exist_ok=True
    )  # of a process that could not clean up
    counts = run()
    assert {*work.rglob("half.parquet"), *work.rglob("*.tmp")} == set()
    assert tables(out) == tables(mined[0]) and counts == mined[1]
