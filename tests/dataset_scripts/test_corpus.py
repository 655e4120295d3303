"""The base class of builders and the reader of archives."""

from __future__ import annotations

import os
import tarfile
import zipfile

import pytest

from dataset_scripts.corpus import Corpus, CorpusConfig, read_members
from dataset_scripts.metadata import Metadata, load_metadata
from dataset_scripts.schema import SIMILARITY

RECORD = Metadata(
    name="tiny",
    title="Tiny",
    summary="a corpus for tests",
    description="Invented.",
    source="https://example.org",
    raw="a file of lines",
    licence="cc0-1.0",
    terms="None.",
    redistributable=True,
    languages=["en"],
    citation="@misc{tiny}",
    configs={"similarity": "lines"},
)


class Tiny(Corpus):
    METADATA = RECORD
    FEATURES = {"similarity": SIMILARITY}

    def rows(self, files, config):
        for file in files:
            for line in file.read_text().splitlines():
                if line.startswith("#"):
                    self.dropped["comment"] += 1
                    continue
                split, text = line.split(":")
                # columns in another order than the schema's
                yield split, {"group": str(self.config.seed), "score": 1.0, "sentence2": "b", "sentence1": text}


def test_splits_in_order_and_drops(tmp_path):
    raw = tmp_path / "raw [v1]*.txt"  # a name that must not be read as a pattern
    raw.write_text("test:one\n# no row\ntrain:two\nextra:three\ntrain:four\n")
    builder = Tiny.open(raw, cache_dir=tmp_path / "cache", seed=3)
    assert builder.config.name == "similarity" and builder.dropped == {}
    builder.download_and_prepare()
    splits = builder.as_dataset()
    assert list(splits) == ["train", "test", "extra"] and builder.dropped == {"comment": 1}
    assert splits["train"]["sentence1"] == ["two", "four"]
    assert splits["test"][0] == {"sentence1": "one", "sentence2": "b", "score": 1.0, "group": "3"}


def test_a_changed_file_is_read_again(tmp_path):
    raw = tmp_path / "raw.txt"
    for stamp, text in enumerate(("one", "two")):
        raw.write_text(f"train:{text}\n")
        os.utime(raw, (stamp, stamp))
        builder = Tiny.open(raw, cache_dir=tmp_path / "cache")
        builder.download_and_prepare()
        assert builder.as_dataset()["train"]["sentence1"] == [text]


def test_errors_name_the_cure(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"does not exist; tiny needs a file of lines"):
        Tiny.open(tmp_path / "missing")
    with pytest.raises(FileNotFoundError, match="belongs to tiny"):
        Tiny.open(tmp_path)
    (tmp_path / "raw.txt").write_text("# nothing\n")
    with pytest.raises(ValueError, match="BuilderConfig 'other' not found"):
        Tiny.open(tmp_path / "raw.txt", "other", cache_dir=tmp_path / "cache")
    with pytest.raises(ValueError, match=r"no usable row in 1 file.*'comment': 1"):
        Tiny.open(tmp_path / "raw.txt", cache_dir=tmp_path / "cache").download_and_prepare()


def test_default_config():
    assert Tiny.DEFAULT_CONFIG_NAME == "similarity"
    assert [type(config) for config in Tiny.BUILDER_CONFIGS] == [CorpusConfig]


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz", "a.tgz", "a.tar.xz"])
def test_read_members(name, tmp_path):
    (tmp_path / "one.txt").write_text("1")
    (tmp_path / ".hidden").write_text("2")
    path = tmp_path / name
    if name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.mkdir("deep")
            archive.write(tmp_path / "one.txt", "deep/one.txt")
            archive.write(tmp_path / ".hidden", "deep/.hidden")
    else:
        with tarfile.open(path, f"w:{name.rpartition('.')[2].replace('tgz', 'gz').replace('tar', '')}") as archive:
            archive.add(tmp_path / "one.txt", "deep/one.txt")
            archive.add(tmp_path / ".hidden", "deep/.hidden")
    assert list(read_members(path)) == [("deep/one.txt", b"1")]
    assert list(read_members(tmp_path / "one.txt")) == [("one.txt", b"1")]


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz", "a.tar.xz"])
def test_broken_archives(name, tmp_path):
    (tmp_path / name).write_bytes(b"no archive at all")
    with pytest.raises(ValueError, match=f"{name} is no readable archive"):
        list(read_members(tmp_path / name))


def test_unknown_metadata():
    with pytest.raises(FileNotFoundError):
        load_metadata("nothing")
