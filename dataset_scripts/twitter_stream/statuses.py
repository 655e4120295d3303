"""Lines of the tweet stream, version 1.1, as rows: what was said, what it answers or quotes, what is of no use."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

MINIMUM_CHARACTERS = 20  # a text must have more, since "congrats" answers anything (section 2)
ALL_LANGUAGES = "all"
USABLE, OTHER_LANGUAGE, TOO_SHORT = range(3)  # states of a tweet
TWEET, REPLY, QUOTE, COUNT, FIRST = "tweet", "reply", "quote", "count", "first"  # kinds of rows
DIGITS = 19  # of a number of 63 bits
NOTICES = {"delete", "limit", "warning", "disconnect", "scrub_geo", "status_withheld", "user_withheld", "event"}
_URL = re.compile(r"http\S+|\b(?:pic\.twitter\.com|t\.co)/\S+")
_MENTION = re.compile(r"[@＠]\w+")  # as Twitter reads them, in its full width, too

Row = dict[str, Any]


def clean(text: str) -> str:
    """A tweet's text as the paper cleans it: lower case, without URLs and mentions, white space collapsed.

    Example:
        >>> clean("@ana_example  Look &amp; LISTEN https://t.co/example")
        'look & listen'
    """
    if "&" in text:
        text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    text = text.lower()
    if "http" in text or ".co" in text:
        text = _URL.sub("", text)
    if "@" in text or "＠" in text:
        text = _MENTION.sub("", text)
    return " ".join(text.split())


class StatusReader:
    """Turns lines into rows of `kind`, `id`, `parent`, `state`, `text` and `number`.

    A `tweet` row says that a tweet was seen, with its text where it can be used. A `reply` or `quote` row has the
    answering tweet as `id`, the answered one as `parent`, and the answer's text. A retweet stands for the tweet that it
    repeats, and a quoted tweet that comes along is one that was seen. The rows of `counts` have a reason in `text` and
    how often it occurred in `number`.

    Args:
        language: Code of the tweets that are used, as Twitter gives it in `lang`; `all` for any.
    """

    def __init__(self, language: str) -> None:
        from orjson import JSONDecodeError, loads

        self._language = language
        self._loads, self._error = loads, JSONDecodeError
        self._counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._seen: set[tuple[int, int]] = set()

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[Row]:
        """Yields the rows of a file's lines, without the repetitions that retweets bring.

        Args:
            lines: Each a JSON object, a blank, or broken.
            name: The file, for messages.
        """
        counts = self._counts
        for number, line in enumerate(lines, start=1):
            if len(line) < 3 and not line.strip():
                counts["line: blank"] += 1
                continue
            try:
                found = self._loads(line)
            except self._error:
                if line.strip():
                    self.broken("line: malformed JSON", f"{name}, line {number}")
                else:
                    counts["line: blank"] += 1
                continue
            status = _status(found)
            if status is None:
                counts[_notice(found)] += 1
                continue
            counts["line: status"] += 1
            if isinstance(repeated := status.get("retweeted_status"), dict):
                counts["retweets, replaced by the tweet"] += 1
                status = repeated
            yield from self._tweet(status)

    def broken(self, reason: str, place: str) -> None:
        """Counts what could not be read, and remembers the first place."""
        self._counts[reason] += 1
        self._first.setdefault(reason, place)

    def counts(self) -> Iterator[Row]:
        """Yields what was counted, and the first place of each thing that was broken."""
        for reason, number in self._counts.items():
            yield _row(COUNT, None, None, USABLE, reason, number)
        for reason, place in self._first.items():
            yield _row(FIRST, None, None, USABLE, f"{reason}\t{place}", 0)

    def _tweet(self, status: dict[str, Any]) -> Iterator[Row]:
        """The rows of a status and of the one that it quotes."""
        id, text = _number(status, "id"), _text(status)
        if id is None or text is None:
            self._counts["status: without id or text"] += 1
            return
        quoted = status.get("quoted_status")
        parents = [(REPLY, _number(status, "in_reply_to_status_id")), (QUOTE, _number(status, "quoted_status_id"))]
        if isinstance(quoted, dict):
            yield from self._tweet({**quoted, "quoted_status": None})
            parents[1] = (QUOTE, _number(quoted, "id") or parents[1][1])
        key = (id, hash(text))
        if key in self._seen:
            return
        self._seen.add(key)
        state = USABLE
        if status.get("lang") != self._language and self._language != ALL_LANGUAGES:
            state = OTHER_LANGUAGE
        elif len(text := clean(text)) <= MINIMUM_CHARACTERS:
            state = TOO_SHORT
        if state != USABLE:
            text = ""
        yield _row(TWEET, id, None, state, text, 0)
        for kind, parent in parents:
            if parent is not None and parent != id:
                yield _row(kind, id, parent, state, text, 0)


def _row(kind: str, id: int | None, parent: int | None, state: int, text: str, number: int) -> Row:
    return {"kind": kind, "id": id, "parent": parent, "state": state, "text": text, "number": number}


def _status(found: Any) -> dict[str, Any] | None:
    """The status that a line is, or has under `tweet` as some collections do."""
    if not isinstance(found, dict):
        return None
    if "text" in found or "full_text" in found:
        return found
    return found["tweet"] if isinstance(found.get("tweet"), dict) else None


def _notice(found: Any) -> str:
    """What a line is that is no status: notices have their kind as their only key, deletions also a time."""
    kind = next((key for key in found if key in NOTICES), None) if isinstance(found, dict) else None
    return f"line: {kind} notice" if kind else "line: neither status nor notice"


def _text(status: dict[str, Any]) -> str | None:
    extended = status.get("extended_tweet")
    whole = extended.get("full_text") if isinstance(extended, dict) else None
    return next((text for text in (whole, status.get("full_text"), status.get("text")) if isinstance(text, str)), None)


def _number(status: dict[str, Any], field: str) -> int | None:
    """An id, from its string where there is one; None where there is none, or it is no number of 63 bits."""
    for value in (status.get(f"{field}_str"), status.get(field)):
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= DIGITS:
            value = int(value)
        if type(value) is int:
            return value if 0 < value < 1 << 63 else None
    return None
