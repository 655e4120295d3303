"""IMDB: JSON lines, the released layout in a folder and an archive, films on one side, and every malformed row."""

import json
import os
import tarfile
from pathlib import Path

import pytest

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.imdb import Imdb

STARS = {"neg": 2, "pos": 9}


def build(path: Path, cache: Path, config: str = "sentences", **options):
    builder = Imdb.open(path, config, cache_dir=cache / "cache", **options)
    builder.download_and_prepare()
    return builder.as_dataset(), dict(builder.dropped)


def record(film: int, side: str, n: int = 0, **other) -> dict:
    text = f"Film {film} is what I call a {side} film.<br /><br />Opinion no. {n}: see <BR>it."
    return {"stars": STARS[side], "label": int(side == "pos"), "title_id": f"tt{film:04}", "text": text, **other}


def write_tables(folder: Path, train: list, test: list) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows in (("train", train), ("test", test)):
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def films(first: int, count: int) -> list[dict]:
    """Two reviews of either side for each film."""
    return [record(film, side, n) for film in range(first, first + count) for side in STARS for n in (1, 2)]


def write_release(folder: Path, films: int) -> Path:
    """Films 0, 1, ... of the train part with a review of either side; one film of the test part."""
    for split, numbers in (("train", range(films)), ("test", [99])):
        for side, stars in STARS.items():
            (folder / split / side).mkdir(parents=True)
            urls = [f"http://www.imdb.com/title/tt{film:04}/usercomments" for film in numbers]
            (folder / split / f"urls_{side}.txt").write_text("\n".join(urls) + "\n")
            for place, film in enumerate(numbers):
                text = record(film, side)["text"]
                (folder / split / side / f"{place}_{stars}.txt").write_text(text, encoding="utf-8")
    (folder / "train" / "unsup").mkdir()
    (folder / "train" / "unsup" / "0_0.txt").write_text("not for us")
    (folder / "README").write_text("about")
    return folder


def test_no_film_is_on_two_sides(tmp_path):
    data, dropped = build(write_tables(tmp_path / "raw", films(0, 20), [*films(50, 1), record(7, "neg", 3)]), tmp_path)
    # a tenth of 20 films is 2; the four reviews of the film that is in test, too, are left out
    assert data.num_rows["train"] + data.num_rows["validation"] == 76 and data.num_rows["test"] == 5
    assert dropped == {"review: its film is in test": 4}
    sides = {split: set(data[split]["group"]) for split in data}
    assert len(sides["validation"]) in (1, 2) and len(set.union(*sides.values())) == sum(map(len, sides.values())) == 21
    assert data["test"][0] == {
        "text": "Film 50 is what I call a neg film. Opinion no. 1: see it.",
        "label": 0,
        "group": "tt0050",
    }
    assert set(build(tmp_path / "raw", tmp_path, seed=1)[0]["validation"]["group"]) != sides["validation"]


def test_malformed_rows(tmp_path):
    bad = [
        record(1, "pos", stars=5),
        record(1, "pos", stars="nine"),
        record(1, "pos", stars=2),
        record(1, "pos", label=3),
        record(1, "pos", text=None),
        record(1, "pos", text=" <br />"),
        '{"stars": 9, ',
        "[]",
    ]
    bare = {key: value for key, value in record(3, "pos").items() if key in ("stars", "text")}
    train = [*films(0, 4), record(2, "neg", 1), bare, *bad]
    copied = record(60, "pos", text=record(0, "pos", 1)["text"])
    data, dropped = build(write_tables(tmp_path / "raw", train, [*films(50, 1), copied]), tmp_path)
    assert data.num_rows["train"] + data.num_rows["validation"] == 16 and data.num_rows["test"] == 5
    assert "" in [*data["train"]["group"], *data["validation"]["group"]]  # the row without title_id and label
    assert dropped == {
        "row: stars are none of 1 to 4 and 7 to 10": 2,
        "row: label and stars disagree": 1,
        "row: unknown label": 1,
        "row: no text": 1,
        "row: empty text": 1,
        "line: not a JSON object": 2,
        "row: a text is also in test": 1,
        "row: duplicate": 1,
    }


def test_the_released_layout(tmp_path):
    folder = write_release(tmp_path / "aclImdb", films=10)
    (folder / "train" / "pos" / "3_9.txt").write_bytes(b"caf\xe9")
    (folder / "train" / "neg" / "10_2.txt").write_text("a review of a film that is in no list")
    with tarfile.open(tmp_path / "aclImdb_v1.tar.gz", "w:gz") as archive:
        archive.add(folder, "aclImdb")
    results = [build(path, tmp_path) for path in (folder, tmp_path / "aclImdb_v1.tar.gz")]
    for data, dropped in results:
        assert sum(data.num_rows.values()) == 2 * 10 - 1 + 1 + 2 and dropped == {"file: not UTF-8": 1}
        assert data["test"]["group"] == ["tt0099"] * 2 and data["test"]["label"] == [0, 1]
        rows = [row for split in data for row in data[split]]
        assert all(f"Film {int(row['group'][2:])} " in row["text"] for row in rows if row["group"])
    assert {split: results[0][0][split].to_list() for split in data} == {s: data[s].to_list() for s in data}


def test_pairs_and_triplets_are_of_one_film(tmp_path):
    test = [*films(50, 2), record(50, "pos", 1)]
    folder = write_tables(tmp_path / "raw", films(0, 20), test)
    data, dropped = build(folder, tmp_path, "triplets")
    # a film's two positive and two negative reviews give two anchors of either side
    assert data.num_rows == {"train": 72, "validation": 8, "test": 8} and dropped == {"row: duplicate": 1}
    for row in data["test"]:
        assert all(f"Film {int(row['group'][2:])} " in row[name] for name in ("anchor", "positive", "negative"))
        side = "pos" if "pos film" in row["anchor"] else "neg"
        assert f"{side} film" in row["positive"] and f"{side} film" not in row["negative"]
    # cut to their first sentences, the four reviews of each of 22 films are two, which cannot agree
    with pytest.raises(ValueError, match=r"no usable row .*'row: duplicate': 45}"):
        build(folder, tmp_path, "pairs", granularity="first")
    assert build(folder, tmp_path, "sentences")[0].num_rows["test"] == 9  # the repeated row stays there


def test_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing at .* belongs to imdb; it needs the archive aclImdb"):
        build(tmp_path, tmp_path)


@pytest.mark.corpora
@pytest.mark.skipif("CORPORA_DIR" not in os.environ, reason="CORPORA_DIR is not set")
def test_the_release(tmp_path):
    data, dropped = build(Path(os.environ["CORPORA_DIR"]) / "imdb", tmp_path)
    assert data.num_rows == load_metadata("imdb").expected["sentences"]
    assert sum(data.num_rows.values()) + sum(dropped.values()) == 50000
    assert data.num_rows["test"] == 25000 and sum(data["test"]["label"]) == 12500
    sides = [set(data[split]["group"]) for split in ("train", "validation", "test")]
    assert not sides[0] & sides[1] and not sides[1] & sides[2] and not sides[0] & sides[2]
    assert dropped["review: its film is in test"] == 2
    assert not any("<br" in text for text in data["test"]["text"])
