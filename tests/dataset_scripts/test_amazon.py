"""Amazon: the forms of release, with products and without."""

import pytest

from dataset_scripts.reviews import Amazon
from tests.dataset_scripts.packing import json_lines

PARTS = ("lid", "fan", "cable")


def texts(product: str) -> list[tuple[str, int]]:
    good = [(f"The {part} of this {product} works very well", 5) for part in PARTS]
    return good + [(f"The {part} of this {product} broke at once", 1) for part in PARTS[:2]]


def blitzer(product: str, domain: str = "kitchen") -> list[dict]:
    shared = {"domain": domain, "unique_id": "u", "asin": product, "product_name": "A kettle", "title": "My view"}
    return [{**shared, "label": int(stars > 3), "rating": stars, "text": text} for text, stars in texts(product)]


def reviews_2014(product: str) -> list[dict]:
    shared = {"asin": product, "summary": "My view", "style": {"Color:": "red"}}
    return [{**shared, "overall": float(stars), "reviewText": text} for text, stars in texts(product)]


def reviews_2023(product: str) -> list[dict]:
    rows = enumerate(texts(product))
    return [{"rating": s, "text": text, "asin": f"{product}-{n}", "parent_asin": product} for n, (text, s) in rows]


def kettles(make=blitzer, count: int = 10) -> str:
    return json_lines(row for n in range(count) for row in make(f"KETTLE{n}"))


def groups(data) -> set[str]:
    return {group for rows in data.values() for group in rows["group"]}


FORMS = {"domains.jsonl": blitzer, "reviews_Kitchen_5.json.gz": reviews_2014, "Kitchen.jsonl": reviews_2023}


@pytest.mark.parametrize("name", FORMS)
def test_json_lines(name, build, write):
    path = write("raw", {name: kettles(FORMS[name])}) / name
    data, dropped = build(Amazon, path, "triplets")
    # 8 products for training, one each for validation and test, each 3 x 2 + 2 x 1 triplets
    assert data.num_rows == {"train": 64, "validation": 8, "test": 8} and dropped == {}
    assert groups(data) == {f"KETTLE{n}" for n in range(10)}


def test_reviews_without_products(build, write):
    rows = [{"label": int(stars > 3), "text": text} for n in range(10) for text, stars in texts(f"kettle{n}")]
    folder = write("raw", {"polarity.jsonl": json_lines([*rows, {"label": 2, "text": "Neither one nor the other"}])})
    data, dropped = build(Amazon, folder, "sentences")
    assert sum(data.num_rows.values()) == 50 and set(data.num_rows) == {"train", "validation", "test"}
    assert groups(data) == {""} and dropped == {"review: label is neither 1 nor 0": 1}
    with pytest.raises(ValueError, match=r"amazon: no product has .* build with .*sentences.*quadruples"):
        build(Amazon, folder, "pairs")
    # beside reviews with products they add to the configurations of sentiment alone
    write("raw", {"domains.jsonl": kettles()})
    assert sum(build(Amazon, folder, "sentences")[0].num_rows.values()) == 50  # the same texts but for their case
    assert sum(build(Amazon, folder, "pairs")[0].num_rows.values()) == 80
