"""Lines of the stream: which text stands for which tweet, what it answers, and what is counted instead."""

from __future__ import annotations

import json

import pytest

from dataset_scripts.twitter_stream.statuses import OTHER_LANGUAGE, TOO_SHORT, USABLE, clean
from tests.dataset_scripts.twitter_stream.streams import delete, parse, quote, reply, retweet, said, status

ONE, TWO = status(1, said("one")), status(2, said("two"))
STATUS = {"line: status": 1}
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
        (reply(2, 1, said("Two")), [("tweet", 2, None), ("reply", 2, 1)]),
        (reply(1, 1, said("to itself")), [("tweet", 1, None)]),
        ({**reply(2, 1, said("two")), "in_reply_to_status_id": None}, [("tweet", 2, None), ("reply", 2, 1)]),
        (quote(2, ONE, said("two")), [("tweet", 1, None), ("tweet", 2, None), ("quote", 2, 1)]),
        (
            quote(3, status(2, said("two"), quoted_status_id=1), said("three")),
            [("tweet", 2, None), ("quote", 2, 1), ("tweet", 3, None), ("quote", 3, 2)],
        ),
        (retweet(9, quote(2, ONE, said("two"))), [("tweet", 1, None), ("tweet", 2, None), ("quote", 2, 1)]),
        (
            quote(2, ONE, said("two")) | {"quoted_status": {"id": None, "text": None}},
            [("tweet", 2, None), ("quote", 2, 1)],
        ),
        ({"tweet": ONE, "label": 1}, [("tweet", 1, None)]),  # as other collections wrap it
        *(
            ({"text": said("x"), "lang": "en", **names}, [("tweet", BIG, None)])
            for names in ({"id": BIG}, {"id_str": str(BIG)}, {"id": str(BIG)}, {"id": 1, "id_str": str(BIG)})
        ),
        *(
            ({**ONE, **odd}, [("tweet", 1, None)])
            for odd in (
                {"retweeted_status": "x"},
                {"in_reply_to_status_id": "none"},
                {"extended_tweet": 3},
            )
        ),
    ],
)
def test_what_a_tweet_is_and_answers(item, links):
    rows, counts, _ = parse(item)
    assert [row[:3] for row in rows] == links
    assert counts["line: status"] == 1 and all(row[3] == USABLE for row in rows)


@pytest.mark.parametrize(
    ("item", "lang", "state", "text"),
    [
        (status(1, "@ana_example " + "x" * 20 + " https://t.co/e"), "en", TOO_SHORT, ""),
        (status(1, "ż" * 21), "en", USABLE, "ż" * 21),
        (status(1, said("cut off…"), extended_tweet=LONG), "en", USABLE, said("whole")),
        ({"id": 1, "lang": "en", **LONG}, "en", USABLE, said("whole")),
        (status(1, said("jeden"), lang="pl"), "en", OTHER_LANGUAGE, ""),
        (status(1, said("jeden"), lang="pl"), "pl", USABLE, said("jeden")),
        ({"id": 1, "text": said("one")}, "all", USABLE, said("one")),
    ],
)
def test_which_text_can_be_used(item, lang, state, text):
    assert parse(item, lang=lang) == ([("tweet", 1, None, state, text)], STATUS, {})


@pytest.mark.parametrize(
    "fields",
    [{"id": id} for id in (0, -1, 1 << 63, 1.5, True, None, "", "x1", "١٢", "9" * 19, "9" * 5000, [1], {"id": 1})]
    + [{"id": 1, "text": text} for text in (None, 3, ["a"], {})]
    + [{"id": 1, "retweeted_status": {}}],
)
def test_a_tweet_without_id_or_text_is_counted_and_lost(fields):
    rows, counts, _ = parse({"text": said("one"), "lang": "en", **fields}, TWO)
    assert [row[1] for row in rows] == [2]
    assert counts.pop("retweets, replaced by the tweet", 0) == ("retweeted_status" in fields)
    assert counts == {"line: status": 2, "status: without id or text": 1}


def test_notices_blank_lines_and_other_json_are_counted():
    rows, counts, first = parse(
        *(delete(1), delete(2), {"limit": {"track": 3}}, {"scrub_geo": {}}, {"warning": {}}, {"disconnect": {}}),
        *(b"", b"  ", b"\t\t\t\t\t", {"friends": [1]}, {}, b"[{}]", b"17", b"null", b'"text"', b'{"tweet": "text"}'),
    )
    assert rows == [] and first == {}
    assert counts == {
        **{"line: delete notice": 2, "line: limit notice": 1, "line: scrub_geo notice": 1, "line: warning notice": 1},
        **{"line: disconnect notice": 1, "line: blank": 3, "line: neither status nor notice": 7},
    }


def test_a_broken_line_loses_only_itself():
    broken = [
        json.dumps(ONE).encode()[:-9],  # cut off
        '{"id": 7, "text": "żółw", "lang": "en"}'.encode("iso8859-2"),
        b"[" * 5000 + b"]" * 5000,
        rb'{"id": 8, "text": "half a sign \ud83d and more of it", "lang": "en"}',
        b"\x00\x00\x00",
    ]
    rows, counts, first = parse(
        *(line for number, bad in enumerate(broken, 1) for line in (bad, status(number, said("x"))))
    )
    assert [row[1] for row in rows] == [1, 2, 3, 4, 5]
    assert counts == {"line: status": 5, "line: malformed JSON": 5}
    assert first == {"line: malformed JSON": "one.json, line 1"}


def test_what_retweets_repeat_is_one_row_unless_the_text_is_another():
    rows, counts, _ = parse(*(retweet(number, ONE) for number in range(10, 15)), ONE, {**ONE, "extended_tweet": LONG})
    assert [(row[1], row[4]) for row in rows] == [(1, said("one")), (1, said("whole"))]
    assert counts == {"line: status": 7, "retweets, replaced by the tweet": 5}
