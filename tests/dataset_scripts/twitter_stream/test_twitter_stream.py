"""The tweet stream on the command line: what it writes, publishes, refuses, and takes from its work folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import datasets
import pyarrow.parquet as pq
import pytest
import yaml

from dataset_scripts.base.card import write_card
from dataset_scripts.base.corpus import BuiltConfig
from dataset_scripts.base.hub import PublishError, publish_dataset
from dataset_scripts.base.schema import RANKINGS, TWEET_PAIRS
from dataset_scripts.commands import app
from dataset_scripts.twitter_stream import TwitterStream
from tests.dataset_scripts.twitter_stream.streams import conversations, delete, reply, said, status, tables, write

ROOT = Path(__file__).parents[3]
SHARES = ["--test", "0.3", "--validation", "0.2"]


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    """A folder of two files of the stream, one of them damaged, and a file of something else."""
    folder, items = tmp_path_factory.mktemp("raw") / "stream", conversations()
    write(folder / "00.json.bz2", [*items[:1500], b"broken {"])
    write(folder / "01.jsonl", items[1500:])
    write(folder / "02.json.gz", [delete(number) for number in range(1, 300)])
    (folder / "02.json.gz").write_bytes((folder / "02.json.gz").read_bytes()[:-20])
    (folder / "notes.txt").write_text("not of the stream")
    return folder


@pytest.fixture(scope="module")
def built(raw, tmp_path_factory):
    """The folder of a build with a salt."""
    out = tmp_path_factory.mktemp("built") / "tweets"
    assert run(raw, out, *SHARES, "--salt", "salt of the seas") == 0
    return out


def run(data, out, *options):
    try:
        return app(["build", "twitter_stream", str(data), "-o", str(out), *options], standalone_mode=False) or 0
    except SystemExit as end:
        return end.code


def summary(out):
    return json.loads((out / "summary.json").read_text())


def test_every_configuration_loads(built):
    for name, features in TwitterStream.FEATURES.items():
        loaded = datasets.load_dataset(str(built), name, cache_dir=str(built.parent / "cache"))
        assert set(loaded) == ({"train", "validation", "test"} if features == TWEET_PAIRS else {"validation", "test"})
        for split, rows in loaded.items():
            assert rows.features == features
            assert len(rows) == summary(built)["configs"][name]["rows"][split]
    assert features == RANKINGS


def test_the_summary_says_what_was_read(built):
    configs = summary(built)["configs"]
    facts = configs["quote"]["facts"]
    assert facts["line: status"] == 2430 and facts["conversations"] == 90
    assert facts["line: malformed JSON"] == 1 and facts["file: cut off or damaged"] == 1
    assert 90 < facts["line: delete notice"] < 90 + 299
    assert facts["pairs found"] == 90 and configs["reply"]["facts"] == {"pairs found": 90 * 9}
    assert summary(built)["empty"] == {} and summary(built)["options"].keys() == {"seed", "test", "validation"}


def test_what_was_broken_is_printed_with_its_place(raw, tmp_path, capsys):
    assert run(raw, tmp_path / "out", *SHARES, "--config", "quote") == 0
    errors = capsys.readouterr().err
    assert "line: malformed JSON x 1, first in 00.json.bz2, line 1501\n" in errors
    assert "file: cut off or damaged x 1, first in 02.json.gz (" in errors
    assert "not supported" not in errors  # of an engine that does not know what it was asked for
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_neither_accounts_nor_links_nor_ids_are_written(built):
    for path in built.rglob("*.parquet"):
        for row in pq.read_table(path).to_pylist():
            assert not {"@", "http", "_example"} & {part for part in ("@", "http", "_example") if part in str(row)}
            assert not row.keys() & {"anchor_id", "positive_id", "id", "owner", "child"}
    for name in ("README.md", "summary.json"):
        assert (
            "salt of the seas" not in (built / name).read_text() and str(built.parent) not in (built / name).read_text()
        )


def test_it_is_published_privately_only_and_the_hashes_go_along(built):
    with pytest.raises(PublishError, match="must not be published"):
        publish_dataset(built, "org/tweets", dry_run=True)
    staged = publish_dataset(built, "org/tweets", private=True, dry_run=True)
    assert "benchmark_tweets.parquet" in staged["files"] and staged["skipped"] == []
    assert "benchmark_tweets.parquet" in summary(built)["files"]
    card = yaml.safe_load((built / "README.md").read_text().split("---")[1])
    assert "benchmark_tweets" not in str(card["configs"])


def test_a_build_leaves_out_the_benchmarks_of_another(raw, built, tmp_path, capsys):
    options = [*SHARES, "--seed", "3", "--exclude", str(built), "--salt", "salt of the seas"]
    assert run(raw, tmp_path / "out", *options) == 0
    texts = [
        {
            text
            for splits in tables(folder).values()
            for rows in splits.values()
            for row in rows
            for text in (row.get("query"), *row.get("positives", ()), *row.get("negatives", ()))
            if text
        }
        for folder in (built, tmp_path / "out")
    ]
    assert len(texts[0]) > 500 and not texts[0] & texts[1] - {said("the same")}
    pairs = [row for splits in tables(tmp_path / "out").values() for rows in splits.values() for row in rows]
    used = {row[side] for row in pairs for side in ("anchor", "positive") if side in row}
    assert used and not used & texts[0] - {said("the same")}
    assert summary(tmp_path / "out")["configs"]["quote"]["facts"]["answer: excluded"] > 500
    assert summary(tmp_path / "out")["options"]["exclude"] == ["tweets"]
    capsys.readouterr()
    for wrong, message in (
        (["--exclude", str(built)], "error: --exclude compares salted hashes: give the --salt"),
        (
            ["--exclude", str(built), "--salt", "salt of the lake"],
            "benchmark_tweets.parquet was built with another --salt",
        ),
        (
            ["--exclude", str(raw), "--salt", "salt of the seas"],
            f"error: --exclude {raw} has no benchmark_tweets.parquet",
        ),
    ):
        assert run(raw, tmp_path / "out2", *wrong) == 2
        assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--test", "0.96"], "error: --validation and --test are shares above 0 that leave some for training"),
        (["--engine", "spark"], "error: --engine spark: choose from native, ray"),
        (["--address", "ray://nowhere:1"], "error: --address is that of a Ray cluster: it needs --engine ray"),
        (["--queries", "none"], "error: --queries none: give a whole number"),
        (["--lang", ""], "error: --lang must be a language as Twitter calls it, or all"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_read(raw, tmp_path, capsys, options, message):
    assert run(raw, tmp_path / "out", *options) == 2
    errors = capsys.readouterr().err
    assert message in errors and "goes on from" not in errors
    assert list(tmp_path.iterdir()) == []


def test_a_missing_extra_is_named(raw, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "daft", None)
    assert run(raw, tmp_path / "out") == 2
    assert "error: mining needs daft: pip install 'opinion-transformers[scale]'" in capsys.readouterr().err


def test_data_without_stream_files_or_usable_rows(tmp_path, capsys):
    write(tmp_path / "raw" / "notes.txt", [])
    assert run(tmp_path / "raw", tmp_path / "out") == 2
    assert "belongs to twitter_stream; it needs files of the archived stream" in capsys.readouterr().err
    write(tmp_path / "raw" / "00.json", [delete(1), status(2, said("alone"))])
    assert run(tmp_path / "raw", tmp_path / "out") == 2
    assert "no usable row" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_what_the_stream_held_is_reported_with_the_first_that_has_rows(tmp_path, capsys):
    raw, out = tmp_path / "raw", tmp_path / "out"
    write(raw / "00.json", [reply(2, 1, said("two")), reply(3, 1, said("three")), delete(4), delete(5), b"broken {"])
    assert run(raw, out, "--test", "0.000001", "--validation", "0.000001") == 0
    configs = summary(out)["configs"]
    assert list(configs) == ["coreply"]
    counted = {"line: status": 2, "line: delete notice": 2, "line: malformed JSON": 1, "conversations": 1}
    assert counted.items() < configs["coreply"]["facts"].items() and configs["coreply"]["facts"]["pairs found"] == 1
    assert "| line: delete notice | 2 |" in (out / "README.md").read_text()
    capsys.readouterr()
    assert run(raw, out, "--config", "quote", "--config", "cr") == 2
    errors = capsys.readouterr().err
    assert "(quote, cr): no usable row" in errors
    assert "'line: delete notice': 2, 'line: malformed JSON': 1, 'line: status': 2" in errors
    builder = TwitterStream.open(raw, "quote", cache_dir=str(tmp_path / "cache"))
    with pytest.raises(ValueError, match=r"no usable row in 1 file.* Dropped: \{'line: delete notice': 2"):
        builder.download_and_prepare()


@pytest.mark.parametrize(("lang", "languages"), [("fr", ["fr"]), ("all", ["multilingual"]), ("en", ["en"])])
def test_the_card_names_the_language_that_was_chosen(tmp_path, lang, languages):
    built = BuiltConfig(TWEET_PAIRS, {"train": ["quote/train.parquet"]}, {"train": datasets.SplitInfo("train", 9, 1)})
    card = write_card(
        TwitterStream, {"quote": built}, {"seed": 42, "lang": lang, "exclude": ["first"], "salt": "SECRET"}
    )
    assert yaml.safe_load(card.split("---\n")[1])["language"] == languages
    assert f"--seed 42 --lang {lang} --exclude first --salt SECRET\n" in card
    assert "SECRET" not in write_card(TwitterStream, {"quote": built}, {"seed": 42})


def test_help_answers_at_once_and_imports_nothing_heavy():
    code = (
        "import sys; from dataset_scripts.commands import app\ntry: app(['build', 'twitter_stream', '--help'])\n"
        "except SystemExit: print(*sorted({'daft', 'ray', 'datasets', 'pandas', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert not done.stderr, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == ""
    assert all(f"--{name}" in done.stdout for name in ("lang", "engine", "address", "keep-ids", "salt", "exclude"))


def test_what_lies_in_the_work_folder_is_used_only_where_it_fits(tmp_path, capsys):
    raw, out, work = tmp_path / "raw", tmp_path / "out", tmp_path / ".out-work"
    first = write(
        raw / "00.json", [status(1, said("one")), reply(2, 1, said("two")), status(3, said("drei"), lang="de")]
    )
    write(raw / "01.json", [reply(4, 3, said("vier"), lang="de")])
    options = ["--test", "0.000001", "--validation", "0.000001", "--keep_work", "--config", "reply"]

    def pairs(*more):
        assert run(raw, out, *options, *more) == 0
        shards = {path.name: path.stat().st_mtime_ns for path in (work / "rows").glob("shard-*")}
        rows = [(row["anchor"], row["positive"]) for row in tables(out)["reply"]["train"]]
        return sorted(rows), shards

    english, shards = pairs()
    assert english == [(said("one"), said("two"))] and len(shards) == 1
    assert pairs() == (english, shards)
    assert pairs("--pairs", "5", "--queries", "3") == (english, shards)  # which concern what comes later
    german, others = pairs("--lang", "de")
    assert german == [(said("drei"), said("vier"))] and not shards.keys() & others.keys()
    assert pairs("--lang", "all")[0] == sorted(english + german)
    before = first.stat()
    write(first, [status(1, said("ONE")), reply(2, 1, said("six")), status(3, said("drei"), lang="de")])
    os.utime(first, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert first.stat().st_size == before.st_size
    assert pairs()[0] == [(said("one"), said("six"))]
    first.unlink()
    capsys.readouterr()
    assert run(raw, out, *options) == 2
    assert "no usable row" in capsys.readouterr().err
    assert tables(out)["reply"]["train"]  # the build before is as it was


def test_opened_as_a_builder_of_datasets(raw, tmp_path):
    builder = TwitterStream.open(raw, "dr", cache_dir=tmp_path, test=0.3, validation=0.2)
    builder.download_and_prepare()
    loaded = builder.as_dataset()
    assert set(loaded) == {"validation", "test"} and loaded["test"].features == RANKINGS
    assert builder.facts["line: status"] == 2430


@pytest.mark.corpora
def test_thirteen_real_minutes(corpora, tmp_path):
    assert run(corpora / "twitter_stream" / "hs11046", tmp_path / "out", "--test", "0.2") == 0
    facts = next(iter(summary(tmp_path / "out")["configs"].values()))["facts"]
    found = {fact: count for fact, count in facts.items() if fact.startswith(("line:", "file:", "retweets"))}
    assert found == {
        "line: delete notice": 73_634,
        "line: status": 23_583,
        "retweets, replaced by the tweet": 12_086,
    }
