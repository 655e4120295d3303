"""Lines of the tweet stream, version 1.1, as rows: what was said, what it answers or quotes, what is of no use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from dataset_scripts.base.reading import Dropped
from dataset_scripts.twitter_stream.files import read_lines

MINIMUM_CHARACTERS = 20  # a text must have more, since "congrats" answers anything (section 2)
ALL_LANGUAGES = "all"
USABLE, OTHER_LANGUAGE, TOO_SHORT = range(3)  # states of a tweet
TWEET, REPLY, QUOTE, COUNT = "tweet", "reply", "quote", "count"  # kinds of rows
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
    repeats, and a quoted tweet that comes along is one that was seen.

    Of `language`, as Twitter gives it in `lang`, or `all`. `counts` has the kinds of lines, and what was broken.
    """

    def __init__(self, language: str) -> None:
        self.counts = Dropped()
        self._language = language
        self._seen: set[tuple[int, int]] = set()

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[Row]:
        """Yields the rows of a file's lines, without the repetitions that retweets bring."""
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                self.counts["line: blank"] += 1
                continue
            try:
                value = orjson.loads(line)
            except orjson.JSONDecodeError:
                self.counts.skip("line: malformed JSON", f"{name}, line {number}")
                continue
            status = _status(value)
            if status is None:
                self.counts[_notice(value)] += 1
                continue
            self.counts["line: status"] += 1
            if isinstance(repeated := status.get("retweeted_status"), dict):
                self.counts["retweets, replaced by the tweet"] += 1
                status = repeated
            yield from self._tweet(status)

    def count_rows(self) -> Iterator[Row]:
        """Yields a `count` row for each of `counts`: reason and first place in `text`, divided by a tab."""
        for reason, number in self.counts.items():
            yield _row(COUNT, None, None, USABLE, f"{reason}\t{self.counts.first.get(reason, '')}", number)

    def _tweet(self, status: dict[str, Any]) -> Iterator[Row]:
        """The rows of a status and of the one that it quotes."""
        id, text = _number(status, "id"), _text(status)
        if id is None or text is None:
            self.counts["status: without id or text"] += 1
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


def read_part(path: str, start: int, stop: int, language: str) -> Iterator[Row]:
    """Yields the rows of a part, see `files.Part`, and of what was counted in it."""
    reader = StatusReader(language)
    for name, lines in read_lines(Path(path), start, stop, reader.counts):
        yield from reader.read(lines, name)
    yield from reader.count_rows()


def _row(kind: str, id: int | None, parent: int | None, state: int, text: str, number: int) -> Row:
    return {"kind": kind, "id": id, "parent": parent, "state": state, "text": text, "number": number}


def _status(value: Any) -> dict[str, Any] | None:
    """The status that a line is, or has under `tweet` as some collections do."""
    if not isinstance(value, dict):
        return None
    if "text" in value or "full_text" in value:
        return value
    return value["tweet"] if isinstance(value.get("tweet"), dict) else None


def _notice(value: Any) -> str:
    """What a line is that is no status: notices have their kind as their only key, deletions also a time."""
    kind = next((key for key in value if key in NOTICES), None) if isinstance(value, dict) else None
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
