"""The one reader of raw corpora: files, folders' files and archives in; text, lines, tables and records out.

A row that cannot be used is counted with the place of the first of its kind; a file that is cut off, damaged or not
what it should be ends the build with a message that names it and the cure. Nothing is unpacked to disk.
"""

import bz2
import csv
import gzip
import json
import lzma
import re
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2")
OPENERS = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
BROKEN = (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, OSError, RuntimeError, csv.Error)


class Dropped(Counter[str]):
    """Reason -> number of raw items or rows that were not used; `first`: reason -> where the first is, if told."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.first: dict[str, str] = {}
        super().__init__(*args, **kwargs)

    def skip(self, reason: str, where: str) -> None:
        """Counts one item, which is at `where`."""
        self[reason] += 1
        self.first.setdefault(reason, where)

    @contextmanager
    def malformed(self, reason: str, where: str) -> Iterator[None]:
        """Counts one item, which is at `where`, if its fields are missing or of another kind."""
        try:
            yield
        except (ValueError, LookupError, TypeError, AttributeError):
            self.skip(reason, where)

    def refuse(self, where: str, faults: Mapping[str, bool]) -> bool:
        """Counts one item, which is at `where`, under the first fault that it has; whether it has any."""
        reason = next((reason for reason, present in faults.items() if present), None)
        if reason:
            self.skip(reason, where)
        return reason is not None


@contextmanager
def readable(path: Path, after: Callable[[], str] = str) -> Iterator[None]:
    """Turns what a damaged file raises into a ValueError with the cure; `after` says how much of it was read."""
    try:
        yield
    except BROKEN as error:
        if isinstance(error, OSError) and error.errno:  # of the disk, not of the content
            raise
        read, reason = after() and f" after {after()}", str(error).partition("\n")[0].rstrip(":")
        raise ValueError(
            f"{path} is cut off, damaged or encrypted{read} ({reason}), and nothing of it is used; export or download "
            "it again"
        ) from error


@dataclass(frozen=True)
class Member:
    """A file by itself or in an archive, unpacked; to be read before the next one is asked for."""

    path: Path  # the file, or the archive that holds it
    name: str  # its path, in the archive where it is in one; without the ending of a compression
    stream: BinaryIO  # its content
    number: int = 0  # how many files of the archive come before it

    def place(self, line: int | None = None) -> str:
        """Where this is, without local folders: `archive.zip:folder/name, line 3`."""
        inside = f":{self.name}" if _is_archive(self.path) else ""
        return f"{self.path.name}{inside}" + (f", line {line:,}" if line else "")

    def text(self, dropped: Dropped) -> str | None:
        """The whole content as text; None if it is not in UTF-8, which is counted."""
        try:
            return self._content()
        except UnicodeDecodeError:
            dropped.skip("file: not UTF-8 text", self.place())
            return None

    def json(self, kind: type[list] | type[dict]) -> Any:
        """The whole content as JSON, a list or an object at its top level; a ValueError says where it is not."""
        try:
            content = json.loads(self._content())
        except json.JSONDecodeError as error:
            problem = f"column {error.colno}: not valid JSON ({error.msg}); download the file again"
            raise ValueError(f"{self._full(error.lineno)}, {problem}") from error
        except UnicodeDecodeError as error:
            raise ValueError(f"{self._full()} is not in UTF-8 ({error}); download it again") from error
        if isinstance(content, kind):
            return content
        expected = "a list [...]" if kind is list else "an object {...}"
        raise ValueError(f"{self._full(1)}: expected {expected} at the top level; use the released file")

    def lines(self, dropped: Dropped, otherwise: str | None = None) -> Iterator[tuple[int, str]]:
        """Yields (number from 1, line); a line that is not in UTF-8, nor in the encoding `otherwise`, is counted."""
        number = 0
        with self._readable(lambda: number):
            for number, line in enumerate(self.stream, start=1):
                line = line.rstrip(b"\r\n")
                try:
                    yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError:
                    try:
                        yield number, line.decode(otherwise or "utf-8")
                    except UnicodeDecodeError:
                        dropped.skip("line: not UTF-8", self.place(number))

    def table(
        self,
        dropped: Dropped,
        columns: Collection[str] = (),
        delimiter: str = ",",
        header: Sequence[str] = (),
        comment: str | None = None,
    ) -> Iterator[tuple[int, dict[str, str]]]:
        """Yields (line, row by column); rows with more or fewer fields than the header are counted.

        Quotes have a meaning in tables with commas alone. A missing one of `columns`, or two of one name, raise
        ValueError. `header` names them where the first line does not; lines that begin with `comment` are passed over.
        """
        number = 0

        def lines() -> Iterator[str]:
            nonlocal number
            for at, line in self.lines(dropped):
                number = at
                if not comment or not line.startswith(comment):
                    yield f"{line}\n"

        rows = csv.reader(lines()) if delimiter == "," else (line[:-1].split(delimiter) for line in lines())
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
            raise ValueError(f"{self._full(number)}: {error}; download the file again") from error

    def records(self, dropped: Dropped) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yields `objects`, or the rows of a tab separated `table`, whichever the file is."""
        with self._readable(lambda: 0):
            start = self.stream.peek(1).removeprefix(b"\xef\xbb\xbf").lstrip()
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

    def _content(self) -> str:
        with self._readable():
            return self.stream.read().decode("utf-8-sig")

    def _check(self, header: Sequence[str], columns: Collection[str], number: int) -> None:
        """Refuses a header that lacks columns, or has two of one name."""
        if twice := [name for name, count in Counter(header).items() if name and count > 1]:
            problem = f"two columns are named {twice[0]!r}; rename or remove one of them"
        elif len(header) < 2:
            problem = "neither a JSON object {...} nor the header of a table; give the released file"
        elif missing := [name for name in columns if name not in header]:
            problem = f"no column {', '.join(missing)}; found {', '.join(header[:12])}; give the released file"
        else:
            return
        raise ValueError(f"{self._full(number)}: {problem}")

    def _full(self, line: int | None = None) -> str:
        return str(self.path.parent / self.place(line))

    def _readable(self, lines: Callable[[], int] | None = None) -> Any:
        if _is_archive(self.path):
            return readable(self.path, lambda: f"{self.number:,} files")
        return readable(self.path, lambda: f"{lines():,} lines" if lines else "")


