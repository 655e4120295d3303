"""A collection of arguments that is asked for counter-arguments: a shortlist by FAISS, re-ranked by a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dataset_scripts.base.files import read_json, write_json
from modeling.bipolar.counter_models import (
    WithoutHeads,
    asks_differently,
    behaviour,
    document_encoder,
    load_counter_model,
)
from modeling.search import shortlist as nearest
from modeling.search.collection import clean
from modeling.search.stored_texts import FACTS, ROWS, StoredTexts

if TYPE_CHECKING:
    import faiss
    import pandas as pd
    import pyarrow.parquet as pq

    from modeling.bipolar.encoder import BipolarEncoder

FAISS = "counter.faiss"
LOCK = "extension.lock"  # held by whoever replaces files
HITS = ["argument", "rank", "score", "similarity", "text", "rows", "id", "row"]
SAME = 0.999  # cosine from which a text may be the argument itself; the texts are then compared


class CounterIndex(StoredTexts):
    """Arguments that are embedded once and asked for counters. Made by `CounterIndex.build` or `CounterIndex.open`.

    Beside the files of every index, with the encoder's embeddings u as vectors, the folder holds `counter.faiss` with
    the retrieval embeddings E of all texts. It is made of `vectors.npy` and made again from there if it is damaged.

    Examples:
        >>> index = CounterIndex.open("arguments")
        >>> index.ask("Trams should be free, since they keep cars out of town.", top=3)[["score", "text"]]
        >>> index.extend("more.csv")
    """

    KIND = "counter-arguments"
    COMMAND = "counter build"

    @classmethod
    def build(cls, source: str | Path, out: str | Path, **options: Any) -> CounterIndex:
        """Embeds a source of arguments; see `modeling.bipolar.counter_build.build_counter_index` for the options."""
        from modeling.bipolar.counter_build import build_counter_index

        build_counter_index(source, out, **options)
        return cls.open(out, options.get("model"))

    def extend(self, source: str | Path, **options: Any) -> dict[str, Any]:
        """Adds the arguments of another source; see `modeling.bipolar.counter_extension.extend_counter_index`."""
        from modeling.bipolar.counter_extension import extend_counter_index

        part = extend_counter_index(self, source, **options)
        fresh = self.open(self.folder, self._model_name)
        kept = {"model": vars(self)["model"]} if "model" in vars(self) else {}
        vars(self).clear()
        vars(self).update(vars(fresh) | kept)
        return part

    @staticmethod
    def load_model(name: str) -> BipolarEncoder | WithoutHeads:
        """See `modeling.bipolar.counter_models.load_counter_model`."""
        return load_counter_model(name)

    @staticmethod
    def behaviour(model: BipolarEncoder | WithoutHeads) -> dict[str, Any]:
        """See `modeling.bipolar.counter_models.behaviour`."""
        return behaviour(model)

    @property
    def reranks(self) -> bool:
        """Whether the model has a classification head; without one, the score is the similarity."""
        return not isinstance(self.model, WithoutHeads)

    @cached_property
    def nearest(self) -> faiss.Index:
        """The FAISS index over the retrieval embeddings, memory-mapped; made again if its file is damaged."""
        index = nearest.opened(self.folder / FAISS, self.facts["search"], *self.shape)
        if index is None:
            index, search = nearest.build(self._documents, self._queries, *self.shape)
            self.facts = {**self.facts, "search": search}
            index = self._written(index) or index
        return index

    def _written(self, made: faiss.Index) -> faiss.Index | None:
        """Writes the FAISS index, with its facts, and maps it; None if it has to stay in memory.

        That is so where the folder cannot be written to, is being extended, or has been since it was opened.
        """
        from filelock import FileLock

        try:
            with FileLock(self.folder / LOCK, timeout=0):  # Timeout is an OSError
                stored = read_json(self.folder / FACTS) or {}
                if any(stored.get(name) != self.facts.get(name) for name in ("counts", "parts")):
                    return None
                nearest.write(made, self.folder / FAISS)
                write_json(self.folder / FACTS, {**stored, "search": self.facts["search"]})
                return nearest.opened(self.folder / FAISS, self.facts["search"], *self.shape)
        except (OSError, RuntimeError):  # RuntimeError: of FAISS, the disk is full
            return None

    def ask(self, arguments: str | Sequence[str], top: int = 10, shortlist: int = 50) -> pd.DataFrame:
        """The best counter-arguments to each argument (Shi et al., section 4.3).

        Args:
            arguments: One or several, cleaned like the texts of the collection.
            top: Counter-arguments per argument at most. The argument itself is none.
            shortlist: Texts with the greatest retrieval similarity that are re-ranked, at least `top`.

        Returns:
            `argument`, `rank` (from 1), `score` (as in `BipolarEncoder.rank`; without a classification head the
            similarity), `similarity` (dot product of the retrieval embeddings), `text`, `rows` (how many carry the
            text), and `id` and `row` of the first of them.

        Raises:
            ValueError: If an option is out of range or an argument empty.
        """
        import pandas as pd

        arguments = [arguments] if isinstance(arguments, str) else list(arguments)
        cleaned = self._cleaned(arguments, top, shortlist)
        u = self.model.encode(cleaned, batch_size=32)
        queries = self.model.retrieval_embeddings(u, queries=True)
        found = self.shortlisted(queries, shortlist)
        own = self._own(cleaned, self._as_documents(cleaned, u), found)
        hits: list[tuple[Any, ...]] = []
        for argument, vector, query, numbers, same in zip(arguments, u, queries, found, own, strict=True):
            numbers = numbers[~np.isin(numbers, same)]
            candidates = np.asarray(self.vectors[numbers])
            order, scores = self.model.rank_embeddings(vector, candidates, shortlist)
            order, scores = order[:top], scores[:top]
            similarities = self.model.retrieval_embeddings(candidates[order]) @ query
            hits += zip([argument] * len(order), range(1, len(order) + 1), scores.astype(float),
                        similarities.astype(float), numbers[order], strict=True)  # fmt: skip
        table = pd.DataFrame(hits, columns=["argument", "rank", "score", "similarity", "vector"])
        carriers = self.carriers(table["vector"].unique().astype(np.int64))
        return table.astype({"vector": np.int64}).merge(carriers, on="vector", how="left")[HITS]

    def _cleaned(self, arguments: list[Any], top: int, shortlist: int) -> list[str]:
        if top < 1:
            raise ValueError(f"--top must be 1 or more, got {top}")
        if shortlist < top:
            raise ValueError(f"--shortlist {shortlist} is less than --top {top}: only what is on it can be shown")
        if not arguments:
            raise ValueError("there is no argument to counter: give one in quotes")
        cleaned = []
        for number, argument in enumerate(arguments, start=1):
            text = clean(argument, self.facts["max_characters"])[0] if isinstance(argument, str) else ""
            if not text:
                raise ValueError(f"argument {number} of {len(arguments)} is empty: give each as a text in quotes")
            cleaned.append(text)
        return cleaned

    def shortlisted(self, queries: np.ndarray, shortlist: int) -> list[np.ndarray]:
        """Numbers of the texts to compare exactly, for each query; one more than wanted, as one may be its own."""
        times = 1 if self.facts["search"]["kind"] == "flat" else nearest.OVERSAMPLING
        # there are more in the file if it was extended since, or an extension was interrupted
        numbers = nearest.search(self.nearest, queries, times * shortlist + 1, self.shape[0])
        return [row[row >= 0] for row in numbers]  # -1: fewer than wanted

    def _as_documents(self, texts: list[str], u: np.ndarray) -> np.ndarray:
        """The vectors that the collection has of texts, whose vectors as questions are `u`."""
        if not asks_differently(self.model):
            return u
        return document_encoder(self.model).encode(texts, normalize_embeddings=True, show_progress_bar=False)

    def _own(self, texts: list[str], u: np.ndarray, found: list[np.ndarray]) -> list[list[int]]:
        """Which of the candidates are the argument itself, for each argument; `u` are its vectors as documents."""
        close = [numbers[self.vectors[numbers] @ vector >= SAME] for vector, numbers in zip(u, found, strict=True)]
        numbers = np.unique(np.concatenate(close)).astype(np.int64)
        known = dict(zip(numbers.tolist(), self.carriers(numbers)["text"], strict=True))
        return [[number for number in row.tolist() if known[number] == text]
                for text, row in zip(texts, close, strict=True)]  # fmt: skip

    def carriers(self, numbers: np.ndarray) -> pd.DataFrame:
        """Texts by their numbers, and the rows that carry them.

        Only the parts of the table are read that they lie in: a million arguments take a gigabyte.

        Args:
            numbers: Distinct ones, shape (k,).

        Returns:
            `vector` (the number), `text`, `rows` (how many), and `id` and `row` of the first; in the order given.
        """
        import pandas as pd
        import pyarrow as pa

        first, counts = self._first_rows
        places = first[numbers]
        groups = np.searchsorted(self._group_ends, places, side="right")
        parts, order = [], []
        for group in np.unique(groups):
            inside = np.flatnonzero(groups == group)
            start = self._group_ends[group - 1] if group else 0
            table = self._table.read_row_group(int(group), columns=["row", "id", "text"])
            parts.append(table.take(places[inside] - start))
            order.append(inside)
        if not parts:
            return pd.DataFrame(columns=["vector", "text", "rows", "id", "row"])
        frame = pa.concat_tables(parts).to_pandas().iloc[np.argsort(np.concatenate(order))]
        return frame.assign(vector=numbers, rows=counts[numbers]).reset_index(drop=True)

    @cached_property
    def _table(self) -> pq.ParquetFile:
        import pyarrow.parquet as pq

        return pq.ParquetFile(self.folder / ROWS)

    @cached_property
    def _group_ends(self) -> np.ndarray:
        """The place after the last row of each part of the table."""
        metadata = self._table.metadata
        return np.cumsum([metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)])

    @cached_property
    def _first_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Place of the first row of each text, and how many rows carry it; two of shape (m,)."""
        kept = self.facts["counts"]["kept"]  # there may be more: what an interrupted extension added
        vectors = self._table.read(columns=["vector"])["vector"].to_numpy()[:kept]
        _, first, counts = np.unique(vectors, return_index=True, return_counts=True)
        return first, counts

    def _documents(self, numbers: np.ndarray) -> np.ndarray:
        return self.model.retrieval_embeddings(self.vectors[numbers])

    def _queries(self, numbers: np.ndarray) -> np.ndarray:
        if asks_differently(self.model):
            return self.model.encode(self.carriers(numbers)["text"].tolist())
        return self.model.retrieval_embeddings(self.vectors[numbers], queries=True)
