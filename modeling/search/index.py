"""A collection of texts embedded once, on disk, and asked any number of statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from modeling.search.collection import clean
from modeling.search.stored_texts import ROWS, VECTORS, StoredTexts

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow

    from modeling.search.axis import Axis

MATCHES = ["statement", "rank", "similarity", "text", "rows", "groups", "id", "row"]
BLOCK = 65536  # vectors that are multiplied at once: 100 MB of MiniLM's, whatever the size of the index


class Index(StoredTexts):
    """Texts, their groups, and one vector for every distinct text. Made by `Index.build` or `Index.open`.

    Examples:
        >>> index = Index.open("tweets")
        >>> index.ask("Trams should be free.", top=2)[["similarity", "text"]]
        >>> index.align([("Trams should be free.", "GREEN")], thresholds=[0.5, 0.6])
        >>> index.axis(["I support free trams."], ["I oppose free trams."]).groups
    """

    @classmethod
    def build(cls, source: str | Path, out: str | Path, **options: Any) -> Index:
        """Embeds a source of texts; see `modeling.search.index_build.build_index` for the options."""
        from modeling.search.index_build import build_index

        build_index(source, out, **options)
        return cls.open(out, options.get("model"))

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The kept rows without their texts: `row`, `id`, `group` (a category; missing where unknown), `vector`."""
        import pandas as pd

        frame = pd.read_parquet(self.folder / ROWS, columns=["row", "id", "group", "vector"])
        return frame.astype({"group": "category"})

    @cached_property
    def texts(self) -> pyarrow.ChunkedArray:
        """The distinct texts, in the order of the vectors; m strings."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pq.read_table(self.folder / ROWS, columns=["text", "vector"])
        _, first = np.unique(table["vector"].to_numpy(), return_index=True)
        return table["text"].cast(pa.large_string()).take(first)

    @cached_property
    def groups(self) -> dict[str, int]:
        """Group -> rows, the largest first, groups of one size by name."""
        sizes = self.rows["group"].value_counts().to_dict()
        return dict(sorted(sizes.items(), key=lambda item: (-item[1], item[0])))

    def require_groups(self) -> dict[str, int]:
        """Group -> rows.

        Raises:
            ValueError: If there are none; the message names the cure.
        """
        if not self.groups:
            raise ValueError(f"{self.folder} has no groups: embed the source again with --group COLUMN")
        return self.groups

    def encode(self, statements: str | Sequence[str]) -> np.ndarray:
        """Unit vectors of statements, cleaned like the texts; shape (n, dimension).

        Raises:
            ValueError: If there is none, or an empty one.
        """
        cleaned = [clean(statement)[0] for statement in as_list(statements)]
        if not cleaned or not all(cleaned):
            raise ValueError("a statement is empty: give each as a sentence in quotes")
        return self.model.encode(cleaned, normalize_embeddings=True, show_progress_bar=False)

    def similarities(self, statements: str | Sequence[str]) -> np.ndarray:
        """Cosines of statements with all distinct texts; shape (statements, m), float32, in [-1, 1]."""
        return self.dots(self.encode(statements))

    def dots(self, queries: np.ndarray) -> np.ndarray:
        """Dot products of query vectors with all texts' by blocks of the memory map; shape (queries, m), in [-1, 1]."""
        dots = np.empty((len(queries), len(self.vectors)), np.float32)
        for start in range(0, len(self.vectors), BLOCK):
            dots[:, start : start + BLOCK] = queries @ self.vectors[start : start + BLOCK].T
        return np.clip(dots, -1.0, 1.0, out=dots)

    def ask(self, statements: str | Sequence[str], top: int = 10, threshold: float | None = None) -> pd.DataFrame:
        """The texts most similar to each statement, by exact search.

        Args:
            statements: One or several.
            top: Texts per statement at most.
            threshold: Lowest cosine of a match, in [-1, 1]; none if None.

        Returns:
            `statement`, `rank` (from 1), `similarity`, `text`, `rows` (how many carry the text), `groups` (theirs, such
            as "D 3, R 1"), and `id` and `row` of the first of them.

        Raises:
            ValueError: If an option is out of range or a statement empty.
        """
        import pandas as pd
        import torch
        from sentence_transformers import util

        if top < 1:
            raise ValueError(f"--top must be 1 or more, got {top}")
        if threshold is not None and not -1 <= threshold <= 1:
            raise ValueError(f"--threshold must be a cosine in [-1, 1], got {threshold}")
        statements = as_list(statements)
        # mapped copy-on-write, which torch can hold; nothing is ever written
        vectors = torch.from_numpy(np.load(self.folder / VECTORS, mmap_mode="c")[: self.shape[0]])
        found = util.semantic_search(
            torch.from_numpy(self.encode(statements)), vectors, corpus_chunk_size=BLOCK, top_k=top,
            score_function=util.dot_score,
        )  # fmt: skip
        hits = pd.DataFrame(
            [(statement, rank, min(hit["score"], 1.0), hit["corpus_id"])
             for statement, ranking in zip(statements, found, strict=True) for rank, hit in enumerate(ranking, start=1)
             if threshold is None or hit["score"] >= threshold],
            columns=["statement", "rank", "similarity", "vector"],
        )  # fmt: skip
        if hits.empty:
            return pd.DataFrame(columns=MATCHES)
        return hits.assign(text=self.texts.take(hits["vector"].to_numpy(np.int64)).to_pylist()).merge(
            self._carriers(hits["vector"].unique()), on="vector", how="left"
        )[MATCHES]

    def _carriers(self, vectors: np.ndarray) -> pd.DataFrame:
        """How many rows carry each of these texts, of which groups, and the first of them."""
        rows = self.rows[self.rows["vector"].isin(vectors)]
        counts = rows.groupby(["vector", "group"], observed=True).size().sort_values(ascending=False)
        labels: dict[int, list[str]] = {}
        for (vector, group), count in counts.items():
            labels.setdefault(vector, []).append(f"{group} {count:,}")
        first = rows.drop_duplicates("vector").set_index("vector")[["id", "row"]]
        groups = [", ".join(labels.get(vector, [])) for vector in first.index]
        return first.assign(rows=rows.groupby("vector").size(), groups=groups).reset_index()

    def align(
        self, queries: Iterable[tuple[str, str]], thresholds: Iterable[float] = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    ) -> pd.DataFrame:
        """Whose texts statements find; see `modeling.search.alignment.alignment_table`."""
        from modeling.search.alignment import alignment_table

        return alignment_table(self, list(queries), list(thresholds))

    def axis(
        self, positive: str | Sequence[str], negative: str | Sequence[str], min_similarity: float | None = None
    ) -> Axis:
        """Where texts lie between two opposite statements; see `modeling.search.axis.score_axis`."""
        from modeling.search.axis import score_axis

        return score_axis(self, as_list(positive), as_list(negative), min_similarity)


def as_list(statements: str | Sequence[str]) -> list[str]:
    """One statement or several as a list."""
    return [statements] if isinstance(statements, str) else list(statements)
