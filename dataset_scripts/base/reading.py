"""What every builder reads with: archives, released files, text, JSON, tables and scores; a broken file is named."""

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
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import fsspec

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2")


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


def parse_score(text: str, lowest: float, highest: float) -> float | None:
    """The number that a text is; None if it is none or not between the bounds."""
    try:
        score = float(text)
    except ValueError:
        return None
    return score if lowest <= score <= highest else None
