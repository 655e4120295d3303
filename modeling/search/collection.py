"""A collection of texts to be searched: read, cleaned, counted, every distinct text once."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm.auto import tqdm

from dataset_scripts.base.quality import is_english, normalise
from modeling.search.records import Source, Unreadable

if TYPE_CHECKING:
    import pyarrow

# An encoder that reads 512 tokens sees about 2,500 characters. Tokenising a million of them takes a second all the
# same, as long as embedding a hundred tweets.
MAX_CHARACTERS = 10_000
# control characters that are no white space; marks of writing direction are none of them and stay
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LETTER = re.compile(r"[^\W_]")
_OTHER_SCRIPT = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")  # letters that are not Latin
ENOUGH_WORDS = 50  # of which stop words tell whether it is English


@dataclass
class Counts:
    """What became of the rows of a source.

    Attributes:
        read: Rows of the source.
        kept: Rows with a text.
        distinct: Different texts among them; each is embedded once.
        ungrouped: Kept rows without a group although there is a column of groups; they can be found, and are left out
            where groups are compared.
        dropped: Reason -> rows.
        changed: What was done to kept texts, or is to be known of them -> distinct texts.
        lines: Reason -> first line of the source with a row that could not be read.
    """

    read: int = 0
    kept: int = 0
    distinct: int = 0
    ungrouped: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    lines: dict[str, int] = field(default_factory=dict)

    def facts(self) -> dict[str, Any]:
        """As plain JSON."""
        return {**vars(self), "dropped": dict(self.dropped), "changed": dict(self.changed)}


@dataclass
class Collection:
    """The kept rows of a source.

    Attributes:
        source: Name of the source.
        columns: `text`, `group` and `id` -> column of the source, None where there is none.
        texts: The distinct texts, in the order of their first appearance.
        rows: Table with `row` (number of the row in the source, from 0, dropped rows included), `id`, `text`, `group`
            (both None where missing) and `vector` (number of the text in `texts`).
        counts: What was kept, dropped and changed.
        digest: Hash of all rows.
    """

    source: str
    columns: dict[str, str | None]
    texts: list[str]
    rows: pyarrow.Table
    counts: Counts
    digest: str


def clean(text: str, max_characters: int = MAX_CHARACTERS) -> tuple[str, list[str]]:
    """A text as it is embedded, and what was done to it.

    Halves of surrogate pairs become whole where both are there and U+FFFD where not, control characters and white
    space become single spaces, and what is longer than `max_characters` is cut.

    Examples:
        >>> clean(" Trams\\x00 are\\n late ")
        ('Trams are late', ['control characters removed', 'line breaks became spaces'])
    """
    changes = []
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        changes.append("broken characters (lone surrogates) replaced")
    if _CONTROL.search(text):
        text = _CONTROL.sub(" ", text)
        changes.append("control characters removed")
    if "\n" in text.strip():  # in a table also the trace of a quotation mark without its pair
        changes.append("line breaks became spaces")
    text = normalise(text)
    if len(text) > max_characters:
        text = text[:max_characters].rstrip()
        changes.append(f"cut to {max_characters:,} characters")
    return text, changes


def choose_columns(
    source: Source, text: str | None = None, group: str | None = None, id: str | None = None
) -> dict[str, str | None]:
    """The columns of text, group and id.

    Args:
        source: The opened source.
        text: Column of the texts; if None, one that is called `text`, or the only one.
        group: Column of the groups, such as a party; none if None.
        id: Column of the ids; if None, one that is called `id`, if there is one.

    Raises:
        ValueError: If a column is not there or cannot be guessed; the message lists the columns.
    """
    listed = f"{source.name} has the columns {', '.join(source.columns) or '(none)'}"
    for option, name in (("text", text), ("group", group), ("id", id)):
        if name is not None and name not in source.columns:
            raise ValueError(f"--{option} {name!r}: no such column; {listed}")
    if text is None:
        likely = [name for name in source.columns if name.lower() == "text"] or source.columns
        if len(likely) != 1:
            raise ValueError(f"which column holds the texts? Name it with --text; {listed}")
        text = likely[0]
    return {"text": text, "group": group, "id": id or ("id" if "id" in source.columns else None)}


def collect(
    source: Source, columns: dict[str, str | None], max_characters: int = MAX_CHARACTERS, progress: bool = True
) -> Collection:
    """Reads all rows of a source and cleans their texts; see `Counts` for what is counted.

    Args:
        source: The opened source.
        columns: From `choose_columns`.
        max_characters: Longer texts are cut.
        progress: Whether to show a bar.

    Raises:
        ValueError: If no text is left; the message says why rows were dropped.
    """
    counts, numbers, seen = Counts(), {}, {}
    kept: dict[str, list[Any]] = {name: [] for name in ("row", "id", "group", "vector")}
    wanted = [name for name in columns.values() if name is not None]
    read = tqdm(source.read(wanted), total=source.total, desc="reading", unit="row", disable=not progress)
    for row, values in enumerate(read):
        counts.read += 1
        if isinstance(values, Unreadable):
            counts.dropped[values.reason] += 1
            counts.lines.setdefault(values.reason, values.line)
            continue
        found = dict(zip(wanted, values, strict=True))
        raw = found[columns["text"]]
        # copies of a text are cleaned once: rumours and campaigns are posted by the thousand
        vector = seen.get(raw) if isinstance(raw, str) else _unusable(raw)
        if vector is None:
            vector = seen[raw] = _number(raw, numbers, counts, max_characters)
        if isinstance(vector, str):
            counts.dropped[vector] += 1
            continue
        kept["row"].append(row)
        kept["vector"].append(vector)
        for name in ("id", "group"):
            kept[name].append(_label(found[columns[name]]) if columns[name] else None)
    if not numbers:
        reasons = ", ".join(f"{count:,} x {reason}" for reason, count in counts.dropped.items()) or "it has no rows"
        raise ValueError(
            f"{source.name}, column {columns['text']!r}: no text is left ({reasons}); is it the column "
            "of the texts? Name it with --text"
        )
    counts.kept, counts.distinct = len(kept["row"]), len(numbers)
    counts.ungrouped = sum(group is None for group in kept["group"]) if columns["group"] else 0
    texts = list(numbers)
    return Collection(source.name, columns, texts, _table(kept, texts), counts, _digest(kept, texts))


def _unusable(raw: Any) -> str:
    return "missing text" if raw is None or raw != raw else "not a text but a number, list or object"


def _number(raw: str, numbers: dict[str, int], counts: Counts, max_characters: int) -> int | str:
    """Number of a text that was not seen before in this form, or the reason to drop it."""
    text, changes = clean(raw, max_characters)
    if not text:
        return "empty text"
    text = raw if text == raw else text  # one string in memory, not two equal ones
    if text not in numbers:
        counts.changed.update(changes)
        if not _LETTER.search(text):
            counts.changed["kept without any letter or digit (emoji, punctuation)"] += 1
        elif is_foreign(text):
            counts.changed["kept although probably not in English (script, or few stop words)"] += 1
    return numbers.setdefault(text, len(numbers))


def is_foreign(text: str) -> bool:
    """Whether a text is probably not in English: letters of another script than Latin, or few English stop words.

    Latin texts of fewer than `ENOUGH_WORDS` words are taken for English, since their stop words do not tell.

    Examples:
        >>> is_foreign("الترام يجب أن يكون مجانيا"), is_foreign("Les trams devraient être gratuits.")
        (True, False)
    """
    if not text.isascii() and 2 * len(_OTHER_SCRIPT.findall(text)) > len(_LETTER.findall(text)):
        return True
    return text.count(" ") >= ENOUGH_WORDS - 1 and not is_english(text)


def _label(value: Any) -> str | None:
    """A group or an id as text; None where it is missing or blank."""
    if value is None or value != value:
        return None
    return clean(str(value))[0] or None


def _table(kept: dict[str, list[Any]], texts: Sequence[str]) -> pyarrow.Table:
    import pyarrow as pa

    vector = pa.array(kept["vector"], pa.int32())
    # a dictionary: a text that a million rows carry is held once
    text = pa.DictionaryArray.from_arrays(vector, pa.array(texts, pa.large_string()))
    group = pa.array(kept["group"], pa.string())
    return pa.table(
        {"row": pa.array(kept["row"], pa.int64()), "id": pa.array(kept["id"], pa.string()), "text": text,
         "group": group, "vector": vector}
    )  # fmt: skip


def _digest(kept: dict[str, list[Any]], texts: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    for row in zip(*kept.values(), strict=True):
        digest.update(repr(row).encode())
    return digest.hexdigest()


def describe(counts: Counts, path: str | Path) -> list[str]:
    """Lines that say what became of the rows of a source."""
    lines = [f"{counts.read:,} rows read, {counts.kept:,} kept; different texts: {counts.distinct:,}"]
    for reason, count in Counter(counts.dropped).most_common():
        first = f" (first: {path}, line {counts.lines[reason]:,})" if reason in counts.lines else ""
        lines.append(f"  {count:>9,} x dropped: {reason}{first}")
    lines += [f"  {count:>9,} x {change}" for change, count in Counter(counts.changed).most_common()]
    if counts.ungrouped:
        lines.append(f"  {counts.ungrouped:>9,} x without a group: found by questions, left out of comparisons")
    return lines
