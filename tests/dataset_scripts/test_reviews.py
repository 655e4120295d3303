"""Reviews of one product: pairs and triplets counted by hand, sentences cut out of reviews, and files of any form."""

import gzip
import io
import json
import tarfile
import zipfile
from collections import Counter

import pytest

from dataset_scripts.base.review_files import read_records
from dataset_scripts.base.schema import AGREE, OPPOSE
from dataset_scripts.granularity import cut, sentences
from dataset_scripts.reviews import ordered_pairs, polarity_of_stars, review_pairs, review_triplets
from dataset_scripts.sentiment import NEGATIVE, POSITIVE, Sentence


def reviews(product: str, positive: int, negative: int) -> list[Sentence]:
    return [Sentence(f"+{product}{n}", POSITIVE, product) for n in range(positive)] + [
        Sentence(f"-{product}{n}", NEGATIVE, product) for n in range(negative)
    ]


def product_of(text: str) -> str:
    return text[1]


def test_polarity_of_stars():
    assert [polarity_of_stars(stars) for stars in (1, 2, 2.5, 3, 3.9, 4, 5)] == [0, 0, None, None, None, 1, 1]


def test_ordered_pairs_use_every_item_alike():
    assert list(ordered_pairs(["a", "b"], 9)) == [("a", "b"), ("b", "a")]
    pairs = list(ordered_pairs(list("abc"), 9))
    assert len(set(pairs)) == 6 and Counter(one for one, _ in pairs) == {"a": 2, "b": 2, "c": 2}
    assert all(one != other for one, other in pairs)
    assert list(ordered_pairs(["a"], 9)) == [] == list(ordered_pairs([], 9))


def test_triplets_of_one_product():
    # a: 3 x 2 ordered pairs of positive reviews and 2 x 1 of negative ones; b has no two of one polarity, c no negative
    rows = [row for _, row in review_triplets(reviews("a", 3, 2) + reviews("b", 1, 1) + reviews("c", 3, 0), 20)]
    assert len(rows) == 8 and Counter(row["anchor"][0] for row in rows) == {"+": 6, "-": 2}
    for row in rows:
        assert row["anchor"][0] == row["positive"][0] != row["negative"][0] and row["anchor"] != row["positive"]
        assert {product_of(row[column]) for column in ("anchor", "positive", "negative")} == {row["group"]} == {"a"}
    assert len({tuple(row.values()) for row in rows}) == 8
    assert list(review_triplets([Sentence(text, label) for text, label, _ in reviews("a", 3, 2)])) == []


def test_a_popular_product_is_capped():
    many = reviews("a", 50, 50) + reviews("b", 2, 1)
    rows = [row for _, row in review_triplets(many, 6)]
    assert Counter(row["group"] for row in rows) == {"a": 6, "b": 2}
    assert Counter(row["anchor"][:2] for row in rows) == {"+a": 3, "-a": 3, "+b": 2}
    assert len({row["anchor"] for row in rows}) == 8  # no review of the popular product is an anchor twice
    rows = [row for _, row in review_pairs(reviews("a", 50, 50) + reviews("b", 1, 1), 8)]
    # a: 4 of either label; b opposes once, but nothing balances it
    assert Counter(row["label"] for row in rows) == {AGREE: 4, OPPOSE: 4}
    assert Counter(row["sentence1"][0] for row in rows if row["label"] == AGREE) == {"+": 2, "-": 2}


def test_pairs_of_one_product_are_balanced():
    # a opposes 3 x 2 times and agrees 3 + 1 times, b agrees once, c never: 5 of either label, and the one negative pair
    rows = [row for _, row in review_pairs(reviews("a", 3, 2) + reviews("b", 2, 0) + reviews("c", 0, 1), 20)]
    kinds = Counter((row["label"], "".join(sorted(row["sentence1"][0] + row["sentence2"][0]))) for row in rows)
    assert kinds == {(OPPOSE, "+-"): 5, (AGREE, "++"): 4, (AGREE, "--"): 1}
    assert {row["relation"] for row in rows} == {"same-product"}
    assert all(product_of(row["sentence1"]) == product_of(row["sentence2"]) == row["group"] for row in rows)
    assert len({frozenset((row["sentence1"], row["sentence2"])) for row in rows}) == 10


