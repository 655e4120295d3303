"""Any source of texts, read row by row, cleaned and counted: the texts of an index, and statements from a file."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import pandas as pd
import pyarrow as pa
from tqdm.auto import tqdm

from dataset_scripts.base.cli import suggest
from dataset_scripts.base.quality import is_english, normalise
from dataset_scripts.base.reading import Dropped, read_file, readable

ENDINGS = ".csv, .tsv, .jsonl or .ndjson (each also as .gz), .parquet"
PEEK = 1000  # JSON lines from which the names of columns are taken; an object may lack some
# An encoder that reads 512 tokens sees about 2,500 characters. Tokenising a million of them takes a second all the
# same, as long as embedding a hundred tweets.
MAX_CHARACTERS = 10_000
ENOUGH_WORDS = 50  # of which stop words tell whether a text is English
# control characters that are no white space; marks of writing direction are none of them and stay
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LETTER = re.compile(r"[^\W_]")
_OTHER_SCRIPT = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")  # letters that are not Latin

Rows = Iterator[tuple[Any, ...]]


@dataclass(frozen=True)
class Source:
    """An opened source of rows.

    Attributes:
        name: What it is called in messages, with configuration and splits where it has such.
        columns: Names of its columns.
        read: Names of columns, and what counts rows that cannot be read -> the columns' values, row by row.
        total: Number of rows where it is known beforehand.
    """

    name: str
    columns: list[str]
    read: Callable[[Sequence[str], Dropped], Rows]
    total: int | None = None


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
        lines: Reason -> where the first row is that could not be read.
    """

    read: int = 0
    kept: int = 0
    distinct: int = 0
    ungrouped: int = 0
    dropped: dict[str, int] = field(default_factory=Counter)
    changed: dict[str, int] = field(default_factory=Counter)
    lines: dict[str, str] = field(default_factory=dict)

    def describe(self, source: str) -> str:
        """Lines that say what became of the rows of a source."""
        lines = [f"{source}: {self.read:,} rows read, {self.kept:,} kept; different texts: {self.distinct:,}"]
        for reason, count in Counter(self.dropped).most_common():
            first = f" (first: {self.lines[reason]})" if reason in self.lines else ""
            lines.append(f"  {count:>9,} x dropped: {reason}{first}")
        lines += [f"  {count:>9,} x {change}" for change, count in Counter(self.changed).most_common()]
        if self.ungrouped:
            lines.append(f"  {self.ungrouped:>9,} x without a group: found by questions, left out of comparisons")
        return "\n".join(lines)


@dataclass
class Collection:
    """The kept rows of a source.

    Attributes:
        source: Name of the source.
        columns: `text`, `group` and `id` -> column of the source, None where there is none.
        texts: The distinct texts, in the order of their first appearance.
        rows: Table with `row` (number of the row in the source, from 0, dropped rows included), `id`, `group` (both
            None where missing) and `vector` (number of the text in `texts`).
        counts: What was kept, dropped and changed.
        digest: Hash of all rows.
    """

    source: str
    columns: dict[str, str | None]
    texts: Sequence[str]
    rows: pa.Table
    counts: Counts
    digest: str


def read_texts(
    source: str | Path | pd.DataFrame,
    text: str | None = None,
    group: str | None = None,
    id: str | None = None,
    config: str | None = None,
    split: str | None = None,
    encoding: str = "utf-8-sig",
    max_characters: int = MAX_CHARACTERS,
    usual: dict[str, str | None] | None = None,
) -> Collection:
    """Reads a source of texts whole, cleaned and counted.

    Args:
        source: A file (`ENDINGS`), a folder of Parquet files, a folder written by `opinion corpus build`, `demo`, a
            data set's id on the Hub, or a table in memory.
        text: Column of the texts; if None, one that is called `text`, or the only one.
        group: Column of the groups, such as a party; none if None.
        id: Column of the ids; if None, one that is called `id`, if there is one.
        config: Configuration of a data set; its default, or the only one, if None.
        split: Split of a data set; all of them, one after the other, if None.
        encoding: Of a CSV or TSV file.
        max_characters: Longer texts are cut; the default is far above what an encoder of 512 tokens reads.
        usual: Columns to take for those that are None, if the source has them.

    Raises:
        ValueError: If it cannot be read, lacks a column or has it twice, or no text is left; the message says why, and
            the cure.
    """
    opened = open_source(source, config, split, encoding)
    usual = {name: column for name, column in (usual or {}).items() if column in opened.columns}
    named = {name: column for name, column in (("text", text), ("group", group), ("id", id)) if column is not None}
    return collect(opened, choose_columns(opened, **(usual | named)), max_characters)


