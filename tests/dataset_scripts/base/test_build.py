"""Building: a corpus that writes its own Parquet, goes on after an interruption, and may have empty configurations."""

from __future__ import annotations

import json
from typing import ClassVar

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from filelock import FileLock

from dataset_scripts import commands
from dataset_scripts.base import build as module
from dataset_scripts.base.build import read_built, shard
from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.hub import publish_dataset
from dataset_scripts.base.metadata import Metadata, Option, load_metadata
from dataset_scripts.base.schema import RANKINGS, TWEET_PAIRS

RECORD = Metadata(
    **load_metadata("stsb").model_dump()
    | {
        "name": "stream",
        "raw": "a folder of files, one text a line",
        "redistributable": True,
        "configs": {"quote": "lines", "reply": "none", "dq": "rankings"},
        "options": {"keep_work": Option(type="bool", default=False, help="keep the work", published=False)},
        "expected": {},
    }
)


class Stream(Corpus):
    """A line is a row of `quote`; every raw file becomes a Parquet file in the work folder first, and a shard then."""

    METADATA = RECORD
    FEATURES = {"quote": TWEET_PAIRS, "reply": TWEET_PAIRS, "dq": RANKINGS}
    RESUMABLE = True
    read: ClassVar[list[str]] = []  # names of the raw files, as often as they were read

    def rows(self, files, config):
        raise AssertionError("not called")

    @classmethod
    def write(cls, files, folder, options, configs, work):
        parts = [cls.mine(path, work / f"{path.stem}.parquet") for path in files]
        written = {}
        for name in configs:
            (folder / name).mkdir()
            if name == "quote":
                for number, part in enumerate(parts):
                    (folder / shard(name, "train", number, len(parts))).write_bytes(part.read_bytes())
                pq.write_table(pq.read_table(parts[0]).slice(0, 0), folder / shard(name, "test"))
            if name == "dq" and parts:
                row = {"query": "a", "positives": ["b"], "negatives": ["c", "d"], "group": "1"}
                pq.write_table(pa.Table.from_pylist([row]), folder / shard(name, "test"))
            counted = {"line: too short": 2}, {"files": len(parts)}
            written[name] = read_built(folder, name, cls.FEATURES[name], *counted)
        return written

    @classmethod
    def mine(cls, path, part):
        if part.exists():
            return part
        cls.read.append(path.name)
        lines = path.read_text().split("\n")
        if "interrupt" in lines:
            raise KeyboardInterrupt
        rows = [{"anchor": line, "positive": "p", "group": "g"} for line in lines if line]
        # as Daft writes it
        schema = pa.schema({name: pa.large_string() for name in TWEET_PAIRS})
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), part)
        return part


@pytest.fixture
def raw(tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "list_corpora", lambda: ["stream"])
    monkeypatch.setattr(commands, "load_metadata", lambda name: RECORD)
    monkeypatch.setattr(commands, "get_corpus", lambda name: Stream)
    monkeypatch.setattr(Stream, "read", [])
    folder = tmp_path / "raw"
    folder.mkdir()
    (folder / "1.txt").write_text("one\ntwo\nthree")
    (folder / "2.txt").write_text("four\nfive")
    return folder


