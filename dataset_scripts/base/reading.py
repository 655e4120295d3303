"""The one reader of raw corpora: files, folders' files and archives in; text, lines, tables and records out.

    for member in members(files, lambda name: name.endswith(".jsonl")):
        for number, record in member.records(dropped):
            ...

A row that cannot be used is counted with the place of the first of its kind; a file that is cut off, damaged or not
what it should be ends the build with a message that names it and the cure. Nothing is unpacked to disk.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2")
_OPENERS = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
_MAGIC = {b"\x1f\x8b": gzip.open, b"\xfd7z": lzma.open, b"BZh": bz2.open}
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, OSError, RuntimeError)


class Dropped(Counter[str]):
    """Reason -> number of raw items or rows that were not used.

    Attributes:
        first: Reason -> where the first of them is, as far as it was told.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.first: dict[str, str] = {}
        super().__init__(*args, **kwargs)

    def clear(self) -> None:
        super().clear()
        self.first.clear()

    def skip(self, reason: str, where: str) -> None:
        """Counts one item, which is at `where`."""
        self[reason] += 1
        self.first.setdefault(reason, where)


@dataclass(frozen=True)
class Member:
    """A file by itself or in an archive, unpacked; to be read before the next one is asked for.

    Whatever reads it raises a ValueError that names the file and the cure where it is cut off or damaged.

    Attributes:
        path: The file, or the archive that holds it.
        name: Its path, in the archive where it is in one; without the ending of a compression.
        stream: Its content.
        number: How many files of the archive come before it.
    """

    path: Path
    name: str
    stream: BinaryIO
    number: int = 0

    def place(self, line: int | None = None) -> str:
        """Where this is, without local folders: `archive.zip:folder/name, line 3`."""
        inside = f":{self.name}" if _is_archive(self.path) else ""
        return f"{self.path.name}{inside}" + (f", line {line:,}" if line else "")

    def read(self) -> bytes:
        """The whole content."""
        try:
            return self.stream.read()
        except _BROKEN as error:
            raise _damaged(self.path, error, self.number) from error

    def text(self) -> str:
        """The whole content as text; raises a UnicodeDecodeError if it is not in UTF-8."""
        return self.read().decode("utf-8-sig")

    def json(self, kind: type[list] | type[dict]) -> Any:
        """The whole content as JSON, a list or an object at its top level; a ValueError says where it is not."""
        try:
            content = json.loads(self.text())
        except json.JSONDecodeError as error:
            where = f"{self._full()}, line {error.lineno}, column {error.colno}"
            raise ValueError(f"{where}: not valid JSON ({error.msg}); download the file again") from error
        except UnicodeDecodeError as error:
            raise ValueError(f"{self._full()} is not in UTF-8 ({error}); download it again") from error
        if not isinstance(content, kind):
            expected = "a list [...]" if kind is list else "an object {...}"
            raise ValueError(f"{self._full()}, line 1: expected {expected} at the top level; use the released file")
        return content

    def lines(
        self, dropped: Dropped, otherwise: str | None = None, keep_ends: bool = False
    ) -> Iterator[tuple[int, str]]:
        """Yields (number from 1, line); a line in no known encoding is counted and loses itself alone.

        Args:
            dropped: Counts the lines that are not in UTF-8.
            otherwise: Encoding in which such lines are read instead, for a file older than UTF-8.
            keep_ends: Whether lines keep their ends.
        """
        number = 0
        try:
            for number, line in enumerate(self.stream, start=1):
                text = _decoded(line, "utf-8-sig" if number == 1 else "utf-8")
                if text is None and otherwise:
                    text = _decoded(line, otherwise)
                if text is None:
                    dropped.skip("line: not UTF-8", self.place(number))
                else:
                    yield number, text if keep_ends else text.rstrip("\r\n")
        except _BROKEN as error:
            raise _damaged(self.path, error, self.number, number) from error

    def table(
        self,
        dropped: Dropped,
        columns: Collection[str] = (),
        delimiter: str = ",",
        header: Sequence[str] = (),
        comment: str | None = None,
    ) -> Iterator[tuple[int, dict[str, str]]]:
        """Yields (line, row by column); rows with more or fewer fields than the header are counted.

        Args:
            dropped: Counts rows.
            columns: Those that there must be.
            delimiter: Of fields; quotes have a meaning in tables with commas alone.
            header: The columns, where the first line does not name them.
            comment: Beginning of lines that are passed over.

        Raises:
            ValueError: If a column is missing, or two have one name.
        """
        number, header = 0, list(header)

        def lines() -> Iterator[str]:
            nonlocal number
            for at, line in self.lines(dropped, keep_ends=delimiter == ","):
                number = at
                if not comment or not line.startswith(comment):
                    yield line

        rows = csv.reader(lines()) if delimiter == "," else (line.split(delimiter) for line in lines())
        try:
            for fields in rows:
                if len(fields) < 2 and not "".join(fields).strip():
                    continue
                if not header:
                    header = fields
                    self._check(header, columns, number)
                elif len(fields) != len(header):
                    dropped.skip("row: wrong number of columns", self.place(number))
                else:
                    yield number, dict(zip(header, fields, strict=True))
        except csv.Error as error:
            raise ValueError(f"{self._full()}, line {number}: {error}; download the file again") from error

    def records(self, dropped: Dropped) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yields (line, record) of JSON lines, or of a tab separated table with a header, whichever the file is.

        Lines that are no JSON object, or have more or fewer fields than the header, are counted.
        """
        try:
            start = self.stream.peek(1).removeprefix(b"\xef\xbb\xbf").lstrip()
        except _BROKEN as error:
            raise _damaged(self.path, error, self.number, 0) from error
        if start and not start.startswith(b"{"):
            yield from self.table(dropped, delimiter="\t")
        else:
            yield from self.objects(dropped)

    def objects(self, dropped: Dropped) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yields (line, record) of JSON lines; those that are no JSON object are counted."""
        for number, line in self.lines(dropped):
            if line.strip():
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    record = None
                if isinstance(record, dict):
                    yield number, record
                else:
                    dropped.skip("line: not a JSON object", self.place(number))

    def _check(self, header: list[str], columns: Collection[str], number: int) -> None:
        where = f"{self._full()}, line {number}"
        if twice := [name for name, count in Counter(header).items() if name and count > 1]:
            raise ValueError(f"{where}: two columns are named {twice[0]!r}; rename or remove one of them")
        if len(header) < 2:
            raise ValueError(
                f"{where}: neither a JSON object {{...}} nor the header of a table; give the released file"
            )
        if missing := [name for name in columns if name not in header]:
            raise ValueError(
                f"{where}: no column {', '.join(missing)}; found {', '.join(header[:12])}; give the released file"
            )

    def _full(self) -> str:
        return str(self.path.parent / self.place())


