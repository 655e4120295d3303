"""The base class of builders: splits, drops, cleaning and errors that name the cure."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import Metadata, Option, load_metadata
from dataset_scripts.base.quality import Cleaner, LeakGuard
from dataset_scripts.base.schema import SIMILARITY

RECORD = Metadata(
    **load_metadata("stsb").model_dump()
    | {
        "name": "tiny",
        "raw": "a file of lines",
        "configs": {"similarity": "lines"},
        "options": {"share": Option(type="float", default=0.5, le=1, help="share")},
    }
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


class Farm(Tiny):
    """Units are lists of texts; a row is one text."""

    METADATA = RECORD

    def rows(self, files, config):
        units = [("train", ["Dogs bark!", "cats sleep all day"]), ("test", ["dogs bark"]), ("train", ["hens lay eggs"])]

        def make_rows(unit):
            for text in unit:
                yield (text,), {"sentence1": text, "sentence2": "b", "score": 1.0, "group": ""}

        yield from self.clean(units, make_rows, lambda unit: unit, self.rules)


@pytest.mark.parametrize("cleaner_first", [False, True])
def test_clean_protects_the_test_split_and_the_first_rule_counts(tmp_path, cleaner_first):
    (tmp_path / "raw.txt").touch()
    builder = Farm.open(tmp_path / "raw.txt", cache_dir=tmp_path / "cache")
    builder.rules = (LeakGuard(), Cleaner(minimum_words=3))
    builder.rules = builder.rules[::-1] if cleaner_first else builder.rules
    rows = list(builder.rows([], "similarity"))
    assert [(split, row["sentence1"]) for split, row in rows] == [
        ("train", "cats sleep all day"),
        ("train", "hens lay eggs"),
    ]
    # two words are too few in test; their copy in train is refused by whichever rule is asked first
    short, leak = "row: text shorter than 3 words", "row: a text is also in test"
    assert builder.dropped == ({short: 2} if cleaner_first else {short: 1, leak: 1})
    builder.rules, builder.dropped = (LeakGuard(),), Counter()
    assert [row["sentence1"] for _, row in builder.rows([], "similarity")][:2] == ["dogs bark", "cats sleep all day"]