def build(raw, out, **options):
    return module.build(Stream, [raw], out, {"seed": 42, **options})


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_several_files_a_split_load_and_publish(raw, tmp_path):
    out = tmp_path / "out"
    summary = build(raw, out)
    shards = ["quote/train-00000-of-00002.parquet", "quote/train-00001-of-00002.parquet"]
    assert names(out) == ["README.md", "dq/test-00000-of-00001.parquet", *shards, "summary.json"]  # no empty test split
    assert summary["configs"]["quote"]["rows"] == {"train": 5}
    assert summary["configs"]["dq"] == {
        "rows": {"test": 1},
        "classes": {},
        "dropped": {"line: too short": 2},
        "facts": {"files": 2},
    }
    assert summary["empty"] == {"reply": {"line: too short": 2}}
    assert summary["files"] == names(out)[:-1]
    header = yaml.safe_load((out / "README.md").read_text().split("---\n")[1])
    assert {config["config_name"]: config["data_files"] for config in header["configs"]} == {
        "quote": [{"split": "train", "path": shards}],
        "dq": [{"split": "test", "path": "dq/test-00000-of-00001.parquet"}],
    }
    loaded = datasets.load_dataset(str(out), "quote", cache_dir=str(tmp_path / "cache"))["train"]
    assert loaded["anchor"][:] == ["one", "two", "three", "four", "five"] and loaded.features == TWEET_PAIRS
    rankings = datasets.load_dataset(str(out), "dq", cache_dir=str(tmp_path / "cache"))["test"]
    assert rankings[0]["negatives"] == ["c", "d"] and rankings.features == RANKINGS
    assert publish_dataset(out, "org/stream", dry_run=True)["files"] == names(out)


def test_an_interrupted_build_goes_on(raw, tmp_path, capsys, corpus):
    out, work = tmp_path / "built" / "out", tmp_path / "built" / ".out-work"
    (raw / "2.txt").write_text("interrupt")
    with pytest.raises(KeyboardInterrupt):
        build(raw, out)
    assert names(work) == [".lock", "1.parquet"] and not out.exists()
    assert capsys.readouterr().err == f"The same command goes on from what is in {work}; remove that to start afresh.\n"
    killed = out.with_name(".out.123.tmp")  # what a killed process leaves
    killed.mkdir()
    other = out.with_name(".out2.123.tmp")
    other.mkdir()
    result = corpus("build", "stream", raw, "-o", out)  # again, and without a traceback
    assert result.exit_code == 130 and "start afresh.\n" in result.stderr and Stream.read[1:] == ["2.txt", "2.txt"]
    (raw / "2.txt").write_text("four\nfive")
    assert build(raw, out)["configs"]["quote"]["rows"] == {"train": 5}
    assert Stream.read == ["1.txt", "2.txt", "2.txt", "2.txt"]
    assert sorted(path.name for path in out.parent.iterdir()) == [".out2.123.tmp", "out"]


def test_the_work_is_kept_where_that_is_chosen(raw, tmp_path):
    out = tmp_path / "out"
    summary = build(raw, out, keep_work=True)
    # it changes no row, so it is no part of what is published
    assert summary["options"] == {"seed": 42} and "keep_work" not in (out / "README.md").read_text()
    assert names(tmp_path / ".out-work") == [".lock", "1.parquet", "2.parquet"]
    build(raw, out, keep_work=True)
    assert Stream.read == ["1.txt", "2.txt"]
    build(raw, out, keep_work=False)
    assert Stream.read == ["1.txt", "2.txt"] and not (tmp_path / ".out-work").exists()


def test_two_builds_of_one_output_and_a_failure_before_any_work(raw, tmp_path):
    (raw / "1.txt").write_bytes(b"\xff")
    with pytest.raises(UnicodeDecodeError):
        build(raw, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]
    Stream.read.clear()
    (tmp_path / ".out-work").mkdir()
    with FileLock(tmp_path / ".out-work" / ".lock"), pytest.raises(BlockingIOError, match=r"another.*out; wait for it"):
        build(raw, tmp_path / "out")
    assert Stream.read == []


def test_no_rows_are_said(raw, tmp_path, corpus):
    out = tmp_path / "out"
    printed = corpus("build", "stream", raw, "-o", out)
    assert "\nreply: no rows\n          2 x line: too short\n" in printed.stdout and not printed.stderr
    before = json.loads((out / "summary.json").read_text())
    result = corpus("build", "stream", raw, "-o", out, "--config", "reply")
    message = (
        "error: stream (reply): no usable row in 2 file(s); it needs a folder of files, one text a line. Dropped: {"
    )
    assert result.exit_code == 2 and message in result.stderr
    assert json.loads((out / "summary.json").read_text()) == before  # the earlier build stays
