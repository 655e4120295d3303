"""Lines of the stream: which text stands for which tweet, what it answers, and what is counted instead."""

from __future__ import annotations

import json

import pytest

from dataset_scripts.twitter_stream.statuses import OTHER_LANGUAGE, TOO_SHORT, USABLE, clean
from tests.dataset_scripts.twitter_stream.streams import delete, parse, quote, reply, retweet, said, status


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Look &amp; LISTEN", "look & listen"),
        ("1 &lt; 2 &gt; 0", "1 < 2 > 0"),
        ("&amp;lt; stays an entity", "&lt; stays an entity"),
        ("&quot;other&#39; entities", "&quot;other&#39; entities"),
        ("see HTTPS://T.CO/Example1, there", "see there"),  # the comma is no space
        ("see http://t.co/example\nand", "see and"),
        ("@Ana_Example @bo: hello", ": hello"),
        ("mail ana@example.org", "mail ana.org"),
        ("https://t.co/@ana left", "left"),  # the URL goes first
        ("  tabs\tand\u3000wide \r\n spaces ", "tabs and wide spaces"),
        ("@ana_example https://t.co/example", ""),
        ("＠ana_example said pic.twitter.com/example and t.co/example", "said and"),
        ("chat.co/menu is another place", "chat.co/menu is another place"),
    ],
)
def test_texts_are_cleaned_as_in_the_paper(text, cleaned):
    assert clean(text) == cleaned


def test_a_text_of_20_characters_is_too_short_and_one_of_21_is_not():
    rows, counts, _ = parse(status(1, "@ana_example " + "x" * 20 + " https://t.co/e"), status(2, "ż" * 21))
    assert rows == [("tweet", 1, None, TOO_SHORT, ""), ("tweet", 2, None, USABLE, "ż" * 21)]
    assert counts == {"line: status": 2}


def test_a_reply_is_a_tweet_and_an_answer():
    rows, _, _ = parse(reply(2, 1, said("Two")))
    assert rows == [("tweet", 2, None, USABLE, said("two")), ("reply", 2, 1, USABLE, said("two"))]


def test_a_quoted_tweet_was_seen():
    first = status(1, said("one"))
    rows, counts, _ = parse(quote(2, first, said("two")))
    assert rows == [
        ("tweet", 1, None, USABLE, said("one")),
        ("tweet", 2, None, USABLE, said("two")),
        ("quote", 2, 1, USABLE, said("two")),
    ]
    assert counts == {"line: status": 1}


def test_a_quote_of_a_quote_connects_three_tweets():
    second = status(2, said("two"), quoted_status_id=1, quoted_status_id_str="1")
    rows, _, _ = parse(quote(3, second, said("three")))
    assert [row[:3] for row in rows] == [("tweet", 2, None), ("quote", 2, 1), ("tweet", 3, None), ("quote", 3, 2)]


def test_a_tweet_may_reply_and_quote():
    both = quote(3, status(2, said("two")), said("three")) | {"in_reply_to_status_id": 1}
    assert [row[:3] for row in parse(both)[0]] == [
        *[("tweet", 2, None), ("tweet", 3, None), ("reply", 3, 1), ("quote", 3, 2)]
    ]


def test_a_retweet_is_replaced_by_its_tweet():
    rows, counts, _ = parse(retweet(9, quote(2, status(1, said("one")), said("two"))))
    assert [row[:3] for row in rows] == [("tweet", 1, None), ("tweet", 2, None), ("quote", 2, 1)]
    assert counts == {"line: status": 1, "retweets, replaced by the tweet": 1}
    assert parse(status(9, said("nine"), retweeted_status={}))[1]["status: without id or text"] == 1


def test_the_whole_text_is_taken_where_there_is_one():
    long = {"full_text": said("whole")}
    assert parse(status(1, said("cut off…"), truncated=True, extended_tweet=long))[0][0][4] == said("whole")
    assert parse({"id": 1, "lang": "en", **long})[0][0][4] == said("whole")
    for odd in ({"full_text": None}, "text", {}):
        assert parse(status(1, said("short"), extended_tweet=odd))[0][0][4] == said("short")


def test_ids_may_be_numbers_or_texts():
    number = 1_200_000_000_000_000_001  # more than 53 bits: a float would be another one
    for names in ({"id": number}, {"id_str": str(number)}, {"id": str(number)}, {"id": 1, "id_str": str(number)}):
        assert parse({"text": said("one"), "lang": "en", **names})[0][0][1] == number
    assert parse({**reply(2, 1, said("two")), "in_reply_to_status_id": None})[0][1][:3] == ("reply", 2, 1)


