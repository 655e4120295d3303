"""Building a corpus that goes on after an interruption, and whose configurations may be empty."""

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataset_scripts import commands
from dataset_scripts.base.build import read_built, shard
from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import Metadata, load_metadata
from dataset_scripts.base.schema import TWEET_PAIRS

CONFIGS = {"quote": "one row", "reply": "none"}
RECORD = Metadata(**load_metadata("stsb").model_dump() | {"name": "stream", "configs": CONFIGS, "expected": {}})


class Stream(Corpus):
    """Is interrupted when it has written its row to the work folder; the next time it takes that."""

    METADATA = RECORD
    FEATURES = dict.fromkeys(CONFIGS, TWEET_PAIRS)
    RESUMABLE = True

    def rows(self, files, config):
        raise AssertionError("not called")

    @classmethod
    def write(cls, files, folder, options, configs, work):
        done = work / "row.parquet"
        if not done.exists():
            pq.write_table(pa.Table.from_pylist([dict.fromkeys(TWEET_PAIRS, "a text")]), done)
            raise KeyboardInterrupt
        (folder / "quote").mkdir()
        shutil.copy(done, folder / shard("quote", "train"))
        return {name: read_built(folder, name, TWEET_PAIRS, {"line: too short": 2}, {}) for name in configs}


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def build(tmp_path, monkeypatch, corpus):
    """A function that builds this corpus on the command line, into `built/out`."""
    monkeypatch.setattr(commands, "list_corpora", lambda: ["stream"])
    monkeypatch.setattr(commands, "load_metadata", lambda name: RECORD)
    monkeypatch.setattr(commands, "get_corpus", lambda name: Stream)
    (tmp_path / "raw.txt").touch()
    return lambda *words: corpus("build", "stream", tmp_path / "raw.txt", "-o", tmp_path / "built" / "out", *words)


def test_an_interrupted_build_goes_on(build, tmp_path):
    folder = tmp_path / "built"
    interrupted = build()
    assert interrupted.exit_code == 130 and names(folder) == [".out-work/.lock", ".out-work/row.parquet"]
    message = f"The same command goes on from what is in {folder / '.out-work'}; remove that to start afresh.\n"
    assert interrupted.stderr.startswith(message)
    for name in (".out.123.tmp", ".out2.123.tmp"):  # what a killed process leaves, of this output and of another one
        (folder / name).mkdir()
    done = build()
    assert done.exit_code == 0 and "\nreply: no rows\n          2 x line: too short\n" in done.stdout
    assert names(folder / "out") == ["README.md", "quote/train-00000-of-00001.parquet", "summary.json"]
    assert sorted(path.name for path in folder.iterdir()) == [".out2.123.tmp", "out"]
