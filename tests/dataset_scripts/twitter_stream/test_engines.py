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

from dataset_scripts.twitter_stream import mining, pairing, parsing
from dataset_scripts.twitter_stream.engine import engine_errors, start_engine
from dataset_scripts.twitter_stream.mining import mine
from dataset_scripts.twitter_stream.options import MiningOptions
from tests.dataset_scripts.twitter_stream.conftest import OPTIONS
from tests.dataset_scripts.twitter_stream.streams import tables

ROOT = Path(__file__).parents[3]
PROCESS = {"cwd": ROOT, "env": {**os.environ, "PYTHONPATH": str(ROOT)}, "text": True}


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed")
def test_a_ray_cluster_of_two_workers_gives_the_same_rows(mined, stream, tmp_path):
    command = [sys.executable, "-m", "tests.dataset_scripts.twitter_stream.mine_ray"]
    words = [*command, tmp_path / "out", tmp_path / "work", *stream]
    done = subprocess.run(words, capture_output=True, timeout=300, **PROCESS)
    assert done.returncode == 0, done.stderr[-3000:]
    folder, counts = mined
    assert tables(tmp_path / "out") == tables(folder)
    counted = json.loads(done.stdout.splitlines()[-1])
    assert counted.pop("machines") == 2
    assert counted == {"lines": counts.lines, "tweets": counts.tweets, "sets": counts.sets}


def test_addresses_that_are_none_or_do_not_answer_are_refused(native):
    start_engine("native")  # it may be chosen again
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        with pytest.raises(OSError, match=r"^--address 127\.0\.0\.1:.* no Ray cluster answers"):
            start_engine("ray", f"127.0.0.1:{silent.getsockname()[1]}")
    with pytest.raises(ValueError, match=r"^--address must be host:port .*'head'"):
        start_engine("ray", "head")


def test_what_a_killed_worker_wrote_is_not_read(mined, stream, tmp_path, monkeypatch):
    real, left = daft.DataFrame.write_parquet, []

    def write_parquet(frame, folder, **options):
        """Leaves what a worker that was killed would: an empty file, and a whole one that was repeated."""
        written = real(frame, folder, **options)
        for path in map(Path, written.to_pydict()["path"]):
            left.append(Path(shutil.copy(path, path.with_name("again.parquet"))))
            path.with_name("empty.parquet").touch()
        return written

    monkeypatch.setattr(daft.DataFrame, "write_parquet", write_parquet)
    counts = mine(stream, tmp_path / "out", tmp_path / "work", MiningOptions(**OPTIONS), buckets=2)
    # at least one shard with buckets 0 and 1 and counts, and rows of two buckets
    assert len(left) >= 5 and not [*(tmp_path / "work").rglob("again.parquet"), *tmp_path.rglob("empty.parquet")]
    assert tables(tmp_path / "out") == tables(mined[0]) and counts == mined[1]


def test_a_failure_of_the_engine_says_what_to_do():
    with (
        pytest.raises(OSError, match=r"^the engine stopped \(worker died\); .* give the same command again$"),
        engine_errors(),
    ):
        raise RuntimeError("a worker\nworker died\n")


class Killed(BaseException):
    """Stands for the end of the process."""


def stamps(folder, pattern):
    """File -> when it was written; not those of folders that are being written."""
    files = [path for path in folder.glob(pattern) if path.is_file() and ".tmp" not in str(path.relative_to(folder))]
    return {path: path.stat().st_mtime_ns for path in files}


def test_a_mine_goes_on_from_the_shards_and_buckets_that_were_finished(mined, stream, tmp_path, monkeypatch):
    monkeypatch.setattr(mining, "SMALLEST_SHARD", 1)
    out, work = tmp_path / "out", tmp_path / "work"

    def run(**options):
        return mine(stream, out, work, MiningOptions(**OPTIONS, **options), buckets=3)

    def killed(module, name, place, after):
        """Runs until a function is called again after so many times, and leaves half of what it writes."""
        real, calls = getattr(module, name), []

        def function(*arguments):
            calls.append(name)
            if len(calls) > after:
                arguments[place].mkdir(exist_ok=True, parents=True)
                (arguments[place] / "half.parquet").write_bytes(b"PAR1")
                raise Killed
            return real(*arguments)

        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr(module, name, function)
            run()

    killed(parsing, "_parse_shard", 1, after=2)
    shards = stamps(work, "rows/shard-*/*/*.parquet")
    assert len({path.parts[-3] for path in shards}) == 2 and list((work / "rows").glob("*.tmp"))
    killed(pairing, "_pair_bucket", 2, after=1)
    (paired,) = work.glob("paired-*")
    assert [path.name for path in paired.glob("bucket-*")] == ["bucket-0"]
    (paired / ".bucket-1.1.tmp").mkdir()  # of a process that could not clean up
    (paired / ".bucket-1.1.tmp" / "half.parquet").write_bytes(b"PAR1")
    buckets = stamps(paired, "bucket-0/**/*")
    counts = run()
    assert shards.items() < stamps(work, "rows/shard-*/*/*.parquet").items()
    assert buckets and buckets.items() <= stamps(paired, "bucket-0/**/*").items()
    assert not list((work / "rows").glob("*.tmp"))
    assert tables(out) == tables(mined[0]) and counts == mined[1]
    run(positives=4)  # what was paired with other options is removed
    assert list(work.glob("paired-*")) != [paired] and len(list(work.glob("paired-*"))) == 1
