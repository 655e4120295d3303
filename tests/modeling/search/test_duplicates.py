"""Near-identical texts as one hit: what counts as such, and the sums of what is folded."""

import bz2
import json
from collections import defaultdict
from itertools import combinations

import pytest

from modeling.search import duplicates
from modeling.search.duplicates import form, same_text
from tests.modeling.search import chosen
from tests.modeling.search.chosen import chosen_index

TWEET = "We want more trams in this town, and we want them now! https://t.co/abc"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("RT @trams: We want more trams in this town, and we want them now! https://t.co/xyz", True),
        ("@mayor @council we want more trams in this town &amp; and we want them now", True),
        ("RT @trams: We want more trams in this town, and we wa…", True),
        ("We want more trams in this town, and we want", False),  # nothing says that it was cut off
        ("We want more…", False),  # too little is left
        ("We want more trams in this town, and we want them by 2030!", False),
    ],
)
def test_what_is_near_identical(other, same):
    assert same_text(form(TWEET), form(other)) == same_text(form(other), form(TWEET)) == same


def test_hits_are_folded_and_their_rows_added(tmp_path, monkeypatch):
    monkeypatch.setitem(chosen.VECTORS_OF, "RT @a: For!", (0.96, 0.28))
    rows = [("for", "G"), ("RT @a: For!", "B"), ("RT @a: For!", None), ("both", "B"), ("against", "B")]
    index = chosen_index(tmp_path / "index", rows)
    for nearest in (2, 200):  # two texts are one hit: more have to be asked for
        hits = duplicates.ask(index, ["for"], top=2, nearest=nearest)
        assert hits[["rank", "text", "texts", "rows", "rows_G", "rows_B"]].to_numpy().tolist() == [
            [1, "for", 2, 3, 1, 1],
            [2, "both", 1, 1, 0, 1],
        ]
    assert duplicates.ask(index, ["for", "against"], top=5, threshold=0.9)["texts"].tolist() == [2, 1]
    assert duplicates.ask(index, ["for"], threshold=0.99)["texts"].tolist() == [1]
    assert len(duplicates.ask(index, ["elsewhere"], threshold=0.9)) == 0


@pytest.mark.corpora
def test_retweets_of_the_stream_are_found(corpora):
    texts = defaultdict(set)
    for path in (corpora / "twitter_stream").glob("*/*.bz2"):
        for status in map(json.loads, bz2.decompress(path.read_bytes()).splitlines()):
            if status.get("lang") == "en" and (original := status.get("retweeted_status")):
                texts[original["id"]] |= {status["text"], original["text"]}
    pairs = [(form(one), form(other)) for each in texts.values() for one, other in combinations(each, 2)]
    assert (len(pairs), sum(same_text(*pair) for pair in pairs)) == (4292, 4278)
    originals = defaultdict(set)
    for original, each in texts.items():
        for text in each:
            originals[form(text)[0]].add(original)
    assert (len(originals), sum(len(each) > 1 for each in originals.values())) == (5564, 20)
