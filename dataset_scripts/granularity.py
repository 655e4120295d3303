"""How much of a review stands for it: all, its first sentence or a random one (Tay et al., 2021, section 5.3).

No library that divides English into sentences is a dependency, so a plain rule does it: a sentence ends at a blank
line, and at `.`, `!`, `?` or `...` with its closing quotation marks and brackets before white space. A full stop ends
none after one of `ABBREVIATIONS` or a single letter, nor do several dots before a small letter.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from dataset_scripts.base.quality import MINIMUM_WORDS, normalise

GRANULARITIES = ("review", "first", "random")
ABBREVIATIONS = frozenset(
    ("mr", "mrs", "ms", "dr", "prof", "st", "mt", "jr", "sr", "vs", "etc", "e.g", "i.e", "approx", "inc", "ltd")
)
_BLANK_LINE = re.compile(r"\n\s*\n")
_END = re.compile(r"""(?P<mark>[.!?…]+)["'”’)\]]*\s+(?=(?P<next>\S))""")
_NO_WORD = re.compile(r"[^\w.]+")
_LONGEST = 12  # characters that are looked at for an abbreviation


def sentences(text: str) -> Iterator[str]:
    """Yields the sentences of a text, their white space normalised.

    Example:
        >>> list(sentences("Dr. Who was late... again! No refund."))
        ['Dr. Who was late... again!', 'No refund.']
    """
    for paragraph in _BLANK_LINE.split(text.replace("\r\n", "\n")):
        start = 0
        for end in _END.finditer(paragraph):
            word = _NO_WORD.split(paragraph[max(start, end.start() - _LONGEST) : end.start()])[-1]
            if _is_end(word, end["mark"], end["next"]):
                yield normalise(paragraph[start : end.end()])
                start = end.end()
        if rest := normalise(paragraph[start:]):
            yield rest


def _is_end(word: str, mark: str, following: str) -> bool:
    if mark == ".":
        return word.lower() not in ABBREVIATIONS and (len(word) != 1 or word.isdigit())
    return not (following.islower() and set(mark) <= set(".…"))


def cut(text: str, granularity: str, seed: int) -> str:
    """The part of a review that stands for it, its white space normalised.

    A sentence of fewer than `MINIMUM_WORDS` words ("Wow!") stands for none; if all are, the result is empty.

    Args:
        text: The review with its line ends.
        granularity: One of `GRANULARITIES`.
        seed: Seed of the random sentence, which depends on it and on the text alone.
    """
    if granularity == "review":
        return normalise(text)
    usable = [sentence for sentence in sentences(text) if len(sentence.split()) >= MINIMUM_WORDS]
    if not usable:
        return ""
    return usable[0] if granularity == "first" else random.Random(f"{seed}:{text}").choice(usable)
