"""IBM Debater: two releases in one, the sample of pairs, and that no motion is divided between splits."""

import csv
import gzip
import io
import os
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.ibm_argkp import IbmArgKP

RATINGS = [
    # argument, topic, set, stance_WA, stance_WA_conf
    ("cats chase birds all day", "We should ban cats", "train", "1", "1.0"),
    ("cats keep  people awake", "We should ban cats", "train", "1", "0.9"),
    ("cats scratch every good sofa", "We should ban cats", "train", "1", "0.6"),
    ("cats keep the mice away", "We should ban cats", "train", "-1", "0.8"),
    ("cats comfort people living alone", "We should ban cats", "train", "-1", "1"),
    ("dogs want to be walked", "We should adopt dogs", "dev", "-1", "1"),
    ("fish are quiet house mates", "We should keep fish", "test", "1", "1"),
]
KEY_POINTS = [
    # topic, argument, key_point, stance, label
    ("we should ban cats.", "Cats chase birds all day", "Cats are bad for wildlife", "1", "1"),
    ("We should ban cats", "cats keep people awake", "Cats are bad for wildlife", "1", "0"),
    ("We should feed ducks", "ducks like bread very much", "Feeding makes ducks happy", "1", "1"),
]
HEADERS = {
    "arg_quality_rank_30k": ["argument", "topic", "set", "stance_WA", "stance_WA_conf"],
    "ArgKP-2021_dataset": ["topic", "argument", "key_point", "stance", "label"],
}


def release(folder: Path, ratings=RATINGS, key_points=KEY_POINTS, form="csv") -> Path:
    for (name, header), rows in zip(HEADERS.items(), (ratings, key_points), strict=True):
        text = io.StringIO()
        csv.writer(text).writerows([header, *rows])
        content = text.getvalue().encode()
        if form == "zip":
            with zipfile.ZipFile(folder / f"IBM_Debater_{name}.zip", "w") as archive:
                archive.writestr("readme.txt", "NAME: invented")
                archive.writestr(f"{name}.csv", content)
        else:
            packed = form == "csv.gz"
            (folder / f"{name}.{form}").write_bytes(gzip.compress(content) if packed else content)
    return folder


def build(folder: Path, config: str, cache: Path, **options):
    builder = IbmArgKP.open(folder, config, cache_dir=cache / "cache", **options)
    builder.download_and_prepare()
    return builder.as_dataset(), dict(builder.dropped)


@pytest.mark.parametrize("form", ["csv", "csv.gz", "zip"])
def test_pairs(tmp_path, form):
    data, dropped = build(release(tmp_path, form=form), "pairs", tmp_path)
    # "We should ban cats": 4 texts for it (one a key point) and 2 against, 1 match that is also one of the 6 pairs for
    assert Counter((row["relation"], row["label"]) for row in data["train"]) == {
        ("argument-to-topic", 1): 4,
        ("argument-to-topic", 0): 2,
        ("key-point", 1): 1,
        ("same-topic", 1): 6 - 1 + 1,
        ("same-topic", 0): 4 * 2,
    }
    assert data.num_rows == {"train": 21, "validation": 1, "test": 1 + 3}
    # ducks: two texts to the motion, one match, which as a pair of the same side is a duplicate
    assert dropped == {"key point: does not match the argument": 1, "row: duplicate": 2}
    assert {row["sentence2"] for row in data["train"] if row["relation"] == "argument-to-topic"} == {
        "We should ban cats"
    }
    assert "cats keep people awake" in data["train"]["sentence1"]


def test_triplets_and_arguments(tmp_path):
    data, _ = build(release(tmp_path), "triplets", tmp_path)
    anchors = Counter(data["train"]["anchor"])
    assert anchors.pop("We should ban cats") == 4 * 2
    assert sum(anchors.values()) == 6 + 1  # every two of one side, with one of the other
    assert data.num_rows == {"train": 15}
    against = {"cats keep the mice away", "cats comfort people living alone"}
    # the negatives of the six pairs on one side are not always the same text
    assert {
        row["negative"] for row in data["train"] if row["anchor"] not in {"We should ban cats", *against}
    } == against
    for row in data["train"]:
        assert (row["positive"] in against) != (row["negative"] in against)
        assert row["anchor"] == "We should ban cats" or (row["anchor"] in against) == (row["positive"] in against)
    data, _ = build(release(tmp_path), "arguments", tmp_path)
    assert data.num_rows == {"train": 7, "validation": 2, "test": 5}
    assert Counter(data["train"]["stance"]) == {"thesis": 1, "pro": 4, "con": 2}
    assert data["train"][0]["parent"] is None and data["train"][1]["parent"] == "we-should-ban-cats"


