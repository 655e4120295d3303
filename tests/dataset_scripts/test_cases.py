"""Corpora whose rules a few raw files show: what such files give, row by row, and why others are left out.

A case is an item of `cases/CORPUS.yaml`:

- `files`, name -> content: a name ending in .gz, .xz or .bz2 is compressed, content by name makes an archive; `latin-1`
  has those that are not in UTF-8;
- `builds`: of each the `config` and `options`, and what comes out: the `rows` of each split, or their number, what is
  `dropped`, and the `facts`;
- `tested`: a text that is in a set that models are tested on.
"""

from pathlib import Path

import pytest
import yaml

from dataset_scripts.base.metadata import get_corpus
from dataset_scripts.base.quality import TestSetGuard

CASES = {
    f"{path.stem}-{number}": (path.stem, case)
    for path in sorted((Path(__file__).parent / "cases").glob("*.yaml"))
    for number, case in enumerate(yaml.safe_load(path.read_text(encoding="utf-8")), start=1)
}


@pytest.mark.parametrize("name", CASES)
def test_raw_files_and_their_rows(name, build, write, monkeypatch):
    corpus, case = CASES[name]
    if text := case.get("tested"):
        digests = f"corpus\tsha1\n{corpus}\t{TestSetGuard.digest(text)}\n"
        monkeypatch.setattr(TestSetGuard, "PATH", write("tested", {"texts.tsv": digests}) / "texts.tsv")
    files = dict(case.get("files", {}))
    for archive in [file for file, content in files.items() if isinstance(content, dict)]:
        write(f"raw/{archive}", files.pop(archive))
    latin = {file: content.encode("latin-1") for file, content in case.get("latin-1", {}).items()}
    raw = write("raw", files | latin)
    for expected in case["builds"]:
        data, dropped = build(get_corpus(corpus), raw, expected.get("config"), **expected.get("options", {}))
        for split, rows in expected["rows"].items():
            if isinstance(rows, int):
                assert len(data[split]) == rows
            else:
                found = [
                    [round(each, 4) if isinstance(each, float) else each for each in row.values()]
                    for row in data[split]
                ]
                assert found == rows
        assert data.keys() == expected["rows"].keys()
        assert (dropped, build.facts) == (expected.get("dropped", {}), expected.get("facts", {}))
