"""What the README says of the demonstration corpora of discussions, sentiment, reviews and opinions."""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections import Counter, defaultdict

from dataset_scripts.base.sources import DEMO_FOLDER

SPLITS = ("train", "validation", "test")


def normalised(text):
    return " ".join(re.findall(r"[a-z0-9']+", text.lower()))


def sentences(split):
    header, *lines = (DEMO_FOLDER / "sentiment" / f"{split}.tsv").read_text(encoding="utf-8").splitlines()
    assert header == "label\ttext"
    return [(int(label), text) for label, text in (line.split("\t") for line in lines)]


def records(name):
    with (DEMO_FOLDER / name).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def opinions():
    with (DEMO_FOLDER / "opinions.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def test_discussions_are_trees_of_24_to_38_entries_and_no_text_occurs_twice():
    trees = records("discussions.jsonl")
    assert len({discussion["discussion_id"] for discussion in trees}) == len(trees) == 621
    for discussion in trees:
        root, *answers = discussion["nodes"]
        ids = [node["id"] for node in discussion["nodes"]]
        assert (root["id"], root["parent"], root["relation"]) == ("1.", None, None)
        assert len(set(ids)) == len(ids) and 24 <= len(ids) <= 38
        assert all(node["relation"] in ("Pro", "Con") and node["parent"] in ids for node in answers)
    texts = Counter(normalised(node["text"]) for discussion in trees for node in discussion["nodes"])
    assert [text for text, count in texts.items() if count > 1] == []
    # what the cards demonstrate
    assert [tree["title"] for tree in trees if re.search("pineapple|helmet", tree["title"].lower())] == []


def test_sentiment_is_balanced_in_different_sentences_of_5_to_25_words():
    words = {}
    for split, of_each_polarity in {"train": 166, "validation": 40, "test": 40}.items():
        assert Counter(label for label, _ in sentences(split)) == {1: of_each_polarity, 0: of_each_polarity}
        assert [text for _, text in sentences(split) if not 5 <= len(text.split()) <= 25] == []
        words[split] = [set(normalised(text).split()) for _, text in sentences(split)]
    alike = [
        (one, another)
        for split, other in itertools.combinations(words, 2)
        for one, another in itertools.product(words[split], words[other])
        if len(one & another) > 0.5 * len(one | another)
    ]
    assert alike == [], "sentences of two splits share most of their words"


def test_every_product_has_at_least_four_reviews_of_either_polarity():
    by_product, rows = defaultdict(Counter), records("reviews.jsonl")
    for review in rows:
        by_product[review["asin"], review["product_name"], review["domain"]][review["label"]] += 1
        assert review["label"] == {5: 1, 4: 1, 3: None, 2: 0, 1: 0}[review["rating"]]
        assert 25 <= len(review["text"].split()) <= 70
    assert len(by_product) == 36 and all(count[1] == count[0] >= 4 for count in by_product.values())
    assert len({normalised(review["text"]) for review in rows}) == len(rows)


def test_opinions_of_one_polarity_score_higher_than_opposite_ones():
    rows, scores = opinions(), defaultdict(list)
    assert {float(row["avg"]) for row in rows} == {step / 4 for step in range(17)}
    different = Counter((row["domain"], float(row["avg"]) <= 1.5) for row in rows)
    assert different == {(d, low): 20 if low else 40 for d in ("Laptop", "Restaurant") for low in (True, False)}
    for row in rows:
        scores[row["group"]].append(float(row["avg"]))
    assert (len(scores["Same"]), min(scores["Same"])) == (82, 1.5)
    assert (len(scores["Different"]), max(scores["Different"])) == (38, 1.75)


def test_the_three_corpora_share_no_sentence():
    sentence_ends = re.compile(r"(?<=[.!?])\s+")
    corpora = [
        [normalised(text) for split in SPLITS for _, text in sentences(split)],
        [normalised(row[column]) for row in opinions() for column in ("sent1_text", "sent2_text")],
        list({normalised(s) for review in records("reviews.jsonl") for s in sentence_ends.split(review["text"])}),
    ]
    texts = Counter(text for corpus in corpora for text in corpus)
    assert [text for text, count in texts.items() if count > 1] == []