def open_source(
    source: str | Path | pd.DataFrame,
    config: str | None = None,
    split: str | None = None,
    encoding: str = "utf-8-sig",
    cache_dir: str | Path = "~/.cache/opinion-transformers",
) -> Source:
    """Opens a source of texts and finds its columns; see `read_texts`. Prepared data sets are kept in `cache_dir`."""
    if isinstance(source, pd.DataFrame):
        return _arrow("the table", source.columns.tolist(), lambda columns: [pa.table(source[columns])], len(source))
    path = Path(source).expanduser()
    name = path.name.lower().removesuffix(".gz")
    plain = path.is_file() or (path.is_dir() and not (path / "README.md").is_file())
    if plain and (config or split):
        raise ValueError(f"{path} has no configurations or splits: leave out --config and --split")
    if path.is_dir() and plain:
        if not next(path.rglob("*.parquet"), None):
            raise ValueError(f"{path} holds neither Parquet files nor a README.md: name a file ({ENDINGS})")
        return _parquet(path)
    if path.is_file():
        if not path.stat().st_size:
            raise ValueError(f"{path} is empty: export or download it again")
        if name.endswith((".csv", ".tsv")):
            return _delimited(path, encoding)
        if name.endswith((".jsonl", ".ndjson")):
            return _json_lines(path)
        if name.endswith(".parquet"):
            return _parquet(path)
        raise ValueError(f"{path} cannot be read as a table: its name has to end in {ENDINGS}")
    if not path.is_dir() and (name.endswith((".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")) or path.is_absolute()):
        beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        raise ValueError(f"{path} does not exist: check the path{suggest(path.name, beside)}")
    return _data_set(str(source), config, split, cache_dir)


def _delimited(path: Path, encoding: str) -> Source:
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise ValueError(f"--encoding {encoding!r} is unknown; names are utf-8, latin-1, cp1252, utf-16") from None
    csv.field_size_limit(2**31 - 1)  # the default refuses a field above 128 KB
    with _open_text(path, encoding) as file:
        first = file.readline().removeprefix("\ufeff")
    delimiter = "\t" if ".tsv" in path.name.lower() else next((mark for mark in ",;\t" if mark in first), ",")
    columns = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
    if not any(columns):
        raise ValueError(f"{path}, line 1: there is no header with the names of the columns")

    def read(wanted: Sequence[str], dropped: Dropped) -> Rows:
        places = [columns.index(name) for name in wanted]
        with _open_text(path, encoding) as file:
            rows = csv.reader(file, delimiter=delimiter)
            next(rows)
            line = rows.line_num + 1
            for row in rows:
                if len(row) == len(columns):
                    yield tuple(row[place] for place in places)
                elif row:
                    quote = " (a quote left open?)" if rows.line_num - line > 20 else ""
                    dropped.skip(f"row: wrong number of columns{quote}", f"line {line:,}")
                line = rows.line_num + 1

    return Source(str(path), columns, read)


@contextmanager
def _open_text(path: Path, encoding: str) -> Iterator[TextIO]:
    with readable(path), read_file(path).stream as stream:
        if encoding == "utf-8-sig" and stream.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            encoding = "utf-16"  # as spreadsheets export it
        try:
            with io.TextIOWrapper(stream, encoding, newline="") as file:
                yield file
        except UnicodeError as error:
            cure = "name its encoding, e.g. --encoding latin-1 or cp1252, or save it as UTF-8"
            raise ValueError(f"{path} is not in {encoding} ({error}): {cure}") from error


def _json_lines(path: Path) -> Source:
    def records(dropped: Dropped) -> Iterator[dict[str, Any]]:
        member = read_file(path)
        with member.stream:
            for number, line in member.lines(dropped):
                try:
                    record = json.loads(line) if line.strip() else None
                except (ValueError, RecursionError):
                    record = line
                if isinstance(record, dict):
                    yield record
                elif line.strip():
                    dropped.skip("line: not a JSON object", f"line {number:,}")

    columns = list(dict.fromkeys(name for record in islice(records(Dropped()), PEEK) for name in record))
    if not columns:
        raise ValueError(f"{path} has no line with a JSON object in UTF-8: give one object a line")

    def read(wanted: Sequence[str], dropped: Dropped) -> Rows:
        return (tuple(record.get(name) for name in wanted) for record in records(dropped))

    return Source(str(path), columns, read)


