"""What the README says of the demonstration corpora of discussions, sentiment, reviews and opinions."""

import csv
import json
import re
from collections import Counter, defaultdict

import pytest

from dataset_scripts.base.sources import DEMO_FOLDER

SPLITS = ("train", "validation", "test")


def normalised(text):
    return " ".join(re.findall(r"[a-z0-9']+", text.lower()))


def sentences(split):
    header, *lines = (DEMO_FOLDER / "sentiment" / f"{split}.tsv").read_text(encoding="utf-8").splitlines()
    assert header == "label\ttext"
    return [(int(label), text) for label, text in (line.split("\t") for line in lines)]


def reviews():
    with (DEMO_FOLDER / "reviews.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def opinions():
    with (DEMO_FOLDER / "opinions.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def discussions():
    with (DEMO_FOLDER / "discussions.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_every_answer_in_a_discussion_has_a_side_and_a_parent_and_every_id_is_its_own():
    trees = discussions()
    assert len({discussion["discussion_id"] for discussion in trees}) == len(trees)
    for discussion in trees:
        root, *answers = discussion["nodes"]
        ids = [node["id"] for node in discussion["nodes"]]
        assert (root["id"], root["parent"], root["relation"]) == ("1.", None, None)
        assert len(set(ids)) == len(ids)
        assert all(node["relation"] in ("Pro", "Con") and node["parent"] in ids for node in answers)


def test_discussions_have_24_to_38_entries_and_no_text_twice():
    texts = [[normalised(node["text"]) for node in discussion["nodes"]] for discussion in discussions()]
    assert [len(entries) for entries in texts if not 24 <= len(entries) <= 38] == []
    seen = Counter(text for entries in texts for text in entries)
    assert [text for text, count in seen.items() if count > 1] == []


@pytest.mark.parametrize("word", ["pineapple", "helmet"])
def test_what_the_cards_demonstrate_is_no_motion_of_a_discussion(word):
    assert [tree["title"] for tree in discussions() if word in tree["title"].lower()] == []


@pytest.mark.parametrize(("split", "of_each_polarity"), [("train", 166), ("validation", 40), ("test", 40)])
def test_sentiment_is_balanced_in_every_split(split, of_each_polarity):
    assert Counter(label for label, _ in sentences(split)) == {1: of_each_polarity, 0: of_each_polarity}


def test_no_sentiment_sentence_occurs_twice_in_one_or_two_splits():
    texts = Counter(normalised(text) for split in SPLITS for _, text in sentences(split))
    assert [text for text, count in texts.items() if count > 1] == []


def test_sentiment_sentences_have_5_to_25_words():
    odd = [text for split in SPLITS for _, text in sentences(split) if not 5 <= len(text.split()) <= 25]
    assert odd == []


def test_no_two_sentiment_sentences_of_different_splits_share_most_of_their_words():
    words = {split: [(set(normalised(text).split()), text) for _, text in sentences(split)] for split in SPLITS}
    alike = [
        (text, other_text)
        for split, other in (("train", "validation"), ("train", "test"), ("validation", "test"))
        for one, text in words[split]
        for another, other_text in words[other]
        if len(one & another) > 0.5 * len(one | another)
    ]
    assert alike == []


def test_every_product_has_at_least_four_reviews_of_either_polarity():
    by_product = defaultdict(Counter)
    for review in reviews():
        by_product[review["asin"]][review["label"]] += 1
    assert len(by_product) == 36
    assert all(count[1] == count[0] >= 4 for count in by_product.values())


def test_the_label_of_a_review_follows_from_its_stars():
    expected = {5.0: 1, 4.0: 1, 3.0: None, 2.0: 0, 1.0: 0}
    assert [review for review in reviews() if review["label"] != expected[review["rating"]]] == []
    assert {review["rating"] for review in reviews()} == set(expected)


def test_reviews_have_25_to_70_words_and_none_occurs_twice():
    texts = [review["text"] for review in reviews()]
    assert [text for text in texts if not 25 <= len(text.split()) <= 70] == []
    assert len({normalised(text) for text in texts}) == len(texts)
    assert len({review["unique_id"] for review in reviews()}) == len(texts)


def test_a_product_has_one_name_and_one_domain():
    assert len({(review["asin"], review["product_name"], review["domain"]) for review in reviews()}) == 36


def test_opinions_have_the_published_columns_and_quarter_steps_from_0_to_4():
    rows = opinions()
    assert list(rows[0]) == ["pair_id", "sent1_text", "sent2_text", "domain", "group", "avg"]
    assert {float(row["avg"]) for row in rows} == {step / 4 for step in range(17)}
    assert len({row["pair_id"] for row in rows}) == 120


def test_a_third_of_the_opinion_pairs_of_either_domain_is_broadly_different():
    different = Counter((row["domain"], float(row["avg"]) <= 1.5) for row in opinions())
    assert different == {(d, low): 20 if low else 40 for d in ("Laptop", "Restaurant") for low in (True, False)}


def test_opinions_of_one_polarity_score_higher_than_opposite_ones():
    scores = defaultdict(list)
    for row in opinions():
        scores[row["group"]].append(float(row["avg"]))
    assert {group: len(of_group) for group, of_group in scores.items()} == {"Same": 82, "Different": 38}
    assert max(scores["Different"]) == 1.75
    assert min(scores["Same"]) == 1.5


def test_no_opinion_sentence_occurs_twice():
    texts = Counter(normalised(row[column]) for row in opinions() for column in ("sent1_text", "sent2_text"))
    assert [text for text, count in texts.items() if count > 1] == []


def test_the_three_corpora_share_no_sentence():
    sentence_ends = re.compile(r"(?<=[.!?])\s+")
    corpora = [
        {normalised(text) for split in SPLITS for _, text in sentences(split)},
        {normalised(row[column]) for row in opinions() for column in ("sent1_text", "sent2_text")},
        {normalised(sentence) for review in reviews() for sentence in sentence_ends.split(review["text"])},
    ]
    assert not (corpora[0] & corpora[1] or corpora[0] & corpora[2] or corpora[1] & corpora[2])
