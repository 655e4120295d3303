"""An index of five texts in the plane, so that cosines can be worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from modeling.search.index import Index

VECTORS_OF = {
    "for": (1, 0),
    "rather for": (0.6, 0.8),
    "against": (0, 1),
    "elsewhere": (-0.6, -0.8),
    "both": (0.8, 0.6),
}
ROWS_OF = [("for", "G"), ("rather for", "G"), ("rather for", "G"), ("against", "B"), ("elsewhere", "B"), ("for", None)]


class Chosen:
    """An encoder whose vectors are `VECTORS_OF`, and that of "for" for other texts; it remembers what it embedded."""

    max_seq_length, prompts, default_prompt_name, device = 8, {}, None, torch.device("cpu")

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def encode(self, texts: list[str], **options: Any) -> np.ndarray:
        return np.array([VECTORS_OF.get(text, (1, 0)) for text in texts], np.float32)

    encode_query = encode

    def encode_document(self, texts: list[str], **options: Any) -> np.ndarray:
        self.embedded += [text for text in texts if text in VECTORS_OF]  # not the sentences that tell models apart
        return self.encode(texts)

    def get_embedding_dimension(self) -> int:
        return 2

    def modules(self) -> list[Any]:
        return []

    def state_dict(self) -> dict[str, Any]:
        return {}

    def __iter__(self) -> Any:
        return iter(())


def table(rows: list[tuple[str, str | None]]) -> pd.DataFrame:
    """Rows of a text and its group."""
    return pd.DataFrame(rows, columns=["text", "party"])


def chosen_index(folder: Path, rows: list[tuple[str, str | None]] | None = None) -> Index:
    """Builds an index of rows, those of `ROWS_OF` if None."""
    return Index.build(table(ROWS_OF if rows is None else rows), folder, group="party", model=Chosen())
