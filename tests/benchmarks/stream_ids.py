"""Ids of synthetic tweets, which tell all about them, and which tweets others retweet, quote and reply to.

An id tells when a tweet was written, of which kind and in which language, and seeds everything else, so that a tweet
that is retweeted in one minute and quoted in another is the same one, however many processes write minutes in whatever
order. What is popular changes: a tweet keeps its rank for some time, then another takes it.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections import defaultdict
from itertools import accumulate

from tests.benchmarks.stream_text import CODES, LANGUAGES

EPOCH = 1_288_834_974_657  # milliseconds: where the ids of Twitter begin
OWN, RETWEETED, QUOTED, UNSEEN = range(4)  # OWN: written in that minute; UNSEEN: replied to, but not in the stream
MOST = 0xFFFF  # statuses a minute: an id has 16 bits for the number
SHARES = tuple(zip(*LANGUAGES.values(), strict=True))
CUMULATIVE = tuple(list(accumulate(shares)) for shares in SHARES)
GOLDEN, SILVER = (5**0.5 - 1) / 2, 2**0.5 - 1

# Measured like the figures of `stream_text`.
RETWEETS = 0.5125  # share of all statuses: 12,086 of 23,583
SAME_LANGUAGE = 0.9, 0.8  # shares of the replies and the quotes
# A rank is drawn as POOL * u ** SKEW, u uniform: its probability falls with rank ** (1 / SKEW - 1). Fitted to how often
# a tweet was retweeted (876 of 10,570 twice or more), quoted (96 of 1,691) and replied to (76 of 6,192).
POOL = (0, 120_000, 2_000, 500_000)
SKEW = (0, 2.1, 1.9, 2.2)
# How long a tweet keeps its rank, in minutes, evenly on a logarithmic scale: what is retweeted or quoted is 9 to 10
# hours old, what is replied to 20 minutes, the medians.
LIFETIMES = (0, 0), (60, 20_000), (60, 20_000), (2, 3_000)
# Shares of the replies of the minute that answer another one of the stream, and a retweeted one; the rest was never
# seen. A parent was found for 2.8 %. Of the retweeted, every second rank may be a reply to the one before it, of half a
# minute earlier, as in threads: a parent was found for 15 %.
PARENTS = 0.006, 0.2
THREAD_MS = 30_000
THREAD = THREAD_MS << 22


class Links:
    """Who is referred to, for one seed and a number of statuses a minute.

    `slots`: at which millisecond, in which language and whether as a retweet each status of any minute is written;
    the same in all minutes, so that a reply can name an earlier tweet without looking into its minute.
    """

    def __init__(self, seed: int, per_minute: int) -> None:
        self.seed, self.per_minute = seed, per_minute
        draw = random.Random(f"{seed}:slots")
        self.slots: list[tuple[int, int, bool]] = []
        self.own: dict[int, list[int]] = defaultdict(list)
        for number in range(min(2 * per_minute, MOST)):
            retweets = number * GOLDEN % 1 < RETWEETS  # evenly spread, so that shares hold in every minute
            language = bisect(CUMULATIVE[retweets], number * SILVER % 1 * CUMULATIVE[retweets][-1])
            self.slots.append((draw.randrange(60_000), language, retweets))
            if not retweets and number < per_minute:
                self.own[language].append(number)

    def popular(self, draw: random.Random, kind: int, language: int, minute: int) -> int:
        """The id of a tweet of a language that was written before a minute (since 1970) and is popular in it."""
        size = max(1, int(POOL[kind] * LANGUAGES[CODES[language]][1]))
        rank = int(size * draw.random() ** SKEW[kind])
        low, high = LIFETIMES[kind]
        mixed = random.Random(f"{self.seed}:{kind}:{language}:{rank // 2}").random()  # of two, see THREAD
        lifetime = int(low * (high / low) ** mixed)
        phase = int(mixed * 1e9) % lifetime
        born = (minute + phase) // lifetime * lifetime - phase
        return (
            identify(born * 60_000 - THREAD_MS - int(mixed * 1e12) % 20_000, kind, language, rank) + rank % 2 * THREAD
        )

    def parent(self, draw: random.Random, key: int) -> int:
        """The id of the tweet that another one replies to, mostly in its own language."""
        kind, minute = kind_of(key), moment(key) // 60_000
        if kind == RETWEETED:
            return key - THREAD - 1
        language = self.language(draw, key, SAME_LANGUAGE[0])
        own, popular = PARENTS
        chosen = draw.random()
        if chosen < own and self.own[language]:  # minutes ago, mostly
            number = draw.choice(self.own[language])
            before = minute - 1 - int(draw.lognormvariate(1.5, 1.5))
            return identify(before * 60_000 + self.slots[number][0], OWN, language, number)
        return self.popular(draw, RETWEETED if chosen < own + popular else UNSEEN, language, minute)

    def quoted(self, draw: random.Random, key: int) -> int:
        """The id of the tweet that another one quotes."""
        language = self.language(draw, key, SAME_LANGUAGE[1])
        return self.popular(draw, QUOTED if draw.random() < 0.7 else RETWEETED, language, moment(key) // 60_000)

    @staticmethod
    def language(draw: random.Random, key: int, same: float) -> int:
        """That of a tweet, or another one."""
        if draw.random() < same and CODES[language_of(key)] != "und":
            return language_of(key)
        return draw.choices(range(len(CODES)), SHARES[1])[0]


def identify(milliseconds: int, kind: int, language: int, number: int) -> int:
    """The id of a tweet: time, kind (2 bits), language (4 bits) and a number (16 bits)."""
    return (milliseconds - EPOCH) << 22 | kind << 20 | language << 16 | number & 0xFFFF


def moment(key: int) -> int:
    """When a tweet was written, in milliseconds since 1970."""
    return (key >> 22) + EPOCH


def kind_of(key: int) -> int:
    """OWN, RETWEETED, QUOTED or UNSEEN."""
    return key >> 20 & 3


def language_of(key: int) -> int:
    """Place of a tweet's language in `CODES`."""
    return key >> 16 & 15


def user_of(key: int) -> int:
    """The account that wrote a tweet: with a short id or, two of five, with one of the newer long ones."""
    mixed = key * 0x9E3779B97F4A7C15 >> 13
    return mixed % 4_000_000_000 + 1_000_000 if mixed % 5 > 1 else mixed % 4 * 10**17 + mixed % 10**17 + 7 * 10**17


def screen_name(key: int) -> str:
    """The name of the account that wrote a tweet."""
    return screen_name_of(user_of(key))


def screen_name_of(user: int) -> str:
    """The name of an account."""
    return f"user_{user:x}"
