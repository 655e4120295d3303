"""An index of five texts in the plane, so that cosines can be worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dataset_scripts.base.files import write_json
from modeling.search.collection import Collection, choose_columns, collect
from modeling.search.index import Index
from modeling.search.index_build import write_rows
from modeling.search.records import Source
from modeling.search.stored_texts import FACTS, ROWS, VECTORS

VECTORS_OF = {
    "for": (1, 0), "rather for": (0.6, 0.8), "against": (0, 1), "elsewhere": (-0.6, -0.8), "both": (0.8, 0.6),
}  # fmt: skip
ROWS_OF = [
    ("for", "G"), ("rather for", "G"), ("rather for", "G"), ("against", "B"), ("elsewhere", "B"), ("for", None),
]  # fmt: skip


class Chosen:
    """An encoder whose vectors are `VECTORS_OF`."""

    def encode(self, texts: list[str], **options: object) -> np.ndarray:
        return np.array([VECTORS_OF[text] for text in texts], np.float32)


def chosen_index(folder: Path, rows: list[tuple[str, str | None]] | None = None) -> Index:
    """Writes and opens an index of rows, those of `ROWS_OF` if None."""
    rows = ROWS_OF if rows is None else rows
    source = Source("chosen", ["text", "party"], lambda wanted: iter(rows))
    found: Collection = collect(source, choose_columns(source, group="party"), progress=False)
    folder.mkdir(parents=True)
    np.save(folder / VECTORS, Chosen().encode(found.texts))
    write_rows(found.rows, folder / ROWS)
    facts = {"complete": True, "model": "chosen", "dimension": 2, "counts": found.counts.facts()}
    write_json(folder / FACTS, facts)
    index = Index.open(folder)
    index.model = Chosen()
    return index