def _parquet(path: Path) -> Source:
    from pyarrow import dataset

    try:
        files = [str(file) for file in sorted(path.rglob("*.parquet"))] if path.is_dir() else str(path)
        table = dataset.dataset(files, format="parquet")
        total = table.count_rows()
    except (ValueError, OSError) as error:
        reason = str(error).splitlines()[0][:200]
        raise ValueError(f"{path} cannot be read as Parquet ({reason}): write or download it again") from error
    return _arrow(str(path), table.schema.names, lambda columns: table.to_batches(columns=columns), total)


def _data_set(source: str, config: str | None, split: str | None, cache_dir: str | Path) -> Source:
    from datasets import ClassLabel, get_dataset_config_names, get_dataset_default_config_name

    from dataset_scripts.base.sources import DEMO, load_source, source_name

    path = str(Path(source).expanduser()) if Path(source).expanduser().is_dir() else source
    try:
        if config is None:
            config = "arguments" if source == DEMO else get_dataset_default_config_name(path)
        if config is None:
            names = ", ".join(get_dataset_config_names(path))
            raise ValueError(f"it has several configurations, name one with --config: {names}")
        splits = load_source(source, config, cache_dir)
    except (OSError, ValueError) as error:
        reason = str(error)[:300].rstrip(". ")
        raise ValueError(
            f"{source!r} could not be opened: {reason}. It has to be a file ({ENDINGS}), a folder written by opinion "
            "corpus build, or a data set on the Hub."
        ) from error
    if split is not None and split not in splits:
        raise ValueError(f"{source!r} ({config}) has no split {split!r}; it has {', '.join(splits)}")
    parts = [splits[split]] if split else list(splits.values())
    labels = {name: kind for name, kind in parts[0].features.items() if isinstance(kind, ClassLabel)}

    def batches(columns: list[str]) -> Iterator[pa.Table]:
        for part in parts:
            yield from part.select_columns(columns).with_format("arrow").iter(10_000)

    name = f"{source_name(source)} ({config}, {split or ' + '.join(splits)})"
    return _arrow(name, parts[0].column_names, batches, sum(len(part) for part in parts), labels)


def _arrow(
    name: str,
    columns: list[str],
    batches: Callable[[list[str]], Iterable[pa.Table | pa.RecordBatch]],
    total: int,
    labels: dict[str, Any] | None = None,
) -> Source:
    """A source of Arrow tables; `labels` are columns of classes, which are read by their names."""

    def values(batch: pa.Table | pa.RecordBatch, column: str) -> list[Any]:
        values = batch.column(column).to_pylist()
        if not (label := (labels or {}).get(column)):
            return values
        return [label.int2str(value) if isinstance(value, int) and value >= 0 else value for value in values]

    def read(wanted: Sequence[str], dropped: Dropped) -> Rows:
        for batch in batches(list(dict.fromkeys(wanted))):
            yield from zip(*(values(batch, column) for column in wanted), strict=True)

    return Source(name, columns, read, total)


def choose_columns(
    source: Source, text: str | None = None, group: str | None = None, id: str | None = None
) -> dict[str, str | None]:
    """The columns of text, group and id; see `read_texts`."""
    listed = f"{source.name} has the columns {', '.join(source.columns) or '(none)'}"
    for option, name in (("text", text), ("group", group), ("id", id)):
        if name is not None and name not in source.columns:
            raise ValueError(f"--{option} {name!r}: no such column; {listed}{suggest(name, source.columns)}")
    if text is None:
        likely = [name for name in source.columns if name.lower() == "text"] or source.columns
        if len(set(likely)) != 1:
            raise ValueError(f"which column holds the texts? Name it with --text; {listed}")
        text = likely[0]
    columns = {"text": text, "group": group, "id": id or ("id" if "id" in source.columns else None)}
    for name in columns.values():
        if source.columns.count(name) > 1:
            raise ValueError(f"{source.name} has two columns called {name!r}: rename one of them")
    return columns


