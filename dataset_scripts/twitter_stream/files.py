"""Files of the tweet stream: found, divided into what one task reads, and read line by line however they are packed."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from dataset_scripts.base.reading import ARCHIVES
from dataset_scripts.twitter_stream.statuses import Row, StatusReader

LINES = (".json", ".jsonl", ".ndjson")
PACKED = ("", ".bz2", ".gz", ".zst", ".xz")
ENDINGS = tuple(f"{kind}{packing}" for kind in LINES for packing in PACKED)
PART_BYTES = 8 << 20  # packed, of an archive's members in one task: some minutes of the stream
PACKING = 4  # of plain files so many times as much
BLOCK = tarfile.BLOCKSIZE
ZSTD_BYTES = 64 << 10
BLOCK_BYTES = 8 << 20
DAMAGED = (
    *(EOFError, OSError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile),
    *(NotImplementedError, RuntimeError),  # a zip file packed in an unknown way, or encrypted
    ValueError,  # one with a name or place that cannot be
)


def is_stream_file(name: str) -> bool:
    """Whether a file name is one of the stream: lines of JSON, packed or not, or an archive of such files."""
    name = name.lower()
    return name.endswith((*ENDINGS, *ARCHIVES)) and not Path(name).name.startswith(".")


def parts(files: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Divides files into parts: one for each, several for a large one that can be entered in the middle.

    That is a plain file, or an archive that is not packed as a whole. What one task reads is held in memory, some 4 kB
    for each tweet, so a file that is packed as a whole should have less than a million.

    Yields:
        `path`, `start` and `stop` (in a plain file bytes, a line being in the part where it begins; in a tar file bytes
        where members begin, in a zip file numbers of members; a `stop` of 0 is the end), `bytes`, and `changed`, when
        the file was, so that another file of its name is noticed.
    """
    for path in files:
        if not os.access(path, os.R_OK):  # before hours of work, not after
            raise PermissionError(f"{path} must not be read by this user; change its permissions or move it away")
        size, changed = path.stat().st_size, path.stat().st_mtime_ns
        name = path.name.lower()
        bounds = [(0, 0, size)]
        if size > PART_BYTES and name.endswith((".tar", ".zip")):
            bounds = list(_bounds(path)) or bounds
        elif name.endswith(LINES):
            starts = range(0, size, PART_BYTES * PACKING) or [0]
            bounds = [(start, start + PART_BYTES * PACKING, PART_BYTES * PACKING) for start in starts[:-1]]
            bounds.append((starts[-1], 0, size - starts[-1]))
        for start, stop, count in bounds:
            yield {"path": str(path), "start": start, "stop": stop, "bytes": count, "changed": changed}


