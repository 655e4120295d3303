"""Yelp: every malformed review, a split that divides no business, and the options."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from dataset_scripts.yelp import Yelp

DISHES = ("soup", "tea", "bread", "pie", "rice", "curry", "salad", "cake", "stew", "fish")


def review(business: str, stars: float, text: str, **other) -> dict:
    return {"review_id": "r", "business_id": business, "stars": stars, "text": text, **other}


def reviews_of(business: str, positive: int = 3, negative: int = 2) -> list[dict]:
    good = [review(business, 4 + n % 2, f"Wow! The {DISHES[n]} at {business} was good.") for n in range(positive)]
    bad = [review(business, 1 + n % 2, f"Oh. The {DISHES[n]} at {business} was bad.") for n in range(negative)]
    return [*good, *bad]


def write(path: Path, records: list) -> Path:
    path.write_text("".join(f"{record if isinstance(record, str) else json.dumps(record)}\n" for record in records))
    return path


def build(path: Path, config: str, cache: Path, **options):
    builder = Yelp.open(path, config, cache_dir=cache / "cache", **options)
    builder.download_and_prepare()
    return builder.as_dataset(), dict(builder.dropped)


def businesses(data) -> dict[str, set]:
    return {split: set(rows["group"]) for split, rows in data.items()}


def test_every_configuration(tmp_path):
    path = write(tmp_path / "reviews.jsonl", [row for n in range(20) for row in reviews_of(f"cafe{n}")])
    data, dropped = build(path, "sentences", tmp_path)
    # 20 businesses at 85 / 5 / 10 %: 17, 1 and 2, of 5 reviews each
    assert data.num_rows == {"train": 85, "validation": 5, "test": 10} and dropped == {}
    assert Counter(data["train"]["label"]) == {1: 51, 0: 34}
    split = businesses(data)
    assert not (split["train"] & split["test"] or split["train"] & split["validation"])

    data, dropped = build(path, "triplets", tmp_path)
    # 3 x 2 triplets with a positive anchor and 2 x 1 with a negative one, of every business
    assert data.num_rows == {"train": 17 * 8, "validation": 8, "test": 16} and businesses(data) == split
    data, dropped = build(path, "pairs", tmp_path)
    # a business opposes 3 x 2 times and agrees 3 + 1 times
    assert data.num_rows == {"train": 17 * 8, "validation": 8, "test": 16} and businesses(data) == split
    assert Counter(data["train"]["label"]) == {0: 68, 1: 68}

    assert build(path, "quadruples", tmp_path)[0].num_rows == {"train": 51}
    # test: 6 positive and 4 negative reviews; 1 pair of either polarity, and 2 of the 4 and 2 that are left
    assert build(path, "sgts", tmp_path)[0].num_rows["test"] == 4


def test_bad_lines_and_reviews_are_counted(tmp_path):
    good = [row for n in range(10) for row in reviews_of(f"cafe{n}")]
    bad = [
        review("cafe1", 3, "The soup was neither good nor bad."),
        review("cafe1", 6, "The soup was far too good."),
        review("cafe1", "many", "The soup was far too good."),
        review("cafe1", None, "The soup was far too good."),
        review("", 5, "The soup of nowhere was good."),
        review("cafe1", 5, " \n"),
        review("cafe1", 5, None),
        review("cafe1", 5, "So good!"),
        {"business_id": "cafe1", "text": "Nobody gave this soup a star."},
        '{"business_id": "cafe1", "stars"',
        {**good[0], "text": good[0]["text"].upper()},
    ]
    data, dropped = build(write(tmp_path / "reviews.json", good + bad), "sentences", tmp_path)
    assert sum(data.num_rows.values()) == 50
    assert dropped == {
        "line: not a JSON object": 1,
        "review: 3 stars, neither positive nor negative": 1,
        "review: stars are no number from 1 to 5": 3,
        "review: no id of a product": 1,
        "review: empty text": 2,
        "review: no column of text, or none of stars": 1,
        "row: text shorter than 4 words": 1,
        "row: duplicate": 1,
    }


def test_a_text_is_on_one_side_only(tmp_path):
    rows = [row for n in range(40) for row in reviews_of(f"cafe{n}", 2, 1)]
    rows += [review(f"cafe{n}", 5, "The same praise everywhere.") for n in range(40)]
    data, dropped = build(write(tmp_path / "reviews.json", rows), "triplets", tmp_path)
    texts = [{row[column] for row in rows for column in row if column != "group"} for rows in data.values()]
    assert "The same praise everywhere." in texts[2] and len(texts) == 3
    assert not (texts[0] & texts[1] or texts[0] & texts[2] or texts[1] & texts[2])
    assert dropped == {"row: a text is also in test": 36, "row: duplicate": 3}


def test_products_that_give_no_triplet_are_counted(tmp_path):
    sizes = {"both": (2, 1), "one": (1, 1), "good": (3, 0), "bad": (0, 2)}
    rows = [row for kind, size in sizes.items() for n in range(20) for row in reviews_of(f"{kind}{n}", *size)]
    path = write(tmp_path / "reviews.json", rows)
    data, dropped = build(path, "triplets", tmp_path)
    assert sum(data.num_rows.values()) == 40  # two orders of the two good reviews
    assert {group[:4] for groups in businesses(data).values() for group in groups} == {"both"}
    assert dropped == {
        "product: no reviews of both polarities": 40,
        "product: one review of either polarity only": 20,
    }
    # the 40 businesses with both are split for themselves: 2 of them are in the validation split
    assert len(businesses(build(path, "sentences", tmp_path)[0])["validation"] & {
        f"{kind}{n}" for kind in ("both", "one") for n in range(20)}) == 2  # fmt: skip


def test_granularity_does_not_move_the_split(tmp_path):
    path = write(tmp_path / "reviews.json", [row for n in range(20) for row in reviews_of(f"cafe{n}")])
    whole, _ = build(path, "pairs", tmp_path)
    first, _ = build(path, "pairs", tmp_path, granularity="first")
    assert all(text.startswith(("Wow! The", "Oh. The")) for text in whole["train"]["sentence1"])
    # "Wow!" and "Oh." have fewer than four words
    assert all(text.startswith("The") for text in first["train"]["sentence1"])
    assert businesses(first) == businesses(whole)
    # sentences are whole reviews whatever the granularity
    assert build(path, "sentences", tmp_path, granularity="first")[0]["test"][0]["text"].startswith(("Wow!", "Oh."))
    rows = [review("cafe1", 5, "Wow! So good."), *(row for n in range(20) for row in reviews_of(f"cafe{n}"))]
    assert build(write(path, rows), "pairs", tmp_path, granularity="random")[1] == {
        "review: no sentence of 4 words or more": 1
    }


def test_options(tmp_path):
    path = write(tmp_path / "reviews.json", [row for n in range(100) for row in reviews_of(f"cafe{n}")])
    data, _ = build(path, "triplets", tmp_path, per_product=3)
    assert max(Counter(data["train"]["group"]).values()) == 3
    data, dropped = build(path, "sentences", tmp_path, share=0.3)
    kept = sum(map(len, businesses(data).values()))
    assert 20 <= kept <= 40 and dropped == {"review: of a product outside the share": 5 * (100 - kept)}
    for option in ({"granularity": "word"}, {"per_product": 1}, {"per_product": "many"}, {"share": 0}, {"share": 2}):
        with pytest.raises(ValueError, match=f"{next(iter(option))}=.*: (choose|give)"):
            build(path, "triplets", tmp_path, **option)


def test_files_of_the_release(tmp_path):
    rows = [row for n in range(5) for row in reviews_of(f"cafe{n}")]
    write(tmp_path / "yelp_academic_dataset_review.json", rows)
    for name in ("business", "checkin", "tip", "user"):
        write(tmp_path / f"yelp_academic_dataset_{name}.json", [{"business_id": "cafe1", "text": "hi", "stars": 5}])
    (tmp_path / "Dataset_User_Agreement.pdf").write_bytes(b"%PDF")
    packed = tmp_path / "more" / "reviews.jsonl.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(json.dumps(review("cafe7", 5, "The soup in the hills is good.")).encode()))
    assert [file.name for file in Yelp.find_files(tmp_path)] == [
        "reviews.jsonl.gz",
        "yelp_academic_dataset_review.json",
    ]
    data, _ = build(tmp_path, "sentences", tmp_path)
    assert sum(data.num_rows.values()) == 26
    path = write(tmp_path / "yelp_academic_dataset_tip.json", [{"business_id": "cafe1", "text": "hi"}])
    with pytest.raises(ValueError, match=r"tip.json, line 1: found business_id, text; expected yelp_academic_d"):
        build(path, "sentences", tmp_path)


@pytest.mark.corpora
def test_real_reviews(corpora, tmp_path):
    data, dropped = build(corpora / "yelp", "triplets", tmp_path)
    assert data.num_rows == {"train": 4940, "validation": 284, "test": 530}
    assert dropped["line: not a JSON object"] == 1  # the file is cut off within a line
    assert max(Counter(data["train"]["group"]).values()) == 20
    groups = businesses(data)
    assert not (groups["train"] & groups["test"] or groups["train"] & groups["validation"])
    texts = [{row[name] for row in rows for name in ("anchor", "positive", "negative")} for rows in data.values()]
    assert not (texts[0] & texts[1] or texts[0] & texts[2] or texts[1] & texts[2])
