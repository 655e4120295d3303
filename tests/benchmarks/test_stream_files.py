"""The synthetic tweet stream: format, shares, one tweet wherever it is seen; and the independent count, by hand."""

import bz2
import json
from collections import Counter
from datetime import UTC, datetime

import pytest

from tests.benchmarks.count_tweets import clean, count
from tests.benchmarks.stream_files import minute_lines, write
from tests.benchmarks.stream_ids import OWN, UNSEEN, identify, kind_of, language_of, moment
from tests.benchmarks.stream_tweets import Tweets

START = datetime(2020, 11, 1, 0, 7, tzinfo=UTC)
RATE = 400


@pytest.fixture(scope="module")
def tweets():
    return Tweets(0, RATE)


@pytest.fixture(scope="module")
def lines(tweets):
    return [json.loads(line) for line in minute_lines(tweets, START)]


@pytest.fixture(scope="module")
def statuses(lines):
    return [line for line in lines if "text" in line]


def test_an_id_says_when_of_which_kind_and_in_which_language():
    key = identify(1_604_188_800_123, UNSEEN, 5, 65_535)
    assert (moment(key), kind_of(key), language_of(key)) == (1_604_188_800_123, 3, 5)
    assert len(str(key)) == 19


def test_a_minute_follows_from_seed_and_time_alone(tweets):
    fresh = Tweets(0, RATE)
    minute_lines(fresh, datetime(2020, 11, 1, 5, 0, tzinfo=UTC))
    assert minute_lines(fresh, START) == minute_lines(tweets, START)
    assert Tweets(1, RATE).links.slots != tweets.links.slots


def test_files_lie_and_look_like_those_of_the_archive(tmp_path):
    write(tmp_path, 2, datetime(2020, 11, 30, 23, 59, tzinfo=UTC), per_minute=5)
    found = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert found == ["2020/11/30/23/59.json.bz2", "2020/12/01/00/00.json.bz2"]
    content = bz2.decompress((tmp_path / found[0]).read_bytes())
    assert content.isascii() and content.endswith(b"}\r\n")
    kinds = Counter("status" if "text" in json.loads(line) else "notice" for line in content.splitlines())
    assert kinds == {"status": 5, "notice": 16}  # 5,664 notices for 1,814 statuses


def test_a_status_has_the_fields_that_mining_reads(statuses):
    for line in statuses:
        assert START.timestamp() * 1000 <= int(line["timestamp_ms"]) < START.timestamp() * 1000 + 60_000
        for status in filter(None, (line, line.get("retweeted_status"), line.get("quoted_status"))):
            assert status["id_str"] == str(status["id"])
            assert {"text", "lang", "user", "entities", "truncated", "in_reply_to_status_id_str"} <= set(status)
            assert status["truncated"] == ("extended_tweet" in status)
            assert status["is_quote_status"] == ("quoted_status_id_str" in status)
        assert not line.get("quoted_status", {}).get("quoted_status")  # one level only
        if quoted := line.get("quoted_status"):
            assert quoted["id_str"] == line["quoted_status_id_str"]
            assert quoted["id"] < line["id"]


def test_shares_are_those_measured(statuses):
    taken = [line.get("retweeted_status", line) for line in statuses]
    shares = {
        "retweets": sum("retweeted_status" in line for line in statuses) / len(statuses),
        "replies": sum(status["in_reply_to_status_id"] is not None for status in taken) / len(taken),
        "quotes": sum("quoted_status" in status for status in taken) / len(taken),
        "extended": sum(status["truncated"] for status in taken) / len(taken),
        "English": sum(status["lang"] == "en" for status in taken) / len(taken),
    }
    measured = {"retweets": 0.51, "replies": 0.26, "quotes": 0.09, "extended": 0.23, "English": 0.31}
    assert shares == pytest.approx(measured, abs=0.06)  # of 23,583 real statuses; some 400 here
    assert 4_500 < sum(len(json.dumps(line)) for line in statuses) / len(statuses) < 7_000


def test_a_tweet_is_the_same_wherever_it_is_seen(tweets):
    seen = {}
    repeated = 0
    for minute in range(3):
        for line in minute_lines(tweets, START.replace(minute=minute)):
            if original := json.loads(line).get("retweeted_status"):
                repeated += original["id"] in seen
                assert seen.setdefault(original["id"], original) == original
    assert repeated > 3


def test_few_texts_are_equal(tweets):
    keys = [identify(1_604_188_800_000 + number, OWN, 0, number) for number in range(1_000)]
    texts = [text for key in keys if len(text := clean(tweets.tweet(key)["text"])) > 20]
    assert 700 < len(texts) < 900  # 13 % of the tweets and 32 % of the replies are shorter
    assert len(set(texts)) > 0.985 * len(texts)


def tweet(key, text, lang="en", **more):
    return {"id": int(key), "id_str": key, "text": text, "lang": lang, **more}


def test_the_count_by_hand(tmp_path):
    root = tweet("1", "The tram line opens on Sunday, at last!")
    again = tweet("1", "The tram line opens on Sunday, at\u2026")  # cut off, as retweets may have it
    answers = [
        tweet("2", "@mo I shall be there with my children", in_reply_to_status_id_str="1"),
        tweet("3", "Let us see who pays for it https://t.co/x", in_reply_to_status_id_str="1"),
        tweet("4", "Great", in_reply_to_status_id_str="1"),
        tweet("5", "Endlich kommt die neue Bahn in die Stadt", "de", in_reply_to_status_id_str="1"),
        tweet("6", "@mo the tram line opens on SUNDAY, at last!", in_reply_to_status_id_str="1"),
        tweet("7", "Nobody has seen what I am answering here", in_reply_to_status_id_str="99"),
        tweet("8", "Rain &amp; wind, and no tram", in_reply_to_status_id_str="99"),
    ]
    quote = tweet("9", "Cut", extended_tweet={"full_text": "This is what I have been waiting for"}, quoted_status=root)
    lines = [*answers, tweet("10", "RT", retweeted_status=quote), tweet("11", "RT", retweeted_status=again)]
    content = "".join(json.dumps(line) + "\r\n" for line in lines) + '{"delete":{}}\n\n{"text": "cut\n'
    (tmp_path / "00.json.bz2").write_bytes(bz2.compress(content.encode()))
    assert count(tmp_path) == {
        "lines": {"statuses": 9, "statuses in en": 8, "retweets replaced": 2, "delete notices": 1, "blank": 1,
                  "malformed": 1},
        "tweets": {"distinct": 9, "usable": 7, "too short": 1, "other language": 1, "distinct usable texts": 6},
        "links": {"quote: distinct": 1, "quote: parent in the stream": 1, "quote: both usable": 1,
                  "reply: distinct": 7, "reply: parent in the stream": 5, "reply: both usable": 3},
        "pairs": {"quote": 1, "coquote": 0, "reply": 1, "coreply": 2},
    }  # fmt: skip
