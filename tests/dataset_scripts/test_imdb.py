"""IMDB: JSON lines, the released layout in a folder and an archive, films on one side, and every malformed row."""

from dataset_scripts.imdb import Imdb
from tests.dataset_scripts.packing import json_lines

STARS = {"neg": 2, "pos": 9}


def record(film: int, side: str, n: int = 0, **other) -> dict:
    text = f"Film {film} is what I call a {side} film.<br /><br />Opinion no. {n}: see <BR>it."
    return {"stars": STARS[side], "label": int(side == "pos"), "title_id": f"tt{film:04}", "text": text, **other}


def tables(train: list, test: list) -> dict[str, str]:
    return {"train.jsonl": json_lines(train), "test.jsonl": json_lines(test)}


def films(first: int, count: int) -> list[dict]:
    """Two reviews of either side for each film."""
    return [record(film, side, n) for film in range(first, first + count) for side in STARS for n in (1, 2)]


def release(count: int) -> dict[str, str | bytes]:
    """Films 0, 1, ... of the train part with a review of either side; one film of the test part."""
    files: dict[str, str | bytes] = {"train/unsup/0_0.txt": "not for us", "README": "about"}
    for split, numbers in (("train", range(count)), ("test", [99])):
        for side, stars in STARS.items():
            urls = [f"http://www.imdb.com/title/tt{film:04}/usercomments" for film in numbers]
            files[f"{split}/urls_{side}.txt"] = "\n".join(urls)
            reviews = {f"{split}/{side}/{n}_{stars}.txt": record(film, side)["text"] for n, film in enumerate(numbers)}
            files |= reviews
    return files


def test_no_film_is_on_two_sides(build, write):
    folder = write("raw", tables(films(0, 20), [*films(50, 1), record(7, "neg", 3)]))
    data, dropped = build(Imdb, folder)
    # a tenth of 20 films is 2; the four reviews of the film that is in test, too, are left out
    assert data.num_rows["train"] + data.num_rows["validation"] == 76 and data.num_rows["test"] == 5
    assert dropped == {"review: its film is in test": 4}
    sides = {split: set(data[split]["group"]) for split in data}
    assert len(sides["validation"]) in (1, 2) and len(set.union(*sides.values())) == sum(map(len, sides.values())) == 21
    text = "Film 50 is what I call a neg film. Opinion no. 1: see it."
    assert data["test"][0] == {"text": text, "label": 0, "group": "tt0050"}
    assert set(build(Imdb, folder, seed=1)[0]["validation"]["group"]) != sides["validation"]


def test_malformed_rows(build, write):
    bad = [{"stars": 5}, {"stars": "nine"}, {"stars": 2}, {"label": 3}, {"text": None}, {"text": " <br />"}]
    bare = {key: value for key, value in record(3, "pos").items() if key in ("stars", "text")}
    train = [*films(0, 4), record(2, "neg", 1), bare, *(record(1, "pos", **wrong) for wrong in bad)]
    copied = record(60, "pos", text=record(0, "pos", 1)["text"])
    folder = write("raw", tables([*train, '{"stars": 9, ', "[]"], [*films(50, 1), copied]))
    data, dropped = build(Imdb, folder)
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


def test_the_released_layout(build, write):
    files = release(10) | {"train/pos/3_9.txt": b"caf\xe9", "train/neg/10_2.txt": "of a film that is in no list"}
    archive = write("aclImdb_v1.tar.gz", {f"aclImdb/{name}": content for name, content in files.items()})
    rows = []
    for path in (write("aclImdb", files), archive):
        data, dropped = build(Imdb, path)
        assert sum(data.num_rows.values()) == 2 * 10 - 1 + 1 + 2 and dropped == {"file: not UTF-8 text": 1}
        assert data["test"]["group"] == ["tt0099"] * 2 and data["test"]["label"] == [0, 1]
        rows.append([row for split in data for row in data[split]])
        assert all(f"Film {int(row['group'][2:])} " in row["text"] for row in rows[-1] if row["group"])
    assert rows[0] == rows[1]
