"""Reads reviews from JSON lines and tab separated tables, plain, compressed or in an archive, line by line."""

from __future__ import annotations

import gzip
import json
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import fsspec

from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import ARCHIVES, parse_score, readable
from dataset_scripts.reviews import polarity_of_stars
from dataset_scripts.sentiment import parse_label

TABLES = (".json", ".jsonl", ".ndjson", ".tsv")
SUFFIXES = (*TABLES, *(f"{suffix}.gz" for suffix in TABLES), *ARCHIVES)


class Review(NamedTuple):
    """A review as it was read: product (may be empty), text with its line ends, polarity, and kind of product."""

    product: str
    text: str
    label: int
    domain: str = ""


@dataclass(frozen=True)
class Columns:
    """The names that a corpus's releases give to one thing; of those that a record has, the first with a value counts.

    Attributes:
        text: The review.
        stars: Stars from 1 to 5.
        product: What is reviewed.
        domain: Kind of product.
        label: Polarity, 1 or 0, of a release without stars.
    """

    text: tuple[str, ...]
    stars: tuple[str, ...]
    product: tuple[str, ...]
    domain: tuple[str, ...] = ()
    label: tuple[str, ...] = ("label",)

    def fit(self, record: dict[str, Any]) -> bool:
        """Whether a record has a column of text and one of stars or polarity, be they empty."""
        return any(name in record for name in self.text) and any(name in record for name in (*self.stars, *self.label))

    def review(self, record: dict[str, Any], dropped: Counter[str]) -> Review | None:
        """The review of a record; None, and counted, if it cannot be used.

        A review with stars needs a product; one with a polarity in their place may be without.
        """
        text, product = first_value(record, self.text), first_value(record, self.product)
        rated, reason, label = any(name in record for name in self.stars), None, None
        if not isinstance(text, str) or not text.strip():
            reason = "empty text"
        elif rated and (stars := parse_score(str(first_value(record, self.stars)), 1, 5)) is None:
            reason = "stars are no number from 1 to 5"
        elif rated and (label := polarity_of_stars(stars)) is None:
            reason = "3 stars, neither positive nor negative"
        elif rated and product is None:
            reason = "no id of a product"
        elif not rated and (label := parse_label(str(first_value(record, self.label)))) is None:
            reason = "label is neither 1 nor 0"
        if reason:
            dropped[f"review: {reason}"] += 1
            return None
        return Review(normalise(str(product or "")), text, label)


def first_value(record: dict[str, Any], names: tuple[str, ...]) -> Any:
    """The first value under one of the names that is neither missing nor empty; None if there is none."""
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)


def read_records(
    path: Path, wanted: Callable[[str], bool], dropped: Counter[str]
) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yields (name, line, record) of a file, or of every wanted file in an archive; a bad line loses itself alone.

    Args:
        path: JSON lines or a tab separated table with a header, plain or .gz, or an archive (`ARCHIVES`) of such files.
        wanted: Whether a file in an archive is to be read, by its name.
        dropped: Counts the lines that are not UTF-8, not JSON, or have more or fewer fields than the header.

    Raises:
        ValueError: If the file is broken or cut off, or neither JSON lines nor a table.
    """
    with _unpacking(path):
        for name, file in _open_members(path, wanted):
            where = path.name if name == path.name else f"{path.name}:{name}"
            header: list[str] | None = None
            for number, line in enumerate(file, start=1):
                text = _decoded(line, number, dropped)
                if not text:
                    continue
                if header is None and (header := _header(text, f"{path.parent / where}, line {number}")):
                    continue
                record = _table_row(text, header, dropped) if header else _json_object(text, dropped)
                if record is not None:
                    yield where, number, record


def _decoded(line: bytes, number: int, dropped: Counter[str]) -> str | None:
    """The line; None if it is empty or not UTF-8."""
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        dropped["line: not UTF-8"] += 1
        return None
    return text if text.strip() else None


def _header(line: str, where: str) -> list[str]:
    """The columns of a table; none for JSON lines."""
    if line.lstrip().startswith("{"):
        return []
    columns = line.split("\t")
    if len(columns) < 2:
        raise ValueError(f"{where}: neither a JSON object {{...}} nor a tab separated header; give the released file")
    return columns


def _table_row(line: str, header: list[str], dropped: Counter[str]) -> dict[str, str] | None:
    fields = line.split("\t")  # these tables are written without quoting
    if len(fields) != len(header):
        dropped["line: wrong number of columns"] += 1
        return None
    return dict(zip(header, fields, strict=True))


def _json_object(line: str, dropped: Counter[str]) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        dropped["line: not a JSON object"] += 1
        return None
    return record


def _open_members(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, BinaryIO]]:
    """(name, open file) of the file, or of every wanted file in it where it is an archive, which is streamed."""
    name = path.name.lower()
    if name.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            for member in filter(wanted, archive.namelist()):
                with archive.open(member) as file:
                    yield member, _decompressed(member, file)
    elif name.endswith(ARCHIVES):
        with tarfile.open(path, "r|*") as archive:
            for member in archive:
                if member.isfile() and wanted(member.name):
                    yield member.name, _decompressed(member.name, archive.extractfile(member))
    else:
        with fsspec.open(str(path), "rb", compression="infer") as file:
            yield path.name, file


def _decompressed(name: str, file: BinaryIO) -> BinaryIO:
    return gzip.open(file) if name.lower().endswith(".gz") else file


@contextmanager
def _unpacking(path: Path) -> Iterator[None]:
    with readable(path):
        try:
            yield
        except (tarfile.TarError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path} is no readable archive ({error}); download it again") from error
