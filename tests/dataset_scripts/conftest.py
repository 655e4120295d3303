"""What the tests of corpora share: a builder run on raw files, and raw files written in a line."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from dataset_scripts.commands import app


@pytest.fixture
def build(tmp_path_factory) -> Callable[..., tuple[Any, dict[str, int]]]:
    """A function from a corpus, raw data, configuration and options to (data set by split, counts of what was dropped).

    What else the build counted is in the attribute `facts` of the function.
    """

    def run(corpus: type, data: Path, config: str | None = None, **options: Any) -> tuple[Any, dict[str, int]]:
        builder = corpus.open(data, config, cache_dir=tmp_path_factory.mktemp("cache"), **options)
        builder.download_and_prepare()
        run.facts = dict(builder.facts)
        return builder.as_dataset(), dict(builder.dropped)

    return run


@pytest.fixture
def write(tmp_path) -> Callable[..., Path]:
    """A function that writes files, or packs them: `write("raw", {"a.txt.gz": "text"})`, `write("raw.zip", {...})`.

    A name that ends in .gz, .xz or .bz2 says how its content is to be compressed. Returns the folder or archive, which
    lies in the test's temporary folder.
    """

    def compressed(name: str, content: str | bytes) -> bytes:
        content = content.encode() if isinstance(content, str) else content
        packers = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}
        return packers.get(Path(name).suffix, bytes)(content)

    def run(target: str, files: Mapping[str, str | bytes]) -> Path:
        path = tmp_path / target
        path.parent.mkdir(parents=True, exist_ok=True)
        contents = {name: compressed(name, content) for name, content in files.items()}
        if target.endswith(".zip"):
            with zipfile.ZipFile(path, "w") as archive:
                for name, content in contents.items():
                    archive.writestr(name, content)
        elif ".tar" in target or ".tgz" in target:
            with tarfile.open(path, f"w:{path.suffix[1:].replace('tgz', 'gz').replace('tar', '')}") as archive:
                for name, content in contents.items():
                    info = tarfile.TarInfo(name)
                    info.size = len(content)
                    archive.addfile(info, io.BytesIO(content))
        else:
            path.mkdir(exist_ok=True)
            for name, content in contents.items():
                (path / name).parent.mkdir(parents=True, exist_ok=True)
                (path / name).write_bytes(content)
        return path

    return run


@pytest.fixture
def corpus() -> Callable[..., Result]:
    """A function that runs `opinion corpus` with some words: `corpus("build", "kialo", raw, "-o", out)`."""
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words], prog_name="opinion corpus")
