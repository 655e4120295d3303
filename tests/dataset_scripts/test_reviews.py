"""Reviews of one product: rows counted by hand, sentences cut out of reviews; Yelp and Amazon."""

from collections import Counter

import pytest

from dataset_scripts.base.schema import AGREE, CON, OPPOSE, PRO
from dataset_scripts.reviews import Amazon, Yelp, cut, review_families, review_pairs, review_triplets
from dataset_scripts.sentiment import NEGATIVE, POSITIVE, Sentence
from tests.dataset_scripts.packing import json_lines


def reviews(product: str, positive: int, negative: int) -> list[Sentence]:
    return [Sentence(f"+{product}{n}", POSITIVE, product) for n in range(positive)] + [
        Sentence(f"-{product}{n}", NEGATIVE, product) for n in range(negative)
    ]


def test_a_popular_product_is_limited():
    rows = [row for _, row in review_triplets(reviews("a", 50, 50) + reviews("b", 2, 1), 6)]
    assert Counter(row["group"] for row in rows) == {"a": 6, "b": 2}
    assert Counter(row["anchor"][:2] for row in rows) == {"+a": 3, "-a": 3, "+b": 2}
    assert len({row["anchor"] for row in rows}) == 8  # no review of the popular product is an anchor twice
    for row in rows:
        assert row["anchor"][0] == row["positive"][0] != row["negative"][0] and row["anchor"] != row["positive"]
        assert {row[column][1] for column in ("anchor", "positive", "negative")} == {row["group"]}
    rows = [row for _, row in review_pairs(reviews("a", 50, 50) + reviews("b", 1, 1), 8)]
    # a: 4 of either label; b opposes once, but nothing balances it
    assert Counter(row["label"] for row in rows) == {AGREE: 4, OPPOSE: 4}
    assert Counter(row["sentence1"][0] for row in rows if row["label"] == AGREE) == {"+": 2, "-": 2}
    # of a at most two reviews of either polarity; b has one of each and no triplet, c no negative one
    rows = [row for _, row in review_families(reviews("a", 3, 1) + reviews("b", 1, 1) + reviews("c", 3, 0), 2)]
    assert [(row["text"][:2], row["side"], row["group"]) for row in rows] == [("+a", PRO, "a")] * 2 + [("-a", CON, "a")]
    assert len({row["text"] for row in rows}) == 3 and {row["statement"] for row in rows} == {""}


def test_pairs_of_one_product_are_balanced():
    # a opposes 3 x 2 times and agrees 3 + 1 times, b agrees once, c never: 5 of either label, and the one negative pair
    rows = [row for _, row in review_pairs(reviews("a", 3, 2) + reviews("b", 2, 0) + reviews("c", 0, 1), 20)]
    kinds = Counter((row["label"], "".join(sorted(row["sentence1"][0] + row["sentence2"][0]))) for row in rows)
    assert kinds == {(OPPOSE, "+-"): 5, (AGREE, "++"): 4, (AGREE, "--"): 1}
    assert {row["relation"] for row in rows} == {"same-product"}
    assert all(row["sentence1"][1] == row["sentence2"][1] == row["group"] for row in rows)
    assert len({frozenset((row["sentence1"], row["sentence2"])) for row in rows}) == 10


SHORT = "Wow! The soup was cold.  \n\n The tea was hot enough. Bye."


@pytest.mark.parametrize(
    ("text", "granularity", "expected"),
    [
        (SHORT, "review", {"Wow! The soup was cold. The tea was hot enough. Bye."}),
        (SHORT, "first", {"The soup was cold."}),
        (SHORT, "random", {"The soup was cold.", "The tea was hot enough."}),
        ("Wow! So good.", "first", {""}),
        ('"Never ever come again!" I agree (sadly.)', "first", {'"Never ever come again!"'}),
        ("Mr. Ash, i.e. J. Ash, paid 4.50... or so... Ok", "first", {"Mr. Ash, i.e. J. Ash, paid 4.50... or so..."}),
        ("a heading\n \nthen a second\nline  that wraps", "first", {"then a second line that wraps"}),
        ("So I bought 2. both broke on day one.", "random", {"So I bought 2.", "both broke on day one."}),
    ],
)
def test_the_part_of_a_review_that_stands_for_it(text, granularity, expected):
    assert {cut(text, granularity, seed) for seed in range(20)} == expected


DISHES = ("soup", "tea", "bread", "pie", "rice")


def review(business: str, stars, text) -> dict:
    return {"review_id": "r", "business_id": business, "stars": stars, "text": text}


def cafes(count: int, make=lambda cafe, n, stars, text: review(cafe, stars, text)) -> list[dict]:
    """Three good and two bad reviews of each cafe."""
    said = [("Wow! The {} at {} was good.", 4 + n % 2) for n in range(3)]
    said += [("Oh. The {} at {} was bad.", 1 + n % 2) for n in range(2)]
    told = [(f"cafe{number}", n, *said[n]) for number in range(count) for n in range(len(said))]
    return [make(cafe, n, stars, text.format(DISHES[n], cafe)) for cafe, n, text, stars in told]


def businesses(data) -> dict[str, set]:
    return {split: set(rows["group"]) for split, rows in data.items()}


def test_every_configuration(build, write):
    path = write("raw", {"reviews.jsonl": json_lines(cafes(20))}) / "reviews.jsonl"
    data, dropped = build(Yelp, path, "sentences")
    # 20 businesses at 85 / 5 / 10 %: 17, 1 and 2, of 5 reviews each
    assert data.num_rows == {"train": 85, "validation": 5, "test": 10} and dropped == {}
    groups = businesses(data)
    assert not groups["train"] & (groups["test"] | groups["validation"])
    # of a business 3 x 2 triplets with a positive anchor and 2 x 1 with a negative one; 3 + 1 pairs agree, 4 oppose
    for config in ("triplets", "pairs"):
        data, _ = build(Yelp, path, config)
        assert data.num_rows == {"train": 17 * 8, "validation": 8, "test": 16} and businesses(data) == groups
    assert Counter(data["train"]["label"]) == {0: 68, 1: 68}
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


# file of Amazon -> product, stars or label, and text in the record of a review
FORMS = {
    "domains.jsonl": lambda item, n, stars, text: {"asin": item, "label": int(stars > 3), "text": text},
    "Kitchen_5.json.gz": lambda item, n, stars, text: {"asin": item, "overall": float(stars), "reviewText": text},
    "K.jsonl": lambda item, n, stars, text: {"rating": stars, "text": text, "asin": f"{item}{n}", "parent_asin": item},
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_amazon(name, build, write):
    data, dropped = build(Amazon, write("raw", {name: json_lines(cafes(10, FORMS[name]))}) / name, "triplets")
    assert data.num_rows == {"train": 64, "validation": 8, "test": 8} and dropped == {}
    assert set.union(*businesses(data).values()) == {f"cafe{n}" for n in range(10)}


def test_reviews_without_products(build, write):
    rows = [{"label": int(row["stars"] > 3), "text": row["text"]} for row in cafes(10)]
    folder = write("raw", {"polarity.jsonl": json_lines([*rows, {"label": 2, "text": "Neither one nor the other"}])})
    data, dropped = build(Amazon, folder, "sentences")
    assert sum(data.num_rows.values()) == 50 and dropped == {"review: label is neither 1 nor 0": 1}
    assert set.union(*businesses(data).values()) == {""}
    with pytest.raises(ValueError, match=r"amazon: no product has .* build with .*sentences.*quadruples"):
        build(Amazon, folder, "pairs")
