"""Atomic writes, so that a file or folder is there whole or not at all; and JSON."""

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def read_json(path: Path) -> Any:
    """Reads JSON; None if there is no such file.

    Raises:
        ValueError: If the file is damaged.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except ValueError as error:  # of the letters or of the brackets
        raise ValueError(f"{path}: damaged, it is no JSON ({error}): delete it, or put back a whole copy") from error


def write_json(path: Path, value: Any) -> None:
    """Writes JSON, see `atomic_file`."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Writes text, see `atomic_file`."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yields a temporary name beside `path`, which takes its place if the block ends without an error."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with space(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            yield temporary
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yields an empty temporary folder, which takes the place of `path` if the block ends without an error."""
    temporary, old = (path.with_name(f".{path.name}.{os.getpid()}.{end}") for end in ("tmp", "old"))
    _recover(path)
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        with space(path.parent):
            temporary.mkdir(parents=True)
            yield temporary
            if path.exists():  # moved aside, not deleted first: deleting takes long enough to be killed in
                path.replace(old)
            temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        _recover(path)


def _recover(path: Path) -> None:
    """Puts back what a process stopped between its two renames moved aside; removes it if `path` exists."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.\d+\.old")
    aside = [entry for entry in path.parent.glob(".*.old") if pattern.fullmatch(entry.name)]
    for old in sorted(aside, key=lambda entry: entry.stat().st_ctime_ns, reverse=True):  # the last one moved first
        shutil.rmtree(old, ignore_errors=True) if path.exists() else old.replace(path)


@contextmanager
def space(folder: Path) -> Iterator[None]:
    """Names the folder where the disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise OSError(f"no space left on the disk of {folder}: free some, and run the same command again") from error
