"""Rows of a source as they lie there: a table, JSON lines, Parquet, a built folder, or a data set of the Hub."""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

import fsspec

from dataset_scripts.base.reading import readable

if TYPE_CHECKING:
    import pyarrow

ENDINGS = ".csv, .tsv, .jsonl or .ndjson (each also as .gz), .parquet"
PEEK = 1000  # JSON lines from which the names of columns are taken; an object may lack some
HUB_ERRORS = (OSError, ValueError)  # what datasets and the Hub's client raise for a source that cannot be had


@dataclass(frozen=True)
class Unreadable:
    """A row that cannot be read: why, and on which line it begins."""

    reason: str
    line: int


@dataclass(frozen=True)
class Source:
    """An opened source.

    Attributes:
        name: What it is called in messages, with configuration and splits where it has such.
        columns: Names of its columns.
        read: Names of columns -> their values, row by row; a row that cannot be read is an `Unreadable`.
        total: Number of rows where it is known beforehand.
    """

    name: str
    columns: list[str]
    read: Callable[[Sequence[str]], Iterator[tuple[Any, ...] | Unreadable]]
    total: int | None = None


def open_source(
    source: str | Path,
    config: str | None = None,
    split: str | None = None,
    encoding: str = "utf-8-sig",
    cache_dir: str | Path = "~/.cache/opinion-transformers",
) -> Source:
    """Opens a source of texts.

    Args:
        source: A file (`ENDINGS`), a folder of Parquet files, a folder written by `python -m dataset_scripts`, `demo`,
            or a data set's id on the Hub.
        config: Configuration of a data set; its default, or the only one, if None.
        split: Split of a data set; all of them, one after the other, if None.
        encoding: Of a CSV or TSV file.
        cache_dir: Where prepared data sets are kept.

    Raises:
        ValueError: If it is not there, cannot be read, or is none of these; the message names the cure.
    """
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
        if name.endswith((".csv", ".tsv")):
            return _delimited(path, encoding)
        if name.endswith((".jsonl", ".ndjson")):
            return _json_lines(path)
        if name.endswith(".parquet"):
            return _parquet(path)
        raise ValueError(f"{path} cannot be read as a table: its name has to end in {ENDINGS}")
    if not path.is_dir() and (name.endswith((".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")) or path.is_absolute()):
        raise ValueError(f"{path} does not exist: check the path")
    return _data_set(str(source), config, split, cache_dir)


def _delimited(path: Path, encoding: str) -> Source:
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise ValueError(f"--encoding {encoding!r} is unknown; names are utf-8, latin-1, cp1252, utf-16") from None
    csv.field_size_limit(2**31 - 1)  # the default refuses a field above 128 KB
    with _open_text(path, encoding) as file:
        first = file.readline()
    delimiter = "\t" if ".tsv" in path.name.lower() else next((mark for mark in ",;\t" if mark in first), ",")
    columns = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
    if not columns:
        raise ValueError(f"{path}, line 1: there is no header with the names of the columns")

    def read(wanted: Sequence[str]) -> Iterator[tuple[Any, ...] | Unreadable]:
        places = [columns.index(name) for name in wanted]
        with _open_text(path, encoding) as file:
            lines = csv.reader(file, delimiter=delimiter)
            next(lines)
            line = lines.line_num + 1
            for row in lines:
                if len(row) == len(columns):
                    yield tuple(row[place] for place in places)
                elif row:
                    long = lines.line_num - line > 20
                    yield Unreadable("wrong number of columns" + (" (a quote left open?)" if long else ""), line)
                line = lines.line_num + 1

    return Source(str(path), columns, read)


def _json_lines(path: Path) -> Source:
    def objects() -> Iterator[dict[str, Any] | Unreadable]:
        with _open_bytes(path) as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError):  # no JSON, or no UTF-8
                    yield Unreadable("line is not valid JSON", number)
                    continue
                yield value if isinstance(value, dict) else Unreadable("line is no JSON object", number)

    columns: dict[str, None] = {}
    for number, row in enumerate(objects()):
        if isinstance(row, dict):
            columns |= dict.fromkeys(row)
        if number >= PEEK and columns:
            break

    def read(wanted: Sequence[str]) -> Iterator[tuple[Any, ...] | Unreadable]:
        for row in objects():
            yield row if isinstance(row, Unreadable) else tuple(row.get(name) for name in wanted)

    return Source(str(path), list(columns), read)


def _parquet(path: Path) -> Source:
    from pyarrow import dataset

    try:
        files = [str(file) for file in sorted(path.rglob("*.parquet"))] if path.is_dir() else str(path)
        table = dataset.dataset(files, format="parquet")
        total = table.count_rows()
    except (ValueError, OSError) as error:
        raise ValueError(
            f"{path} cannot be read as Parquet ({str(error)[:200]}): write or download it again"
        ) from error

    def read(wanted: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        for batch in table.to_batches(columns=list(dict.fromkeys(wanted))):
            yield from _rows(batch, wanted)

    return Source(str(path), table.schema.names, read, total)


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
    except HUB_ERRORS as error:
        raise ValueError(
            f"{source!r} could not be opened: {str(error)[:300].rstrip('. ')}. It has to be a file ({ENDINGS}), a "
            "folder written by python -m dataset_scripts, or a data set on the Hub."
        ) from error
    if split is not None and split not in splits:
        raise ValueError(f"{source!r} ({config}) has no split {split!r}; it has {', '.join(splits)}")
    parts = [splits[split]] if split else list(splits.values())
    labels = {name: kind for name, kind in parts[0].features.items() if isinstance(kind, ClassLabel)}

    def read(wanted: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        for part in parts:
            for batch in part.select_columns(list(dict.fromkeys(wanted))).with_format("arrow").iter(10_000):
                for row in _rows(batch, wanted):
                    yield tuple(_named(labels.get(name), value) for name, value in zip(wanted, row, strict=True))

    name = f"{source_name(source)} ({config}, {split or ' + '.join(splits)})"
    return Source(name, parts[0].column_names, read, sum(len(part) for part in parts))


def _rows(batch: pyarrow.RecordBatch | pyarrow.Table, wanted: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(batch.column(name).to_pylist() for name in wanted), strict=True)


def _named(label: Any, value: Any) -> Any:
    """The name of a class, which the data set holds as a number; other values as they are."""
    return label.int2str(value) if label is not None and isinstance(value, int) and value >= 0 else value


@contextmanager
def _open_text(path: Path, encoding: str) -> Iterator[TextIO]:
    with (
        readable(path),
        fsspec.open(str(path), "rt", compression="infer", encoding=encoding, newline="") as file,
    ):
        try:
            yield file
        except UnicodeError as error:
            raise ValueError(
                f"{path} is not in {encoding} ({error}): name its encoding, e.g. --encoding latin-1 or cp1252, or save "
                "it as UTF-8"
            ) from error


@contextmanager
def _open_bytes(path: Path) -> Iterator[BinaryIO]:
    with readable(path), fsspec.open(str(path), "rb", compression="infer") as file:
        yield file
