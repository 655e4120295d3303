"""Writes synthetic files of the tweet stream, in the format and at the rate of the archive: YYYY/MM/DD/HH/MM.json.bz2.

    python -m tests.benchmarks.stream_files --minutes 100 --out data/stream
    python -m tests.benchmarks.stream_files --minutes 1000 --out data/stream --processes 8 --start 2020-12-01T00:00

A minute holds what one of July 2019 held: 1,814 statuses of 5.6 kB, half of them retweets, and 5,664 delete notices,
11 MB packed to a tenth. Nothing in it is a real tweet. A minute depends on the seed, its time and the rate alone.
"""

from __future__ import annotations

import argparse
import bz2
import json
import random
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path

from dataset_scripts.base.files import atomic_file
from tests.benchmarks.stream_ids import MOST, OWN, RETWEETED, identify, user_of
from tests.benchmarks.stream_tweets import Tweets

STATUSES, NOTICES, SPREAD = 1814, 5664, 0.03  # per minute: means, and standard deviation as a share of the first
DELETED = 90 * 24 * 3_600_000  # delete notices name tweets of the last months, evenly, in milliseconds


def minute_lines(tweets: Tweets, start: datetime) -> list[str]:
    """The lines of one minute, without their ends, in order of time."""
    epoch = int(start.timestamp()) * 1000
    draw = random.Random(f"{tweets.seed}:{epoch}")
    count = max(1, round(tweets.links.per_minute * (1 + SPREAD * draw.gauss(0, 1))))
    lines = []
    for number, (offset, language, retweets) in enumerate(tweets.links.slots[:count]):
        now = epoch + offset
        key = identify(now, OWN, language, number)
        if retweets:
            status = tweets.retweet(key, tweets.links.popular(draw, RETWEETED, language, now // 60_000))
        else:
            status = tweets.tweet(key)
        lines.append((now, json.dumps(status | {"timestamp_ms": str(now)}, separators=(",", ":"))))
    for _ in range(round(count * NOTICES / STATUSES)):
        now = epoch + draw.randrange(60_000)
        lines.append((now, notice(identify(now - draw.randrange(DELETED), OWN, 0, draw.getrandbits(16)), now)))
    lines.sort(key=lambda line: line[0])
    return [line.replace("/", "\\/").replace("<", "\\u003c").replace(">", "\\u003e") for _, line in lines]


def notice(key: int, now: int) -> str:
    """A delete notice."""
    user = user_of(key)
    named = f'"id":{key},"id_str":"{key}","user_id":{user},"user_id_str":"{user}"'
    return f'{{"delete":{{"status":{{{named}}},"timestamp_ms":"{now}"}}}}'


def write_minute(start: datetime, folder: Path, seed: int, per_minute: int) -> Path:
    """Writes the file of one minute."""
    lines = minute_lines(tweets(seed, per_minute), start)
    path = folder / f"{start:%Y/%m/%d/%H/%M}.json.bz2"
    with atomic_file(path) as temporary:
        temporary.write_bytes(bz2.compress("".join(f"{line}\r\n" for line in lines).encode("ascii")))
    return path


@cache
def tweets(seed: int, per_minute: int) -> Tweets:
    """Made once per process: the vocabularies take a while."""
    return Tweets(seed, per_minute)


def write(
    folder: Path, minutes: int, start: datetime, seed: int = 0, per_minute: int = STATUSES, processes: int = 1
) -> None:
    """Writes the files of successive minutes; those that are there are replaced."""
    from tqdm import tqdm

    starts = [start + timedelta(minutes=number) for number in range(minutes)]
    one = partial(write_minute, folder=folder, seed=seed, per_minute=per_minute)
    if processes == 1:
        for begin in tqdm(starts, unit="minute"):
            one(begin)
        return
    with ProcessPoolExecutor(processes) as pool:
        for _ in tqdm(pool.map(one, starts), total=minutes, unit="minute"):
            pass


def moment(text: str) -> datetime:
    """A full minute, in UTC."""
    return datetime.fromisoformat(text).replace(second=0, microsecond=0, tzinfo=UTC)


def main() -> None:
    """Writes the files and says how much there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for the files")
    parser.add_argument("--minutes", type=int, default=10, help="number of files (default: %(default)s)")
    parser.add_argument("--start", type=moment, default="2020-11-01T00:00", help="first minute (default: %(default)s)")
    parser.add_argument("--per_minute", type=int, default=STATUSES, help="statuses, the mean (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1, help="minutes written at a time (default: %(default)s)")
    options = parser.parse_args()
    if not 1 <= options.per_minute <= MOST or options.minutes < 1 or options.processes < 1:
        parser.error(f"--minutes and --processes must be 1 at least, --per_minute between 1 and {MOST:,}")
    write(options.out, options.minutes, options.start, options.seed, options.per_minute, options.processes)
    sizes = [path.stat().st_size for path in options.out.rglob("*.json.bz2")]
    print(f"{options.out}: {len(sizes):,} files, {sum(sizes) / 1e6:,.1f} MB")


if __name__ == "__main__":
    main()
