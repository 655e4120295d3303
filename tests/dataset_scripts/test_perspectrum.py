"""PERSPECTRUM: relations, labels, what is dropped and why, and that no text of a test claim is left in training."""

import gzip
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.perspectrum import Perspectrum

POOL = [
    {"pId": 1, "source": "procon", "text": "Cats need far less daily attention"},
    {"pId": 2, "source": "paraphrase", "text": "A cat asks\nfor little care"},
    {"pId": 3, "source": "procon", "text": "Dogs guard the house at night"},
    {"pId": 4, "source": "debatewise", "text": "Some children cannot breathe near fur"},
    {"pId": 5, "source": "idebate", "text": "Dogs frighten small children there"},
    {"pId": 6, "source": "idebate", "text": "dogs guard the house, at night."},
    {"pId": 7, "source": "google", "text": "Cats, yes"},
]
CLAIMS = [
    ("train", "procon", "Cats make better pets than dogs", [("SUPPORT", [1, 2]), ("UNDERMINE", [3])]),
    ("dev", "debatewise", "Every school should own a cat", [("UNDERMINE", [4])]),
    ("test", "idebate", "Dogs should stay out of parks", [("SUPPORT", [5]), ("UNDERMINE", [6])]),
]


def release(folder: Path, claims=CLAIMS, pool=POOL, extra=(), packed=False) -> Path:
    records = [
        {
            "cId": n,
            "text": text,
            "source": source,
            "perspectives": [{"stance_label_3": s, "pids": p} for s, p in clusters],
        }
        for n, (_, source, text, clusters) in enumerate(claims)
    ]
    contents = {
        "perspectrum_with_answers_v1.0.json": [*records, *extra],
        "perspective_pool_v1.0.json": pool,
        "dataset_split_v1.0.json": {str(n): split for n, (split, *_) in enumerate(claims) if split},
    }
    for name, content in contents.items():
        text = json.dumps(content).encode()
        (folder / f"{name}.gz").write_bytes(gzip.compress(text)) if packed else (folder / name).write_bytes(text)
    return folder


def build(folder: Path, config: str, cache: Path, **options):
    builder = Perspectrum.open(folder, config, cache_dir=cache / "cache", **options)
    builder.download_and_prepare()
    return builder.as_dataset(), dict(builder.dropped)


@pytest.mark.parametrize("packed", [False, True])
def test_pairs(tmp_path, packed):
    folder = tmp_path / "my data [1]"
    folder.mkdir()
    data, dropped = build(release(folder, packed=packed), "pairs", tmp_path)
    # claim 0: three perspectives to the claim, 1-2 in one cluster, 1-3 and 2-3; what holds text 3 is also in test
    rows = [(row["sentence1"], row["relation"], row["label"]) for row in data["train"]]
    assert rows == [
        ("Cats need far less daily attention", "perspective-to-claim", 1),
        ("A cat asks for little care", "perspective-to-claim", 1),
        ("Cats need far less daily attention", "paraphrase", 1),
    ]
    assert [row["label"] for row in data["validation"]] == [0]
    assert Counter((row["relation"], row["label"]) for row in data["test"]) == {
        ("perspective-to-claim", 1): 1,
        ("perspective-to-claim", 0): 1,
        ("same-claim", 0): 1,
    }
    assert dropped == {"row: a text is also in test": 3}
    assert data["train"].features["label"].names == ["oppose", "agree"]


def test_triplets_and_arguments(tmp_path):
    folder = release(tmp_path)
    data, dropped = build(folder, "triplets", tmp_path)
    assert {split: len(rows) for split, rows in data.items()} == {"test": 1}
    assert data["test"][0] == {
        "anchor": "Dogs should stay out of parks",
        "positive": "Dogs frighten small children there",
        "negative": "dogs guard the house, at night.",
        "group": "claim-2",
    }
    assert dropped == {"row: a text is also in test": 2}
    data, dropped = build(folder, "arguments", tmp_path)
    assert [(row["id"], row["parent"], row["stance"], row["depth"]) for row in data["train"]] == [
        ("claim-0", None, "thesis", 0),
        ("claim-0:1", "claim-0", "pro", 1),
        ("claim-0:2", "claim-0", "pro", 1),
    ]
    assert (len(data["validation"]), len(data["test"]), dropped) == (2, 3, {"row: a text is also in test": 1})