@pytest.mark.parametrize(
    "id", [0, -1, 1 << 63, 10**40, 1.5, True, None, "", "x1", "١٢", "9" * 19, "9" * 5000, [1], {"id": 1}]
)
def test_a_tweet_with_an_impossible_id_is_counted_and_lost(id):
    rows, counts, _ = parse({"id": id, "text": said("one"), "lang": "en"}, status(2, said("two")))
    assert [row[1] for row in rows] == [2]
    assert counts == {"line: status": 2, "status: without id or text": 1}


def test_a_tweet_does_not_answer_itself():
    assert [row[0] for row in parse(reply(1, 1, said("one")))[0]] == ["tweet"]


def test_other_languages_and_all():
    tweets = [status(1, said("one")), status(2, said("two"), lang="pl"), {"id": 3, "text": said("three")}]
    assert [(row[3], row[4]) for row in parse(*tweets)[0]] == [
        *[(USABLE, said("one")), (OTHER_LANGUAGE, ""), (OTHER_LANGUAGE, "")]
    ]
    assert [row[3] for row in parse(*tweets, lang="pl")[0]] == [OTHER_LANGUAGE, USABLE, OTHER_LANGUAGE]
    assert [row[4] for row in parse(*tweets, lang="all")[0]] == [said("one"), said("two"), said("three")]


def test_notices_and_blank_lines_are_counted():
    rows, counts, first = parse(
        *(delete(1), delete(2), {"limit": {"track": 3}}, {"scrub_geo": {}}, {"warning": {}}, {"disconnect": {}}),
        *(b"", b"  ", b"\t\t\t\t\t", {"friends": [1]}, {}),
    )
    assert rows == [] and first == {}
    assert counts == {
        **{"line: delete notice": 2, "line: limit notice": 1, "line: scrub_geo notice": 1, "line: warning notice": 1},
        **{"line: disconnect notice": 1, "line: blank": 3, "line: neither status nor notice": 2},
    }


def test_a_broken_line_loses_only_itself():
    whole = [status(number, said(str(number))) for number in range(1, 6)]
    broken = [
        json.dumps(whole[0]).encode()[:-9],  # cut off
        '{"id": 7, "text": "żółw", "lang": "en"}'.encode("iso8859-2"),
        b"[" * 5000 + b"]" * 5000,
        rb'{"id": 8, "text": "half a sign \ud83d and more of it", "lang": "en"}',
        b"\x00\x00\x00",
    ]
    mixed = [line for pair in zip(broken, whole, strict=True) for line in pair]
    rows, counts, first = parse(*mixed)
    assert [row[1] for row in rows] == [1, 2, 3, 4, 5]
    assert counts == {"line: status": 5, "line: malformed JSON": 5}
    assert first == {"line: malformed JSON": "one.json, line 1"}


@pytest.mark.parametrize("line", [b"[]", b"[{}]", b"17", b"null", b'"text"', b"true", b'{"tweet": "text"}'])
def test_json_that_is_no_object_of_the_stream_is_counted(line):
    rows, counts, _ = parse(line, status(2, said("two")))
    assert [row[1] for row in rows] == [2]
    assert counts == {"line: neither status nor notice": 1, "line: status": 1}


@pytest.mark.parametrize(
    "fields",
    [
        *({"retweeted_status": None}, {"retweeted_status": "x"}, {"quoted_status": None}, {"quoted_status": [1]}),
        *({"quoted_status": {}}, {"quoted_status": {"id": [2]}}, {"in_reply_to_status_id": "none"}),
        *({"in_reply_to_status_id_str": {}}, {"user": None}, {"extended_tweet": None}, {"entities": 3}),
    ],
)
def test_odd_fields_do_not_lose_a_tweet(fields):
    assert parse({**status(1, said("one")), **fields})[0][-1] == ("tweet", 1, None, USABLE, said("one"))


@pytest.mark.parametrize("text", [None, 3, ["a"], {}])
def test_a_text_that_is_none_is_counted(text):
    assert parse(status(1, text))[1] == {"line: status": 1, "status: without id or text": 1}


def test_a_quote_of_a_broken_tweet_still_quotes():
    broken = quote(2, status(1, said("one")), said("two")) | {"quoted_status": {"id": None, "text": None}}
    assert [row[:3] for row in parse(broken)[0]] == [("tweet", 2, None), ("quote", 2, 1)]


def test_what_retweets_repeat_is_one_row():
    first = status(1, said("one"))
    rows, counts, _ = parse(*(retweet(number, first) for number in range(10, 15)), first)
    assert [row[1] for row in rows] == [1]
    assert counts["line: status"] == 6
    longer = status(1, said("one"), extended_tweet={"full_text": said("one and the rest")})
    assert [row[4] for row in parse(first, longer)[0]] == [said("one"), said("one and the rest")]


def test_other_collections_wrap_the_tweet():
    assert parse({"tweet": status(1, said("one")), "label": 1})[0] == [("tweet", 1, None, USABLE, said("one"))]
