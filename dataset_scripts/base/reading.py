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
from typing import Any, BinaryIO, TextIO

import fsspec

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
        """The whole content.

        Raises:
            ValueError: If it is cut off or damaged.
        """
        try:
            return self.stream.read()
        except _BROKEN as error:
            raise _damaged(self.path, error, self.number) from error

    def text(self) -> str:
        """The whole content as text.

        Raises:
            ValueError: If it is cut off or damaged, or not in UTF-8 (a UnicodeDecodeError).
        """
        return self.read().decode("utf-8-sig")

    def json(self, kind: type[list] | type[dict]) -> Any:
        """The whole content as JSON, of which the top level has to be a list or an object.

        Raises:
            ValueError: If it is not, with the line and column.
        """
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

        Raises:
            ValueError: If the file is cut off or damaged.
        """
        number = 0
        try:
            for number, line in enumerate(self.stream, start=1):
                for encoding in ("utf-8-sig" if number == 1 else "utf-8", otherwise):
                    try:
                        text = line.decode(encoding) if encoding else None
                        break
                    except UnicodeDecodeError:
                        text = None
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
            ValueError: If a column is missing, or two have one name; or the file is cut off or damaged.
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

        Args:
            dropped: Counts lines that are no JSON object, or have more or fewer fields than the header.

        Raises:
            ValueError: If the file is neither, or cut off or damaged.
        """
        try:
            start = self.stream.peek(1).removeprefix(b"\xef\xbb\xbf").lstrip()
        except _BROKEN as error:
            raise _damaged(self.path, error, self.number, 0) from error
        if start and not start.startswith(b"{"):
            yield from self.table(dropped, delimiter="\t")
            return
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


def read_members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yields (name, content) of the file at `path`, or of every file in it where it is an archive.

    Archives are streamed: nothing is unpacked to disk. Hidden files, such as those that macOS puts into archives,
    are passed over.

    Raises:
        ValueError: If an archive is broken, cut off or encrypted, after the members that could be read.
    """
    try:
        if path.name.lower().endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                for info in archive.infolist():
                    if not info.is_dir() and not Path(info.filename).name.startswith("."):
                        yield info.filename, archive.read(info)
        elif path.name.lower().endswith(ARCHIVES):
            with _open_unpacked(path) as file, tarfile.open(fileobj=file, mode="r|") as archive:
                for member in archive:
                    if member.isfile() and not Path(member.name).name.startswith("."):
                        yield member.name, archive.extractfile(member).read()
        else:
            yield path.name, path.read_bytes()
    except (
        *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile),
        *(lzma.LZMAError, zlib.error, EOFError, RuntimeError),
    ) as error:
        raise ValueError(f"{path.name} is no readable archive ({error}); export or download it again") from error


def unpacked_members(files: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    """Yields (name with its folders and without .gz, unpacked content) of every file, or of every file in an archive.

    Raises:
        ValueError: If an archive or a gzipped file is broken or cut off.
    """
    for file in files:
        packed = file.name.lower().endswith(ARCHIVES)
        for name, content in read_members(file) if packed else [(file.as_posix(), file.read_bytes())]:
            if name.endswith(".gz"):
                with readable(file):
                    content = gzip.decompress(content)
            yield name.removesuffix(".gz"), content


def _open_unpacked(path: Path) -> BinaryIO:
    """Opens an archive as a plain tar: `tarfile` itself takes a compressed stream that is cut off for a whole one."""
    with path.open("rb") as file:
        start = file.read(3)
    openers = {b"\x1f\x8b": gzip.open, b"\xfd7z": lzma.open, b"BZh": bz2.open}
    return next((opener for magic, opener in openers.items() if start.startswith(magic)), open)(path, "rb")


def find_released(folder: Path, names: Collection[str]) -> dict[str, Path]:
    """Name -> the first file of that name below a folder, plain or gzipped. A name that is not there is left out."""
    found: dict[str, Path] = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file() and (name := file.name.removesuffix(".gz")) in names:
            found.setdefault(name, file)
    return found


def find_all_released(folder: Path, names: Collection[str], needs: str) -> list[Path]:
    """The files of these names below a folder, plain or gzipped, in the order of the names.

    Args:
        folder: Where to look.
        names: Names without ".gz".
        needs: What the corpus needs, for the message.

    Raises:
        FileNotFoundError: If one is missing; the message names it.
    """
    found = find_released(folder, names)
    missing = [name for name in names if name not in found]
    if missing:
        raise FileNotFoundError(f"{folder} lacks {', '.join(missing)} (plain or .gz); it needs {needs}")
    return [found[name] for name in names]


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns what a broken or cut off file raises into a ValueError that names the file and the cure."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeError, csv.Error) as error:
        raise ValueError(f"{path} cannot be read ({error}); download it again") from error


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Opens a UTF-8 file, plain or gzipped; line ends stay as they are, as `csv` wants them.

    Raises:
        ValueError: If the file turns out to be broken or cut off, at once or while the caller reads it.
    """
    with (
        readable(path),
        fsspec.open(str(path), "rt", compression="infer", encoding="utf-8-sig", newline="") as file,
    ):
        yield file


def text_lines(path: Path, dropped: Counter[str], otherwise: str | None = None) -> Iterator[str]:
    """Yields the lines of a file, plain or gzipped, without their ends; a line in no known encoding loses itself alone.

    Args:
        path: The file, in UTF-8.
        dropped: Counts the lines that are not.
        otherwise: Encoding in which such lines are read instead, for a file older than UTF-8.

    Raises:
        ValueError: If the file is broken or cut off.
    """
    with readable(path), fsspec.open(str(path), "rb", compression="infer") as file:
        yield from decode_lines(file, dropped, otherwise)


def decode_lines(lines: Iterable[bytes], dropped: Counter[str], otherwise: str | None = None) -> Iterator[str]:
    """Yields lines as text without their ends; see `text_lines`."""
    for number, line in enumerate(lines, start=1):
        for encoding in ("utf-8-sig" if number == 1 else "utf-8", otherwise):
            try:
                text = line.decode(encoding) if encoding else None
                break
            except UnicodeDecodeError:
                text = None
        if text is None:
            dropped["line: not UTF-8"] += 1
        else:
            yield text.rstrip("\r\n")


def load_json(path: Path, kind: type) -> Any:
    """The content of a JSON file, plain or gzipped, of which the top level has to be a `kind` (list or dict).

    Raises:
        ValueError: If it is not; the message names the place.
    """
    with open_text(path) as file:
        try:
            content = json.load(file)
        except json.JSONDecodeError as error:
            where = f"{path}, line {error.lineno}, column {error.colno}"
            raise ValueError(f"{where}: not valid JSON ({error.msg}); download the file again") from error
    if not isinstance(content, kind):
        expected = "a list [...]" if kind is list else "an object {...}"
        raise ValueError(f"{path}, line 1: expected {expected} at the top level; use the released file")
    return content


def whole_rows(lines: csv.DictReader, dropped: Counter[str]) -> Iterator[dict[str, str]]:
    """Yields the rows with as many fields as the header has; others are counted in `dropped`."""
    for row in lines:
        if None in row or None in row.values():  # more fields than columns, or fewer
            dropped["row: wrong number of columns"] += 1
        else:
            yield row
