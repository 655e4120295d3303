"""Synthetic minutes of the archived tweet stream, YYYY/MM/DD/HH/MM.json.bz2, as many and as large as one likes.

    python -m tests.benchmarks.stream ~/stream --minutes 100

A minute holds what one of July 2019 held: 1,814 statuses, half of them retweets, and 5,664 delete notices. Replies
and quotes go to tweets of the last minutes, the popular ones more often. Nothing in it is a real tweet, and a minute
depends on the seed and its number alone.
"""

from __future__ import annotations

import argparse
import bz2
import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from dataset_scripts.base.files import atomic_file

STATUSES, NOTICES = 1814, 5664
RETWEETS, REPLIES, QUOTES, ENGLISH, EXTENDED = 0.5, 0.45, 0.13, 0.25, 0.11  # shares of statuses, as measured
LANGUAGES = ("ja", "und", "ar", "es", "ko", "pt", "tr", "fr")
REACH = 20  # minutes back in which answered tweets lie
FILLING = {  # what makes a status as long as a real one, and as easily packed
    "source": '<a href="http://twitter.com/download/iphone" rel="nofollow">Twitter for iPhone</a>',
    "truncated": False,
    "geo": None,
    "coordinates": None,
    "place": None,
    "contributors": None,
    "favorited": False,
    "retweeted": False,
    "filter_level": "low",
    "possibly_sensitive": False,
}


def tweet(number: int, seed: int = 0, nested: bool = True) -> dict[str, Any]:
    """The status of a number, the same wherever it is seen; `nested`: with the whole of the one that it quotes."""
    draw = random.Random(f"{seed}:{number}")
    words = " ".join(
        "".join(draw.choices("aeioubdfgklmnprst", k=draw.randint(2, 9))) for _ in range(draw.randint(2, 22))
    )
    id = 1_320_000_000_000_000_000 + number
    user = {
        "id": id % 9_999_991,
        "screen_name": f"user{id % 9_999_991}",
        "followers_count": draw.randrange(10_000),
        "description": f"{draw.getrandbits(2400):x}",  # what a real profile adds, packed
        "profile_image_url_https": f"https://example.org/{id % 9_999_991}.jpg",
    }
    status = {
        "id": id,
        "id_str": str(id),
        "text": words,
        "user": user,
        "entities": {"hashtags": [], "urls": []},
        "lang": "en" if draw.random() < ENGLISH else draw.choice(LANGUAGES),
        **FILLING,
    }
    parent = max(0, number - 1 - int(REACH * STATUSES * draw.random() ** 3))
    parent -= parent % draw.choice((1, 10, 100))  # some are answered by many
    if draw.random() < REPLIES:
        id = 1_320_000_000_000_000_000 + parent
        status |= {"text": f"@user {words}", "in_reply_to_status_id": id, "in_reply_to_status_id_str": str(id)}
    elif draw.random() < QUOTES:
        quoted = tweet(parent, seed, nested=False)
        status |= {"quoted_status_id": quoted["id"], "quoted_status_id_str": quoted["id_str"], "is_quote_status": True}
        status |= {"quoted_status": quoted} if nested else {}
    if draw.random() < EXTENDED:
        status["extended_tweet"] = {"full_text": f"{status['text']} {words}"}
    return status


def minute_lines(minute: int, seed: int = 0) -> list[str]:
    """The lines of a minute, by its number."""
    draw = random.Random(f"{seed}:minute {minute}")
    lines = []
    for number in range(minute * STATUSES, (minute + 1) * STATUSES):
        status = tweet(number, seed)
        if draw.random() < RETWEETS:
            original = tweet(max(0, number - 1 - int(REACH * STATUSES * draw.random() ** 3)), seed)
            status |= {"text": f"RT @user: {original['text']}"[:140], "retweeted_status": original}
        lines.append(json.dumps(status))
    for _ in range(NOTICES):
        lines.append(json.dumps({"delete": {"status": {"id": draw.getrandbits(60), "user_id": draw.getrandbits(31)}}}))
    draw.shuffle(lines)
    return lines


def write(folder: Path, minutes: int, seed: int = 0) -> list[Path]:
    """Writes the files of the first minutes, but those that are there."""
    paths = []
    for minute in range(minutes):
        moment = datetime(2020, 11, 1, tzinfo=UTC) + timedelta(minutes=minute)
        paths.append(folder / f"{moment:%Y/%m/%d/%H/%M}.json.bz2")
        if not paths[-1].exists():
            with atomic_file(paths[-1]) as temporary:
                temporary.write_bytes(bz2.compress("\n".join(minute_lines(minute, seed)).encode()))
    return paths


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=int, default=10, help="number of files (default: %(default)s)")
    options = parser.parse_args()
    files = write(options.folder, options.minutes)
    print(f"{options.folder}: {len(files):,} files, {sum(file.stat().st_size for file in files) / 1e6:,.1f} MB")
