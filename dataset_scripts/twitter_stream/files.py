"""Files of the tweet stream: found, divided into what one task reads, and read line by line however they are packed."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

import pyarrow as pa
from fsspec.utils import read_block

from dataset_scripts.base.reading import ARCHIVES, BROKEN, OPENERS, Dropped, archive_entries

Item = TypeVar("Item")
LINES = (".json", ".jsonl", ".ndjson")
COMPRESSIONS = ("", ".bz2", ".gz", ".zst", ".xz")
ENDINGS = tuple(f"{kind}{compression}" for kind in LINES for compression in COMPRESSIONS)
PART_BYTES = 8 << 20  # packed, of an archive's members in one task: some minutes of the stream
PACKING = 4  # of plain files so many times as much
CHUNK_BYTES = 64 << 10  # unpacked at once; of Zstandard the last one before a cut is lost
BLOCK_BYTES = 8 << 20


class Part(NamedTuple):
    """What one task reads: a file, or a part of a large one."""

    path: str
    start: int  # of a plain file a byte, of a tar file the first member's, of a zip file its number
    stop: int  # where the next part starts; 0 at the end. A line is in the part where it begins
    bytes: int  # packed
    changed: int  # when the file was, in ns, so that another file of its name is noticed


def parts(files: Iterable[Path]) -> Iterator[Part]:
    """Divides files into parts: one for each, several for a large one that can be entered in the middle.

    That is a plain file, or an archive that is not packed as a whole. What one task reads is held in memory, some 4 kB
    for each tweet, so a file that is packed as a whole should have less than a million.

    A file that cannot be read raises PermissionError, before hours of work and not after.
    """
    for path in files:
        if not os.access(path, os.R_OK):
            raise PermissionError(f"{path} must not be read by this user; change its permissions or move it away")
        size, changed = path.stat().st_size, path.stat().st_mtime_ns
        name, limit, places = path.name.lower(), PART_BYTES, []
        if name.endswith(LINES):
            limit *= PACKING
            places = [(start, min(limit, size - start)) for start in range(0, size, limit)]
        elif name.endswith((".tar", ".zip")) and size > limit:
            with _damage(path.name, Dropped()):  # behind which nothing is found; its reader counts it
                for place, packed, *_ in archive_entries(path):
                    places.append((place, packed))
        groups = list(batches(places, limit, itemgetter(1))) or [[(0, size)]]
        for group, following in zip(groups, [*groups[1:], [(0, 0)]], strict=True):
            yield Part(str(path), group[0][0], following[0][0], sum(count for _, count in group), changed)


def batches(items: Iterable[Item], limit: int, size: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Divides items into lists that follow each other, each of `limit` bytes or somewhat more, the last of fewer."""
    batch, total = [], 0
    for item in items:
        batch.append(item)
        total += size(item)
        if total >= limit:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def read_lines(path: Path, start: int, stop: int, dropped: Dropped) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yields (name, lines) of a part's files; the lines are to be read before the next file is asked for.

    What is damaged is counted, and what lies behind it is lost.
    """
    with _damage(path.name, dropped):
        if path.name.lower().endswith(ARCHIVES):
            for place, _, name, opened in archive_entries(path, start):
                if stop and place >= stop:
                    return
                if name.lower().endswith(ENDINGS) and not Path(name).name.startswith("."):
                    with opened() as content:
                        yield f"{path.name}: {name}", _lines(content, name, f"{path.name}: {name}", dropped)
            return
        place = f"{path.name} from byte {start:,} on" if start else path.name
        with path.open("rb") as content:
            if start or stop:
                content = io.BytesIO(read_block(content, start, stop - start if stop else None, b"\n"))
            yield place, _lines(content, path.name, path.name, dropped)


def _lines(content: BinaryIO, name: str, place: str, dropped: Dropped) -> Iterator[bytes]:
    """Yields the lines of a file, unpacked some megabytes at a time; where it is damaged, those before.

    Unpacking bzip2 needs as much memory as the processor's cache has: in turns with parsing, line by line, it would
    take a third longer.
    """
    stream, rest, chunk, whole = _unpacked(content, name.lower()), b"", b"any", True
    while chunk and whole:
        chunks, size, whole = [rest], 0, False
        with _damage(place, dropped):
            while size < BLOCK_BYTES and (chunk := stream.read1(CHUNK_BYTES)):
                chunks.append(chunk)
                size += len(chunk)
            whole = True
        *lines, rest = b"".join(chunks).split(b"\n")
        yield from lines
    if rest and whole:
        yield rest


def _unpacked(content: BinaryIO, name: str) -> BinaryIO:
    if name.endswith(".zst"):
        return pa.CompressedInputStream(pa.PythonFile(content, mode="r"), "zstd")
    opened = OPENERS.get(Path(name).suffix)
    return opened(content) if opened else content


@contextmanager
def _damage(place: str, dropped: Dropped) -> Iterator[None]:
    """Counts what is damaged; not a failure of the system, which may read the file another time."""
    try:
        yield
    except (*BROKEN, ValueError) as error:  # the last one of a name or place that cannot be
        if getattr(error, "errno", None) not in (None, errno.EINVAL):
            raise
        dropped.skip("file: cut off or damaged", f"{place} ({error})")