def members(files: Path | Iterable[Path], wanted: Callable[[str], bool] | None = None) -> Iterator[Member]:
    """Yields every file, or every file in it where it is an archive, hidden files left out.

    Args:
        files: Plain, compressed (.gz, .xz, .bz2; also within an archive) or archives (`ARCHIVES`).
        wanted: Whether a file in an archive is to be read, by its name in it; all if None.

    Raises:
        ValueError: If an archive is cut off, damaged or encrypted; the message says after how many files.
    """
    for path in [files] if isinstance(files, Path) else files:
        if not _is_archive(path):
            member = read_file(path)
            with member.stream:
                yield member
            continue
        number = 0
        try:
            with closing(_open_members(path)) as archived:
                for full, stream in archived:
                    name, opener = _unpacked(full)
                    if not Path(name).name.startswith(".") and (wanted is None or wanted(name)):
                        yield Member(path, name, stream if opener is open else opener(stream), number)
                        number += 1
        except _BROKEN as error:
            raise _damaged(path, error, number) from error


def read_file(path: Path) -> Member:
    """A file that is no archive; see `Member`."""
    name, opener = _unpacked(path.as_posix())
    return Member(path, name, opener(path, "rb"))


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns what a damaged file raises into a ValueError that names it, for who reads `Member.stream` itself."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, UnicodeError, csv.Error) as error:
        raise _damaged(path, error, 0) from error


def find_release(path: Path, releases: Iterable[Sequence[str]], needs: str) -> list[Path]:
    """The files of the first release of which all are there, plain or gzipped, in the order of its names.

    Args:
        path: A folder, which is searched with those in it; of a file, the folder that it is in.
        releases: The names of each release's files, without ".gz".
        needs: What the corpus needs, for the message.

    Raises:
        FileNotFoundError: If none is complete; the message names what is missing.
    """
    folder = path if path.is_dir() else path.parent
    found: dict[str, Path] = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            found.setdefault(file.name.removesuffix(".gz"), file)
    missing = []
    for names in releases:
        if lacking := [name for name in names if name not in found]:
            missing.append(", ".join(lacking))
        else:
            return [found[name] for name in names]
    raise FileNotFoundError(f"{folder} lacks {'; or '.join(missing)} (plain or .gz); it needs {needs}")


def parse_score(text: Any, lowest: float, highest: float) -> float | None:
    """The number that a text is; None if it is none or not between the bounds."""
    try:
        score = float(text)
    except (TypeError, ValueError):
        return None
    return score if lowest <= score <= highest else None


def _decoded(line: bytes, encoding: str) -> str | None:
    try:
        return line.decode(encoding)
    except UnicodeDecodeError:
        return None


def _is_archive(path: Path) -> bool:
    return path.name.lower().endswith(ARCHIVES)


def _unpacked(name: str) -> tuple[str, Callable[..., Any]]:
    """The name without the ending of its compression, and what opens it."""
    suffix = Path(name).suffix.lower()
    return (name[: -len(suffix)], _OPENERS[suffix]) if suffix in _OPENERS else (name, open)


def _open_members(path: Path) -> Iterator[tuple[str, BinaryIO]]:
    """(name, content) of every file in an archive, which is streamed."""
    if path.name.lower().endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    with archive.open(info) as stream:
                        yield info.filename, stream
        return
    with path.open("rb") as file:
        start = file.read(3)
        opener = next((opener for magic, opener in _MAGIC.items() if start.startswith(magic)), open)
        if opener is open:  # of a plain tar, only the empty block at its end tells that it is whole
            file.seek(-min(512, path.stat().st_size), 2)
            if any(file.read()) or path.stat().st_size % 512:
                raise EOFError("it does not end as an archive does")
    # unpacked here: `tarfile` itself takes a compressed stream that is cut off for a whole one
    with opener(path, "rb") as file, tarfile.open(fileobj=file, mode="r|") as archive:
        for member in archive:
            if member.isfile():
                yield member.name, archive.extractfile(member)
        while file.read(1 << 20):  # what is cut off behind the last file, or does not fit its checksum
            pass


def _damaged(path: Path, error: Exception, files: int, lines: int | None = None) -> Exception:
    if isinstance(error, OSError) and error.errno:  # of the disk, not of the content
        return error
    after = f"{files:,} files" if _is_archive(path) else "" if lines is None else f"{lines:,} lines"
    return ValueError(
        f"{path} is cut off, damaged or encrypted{f' after {after}' if after else ''} ({error}), and nothing of it is "
        "used; export or download it again"
    )