def test_a_source_can_be_left_out(tmp_path):
    claims = [*CLAIMS, ("train", "debatewise", "Parks are made for everyone", [("UNDERMINE", [5]), ("SUPPORT", [4])])]
    folder = release(tmp_path, claims)
    data, dropped = build(folder, "pairs", tmp_path, without=("idebate",))
    # claim 0 keeps all six pairs; claim 3 has text 4, which validation holds, and text 5, which is idebate's
    assert {split: len(rows) for split, rows in data.items()} == {"train": 6, "validation": 1}
    assert dropped == {
        "claim: from a source left out": 1,
        "perspective: from a source left out": 1,
        "row: a text is also in validation": 1,
    }
    assert build(folder, "pairs", tmp_path, without="idebate")[0].num_rows == data.num_rows
    with pytest.raises(ValueError, match="idebate, debatewise, procon"):
        build(folder, "pairs", tmp_path, without=("kialo",))


def test_every_reason_for_a_drop(tmp_path):
    claims = [
        (
            "train",
            "procon",
            "Cats make better pets than dogs",
            [("SUPPORT", [1, 99, 7]), ("NEUTRAL", [3]), ("SUPPORT", [1])],
        ),
        ("", "procon", "This claim is in no split", []),
        ("test", "procon", " ", []),
        ("train", "procon", "A cat is best", [("SUPPORT", [2]), ("SUPPORT", [2])]),
        ("train", "procon", "a cat is best", [("UNDERMINE", [2])]),
        ("train", "procon", "A cat is best", [("UNDERMINE", [2])]),
    ]
    extra = [{"cId": 7}, "no object", {"cId": 0, "text": "One more cat claim here", "source": "", "perspectives": [{}]}]
    data, dropped = build(release(tmp_path, claims, extra=extra), "pairs", tmp_path)
    assert len(data["train"]) == 3
    assert dropped == {
        "claim: malformed": 2,
        "claim: in no split": 1,
        "claim: empty text": 1,
        "perspective: malformed": 1,
        "perspective: without text in the pool": 1,
        "perspective: neither supports nor undermines": 1,
        "perspective: listed twice under its claim": 2,
        "row: text shorter than 4 words": 2,  # "Cats, yes" with the claim and with text 1
        "row: duplicate": 1,
    }


def test_wrong_files_say_what_to_do(tmp_path):
    folder = release(tmp_path)
    pool, splits = folder / "perspective_pool_v1.0.json", folder / "dataset_split_v1.0.json"
    pool.write_text('[{"pId": 1}]')
    with pytest.raises(ValueError, match=r"perspective_pool_v1.0.json: every item needs pId, text and source"):
        build(folder, "pairs", tmp_path)
    splits.write_text('{"1": "train",\n}')
    with pytest.raises(ValueError, match=r"dataset_split_v1.0.json, line 2, column 1: not valid JSON"):
        build(folder, "pairs", tmp_path)
    splits.write_text("[]")
    with pytest.raises(ValueError, match=r"dataset_split_v1.0.json, line 1: expected an object"):
        build(folder, "pairs", tmp_path)
    splits.unlink()
    pool.unlink()
    with pytest.raises(FileNotFoundError, match=r"lacks perspective_pool_v1.0.json, dataset_split_v1.0.json \(plain"):
        build(folder, "pairs", tmp_path)


@pytest.mark.corpora
@pytest.mark.skipif("CORPORA_DIR" not in os.environ, reason="CORPORA_DIR is not set")
@pytest.mark.parametrize("config", Perspectrum.FEATURES)
def test_the_release(tmp_path, config):
    data, _ = build(Path(os.environ["CORPORA_DIR"]) / "perspectrum", config, tmp_path)
    assert data.num_rows == load_metadata("perspectrum").expected[config]
    columns = [
        name
        for name in ("sentence1", "sentence2", "anchor", "positive", "negative", "text")
        if name in data["test"].features
    ]
    test, train = (
        {text.casefold() for column in columns for text in data[split][column]} for split in ("test", "train")
    )
    assert not test & train
    assert not set(data["test"]["group"]) & set(data["train"]["group"])
