"""What the tests of corpora share: a builder run on raw files, and raw files written in a line."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset, DatasetDict
from typer.testing import CliRunner, Result

from dataset_scripts.commands import app
from tests.dataset_scripts.packing import archive, pack


@pytest.fixture
def build(tmp_path_factory) -> Callable[..., tuple[Any, dict[str, int]]]:
    """A function from a corpus, raw data, configuration and options to (data set by split, counts of what was dropped).

    What else the build counted is in the attribute `facts` of the function.
    """

    def run(corpus: type, data: Path, config: str | None = None, **options: Any) -> tuple[Any, dict[str, int]]:
        builder = corpus.open(data, config, cache_dir=tmp_path_factory.mktemp("cache"), **options)
        features, splits = builder.info.features, DatasetDict()
        for split, rows in builder.read_splits().items():
            columns = dict(zip(features, map(list, zip(*rows, strict=True)), strict=True))
            splits[split] = Dataset.from_dict(columns, features=features)
        run.facts = dict(builder.facts)
        return splits, dict(builder.dropped)

    return run


@pytest.fixture
def write(tmp_path) -> Callable[..., Path]:
    """A function that writes files, or packs them: `write("raw", {"a.txt.gz": "text"})`, `write("raw.zip", {...})`.

    A name that ends in .gz, .xz or .bz2 says how its content is to be compressed. Returns the folder or archive.
    """

    def run(target: str, files: Mapping[str, str | bytes]) -> Path:
        path = tmp_path / target
        contents = {name: pack(name, content) for name, content in files.items()}
        if path.suffix:
            path.parent.mkdir(parents=True, exist_ok=True)
            return archive(path, contents)
        path.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)
        return path

    return run


@pytest.fixture(scope="session")
def corpus() -> Callable[..., Result]:
    """A function that runs `opinion corpus` with some words: `corpus("build", "kialo", raw, "-o", out)`."""
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words], prog_name="opinion corpus")