def test_half_of_the_pairs_that_agree_are_negative_where_they_can_be():
    # 40 products, each: 1 pair of negative reviews, 10 of positive ones, 10 that oppose
    many = [review for n in range(40) for review in reviews(chr(200 + n), 5, 2)]
    rows = [row for _, row in review_pairs(many, 20)]
    agree = Counter(row["sentence1"][0] for row in rows if row["label"] == AGREE)
    assert agree == {"-": 40, "+": 360} and len(rows) == 800
    first = Counter(row["sentence1"][0] for row in rows if row["label"] == OPPOSE)
    assert 150 < first["+"] < 250  # of 400: either polarity comes first


def test_the_draw_depends_on_the_seed_and_not_on_the_order():
    many = reviews("a", 6, 6) + reviews("b", 6, 6)
    for make in (review_pairs, review_triplets):
        drawn = list(make(many, 8, seed=1))
        assert drawn == list(make(many[::-1], 8, seed=1)) != list(make(many, 8, seed=2))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Good soup. Bad tea! Why? ok", ["Good soup.", "Bad tea!", "Why?", "ok"]),
        ('"Never again!" I agree (sadly.) So it goes', ['"Never again!"', "I agree (sadly.)", "So it goes"]),
        (
            "Mr. Ash, i.e. J. Ash, paid 4.50... no less... Fine.",
            ["Mr. Ash, i.e. J. Ash, paid 4.50... no less...", "Fine."],
        ),
        ("a heading\n \nthen a\nline  that wraps", ["a heading", "then a line that wraps"]),
        ("one line\r\n\r\nanother", ["one line", "another"]),
        ("I bought 2. both broke. never again", ["I bought 2.", "both broke.", "never again"]),
        (" ... ", ["..."]),
        ("\n\n", []),
        ("-" * 100_000 + "! ok", ["-" * 100_000 + "!", "ok"]),
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


def test_a_bad_line_loses_itself_alone(tmp_path):
    path = tmp_path / "reviews.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "one"}\n\n{"text": "tw\xff"}\n["a"]\n{"text": \r\n{"text": "two"}\r\n3')
    dropped = Counter()
    assert list(read_records(path, bool, dropped)) == [
        ("reviews.jsonl", 1, {"text": "one"}),
        ("reviews.jsonl", 6, {"text": "two"}),
    ]
    assert dropped == {"line: not UTF-8": 1, "line: not a JSON object": 3}


def test_a_table_is_not_quoted(tmp_path):
    path = tmp_path / "reviews.tsv.gz"
    path.write_bytes(gzip.compress(b'star_rating\treview_body\n5\t"so\n4\tgood" it is\n3\n2\ta\tb\n'))
    dropped = Counter()
    found = [record for _, _, record in read_records(path, bool, dropped)]
    assert found == [
        {"star_rating": "5", "review_body": '"so'},
        {"star_rating": "4", "review_body": 'good" it is'},
    ]
    assert dropped == {"line: wrong number of columns": 2}
    path = tmp_path / "notes.tsv"
    path.write_text("just words\n")
    with pytest.raises(ValueError, match=r"notes.tsv, line 1: neither a JSON object .* nor a tab separated header"):
        list(read_records(path, bool, dropped))


def test_archives_are_read_through_and_broken_ones_named(tmp_path):
    line = json.dumps({"text": "one"}).encode() + b"\n"
    contents = {"in/reviews.json": line, "in/reviews2.json.gz": gzip.compress(line), "in/users.json": b"{}\n"}
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as archive:
        for name, content in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    for name in ("all.tar.gz", "all.zip"):
        found = [
            where for where, _, _ in read_records(tmp_path / name, lambda member: "users" not in member, Counter())
        ]
        assert found == [f"{name}:in/reviews.json", f"{name}:in/reviews2.json.gz"]
    cut_off = tmp_path / "cut.json.gz"
    cut_off.write_bytes(gzip.compress(line * 1000)[:-9])
    for path in (cut_off, tmp_path / "none.zip", tmp_path / "none.tar"):
        if not path.exists():
            path.write_bytes(b"no archive at all")
        with pytest.raises(ValueError, match=rf"{path.name} .*download it again"):
            list(read_records(path, bool, Counter()))
