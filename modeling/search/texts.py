"""Any source of texts, read row by row, cleaned and counted: the texts of an index, and statements from a file."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
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
    """An opened source of rows."""

    name: str  # in messages, with configuration and splits where it has such
    columns: list[str]
    read: Callable[[Sequence[str], Dropped], Rows]  # columns, counter of unreadable rows -> their values row by row
    total: int | None = None  # rows, where it is known beforehand


@dataclass(frozen=True)
class Counts:
    """What became of the rows of a source."""

    read: int  # rows of the source
    kept: int  # rows with a text
    distinct: int  # different texts among them; each is embedded once
    ungrouped: int  # kept rows without a group although there is a column of groups
    dropped: dict[str, int]  # reason -> rows
    changed: dict[str, int]  # what was done to kept texts, or is to be known of them -> distinct texts
    lines: dict[str, str]  # reason -> where the first row is that could not be read

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


@dataclass(frozen=True)
class Collection:
    """The kept rows of a source, with what is to be known of it."""

    source: str
    columns: dict[str, str | None]  # text, group and id -> column of the source, None where there is none
    # `row` (number in the source, from 0, dropped rows included), `id` and `group` (None where missing), and `text`, a
    # dictionary of the distinct texts in the order of their first appearance
    rows: pa.Table
    counts: Counts
    digest: str  # of all rows


def read_texts(
    source: str | Path | pd.DataFrame,
    text: str | None = None,
    group: str | None = None,
    id: str | None = None,
    config: str | None = None,
    split: str | None = None,
    encoding: str = "utf-8-sig",
    max_characters: int = MAX_CHARACTERS,
    usual: Mapping[str, str | None] = MappingProxyType({}),
) -> Collection:
    """Reads a source of texts whole, cleaned and counted; a ValueError says why it cannot be, and the cure.

    Args:
        source: A file (`ENDINGS`), a folder of Parquet files or one written by `opinion corpus build`, `demo`, a data
            set's id on the Hub, or a table in memory.
        text: Column of the texts; if None, one that is called `text`, or the only one.
        group: Column of the groups, such as a party; none if None.
        id: Column of the ids; if None, one that is called `id`, if there is one.
        config, split: Of a data set; its default configuration, or the only one, and all splits if None.
        encoding: Of a CSV or TSV file.
        max_characters: Longer texts are cut.
        usual: Columns to take for those that are None, if the source has them.
    """
    opened = open_source(source, config, split, encoding)
    usual = {name: column for name, column in usual.items() if column in opened.columns}
    columns = choose_columns(opened, text or usual.get("text"), group or usual.get("group"), id or usual.get("id"))
    wanted = [name for name in columns.values() if name is not None]
    dropped, changed, rows = Dropped(), Counter[str](), []
    texts: dict[str, int] = {}  # cleaned -> its number
    numbers: dict[str, int | None] = {}  # as it was read -> its number; None where nothing is left of it
    for values in tqdm(opened.read(wanted, dropped), "reading", opened.total, unit="row", delay=1):
        number = len(rows) + dropped.total()
        raw, *labels = map(dict(zip(wanted, values, strict=True)).get, columns.values())
        if not isinstance(raw, str):
            dropped["missing text" if raw is None or raw != raw else "not a text but a number, list or object"] += 1
            continue
        if raw not in numbers:  # copies are cleaned once: rumours and campaigns are posted by the thousand
            numbers[raw] = _number(raw, texts, changed, max_characters)
        if numbers[raw] is None:
            dropped["empty text"] += 1
        else:
            rows.append((number, *map(_label, labels), numbers[raw]))
    if texts and not any(any(map(str.isalpha, each)) for each in texts):  # numbers are text in a CSV
        dropped["without a letter"] += len(rows)
        texts.clear()
    if not texts:
        reasons = ", ".join(f"{count:,} x {reason}" for reason, count in dropped.items()) or "it has no rows"
        question = "is it the column of the texts? Name it with --text"
        raise ValueError(f"{opened.name}, column {columns['text']!r}: no text is left ({reasons}); {question}")
    digest = hashlib.sha256()
    for line in chain(texts, map(repr, rows)):
        digest.update(line.encode() + b"\0")
    at, groups, ids, codes = zip(*rows, strict=True)
    text_column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(texts, pa.large_string()))
    table = {"row": pa.array(at, pa.int64()), "id": pa.array(ids, pa.large_string())}
    table |= {"group": pa.array(groups, pa.string()).dictionary_encode(), "text": text_column}
    ungrouped = groups.count(None) if columns["group"] else 0
    counts = Counts(
        len(rows) + dropped.total(), len(rows), len(texts), ungrouped, dict(dropped), dict(changed), dropped.first
    )
    return Collection(opened.name, columns, pa.table(table), counts, digest.hexdigest())


def open_source(
    source: str | Path | pd.DataFrame,
    config: str | None = None,
    split: str | None = None,
    encoding: str = "utf-8-sig",
    cache_dir: str | Path = "~/.cache/opinion-transformers",
) -> Source:
    """Opens a source of texts and finds its columns; see `read_texts`. Prepared data sets are kept in `cache_dir`."""
    if isinstance(source, pd.DataFrame):
        frame = source.astype(object).where(source.notna(), None)
        rows = lambda wanted, dropped: frame[list(wanted)].itertuples(index=False, name=None)  # noqa: E731
        return Source("the table", source.columns.tolist(), rows, len(source))
    path = Path(source).expanduser()
    name = path.name.lower().removesuffix(".gz")
    if not path.is_file():
        if not path.is_dir() and (name.endswith((*READERS, ".txt")) or path.is_absolute()):
            beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
            raise ValueError(f"{path} does not exist: check the path{suggest(path.name, beside)}")
        if (path / "README.md").exists() or not any(path.rglob("*.parquet")):
            return _data_set(str(path) if path.is_dir() else str(source), config, split, cache_dir)
    if config or split:
        raise ValueError(f"{path} has no configurations or splits: leave out --config and --split")
    if path.is_dir():  # of Parquet files, which no build wrote
        return _parquet(path, encoding)
    for ending, reader in READERS.items():
        if name.endswith(ending):
            return reader(path, encoding)
    raise ValueError(f"{path} cannot be read as a table: its name has to end in {ENDINGS}")


def _delimited(path: Path, encoding: str) -> Source:
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
        except (UnicodeError, LookupError) as error:
            cure = "name its encoding, e.g. --encoding latin-1 or cp1252, or save it as UTF-8"
            raise ValueError(f"{path} is not in {encoding} ({error}): {cure}") from error


def _json_lines(path: Path, encoding: str) -> Source:
    def records(dropped: Dropped) -> Iterator[dict[str, Any]]:
        with (member := read_file(path)).stream:
            yield from (record for _, record in member.objects(dropped))

    columns = list(dict.fromkeys(name for record in islice(records(Dropped()), PEEK) for name in record))
    if not columns:
        raise ValueError(f"{path} has no line with a JSON object in UTF-8: give one object a line")
    return Source(str(path), columns, lambda wanted, dropped: (tuple(map(r.get, wanted)) for r in records(dropped)))


def _parquet(path: Path, encoding: str) -> Source:
    from pyarrow import dataset

    try:
        table = dataset.dataset(path, format="parquet")
        total = table.count_rows()
    except (ValueError, OSError) as error:
        reason = str(error).splitlines()[0][:200]
        raise ValueError(f"{path} cannot be read as Parquet ({reason}): write or download it again") from error

    def read(wanted: Sequence[str], dropped: Dropped) -> Rows:
        for batch in table.to_batches(columns=list(dict.fromkeys(wanted))):
            yield from zip(*(batch[name].to_pylist() for name in wanted), strict=True)

    return Source(str(path), table.schema.names, read, total)


READERS = {".csv": _delimited, ".tsv": _delimited, ".jsonl": _json_lines, ".ndjson": _json_lines, ".parquet": _parquet}


def _data_set(source: str, config: str | None, split: str | None, cache_dir: str | Path) -> Source:
    from datasets import get_dataset_config_names, get_dataset_default_config_name

    from dataset_scripts.base.sources import DEMO, load_source, source_name

    try:
        config = config or ("arguments" if source == DEMO else get_dataset_default_config_name(source))
        if config is None:
            names = ", ".join(get_dataset_config_names(source))
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

    def read(wanted: Sequence[str], dropped: Dropped) -> Rows:
        features = [parts[0].features[name] for name in wanted]
        for part in parts:
            for batch in part.select_columns(list(dict.fromkeys(wanted))).iter(10_000):
                columns = [_by_name(kind, batch[name]) for name, kind in zip(wanted, features, strict=True)]
                yield from zip(*columns, strict=True)

    name = f"{source_name(source)} ({config}, {split or ' + '.join(splits)})"
    return Source(name, parts[0].column_names, read, sum(map(len, parts)))


def _by_name(feature: Any, values: list[Any]) -> list[Any]:
    """Classes by their names; other values as they are."""
    if not hasattr(feature, "int2str"):
        return values
    return [feature.int2str(value) if isinstance(value, int) and value >= 0 else value for value in values]


def choose_columns(
    source: Source, text: str | None = None, group: str | None = None, id: str | None = None
) -> dict[str, str | None]:
    """The columns of text, group and id; see `read_texts`."""
    listed = f"{source.name} has the columns {', '.join(source.columns) or '(none)'}"
    for option, name in (("text", text), ("group", group), ("id", id)):
        if name is not None and name not in source.columns:
            raise ValueError(f"--{option} {name!r}: no such column; {listed}{suggest(name, source.columns)}")
    if text is None:
        likely = {name for name in source.columns if name.lower() == "text"} or set(source.columns)
        if len(likely) != 1:
            raise ValueError(f"which column holds the texts? Name it with --text; {listed}")
        (text,) = likely
    columns = {"text": text, "group": group, "id": id or ("id" if "id" in source.columns else None)}
    for name in columns.values():
        if source.columns.count(name) > 1:
            raise ValueError(f"{source.name} has two columns called {name!r}: rename one of them")
    return columns


def _number(raw: str, texts: dict[str, int], changed: Counter[str], max_characters: int) -> int | None:
    """Number of a text that was not seen before in this form; None if nothing is left of it."""
    text, changes = clean(raw, max_characters)
    if not text:
        return None
    if text not in texts:
        if not _LETTER.search(text):
            changes.append("kept without any letter or digit (emoji, punctuation)")
        elif is_foreign(text):
            changes.append("kept although probably not in English (script, or few stop words)")
        changed.update(changes)
    # one string in memory, not two equal ones
    return texts.setdefault(raw if text == raw else text, len(texts))


def _label(value: Any) -> str | None:
    """A group or an id as text; None where it is missing or blank."""
    return None if value is None or value != value else clean(str(value))[0] or None


def clean(text: str, max_characters: int = MAX_CHARACTERS) -> tuple[str, list[str]]:
    """A text as it is embedded, and what was done to it.

    Halves of surrogate pairs become whole where both are there and U+FFFD where not, control characters and white
    space become single spaces, and what is longer than `max_characters` is cut.
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
    """Whether a text is probably not in English: of another script than Latin, or of many words but few stop words."""
    if not text.isascii() and 2 * len(_OTHER_SCRIPT.findall(text)) > len(_LETTER.findall(text)):
        return True
    return text.count(" ") >= ENOUGH_WORDS - 1 and not is_english(text)


def read_statements(path: str | Path, column: str = "statement") -> list[tuple[str, str | None]]:
    """Statements from a text file, one a line, or from a column of a table, each with its `target` there or None."""
    path, dropped = Path(path).expanduser(), Dropped()
    if path.suffix.lower() == ".txt" and path.is_file():
        rows = [(line, None) for _, line in read_file(path).lines(dropped)]
    else:
        source = open_source(path)
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