def members(files: Iterable[Path], wanted: Callable[[str], bool] = lambda name: True) -> Iterator[Member]:
    """Yields every file, or every file in it that is `wanted` by its name where it is an archive, hidden ones left out.

    Files are plain, compressed (.gz, .xz, .bz2; also within an archive) or `ARCHIVES`. One that is cut off, damaged or
    encrypted raises ValueError, which says after how many files.
    """
    for path in files:
        if not _is_archive(path):
            member = read_file(path)
            with member.stream:
                yield member
            continue
        number = 0
        with readable(path, lambda: f"{number:,} files"), closing(archive_entries(path)) as entries:  # noqa: B023
            for _, _, packed, opened in entries:
                name, opener = _unpacked(packed)
                if name and not Path(name).name.startswith(".") and wanted(name):
                    with opened() as stream:
                        yield Member(path, name, stream if opener is open else opener(stream), number)
                    number += 1


def read_file(path: Path) -> Member:
    """A file that is no archive; see `Member`."""
    name, opener = _unpacked(path.as_posix())
    return Member(path, name, opener(path, "rb"))


def find_release(path: Path, releases: Sequence[Sequence[str]], needs: str) -> list[Path]:
    """The files of the first release of which all are there, plain or gzipped, in the order of its names.

    They are searched in a folder and those in it, for a file in the folder that it is in. Where no release is complete
    FileNotFoundError says what the corpus `needs`.
    """
    folder = path if path.is_dir() else path.parent
    files = {file.name.removesuffix(".gz"): file for file in sorted(folder.rglob("*"), reverse=True) if file.is_file()}
    for names in releases:
        if files.keys() >= set(names):
            return [files[name] for name in names]
    missing = [", ".join(name for name in names if name not in files) for names in releases]
    raise FileNotFoundError(f"{folder} lacks {'; or '.join(missing)} (plain or .gz); it needs {needs}")


def named(*endings: str, packed: bool = True) -> re.Pattern[str]:
    """What matches names, or all with an ending (".csv"), plain or .gz; and archives, where files may be `packed`."""
    files = [f"{'.*' * ending.startswith('.')}{re.escape(ending)}(\\.gz)?" for ending in endings]
    return re.compile("|".join([*files, *(f".*{re.escape(ending)}" for ending in ARCHIVES * packed)]), re.IGNORECASE)


def unquote(field: str) -> str:
    """A field of a tab separated table without the quotes that it may stand in, where those within are doubled."""
    return field[1:-1].replace('""', '"') if len(field) > 1 and field[0] == field[-1] == '"' else field


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
    return (name[: -len(suffix)], OPENERS[suffix]) if suffix in OPENERS else (name, open)


def archive_entries(path: Path, start: int = 0) -> Iterator[tuple[int, int, str, Callable[[], BinaryIO]]]:
    """Yields place, packed size and name of each file in an archive, and what opens it, from a place on.

    A place is a number in a zip file and a byte in a tar file. What is no file has an empty name. A tar file whose end
    is missing raises an error behind the last file.
    """
    if path.name.lower().endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            for number, info in enumerate(archive.infolist()[start:], start):
                yield number, info.compress_size, "" if info.is_dir() else info.filename, partial(archive.open, info)
        return
    with path.open("rb") as file:
        file.seek(start)
        with tarfile.open(fileobj=file, mode="r:*") as archive:
            for member in archive:
                name = member.name if member.isfile() else ""
                yield member.offset, member.size, name, partial(archive.extractfile, member)
            # `tarfile` takes what is cut off at the border of two files, or behind the last one, for whole
            archive.fileobj.seek(archive.offset)
            end = archive.fileobj.read(tarfile.BLOCKSIZE)
            size = len(end)
            while rest := archive.fileobj.read(1 << 20):
                size += len(rest)
            if end != bytes(tarfile.BLOCKSIZE) or size % tarfile.BLOCKSIZE:
                raise tarfile.ReadError("the end is missing")
