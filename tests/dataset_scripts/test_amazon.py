"""Amazon: every form of release, products and kinds of product, and the demonstration's reviews."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from dataset_scripts.amazon import Amazon
from dataset_scripts.base.metadata import load_metadata

PARTS = ("lid", "fan", "cable", "screen", "hinge")


def build(path: Path, config: str, cache: Path, **options):
    builder = Amazon.open(path, config, cache_dir=cache / "cache", **options)
    builder.download_and_prepare()
    return builder.as_dataset(), dict(builder.dropped)


def texts(product: str) -> list[tuple[str, int]]:
    good = [(f"The {part} of this {product} works very well", 5) for part in PARTS[:3]]
    return good + [(f"The {part} of this {product} broke at once", 1) for part in PARTS[:2]]


def blitzer(product: str, domain: str) -> list[dict]:
    shared = {"domain": domain, "unique_id": "u", "asin": product, "product_name": "A kettle", "title": "My view"}
    return [{**shared, "label": int(stars > 3), "rating": stars, "text": text} for text, stars in texts(product)]


def write(path: Path, records: list[dict]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def groups(data) -> set[str]:
    return {group for rows in data.values() for group in rows["group"]}


FORMS = {
    "domains.jsonl": lambda product: blitzer(product, "kitchen"),
    "reviews_Kitchen_5.json": lambda product: [
        {"asin": product, "overall": float(stars), "reviewText": text, "summary": "My view", "style": {"Color:": "red"}}
        for text, stars in texts(product)
    ],
    "Kitchen.jsonl": lambda product: [
        {"rating": stars, "title": "My view", "text": text, "asin": f"{product}-{number}", "parent_asin": product}
        for number, (text, stars) in enumerate(texts(product))
    ],
}


@pytest.mark.parametrize("name", FORMS)
def test_json_lines(tmp_path, name):
    path = write(tmp_path / name, [row for n in range(10) for row in FORMS[name](f"KETTLE{n}")])
    data, dropped = build(path, "triplets", tmp_path, domain=("kitchen",))
    # 8 products for training, one each for validation and test, each 3 x 2 + 2 x 1 triplets
    assert data.num_rows == {"train": 64, "validation": 8, "test": 8} and dropped == {}
    assert groups(data) == {f"KETTLE{n}" for n in range(10)}
    with pytest.raises(ValueError, match=r"no product has .*--config sgts. Dropped: {'review: domain kitchen': 50}"):
        build(path, "triplets", tmp_path, domain="toys")


def test_a_table(tmp_path):
    columns = ["marketplace", "customer_id", "review_id", "product_id", "product_parent", "product_title",
               "product_category", "star_rating", "review_headline", "review_body", "review_date"]  # fmt: skip
    lines = ["\t".join(columns)]
    for n in range(10):
        for text, stars in texts(f"KETTLE{n}"):
            lines.append(f'US\t1\tR1\tKETTLE{n}\t7\tA "kettle\tPersonal Care\t{stars}\t"Mine\t"{text}\t2015-08-31')
    lines.append("US\t1\tR1\tKETTLE1\t7")
    path = tmp_path / "amazon_reviews_us_Personal_Care_v1_00.tsv.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    data, dropped = build(tmp_path, "pairs", tmp_path, domain=("personal-care",))
    # a product opposes 3 x 2 times and agrees 3 + 1 times: 4 of either label
    assert data.num_rows == {"train": 64, "validation": 8, "test": 8}
    assert Counter(data["train"]["label"]) == {0: 32, 1: 32}
    assert data["test"][0]["sentence1"].startswith('"The ') and dropped == {"line: wrong number of columns": 1}


def test_reviews_without_products(tmp_path):
    rows = [{"label": int(stars > 3), "text": text} for n in range(10) for text, stars in texts(f"kettle{n}")]
    path = write(tmp_path / "polarity.jsonl", [*rows, {"label": 2, "text": "Neither one nor the other"}])
    data, dropped = build(path, "sentences", tmp_path)
    assert sum(data.num_rows.values()) == 50 and set(data.num_rows) == {"train", "validation", "test"}
    assert groups(data) == {""} and dropped == {"review: label is neither 1 nor 0": 1}
    with pytest.raises(ValueError, match=r"amazon: no product has .* build with --config sentences --config q"):
        build(path, "pairs", tmp_path)
    # beside reviews with products they add to the configurations of sentiment alone
    write(tmp_path / "domains.jsonl", [row for n in range(10) for row in blitzer(f"KETTLE{n}", "kitchen")])
    assert sum(build(tmp_path, "sentences", tmp_path)[0].num_rows.values()) == 50  # the same texts but for their case
    assert sum(build(tmp_path, "pairs", tmp_path)[0].num_rows.values()) == 80


def test_a_domain_keeps_the_split_of_all(tmp_path):
    rows = [row for n in range(30) for row in blitzer(f"KETTLE{n}", "kitchen") + blitzer(f"PHONE{n}", "Electronics")]
    path = write(tmp_path / "domains.jsonl", rows)
    whole, _ = build(path, "pairs", tmp_path)
    phones, dropped = build(path, "pairs", tmp_path, domain=["electronics"])
    for split, rows in phones.items():
        assert set(rows["group"]) == {group for group in whole[split]["group"] if group.startswith("PHONE")}
    assert dropped == {"review: domain kitchen": 150}


def test_files_that_are_no_reviews(tmp_path):
    write(tmp_path / "meta_Kitchen.json", [{"asin": "KETTLE1", "title": "A kettle"}])
    with pytest.raises(FileNotFoundError, match=r"nothing at .* belongs to amazon; it needs a file of reviews"):
        build(tmp_path, "sentences", tmp_path)
    path = write(tmp_path / "kettles.json", [{"asin": "KETTLE1", "title": "A kettle"}])
    with pytest.raises(ValueError, match=r"kettles.json, line 1: found asin, title; expected a file of reviews"):
        build(path, "sentences", tmp_path)
    (tmp_path / "empty.json").write_text("\n")
    with pytest.raises(ValueError, match=r"empty.json: no record; expected a file of reviews"):
        build(tmp_path / "empty.json", "sentences", tmp_path)
    # beside reviews such files are passed over
    write(tmp_path / "reviews.json", [row for n in range(10) for row in blitzer(f"KETTLE{n}", "kitchen")])
    data, dropped = build(tmp_path, "sentences", tmp_path)
    assert sum(data.num_rows.values()) == 50 and dropped["review: no column of text, or none of stars"] >= 1


def test_the_demonstration(root, tmp_path):
    path = root / "dataset_scripts" / "demo" / "reviews.jsonl"
    data, _ = build(path, "triplets", tmp_path)
    assert set(data) == {"train", "validation", "test"} and min(data.num_rows.values()) >= 8
    pairs, _ = build(path, "pairs", tmp_path)
    for rows in pairs.values():
        assert Counter(rows["label"])[0] == Counter(rows["label"])[1]


@pytest.mark.corpora
def test_four_domains(corpora, tmp_path):
    path, expected = corpora / "amazon" / "blitzer_mdsd_labelled.jsonl.gz", load_metadata("amazon").expected
    data, dropped = build(path, "triplets", tmp_path)
    assert data.num_rows == expected["triplets"]
    products = [set(rows["group"]) for rows in data.values()]
    assert len(set.union(*products)) == sum(map(len, products))
    # of 596 products with both polarities some have only copies of others' reviews on one side
    assert 575 < sum(map(len, products)) + dropped["product: one review of either polarity only"] <= 596
    data, _ = build(path, "pairs", tmp_path)
    assert data.num_rows == expected["pairs"]
    assert all(Counter(rows["label"]) == {0: len(rows) // 2, 1: len(rows) // 2} for rows in data.values())