def collect(source: Source, columns: dict[str, str | None], max_characters: int = MAX_CHARACTERS) -> Collection:
    """Reads all rows of a source and cleans their texts; see `read_texts`."""
    counts, unreadable, numbers, seen = Counts(), Dropped(), {}, {}
    rows: dict[str, list[Any]] = {name: [] for name in ("row", "id", "group", "vector")}
    wanted = [name for name in columns.values() if name is not None]
    for values in tqdm(source.read(wanted, unreadable), "reading", source.total, unit="row", mininterval=1):
        row = dict(zip(wanted, values, strict=True))
        number, counts.read = counts.read + unreadable.total(), counts.read + 1
        raw = row[columns["text"]]
        # copies of a text are cleaned once: rumours and campaigns are posted by the thousand
        vector = seen.get(raw) if isinstance(raw, str) else _unusable(raw)
        if vector is None:
            vector = seen[raw] = _number(raw, numbers, counts, max_characters)
        if isinstance(vector, str):
            counts.dropped[vector] += 1
            continue
        rows["row"].append(number)
        rows["vector"].append(vector)
        for name in ("id", "group"):
            rows[name].append(_label(row[columns[name]]) if columns[name] else None)
    counts.read += unreadable.total()
    counts.dropped, counts.lines = unreadable + counts.dropped, unreadable.first
    if not numbers:
        reasons = ", ".join(f"{count:,} x {reason}" for reason, count in counts.dropped.items()) or "it has no rows"
        question = "is it the column of the texts? Name it with --text"
        raise ValueError(f"{source.name}, column {columns['text']!r}: no text is left ({reasons}); {question}")
    counts.kept, counts.distinct = len(rows["row"]), len(numbers)
    counts.ungrouped = rows["group"].count(None) if columns["group"] else 0
    digest = hashlib.sha256()
    for text in numbers:
        digest.update(text.encode() + b"\0")
    for values in zip(*rows.values(), strict=True):
        digest.update(repr(values).encode())
    kinds = {"row": pa.int64(), "id": pa.large_string(), "group": pa.string(), "vector": pa.int32()}
    table = pa.table({name: pa.array(rows[name], kind) for name, kind in kinds.items()})
    return Collection(source.name, columns, list(numbers), table, counts, digest.hexdigest())


def _unusable(raw: Any) -> str:
    return "missing text" if raw is None or raw != raw else "not a text but a number, list or object"


def _number(raw: str, numbers: dict[str, int], counts: Counts, max_characters: int) -> int | str:
    """Number of a text that was not seen before in this form, or the reason to drop it."""
    text, changes = clean(raw, max_characters)
    if not text:
        return "empty text"
    text = raw if text == raw else text  # one string in memory, not two equal ones
    if text not in numbers:
        if not _LETTER.search(text):
            changes.append("kept without any letter or digit (emoji, punctuation)")
        elif is_foreign(text):
            changes.append("kept although probably not in English (script, or few stop words)")
        counts.changed.update(changes)
    return numbers.setdefault(text, len(numbers))


def _label(value: Any) -> str | None:
    """A group or an id as text; None where it is missing or blank."""
    return None if value is None or value != value else clean(str(value))[0] or None


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


def read_statements(path: str | Path, column: str = "statement") -> list[tuple[str, str | None]]:
    """Statements from a file, each with its target group or None.

    Args:
        path: A text file with one statement a line, or a table (see `read_texts`) with a column of them and perhaps
            one `target`.
        column: Name of that column.

    Raises:
        ValueError: If there is no such file or column, a line that cannot be read, or no statement.
    """
    path = Path(path).expanduser()
    if path.suffix.lower() == ".txt":
        try:
            rows = [(line, None) for line in path.read_text(encoding="utf-8-sig").splitlines()]
        except (OSError, UnicodeError) as error:
            raise ValueError(f"{path} cannot be read ({error}): it has to be text in UTF-8") from error
    else:
        source, dropped = open_source(path), Dropped()
        if column not in source.columns:
            raise ValueError(f"{path} has no column {column!r}; it has {', '.join(source.columns)}")
        names = [column, *(["target"] if "target" in source.columns else [])]
        rows = [(*row, None)[:2] for row in source.read(names, dropped)]
        for reason, where in dropped.first.items():
            raise ValueError(f"{path}, {where}: {reason}; repair the line")
    statements = [(text.strip(), _label(target)) for text, target in rows if isinstance(text, str) and text.strip()]
    if not statements:
        raise ValueError(f"{path} holds no {column}")
    return statements