def read_part(path: str, start: int, stop: int, language: str) -> Iterator[Row]:
    """Yields the rows of a part, see `StatusReader`; what is damaged is counted, and what lies behind it is lost.

    Raises:
        OSError: If the file is not there, or this machine cannot read it.
    """
    reader = StatusReader(language)
    file = Path(path)
    if file.name.lower().endswith(ARCHIVES):
        with _damage(reader, file.name):
            for name, content in _members(file, start, stop):
                with _damage(reader, f"{file.name}: {name}"), _unpacked(content, name) as unpacked:
                    yield from reader.read(_lines(unpacked), f"{file.name}: {name}")
    else:
        with _damage(reader, file.name), file.open("rb") as content, _unpacked(content, file.name) as unpacked:
            if start or stop:
                name = f"{file.name} from byte {start:,} on" if start else file.name
                yield from reader.read(_range(unpacked, start, stop), name)
            else:
                yield from reader.read(_lines(unpacked), file.name)
    yield from reader.counts()


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yields the lines of a stream, unpacked some megabytes at a time; where it is damaged, first those before.

    Unpacking bzip2 needs as much memory as the processor's cache has: in turns with parsing, line by line, it would
    take a third longer.
    """
    rest, error, chunk = b"", None, b"any"
    while chunk and error is None:
        chunks, wanted = [], BLOCK_BYTES
        try:
            while chunk and wanted > 0:
                chunk = stream.read1(wanted)
                chunks.append(chunk)
                wanted -= len(chunk)
        except DAMAGED as damage:
            error = damage
        *lines, rest = b"".join([rest, *chunks]).split(b"\n")
        yield from lines
    if error is not None:
        raise error
    if rest:
        yield rest


@contextmanager
def _damage(reader: StatusReader, place: str) -> Iterator[None]:
    try:
        yield
    except DAMAGED as error:
        if _of_the_system(error):
            raise
        reader.broken("file: cut off or damaged", f"{place} ({error})")


def _of_the_system(error: Exception) -> bool:
    """Whether the system failed, which may read the file another time; a place that cannot be is of a damaged file."""
    return getattr(error, "errno", None) not in (None, errno.EINVAL)


def _range(content: BinaryIO, start: int, stop: int) -> Iterator[bytes]:
    """The lines that begin at a byte from `start` on and before `stop`, where that is not 0."""
    position = content.seek(max(0, start - 1))
    if start:
        position += len(content.readline())
    for line in content:
        if stop and position >= stop:
            return
        yield line
        position += len(line)


def _unpacked(content: BinaryIO, name: str) -> BinaryIO:
    name = name.lower()
    if name.endswith(".bz2"):
        return bz2.open(content)
    if name.endswith(".gz"):
        return gzip.open(content)
    if name.endswith(".xz"):
        return lzma.open(content)
    if name.endswith(".zst"):
        return io.BufferedReader(_Zstandard(content), 1 << 20)
    return content


class _Zstandard(io.RawIOBase):
    """A Zstandard stream of any number of frames; the library's reader takes one that is cut off for a whole one."""

    def __init__(self, content: BinaryIO) -> None:
        import zstandard

        self._content, self._error = content, zstandard.ZstdError
        self._open = zstandard.ZstdDecompressor().decompressobj
        self._frame, self._packed, self._waiting = None, b"", memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._waiting:
            if not (packed := self._packed or self._content.read(ZSTD_BYTES)):
                if self._frame is not None:
                    raise EOFError("it ends within a frame")
                return 0
            self._frame = self._frame or self._open()
            try:
                self._waiting, self._packed = memoryview(self._frame.decompress(packed)), b""
            except self._error as error:
                raise EOFError(str(error)) from error
            if self._frame.eof:
                self._packed, self._frame = self._frame.unused_data, None
        size = min(len(buffer), len(self._waiting))
        buffer[:size], self._waiting = self._waiting[:size], self._waiting[size:]
        return size


def _members(path: Path, start: int, stop: int) -> Iterator[tuple[str, BinaryIO]]:
    """Yields (name, content) of the members from `start` on to before `stop`, see `parts`."""
    if path.name.lower().endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist()[start : stop or None]:
                if _wanted(info.filename) and not info.is_dir():
                    with archive.open(info) as content:
                        yield info.filename, content
        return
    with path.open("rb") as file:
        file.seek(start)
        with tarfile.open(fileobj=file, mode="r:*") as archive:
            for member in archive:
                if stop and member.offset >= stop:
                    return
                if member.isfile() and _wanted(member.name):
                    yield member.name, archive.extractfile(member)
            archive.fileobj.seek(archive.offset)
            if archive.fileobj.read(BLOCK) != bytes(BLOCK):  # what `tarfile` itself takes for the end
                raise tarfile.ReadError("the end is missing")


def _wanted(name: str) -> bool:
    return name.lower().endswith(ENDINGS) and not Path(name).name.startswith(".")


def _places(path: Path) -> Iterator[tuple[int, int]]:
    """Where an archive's members begin, and their packed sizes; up to what is damaged, which is counted by a reader."""
    try:
        if path.name.lower().endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                yield from enumerate(info.compress_size for info in archive.infolist())
        else:
            with tarfile.open(path, "r:") as archive:
                yield from ((member.offset, member.size) for member in archive)
    except DAMAGED as error:
        if _of_the_system(error):
            raise


def _bounds(path: Path) -> Iterator[tuple[int, int, int]]:
    """(start, stop, bytes) of successive members that are about PART_BYTES together."""
    start = total = 0
    for place, size in _places(path):
        if total >= PART_BYTES:
            yield start, place, total
            start, total = place, 0
        total += size
    if total or start:
        yield start, 0, total
