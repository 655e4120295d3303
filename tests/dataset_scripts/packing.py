"""Raw files packed as their names say, and archives of them."""

import bz2
import csv
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

PACKERS = {
    ".bz2": bz2.compress,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
}


def json_lines(records: Iterable[Any]) -> str:
    """JSON lines; what is a text already stays as it is."""
    return "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in records)


def csv_table(rows: Iterable[Sequence[Any]]) -> str:
    """Rows of a table, the first one its header, as CSV."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def pack(name: str, content: str | bytes) -> bytes:
    """The content of a file of this name."""
    content = content.encode() if isinstance(content, str) else content
    return PACKERS.get(Path(name).suffix, bytes)(content)


def archive(path: Path, members: Mapping[str, bytes]) -> Path:
    """Writes an archive, of the kind that its name says."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as file:
            for name, content in members.items():
                file.writestr(name, content)
        return path
    packing = {".tar": "", ".tgz": "gz"}.get(path.suffix, path.suffix[1:])
    with tarfile.open(path, f"w:{packing}") as file:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    return path