def test_the_sample_has_the_size_asked_for_and_follows_the_seed(tmp_path):
    folder = release(tmp_path)
    first, _ = build(folder, "pairs", tmp_path, pairs_per_topic=4)
    drawn = [row for row in first["train"] if row["relation"] == "same-topic"]
    assert Counter(row["label"] for row in drawn) in ({0: 2, 1: 2}, {0: 2, 1: 1})  # one may be the key point's match
    again, _ = build(folder, "pairs", tmp_path / "again", pairs_per_topic=4)
    assert again["train"][:] == first["train"][:]
    other, _ = build(folder, "pairs", tmp_path, pairs_per_topic=4, seed=7)
    assert other["train"][:] != first["train"][:] and other.keys() == first.keys()
    triplets, _ = build(folder, "triplets", tmp_path, triplets_per_topic=4)
    assert len(triplets["train"]) == 2 + 1 + 1


def test_every_reason_for_a_drop(tmp_path):
    ratings = [
        *RATINGS,
        ("cats are lovely to watch", "We should ban cats", "train", "-1", "0.59"),
        ("cats are neither here nor there", "We should ban cats", "train", "0", "1"),
        ("Cats chase birds all DAY", "We should ban cats", "train", "1", "1"),
        ("cats are fine", "We should ban cats", "train", "-1", "1"),
        ("a row without a stance", "We should ban cats", "train", "", "1"),
        ("a row without a confidence", "We should ban cats", "train", "1", "much"),
        ("a row in an unknown set", "We should ban cats", "all", "1", "1"),
        ("a short row", "We should ban cats"),
        ("fish are quiet house mates", "We should ban cats", "train", "1", "1"),
    ]
    key_points = [
        *KEY_POINTS,
        ("We should ban cats", "cats keep the mice away", "Cats are bad for wildlife", "1", "1"),
        ("We should ban cats", "cats keep the mice away", "Cats catch mice", "-1", "1"),
        ("We should ban cats", "cats keep the mice away", "", "-1", "1"),
        ("We should ban cats", "cats keep the mice away", "Cats catch many mice", "-1", "2"),
    ]
    _, dropped = build(release(tmp_path, ratings, key_points), "pairs", tmp_path, pairs_per_topic=0)
    assert dropped == {
        "argument: stance is uncertain": 1,
        "argument: neutral": 1,
        "argument: repeated": 1,
        "argument: malformed row": 3,
        "argument: shorter than 4 words": 2,  # "cats are fine" and the key point "Cats catch mice"
        "key point: does not match the argument": 1,
        "key point: stance differs between the releases": 1,
        "key point: malformed row": 2,
        "row: wrong number of columns": 1,
        "row: a text is also in test": 1,
    }


def test_wrong_files_say_what_to_do(tmp_path):
    folder = release(tmp_path, [*RATINGS, ("cats sleep on every bed", "We should ban cats", "test", "1", "1")])
    with pytest.raises(
        ValueError, match=r"arg_quality_rank_30k.csv, line 9: 'We should ban cats' is in train and in test"
    ):
        build(folder, "pairs", tmp_path)
    (folder / "arg_quality_rank_30k.csv").write_text("argument,topic\n")
    with pytest.raises(ValueError, match=r"line 1: no column set, stance_WA, stance_WA_conf"):
        build(folder, "pairs", tmp_path)
    (folder / "arg_quality_rank_30k.csv").write_bytes(b"argument,topic\n\xff")
    with pytest.raises(ValueError, match=r"arg_quality_rank_30k.csv cannot be read .*; download it again"):
        build(folder, "pairs", tmp_path)
    (folder / "arg_quality_rank_30k.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"lacks \*arg_quality_rank_30k\*"):
        build(folder, "pairs", tmp_path)


@pytest.mark.corpora
@pytest.mark.skipif("CORPORA_DIR" not in os.environ, reason="CORPORA_DIR is not set")
@pytest.mark.parametrize("config", IbmArgKP.FEATURES)
def test_the_release(tmp_path, config):
    data, _ = build(Path(os.environ["CORPORA_DIR"]) / "ibm_argkp", config, tmp_path)
    assert data.num_rows == load_metadata("ibm_argkp").expected[config]
    motions = {split: set(rows["group"]) for split, rows in data.items()}
    assert {split: len(groups) for split, groups in motions.items()} == {"train": 49, "validation": 7, "test": 18}
    assert not motions["train"] & motions["test"] and not motions["train"] & motions["validation"]
