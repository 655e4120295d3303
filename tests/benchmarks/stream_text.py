"""Invented texts for synthetic tweets: seeded vocabularies per language, lengths and ornaments as measured.

Measured on 13 minutes of the archived stream of July 2019 (23,583 statuses, retweets replaced by their original).
"""

from __future__ import annotations

import random
from bisect import bisect
from functools import cache
from itertools import accumulate

# Shares of the languages among tweets of the minute, and among retweeted ones; rarer languages are left out.
LANGUAGES = {"en": (0.247, 0.371), "ja": (0.295, 0.158), "und": (0.089, 0.050), "ar": (0.082, 0.047),
             "in": (0.049, 0.035), "es": (0.051, 0.057), "ko": (0.049, 0.073), "pt": (0.026, 0.022),
             "tr": (0.024, 0.023), "tl": (0.023, 0.012), "fr": (0.022, 0.025), "th": (0.018, 0.101),
             "ru": (0.012, 0.007), "hi": (0.005, 0.012)}  # fmt: skip
CODES = list(LANGUAGES)
ALPHABETS = {"ja": [*range(0x3042, 0x3094), *range(0x4E00, 0x5000)], "ko": range(0xAC00, 0xB400),
             "ar": range(0x0627, 0x064B), "th": range(0x0E01, 0x0E2F), "ru": range(0x0430, 0x0450),
             "hi": range(0x0905, 0x0939)}  # fmt: skip
UNSPACED = ("ja", "th")
PLAIN = [
    "the", "a", "to", "and", "of", "in", "is", "it", "you", "that", "for", "on", "my", "this", "be", "have",
    "not", "with", "so", "are", "just", "was", "but", "me", "we", "all", "they", "what", "like", "can", "do",
    "at", "when", "if", "your", "about", "out", "up", "no", "how", "one", "get", "now", "people", "time",
    "know", "good", "who", "more", "from", "love", "day", "new", "see", "want", "think", "go", "make",
    "never", "really", "back", "need", "would", "there", "here", "today", "still", "should", "right", "even",
    "why", "again", "work", "life", "year", "home", "way", "first", "better", "best", "keep", "every",
    "always", "thing", "nothing", "something", "after", "before"
]  # fmt: skip
STARTS = [
    "b", "br", "ch", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "kl", "l", "m", "n", "p", "pl", "qu",
    "r", "s", "sh", "sk", "st", "t", "th", "tr", "v", "w", "z"
]  # fmt: skip
MIDDLES = ["a", "e", "i", "o", "u", "ai", "ea", "ee", "oa", "ou"]
ENDS = ["", "", "", *["l", "m", "n", "r", "s", "t", "nd", "st", "ck", "sh", "rt", "ng"]]
EMOJI = "😂😭❤😍🔥🙏💜✨👏🤣💯🎉👀🥺😊🤔🚲🌧🌻🍕"
VOCABULARY = 6000  # words per language; a text of twenty characters or more is then rarely drawn twice

# Cleaned lengths of English tweets at these shares of the texts. Other languages: times the factor below.
SHARES = (0, 0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99, 1)
LENGTHS = {"short": (0, 6, 13, 18, 31, 51, 75, 98, 110, 132, 140),
           "short reply": (0, 4, 7, 10, 17, 33, 57, 86, 103, 120, 140),
           "extended": (13, 66, 105, 119, 144, 197, 248, 271, 277, 280, 280)}  # fmt: skip
SCALES = {"ja": 0.6, "ko": 0.7, "und": 0.1}
HASHTAGS, AMPERSANDS, BREAKS, SMILES = 0.16, 0.05, 0.23, 0.24  # shares of English tweets that have one at least
STOCK, STOCK_TEXTS = 0.01, 40  # share of texts that others have posted, too: 56 of 7,360 English ones


class Texts:
    """Draws texts in the languages of `LANGUAGES`; the vocabularies depend on the seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.words = cache(self._words)
        self.cumulative = list(accumulate(1 / (rank + 2.7) for rank in range(VOCABULARY)))

    def draw(self, draw: random.Random, language: str, kind: str) -> str:
        """A text without mentions and links, whose length is that of a kind of `LENGTHS`."""
        if draw.random() < STOCK:
            draw = random.Random(f"{self.seed}:{language}:{kind}:{draw.randrange(STOCK_TEXTS)}")
        length = round(quantile(LENGTHS[kind], draw.random()) * SCALES.get(language, 1))
        words = draw.choices(self.words(language), cum_weights=self.cumulative, k=length // 4 + 2)
        for share, change in ((HASHTAGS, "#{}"), (AMPERSANDS, "& {}"), (BREAKS, "\n{}"), (SMILES, "{} %s")):
            if draw.random() < share:
                place = draw.randrange(len(words) // 2 + 1)
                words[place] = change.replace("%s", draw.choice(EMOJI)).format(words[place])
        text = ("" if language in UNSPACED else " ").join(words)[: max(length, 1)].strip()
        return text[:1].upper() + text[1:]

    def _words(self, language: str) -> list[str]:
        """The vocabulary of a language, the most frequent first."""
        draw = random.Random(f"{self.seed}:{language}")
        words = dict.fromkeys(PLAIN if language == "en" else ())
        alphabet = [chr(code) for code in ALPHABETS.get(language, ())]
        while len(words) < VOCABULARY:
            if alphabet:
                words["".join(draw.choices(alphabet, k=draw.randint(2, 6)))] = None
            else:
                words["".join(draw.choice(STARTS) + draw.choice(MIDDLES) + draw.choice(ENDS)
                              for _ in range(draw.randint(1, 3)))] = None  # fmt: skip
        return list(words)


def quantile(values: tuple[float, ...], share: float) -> float:
    """The value at a share of the texts, between the measured ones by a straight line."""
    place = min(bisect(SHARES, share), len(SHARES) - 1)
    low, high = SHARES[place - 1], SHARES[place]
    return values[place - 1] + (values[place] - values[place - 1]) * (share - low) / (high - low)
