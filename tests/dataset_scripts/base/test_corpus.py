"""The base class of builders: splits, drops, and what a cache must notice."""

import os

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import Metadata, load_metadata
from dataset_scripts.base.schema import SIMILARITY

OWN = {"name": "tiny", "raw": "a file of lines", "configs": {"similarity": "lines"}}


class Tiny(Corpus):
    METADATA = Metadata(**load_metadata("stsb").model_dump() | OWN)
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


def test_splits_in_order_drops_and_a_changed_file(tmp_path):
    raw = tmp_path / "raw [v1]*.txt"  # a name that must not be read as a pattern
    raw.write_text("test:one\n# no row\ntrain:two\nextra:three\ntrain:four\n")
    builder = Tiny.open(raw, cache_dir=tmp_path / "cache", seed=3)
    builder.download_and_prepare()
    splits = builder.as_dataset()
    assert list(splits) == ["train", "test", "extra"] and builder.dropped == {"comment": 1}
    assert splits["train"]["sentence1"] == ["two", "four"]
    assert splits["test"][0] == {"sentence1": "one", "sentence2": "b", "score": 1.0, "group": "3"}
    raw.write_text("train:six\n")
    os.utime(raw, (1, 1))
    again = Tiny.open(raw, cache_dir=tmp_path / "cache", seed=3)
    again.download_and_prepare()
    assert again.as_dataset()["train"]["sentence1"] == ["six"]
