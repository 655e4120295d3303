"""Building: a corpus that writes its own Parquet, goes on after an interruption, and may have empty configurations."""

from __future__ import annotations

import json
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataset_scripts import commands
from dataset_scripts.base import build as module
from dataset_scripts.base.build import read_built, shard
from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import Metadata, Option, load_metadata
from dataset_scripts.base.schema import TWEET_PAIRS

RECORD = Metadata(
    **load_metadata("stsb").model_dump()
    | {
        "name": "stream",
        "raw": "a folder of files, one text a line",
        "redistributable": True,
        "configs": {"quote": "lines", "reply": "none"},
        "options": {"keep_work": Option(type="bool", default=False, help="keep the work", published=False)},
        "expected": {},
    }
)


class Stream(Corpus):
    """A line is a row of `quote`; every raw file becomes a Parquet file in the work folder first, and a shard then."""

    METADATA = RECORD
    FEATURES = {"quote": TWEET_PAIRS, "reply": TWEET_PAIRS}
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
