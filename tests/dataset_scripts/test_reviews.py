"""Reviews of one product: pairs, triplets and families counted by hand, and sentences cut out of reviews."""

from collections import Counter

import pytest

from dataset_scripts.base.schema import AGREE, CON, OPPOSE, PRO
from dataset_scripts.reviews import cut, review_families, review_pairs, review_triplets, sentences
from dataset_scripts.sentiment import NEGATIVE, POSITIVE, Sentence


def reviews(product: str, positive: int, negative: int) -> list[Sentence]:
    return [Sentence(f"+{product}{n}", POSITIVE, product) for n in range(positive)] + [
        Sentence(f"-{product}{n}", NEGATIVE, product) for n in range(negative)
    ]


def test_triplets_of_one_product():
    # a: 3 x 2 ordered pairs of positive reviews and 2 x 1 of negative ones; b has no two of one polarity, c no negative
    rows = [row for _, row in review_triplets(reviews("a", 3, 2) + reviews("b", 1, 1) + reviews("c", 3, 0), 20)]
    again = list(review_triplets(reviews("a", 3, 2)[::-1], 20))
    assert (
        rows == [row for _, row in again]
        and len(rows) == 8
        and Counter(row["anchor"][0] for row in rows) == {"+": 6, "-": 2}
    )
    for row in rows:
        assert row["anchor"][0] == row["positive"][0] != row["negative"][0] and row["anchor"] != row["positive"]
        assert {row[column][1] for column in ("anchor", "positive", "negative")} == {row["group"]} == {"a"}
    assert len({tuple(row.values()) for row in rows}) == 8


def test_a_popular_product_is_limited():
    rows = [row for _, row in review_triplets(reviews("a", 50, 50) + reviews("b", 2, 1), 6)]
    assert Counter(row["group"] for row in rows) == {"a": 6, "b": 2}
    assert Counter(row["anchor"][:2] for row in rows) == {"+a": 3, "-a": 3, "+b": 2}
    assert len({row["anchor"] for row in rows}) == 8  # no review of the popular product is an anchor twice
    rows = [row for _, row in review_pairs(reviews("a", 50, 50) + reviews("b", 1, 1), 8)]
    # a: 4 of either label; b opposes once, but nothing balances it
    assert Counter(row["label"] for row in rows) == {AGREE: 4, OPPOSE: 4}
    assert Counter(row["sentence1"][0] for row in rows if row["label"] == AGREE) == {"+": 2, "-": 2}


def test_families_are_the_two_polarities_of_a_product():
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Good soup. Bad tea! Why? ok", ["Good soup.", "Bad tea!", "Why?", "ok"]),
        ('"Never again!" I agree (sadly.) So it goes', ['"Never again!"', "I agree (sadly.)", "So it goes"]),
        ("Mr. Ash, i.e. J. Ash, paid 4.50... or less... Ok", ["Mr. Ash, i.e. J. Ash, paid 4.50... or less...", "Ok"]),
        ("a heading\n \nthen a\nline  that wraps", ["a heading", "then a line that wraps"]),
        ("I bought 2. both broke. never again", ["I bought 2.", "both broke.", "never again"]),
    ],
)
def test_sentences(text, expected):
    assert list(sentences(text)) == expected


def test_cut():
    text = "Wow! The soup was cold.  \n\n The tea was hot enough. Bye."
    assert cut(text, "review", 0) == "Wow! The soup was cold. The tea was hot enough. Bye."
    assert cut(text, "first", 0) == "The soup was cold."
    drawn = {cut(text, "random", seed) for seed in range(20)}
    assert drawn == {"The soup was cold.", "The tea was hot enough."}
    assert cut(text, "random", 3) == cut(text, "random", 3)
    assert cut("Wow! So good.", "first", 0) == cut("Wow! So good.", "random", 0) == ""
