"""MR: the split files, the two files of the first release, and every malformed row."""

import pytest

from dataset_scripts.sentiment import MovieReviews


def split_files(train: str) -> dict[str, bytes]:
    rows = {
        "train": train.encode("cp1252"),
        "validation": b"0\tdull validation\n1\tfine validation",
        "test": b"0\tdull test\n1\tfine test",
    }
    return {f"split_{split}.tsv.gz": b"label\ttext\n" + of_split for split, of_split in rows.items()}


def test_the_usual_split_stays_as_it_is(build, write):
    rows = ["1\ta  fine film .", "1\ta fine film", "0\tbad", '0\tthe " plot', "0\ta fine film", "1\ta fine film"]
    folder = write("raw", split_files("\n".join(rows)))
    data, dropped = build(MovieReviews, folder)
    assert data.num_rows == {"train": 6, "validation": 2, "test": 2} and dropped == {}
    assert data["train"].features["label"].names == ["negative", "positive"]
    assert data["train"][0] == {"text": "a fine film .", "label": 1, "group": ""}
    # of these six rows four texts; one has both labels, one is the only positive text left
    with pytest.raises(ValueError, match=r"'train: fewer than 2 texts of a label': 1"):
        build(MovieReviews, folder, "quadruples")


def test_the_first_release_is_split_by_seed(build, write):
    # one copy in Windows-1252 and one in UTF-8; a spelling of a text, which is on its side of the split
    negative = [f"a dull film of {n} minutes ".encode() for n in range(17)]
    negative += ["a clich\u00e9 \u2013 and dull".encode("cp1252"), "a \u00ab dull \u00bb film of 3 minutes".encode()]
    negative += [b"a fine film of 5 minutes", b"\x81"]
    positive = b"".join(b"a fine film of %d minutes \n" % n for n in range(18))
    folder = write("raw", {"rt-polarity.pos": positive, "rt-polarity.neg": b"\n".join(negative)})
    data, dropped = build(MovieReviews, folder)
    # 36 different texts, of which 80 / 10 / 10 % are 28 / 4 / 4; the one with both labels is in one of the splits
    assert sum(data.num_rows.values()) == 35 and all(3 <= data.num_rows[split] <= 5 for split in ("validation", "test"))
    assert dropped == {"row: text with both labels": 2, "row: duplicate": 1, "line: not UTF-8": 1}
    texts = [text for rows in data.values() for text in rows["text"]]
    assert "a clich\u00e9 \u2013 and dull" in texts and len(texts) == len(set(texts))
    assert build(MovieReviews, folder)[0]["test"]["text"] == data["test"]["text"]
    assert build(MovieReviews, folder, seed=7)[0]["test"]["text"] != data["test"]["text"]


def test_malformed_rows(build, write):
    rows = ["0\tbad plot", "1\t", "2\tneither", "\tno label", "1\ta\tb", "1", "", "1\tdull test!", "1\tclich\xe9"]
    data, dropped = build(MovieReviews, write("raw", split_files("\n".join(rows))))
    assert data.num_rows == {"train": 1, "validation": 2, "test": 2}
    assert dropped == {
        "row: empty text": 1,
        "row: unknown label": 2,
        "row: wrong number of columns": 2,
        "line: not UTF-8": 1,
        "row: a text is also in test": 1,
    }
