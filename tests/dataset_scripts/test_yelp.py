"""Yelp: every malformed review, a split that divides no business, and the options."""

from collections import Counter

from dataset_scripts.reviews import Yelp
from tests.dataset_scripts.packing import json_lines

DISHES = ("soup", "tea", "bread", "pie", "rice")


def review(business: str, stars, text) -> dict:
    return {"review_id": "r", "business_id": business, "stars": stars, "text": text}


def reviews_of(business: str, positive: int = 3, negative: int = 2) -> list[dict]:
    good = [review(business, 4 + n % 2, f"Wow! The {DISHES[n]} at {business} was good.") for n in range(positive)]
    return good + [review(business, 1 + n % 2, f"Oh. The {DISHES[n]} at {business} was bad.") for n in range(negative)]


def cafes(count: int, positive: int = 3, negative: int = 2, name: str = "cafe") -> list[dict]:
    return [row for n in range(count) for row in reviews_of(f"{name}{n}", positive, negative)]


def businesses(data) -> dict[str, set]:
    return {split: set(rows["group"]) for split, rows in data.items()}


def test_every_configuration(build, write):
    path = write("raw", {"reviews.jsonl": json_lines(cafes(20))}) / "reviews.jsonl"
    data, dropped = build(Yelp, path, "sentences")
    # 20 businesses at 85 / 5 / 10 %: 17, 1 and 2, of 5 reviews each
    assert data.num_rows == {"train": 85, "validation": 5, "test": 10} and dropped == {}
    assert Counter(data["train"]["label"]) == {1: 51, 0: 34}
    groups = businesses(data)
    assert not groups["train"] & (groups["test"] | groups["validation"])
    # 3 x 2 triplets with a positive anchor and 2 x 1 with a negative one, of every business
    triplets, _ = build(Yelp, path, "triplets")
    # a business opposes 3 x 2 times and agrees 3 + 1 times
    pairs, _ = build(Yelp, path, "pairs")
    assert triplets.num_rows == pairs.num_rows == {"train": 17 * 8, "validation": 8, "test": 16}
    assert businesses(triplets) == businesses(pairs) == groups
    assert Counter(pairs["train"]["label"]) == {0: 68, 1: 68}
    assert build(Yelp, path, "quadruples")[0].num_rows == {"train": 51}
    # test: 6 positive and 4 negative reviews; 1 pair of either polarity, and 2 of the 4 and 2 that are left
    assert build(Yelp, path, "sgts")[0].num_rows["test"] == 4


def test_bad_lines_and_reviews_are_counted(build, write):
    soup = "The soup was far too good."
    bad = [review("cafe1", 3, "The soup was neither good nor bad.")]
    bad += [review("cafe1", stars, soup) for stars in (6, "many", None)]
    bad += [review("", 5, soup), review("cafe1", 5, " \n"), review("cafe1", 5, None), review("cafe1", 5, "So good!")]
    bad += [{"business_id": "cafe1", "text": "Nobody gave this soup a star."}, '{"business_id": "cafe1", "stars"']
    again = {**cafes(1)[0], "text": cafes(1)[0]["text"].upper()}
    data, dropped = build(Yelp, write("raw", {"reviews.json": json_lines([*cafes(10), *bad, again])}), "sentences")
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


def test_granularity_does_not_move_the_split(build, write):
    folder = write("raw", {"reviews.json": json_lines([review("cafe1", 5, "Wow! So good."), *cafes(20)])})
    whole, _ = build(Yelp, folder, "pairs")
    first, dropped = build(Yelp, folder, "pairs", granularity="first")
    assert {text.split()[0] for text in whole["train"]["sentence1"]} <= {"Wow!", "Oh."}
    # "Wow!" and "Oh." have fewer than four words
    assert {text.split()[0] for text in first["train"]["sentence1"]} == {"The"}
    assert businesses(first) == businesses(whole) and dropped == {"review: no sentence of 4 words or more": 1}
    data, dropped = build(Yelp, folder, "triplets", per_product=3, share=0.5)
    assert max(Counter(data["train"]["group"]).values()) == 3
    left = 20 - sum(map(len, businesses(data).values()))
    assert 4 <= left <= 16 and dropped["review: of a product outside the share"] == 5 * left
