"""Invented stream files: statuses in version 1.1 of the format, packed by the ending of the file's name."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from dataset_scripts.twitter_stream.files import parts
from dataset_scripts.twitter_stream.statuses import COUNT, StatusReader, read_part
from tests.dataset_scripts.packing import pack


def status(id: int, text: str, lang: str = "en", **fields: Any) -> dict[str, Any]:
    """A status."""
    return {"id": id, "id_str": str(id), "text": text, "lang": lang, "user": {"screen_name": "ana_example"}, **fields}


def reply(id: int, parent: int, text: str, **fields: Any) -> dict[str, Any]:
    """A reply to a tweet, of which it has the id alone."""
    return status(id, text, in_reply_to_status_id=parent, in_reply_to_status_id_str=str(parent), **fields)


def quote(id: int, of: dict[str, Any], text: str, **fields: Any) -> dict[str, Any]:
    """A quote of a tweet, which comes along."""
    return status(id, text, quoted_status_id=of["id"], quoted_status_id_str=of["id_str"], quoted_status=of, **fields)


def retweet(id: int, of: dict[str, Any]) -> dict[str, Any]:
    """A retweet."""
    return status(id, f"RT @ana_example: {of['text']}"[:60], retweeted_status=of)


def delete(id: int) -> dict[str, Any]:
    """A delete notice."""
    return {"delete": {"status": {"id": id, "id_str": str(id), "user_id": 1}, "timestamp_ms": "1"}}


def said(name: str) -> str:
    """A text that is long enough, and another for each name."""
    return f"an invented sentence called {name}"


def lines(items: Iterable[dict[str, Any] | bytes]) -> bytes:
    """The lines of a file; bytes are lines as they are."""
    return b"".join((item if isinstance(item, bytes) else json.dumps(item).encode()) + b"\r\n" for item in items)


def write(path: Path, items: Iterable[dict[str, Any] | bytes]) -> Path:
    """Writes a file of the stream."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pack(path.name, lines(items)))
    return path


def divided(rows: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, int], dict[str, str]]:
    """Rows of tweets and answers; reason -> count; reason -> first place."""
    tweets, counts, first = [], Counter(), {}
    for row in rows:
        if row["kind"] != COUNT:
            tweets.append(row)
            continue
        reason, place = row["text"].split("\t")
        counts[reason] += row["number"]
        if place:
            first.setdefault(reason, place)
    return tweets, counts, first


def parse(*items: dict[str, Any] | bytes, lang: str = "en") -> tuple[list[tuple], dict[str, int], dict[str, str]]:
    """What `StatusReader` makes of lines; rows as (kind, id, parent, state, text)."""
    reader = StatusReader(lang)
    rows = reader.read(lines(items).splitlines(keepends=True), "one.json")
    tweets, counts, first = divided([*rows, *reader.count_rows()])
    return [(row["kind"], row["id"], row["parent"], row["state"], row["text"]) for row in tweets], counts, first


def read(*paths: Path, lang: str = "en") -> tuple[list[dict[str, Any]], dict[str, int], dict[str, str]]:
    """What `read_part` makes of all parts of files."""
    return divided(row for part in parts(paths) for row in read_part(part.path, part.start, part.stop, lang))


def table(folder: Path, name: str) -> dict[str, list[dict[str, Any]]]:
    """Split -> rows of a set or benchmark, in their order."""
    splits: dict[str, list[dict[str, Any]]] = {}
    for path in sorted((folder / name).glob("*.parquet")):
        splits.setdefault(path.name.split("-")[0], []).extend(pq.read_table(path).to_pylist())
    return splits


def tables(folder: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Set or benchmark -> split -> rows."""
    return {path.name: table(folder, path.name) for path in sorted(folder.iterdir()) if path.is_dir()}


def letters(number: int) -> str:
    """A name without digits."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def conversations(count: int = 90, answers: int = 8, seed: int = 0) -> list[dict[str, Any]]:
    """Statuses of so many conversations, each of a tweet with replies and quotes, and some replies to the replies.

    Every tweet has a text of its own, `said(letters(id))`, among mentions and links; only the last reply of every
    tenth conversation says what that of the first does.
    """
    draw, items = random.Random(seed), []
    for number in range(count):
        id = 10**18 + number * 1000
        first = status(id, f"@bo_example {said(letters(id))} https://t.co/example{number}")
        items.append(first)
        for answer in range(1, answers + 1):
            name = letters(id + answer) if answer < answers or number % 10 else "the same"
            items.append(reply(id + answer, id, f"@ana_example {said(name)}"))
            items.append(quote(id + 100 + answer, first, f"{said(letters(id + 100 + answer))} https://t.co/example"))
            items.append(reply(id + 200 + answer, id + answer, said(letters(id + 200 + answer))))
        items += [retweet(id + 300, first), delete(id + 301), status(id + 302, said("jp"), lang="ja")]
    draw.shuffle(items)
    return items
