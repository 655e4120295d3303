"""The tweet stream on the command line: what it writes, publishes, refuses, and takes from its work folder."""

from __future__ import annotations

import json
import os

import datasets
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from dataset_scripts.base.hub import publish_dataset
from dataset_scripts.commands import app
from dataset_scripts.twitter_stream.builder import TwitterStream
from dataset_scripts.twitter_stream.rankings import BENCHMARKS
from dataset_scripts.twitter_stream.sets import SETS
from tests.dataset_scripts.twitter_stream.streams import conversations, delete, reply, said, status, tables, write

SHARES = ["--test", "0.3", "--validation", "0.2"]
ALL_TRAIN = ["--test", "0.000001", "--validation", "0.000001"]


def run(data, out, *options):
    """Status, and what was printed."""
    words = ["build", "twitter_stream", str(data), "-o", str(out), *map(str, options)]
    done = CliRunner().invoke(app, words, prog_name="opinion corpus")
    return done.exit_code, done.output


def summary(out):
    return json.loads((out / "summary.json").read_text())


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    """A folder of files of the stream, one of them damaged, and a file of something else."""
    folder, items = tmp_path_factory.mktemp("raw") / "stream", conversations()
    write(folder / "00.json.bz2", [*items[:1500], b"broken {"])
    write(folder / "01.jsonl", items[1500:])
    write(folder / "02.json.gz", [delete(number) for number in range(1, 300)])
    (folder / "02.json.gz").write_bytes((folder / "02.json.gz").read_bytes()[:-20])
    (folder / "notes.txt").write_text("not of the stream")
    return folder


@pytest.fixture(scope="module")
def built(raw, tmp_path_factory):
    """The folder of a build."""
    out = tmp_path_factory.mktemp("built") / "tweets"
    code, printed = run(raw, out, *SHARES)
    assert code == 0 and "1 line: malformed JSON, first in 00.json.bz2, line 1501\n" in printed
    assert "1 file: cut off or damaged, first in 02.json.gz (" in printed
    assert "not supported" not in printed  # of an engine that does not know what it was asked for
    assert [path.name for path in out.parent.iterdir()] == ["tweets"]
    return out


def test_every_configuration_loads(built):
    assert list(TwitterStream.FEATURES) == [*SETS, *BENCHMARKS]
    for name, features in TwitterStream.FEATURES.items():
        loaded = datasets.load_dataset(str(built), name, cache_dir=str(built.parent / "cache"))
        assert set(loaded) == ({"train", "validation", "test"} if name in SETS else {"validation", "test"})
        for split, rows in loaded.items():
            assert rows.features == features and len(rows) == summary(built)["configs"][name]["rows"][split]


def test_the_summary_says_what_was_read(built):
    configs = summary(built)["configs"]
    facts = configs["quote"]["facts"]
    assert facts["line: status"] == 2430 and facts["conversations"] == 90
    assert facts["line: malformed JSON"] == 1 and facts["file: cut off or damaged"] == 1
    assert 90 < facts["line: delete notice"] < 90 + 299
    assert facts["pairs found"] == 90 and configs["reply"]["facts"] == {"pairs found": 90 * 9}
    assert summary(built)["empty"] == {} and summary(built)["options"].keys() == {"seed", "test", "validation"}


