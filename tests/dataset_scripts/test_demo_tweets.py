"""The demonstration stream has every kind of line that the format has, and nothing in it could be anybody's."""

import bz2
import gzip
import json
import re
from collections.abc import Iterator
from functools import cache

from dataset_scripts.base.sources import DEMO_FOLDER

FOLDER = DEMO_FOLDER / "tweets"
OPENERS = {".bz2": bz2.open, ".gz": gzip.open, ".jsonl": open}
FIRST_INVENTED_ACCOUNT = 9 * 10**18  # far above any account number in use
INVENTED_MACHINE = 0x3FF  # an id holds the number of the machine that gave it out, and this is the highest there can be


@cache
def lines():
    files = sorted(path for path in FOLDER.rglob("*") if path.is_file())
    return [line for path in files for line in OPENERS[path.suffix](path, "rb").read().splitlines()]


def kind(line):
    """What a line of the stream is, and its status if it is one."""
    try:
        record = json.loads(line) if line.strip() else {"blank": ""}
    except UnicodeDecodeError:
        return "not UTF-8", None
    except json.JSONDecodeError:
        return "not JSON", None
    if not isinstance(record, dict):
        return "no object", None
    return ("status", record) if "text" in record else (next(iter(record)), None)


@cache
def statuses():
    return [status for _, status in map(kind, lines()) if status]


def said(status) -> Iterator[dict]:
    """A status and those inside it, as often as they are repeated."""
    yield status
    for inner in ("retweeted_status", "quoted_status"):
        if inner in status:
            yield from said(status[inner])


def test_no_account_link_or_tweet_could_be_real():
    links, names = set(), set()
    for status in (status for top in statuses() for status in said(top)):
        assert status["user"]["id"] > FIRST_INVENTED_ACCOUNT and status["user"]["screen_name"].endswith("_example")
        assert status["id_str"] == str(status["id"]) and status["id"] >> 12 & 0x3FF == INVENTED_MACHINE
        texts = status["text"] + " " + status.get("extended_tweet", {}).get("full_text", "")
        links |= set(re.findall(r"http\S+|\S*\bt\.co\b\S*", texts))
        names |= set(re.findall(r"@(\w+)", texts))
    assert links and all(re.fullmatch(r"https://t\.co/example\d+", link) for link in links)
    assert names and all(name.endswith("_example") for name in names)
