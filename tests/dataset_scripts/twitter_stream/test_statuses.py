"""Lines of the stream: which text stands for which tweet, what it answers, and what is counted instead."""

from __future__ import annotations

import pytest

from dataset_scripts.twitter_stream.statuses import TOO_SHORT, USABLE, clean
from tests.dataset_scripts.twitter_stream.streams import parse, quote, reply, retweet, said, status

ONE, TWO = status(1, said("one")), status(2, said("two"))
LONG = {"full_text": said("whole")}
BIG = 1_200_000_000_000_000_001  # more than 53 bits: a float would be another one


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Look &amp; LISTEN", "look & listen"),
        ("&amp;lt; stays an entity", "&lt; stays an entity"),
        ("see HTTPS://T.CO/Example1, there", "see there"),  # the comma is no space
        ("@Ana_Example @bo: hello", ": hello"),
        ("https://t.co/@ana left", "left"),  # the URL goes first
        ("  tabs\tand\u3000wide \r\n spaces http://t.co/example\nand", "tabs and wide spaces and"),
        ("＠ana_example said pic.twitter.com/example and t.co/example", "said and"),
    ],
)
def test_texts_are_cleaned_as_in_the_paper(text, cleaned):
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    ("item", "links"),
    [
        ({**reply(2, 1, said("two")), "in_reply_to_status_id": None}, [("tweet", 2, None), ("reply", 2, 1)]),
        (
            retweet(9, quote(3, status(2, said("two"), quoted_status_id=1), said("three"))),
            [("tweet", 2, None), ("quote", 2, 1), ("tweet", 3, None), ("quote", 3, 2)],
        ),
        (
            quote(2, ONE, said("two")) | {"quoted_status": {"id": None, "text": None}},
            [("tweet", 2, None), ("quote", 2, 1)],
        ),
        ({"tweet": {**ONE, "lang": "pl"}, "label": 1}, [("tweet", 1, None)]),  # as other collections wrap it
        *(
            ({"text": said("x"), **names}, [("tweet", BIG, None)])
            for names in ({"id": BIG}, {"id_str": str(BIG)}, {"id": str(BIG)}, {"id": 1, "id_str": str(BIG)})
        ),
        *(
            ({**ONE, **odd}, [("tweet", 1, None)])
            for odd in ({"retweeted_status": "x"}, {"in_reply_to_status_id": "none"}, {"extended_tweet": 3})
        ),
    ],
)
def test_what_a_tweet_is_and_answers_in_any_language(item, links):
    rows, counts, _ = parse(item, lang="all")
    assert [row[:3] for row in rows] == links
    assert counts["line: status"] == 1 and all(row[3] == USABLE for row in rows)


def test_a_text_has_more_than_20_characters_and_is_the_whole_one():
    items = (ONE, {**ONE, "extended_tweet": LONG}, {"id": 2, "lang": "en", **LONG}, status(3, "ż" * 21))
    assert [row[1:] for row in parse(*items, status(4, "@ana_example " + "x" * 20 + " https://t.co/e"))[0]] == [
        *((1, None, USABLE, said("one")), (1, None, USABLE, said("whole")), (2, None, USABLE, said("whole"))),
        *((3, None, USABLE, "ż" * 21), (4, None, TOO_SHORT, "")),
    ]


NO_IDS = (0, -1, 1 << 63, 1.5, True, None, "", "x1", "١٢", "9" * 19, "9" * 5000, [1], {"id": 1})


@pytest.mark.parametrize(
    ("item", "reason", "is_status"),
    [
        *(({**ONE, "id": id, "id_str": None}, "status: without id or text", 1) for id in NO_IDS),
        *(({**ONE, "text": text}, "status: without id or text", 1) for text in (None, 3, ["a"], {})),
        *(({kind: {}}, f"line: {kind} notice", 0) for kind in ("limit", "scrub_geo", "warning", "disconnect")),
        *((line, "line: blank", 0) for line in (b"", b"\t\t\t")),
        *((line, "line: neither status nor notice", 0) for line in ({}, b"[{}]", b"17", b"null", b'{"tweet": "text"}')),
        (b"[" * 5000 + b"]" * 5000, "line: malformed JSON", 0),
        ('{"id": 7, "text": "żółw", "lang": "en"}'.encode("iso8859-2"), "line: malformed JSON", 0),
        (rb'{"id": 8, "text": "half a sign \ud83d and more of it", "lang": "en"}', "line: malformed JSON", 0),
    ],
)
def test_what_is_no_tweet_is_counted_and_loses_only_itself(item, reason, is_status):
    rows, counts, first = parse(item, TWO)
    assert [row[1] for row in rows] == [2] and counts == {"line: status": 1 + is_status, reason: 1}
    assert first == ({reason: "one.json, line 1"} if "malformed" in reason else {})