def test_it_is_published_privately_only_and_without_accounts_links_or_ids(built):
    for path in built.rglob("*.parquet"):
        rows = pq.read_table(path).to_pylist()
        assert not [row for row in rows if any(part in str(row) for part in ("@", "http", "_example"))]
        assert not rows[0].keys() & {"anchor_id", "positive_id", "id", "owner", "child"}
    assert str(built.parent) not in (built / "README.md").read_text() + (built / "summary.json").read_text()
    with pytest.raises(ValueError, match="must not be published"):
        publish_dataset(built, "org/tweets", dry_run=True)
    assert publish_dataset(built, "org/tweets", private=True, dry_run=True)["skipped"] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--test", "0.96"], "--validation and --test are shares that leave some for training, got 0.05 and 0.96"),
        (["--address", "ray://nowhere:1"], "--address is that of a Ray cluster: it needs --engine ray"),
        (["--lang", ""], "--lang must be a language as Twitter calls it, or all"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_read(raw, tmp_path, options, message):
    code, errors = run(raw, tmp_path / "out", *options)
    assert code == 2 and f"error: {message}" in errors and "goes on from" not in errors
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_build_goes_on(tmp_path, monkeypatch):
    raw, out = write(tmp_path / "00.json", [status(1, said("one")), reply(2, 1, said("two"))]), tmp_path / "to" / "out"

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("dataset_scripts.twitter_stream.mining.draw", interrupted)
        code, errors = run(raw, out, *ALL_TRAIN)
    work = out.with_name(".out-work")
    assert code == 130 and f"The same command goes on from what is in {work}; remove that to start afresh.\n" in errors
    assert [path.name for path in out.parent.iterdir()] == [".out-work"] and list(work.glob("rows/shard-*"))
    for name in (".out.123.tmp", ".out2.123.tmp"):  # what a killed process leaves, of this output and of another one
        (out.parent / name).mkdir()
    monkeypatch.setattr("dataset_scripts.twitter_stream.parsing._parsed", interrupted)
    code, printed = run(raw, out, *ALL_TRAIN)
    assert code == 0 and "\nquote: no rows\n" in printed and printed.startswith("reply: train 1\n")
    assert sorted(path.name for path in out.iterdir()) == ["README.md", "reply", "summary.json"]
    assert sorted(path.name for path in out.parent.iterdir()) == [".out2.123.tmp", "out"]


def test_what_lies_in_the_work_folder_is_used_only_where_it_fits(tmp_path):
    raw, out, work = tmp_path / "raw", tmp_path / "out", tmp_path / ".out-work"
    german = status(3, said("drei"), lang="de")
    first = write(raw / "00.json", [status(1, said("one")), reply(2, 1, said("two")), german])
    write(raw / "01.json", [reply(4, 3, said("vier"), lang="de")])
    options = [*ALL_TRAIN, "--keep_work", "--config", "reply"]

    def pairs(*more):
        assert run(raw, out, *options, *more)[0] == 0
        shards = {path.name: path.stat().st_mtime_ns for path in (work / "rows").glob("shard-*")}
        return sorted((row["anchor"], row["positive"]) for row in tables(out)["reply"]["train"]), shards

    english, shards = pairs()
    assert english == [(said("one"), said("two"))] and len(shards) == 1
    assert pairs("--pairs", "5", "--queries", "3") == (english, shards)  # which concern what comes later
    others, other_shards = pairs("--lang", "de")
    assert len(list(work.glob("paired-*"))) == 1  # what was paired with other options is removed
    assert others == [(said("drei"), said("vier"))] and not shards.keys() & other_shards.keys()
    before = first.stat()
    write(first, [status(1, said("ONE")), reply(2, 1, said("six")), german])
    os.utime(first, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert first.stat().st_size == before.st_size and pairs()[0] == [(said("one"), said("six"))]
    first.unlink()
    code, errors = run(raw, out, *options)
    assert code == 2 and "no usable row" in errors
    assert tables(out)["reply"]["train"]  # the build before is as it was


@pytest.mark.corpora
def test_a_real_minute(corpora, tmp_path):
    file = corpora / "twitter_stream" / "hs11046" / "29.json.bz2"
    assert run(file, tmp_path / "out", "--test", "0.2", "--config", "quote")[0] == 0
    facts = next(iter(summary(tmp_path / "out")["configs"].values()))["facts"]
    read = {fact: number for fact, number in facts.items() if fact.startswith(("line:", "file:", "retweets"))}
    assert read == {"line: delete notice": 5_805, "line: status": 1_872, "retweets, replaced by the tweet": 929}
