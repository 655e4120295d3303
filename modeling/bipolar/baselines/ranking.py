"""The rows of tables 2 and 3 of Shi et al. (2023): what each of them ranks first for the points of a split."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sentence_transformers import CrossEncoder, SentenceTransformer
from tqdm.auto import tqdm

from dataset_scripts.base.schema import COUNTERS
from dataset_scripts.base.sources import load_split
from modeling.base.evaluation import texts
from modeling.base.models import identity, load_model
from modeling.base.results import memory
from modeling.base.vectors import Vectors
from modeling.bipolar.baselines.encoders import load_cross_encoder, predict_pairs
from modeling.bipolar.baselines.learned import SIMPLE_SD, draw_examples, fit_logistic, fit_trees, rank_trees
from modeling.bipolar.baselines.rows import FEATURES, WORDS, Row
from modeling.bipolar.baselines.words import FULL, PART, FeatureTable, rank_linear
from modeling.bipolar.candidates import SETTINGS, Candidates, reranked, sample, shortlist
from modeling.bipolar.evaluation import retrieval, shortlist_odds
from modeling.bipolar.files import heads_of

VERSION = 1  # of what is kept: one more where the same models and texts give other figures
BLOCK = 64  # points, or examples, between two that are kept
ENCODER = "bundled"  # of the features x17 to x20
CONFIGS = {"official": "counters_official", "clean": "counters"}


@dataclass
class Split:
    """What is ranked for what.

    Attributes:
        name: `official` or `clean`.
        rows: Columns of `dataset_scripts.base.schema.COUNTERS`.
        candidates: The same as points, texts and answers.
    """

    name: str
    rows: dict[str, list[str]]

    @cached_property
    def candidates(self) -> Candidates:
        return Candidates(self.rows)

    @cached_property
    def digest(self) -> str:
        """Of everything a ranking depends on."""
        columns = ("point", "counter", "conclusion", "premises", "stance", "theme", "debate")
        return joblib.hash([self.rows[column] for column in columns])

    @cached_property
    def text_ids(self) -> list[str]:
        """For each text where it stands first: the id of a row, and which of its two texts it is."""
        ids: dict[str, str] = {}
        for role in ("point", "counter"):
            for row, text in zip(self.rows["id"], self.rows[role], strict=True):
                ids.setdefault(text, f"{row}:{role}")
        return [ids[text] for text in self.candidates.texts]


@dataclass
class Ranking:
    """What a row ranks first.

    Attributes:
        points: Numbers of the points, shape (r,).
        best: Measure (a setting, or "@1/K") -> indices of texts, shape (r,).
        retrieved: The shortlist in epa, shape (r, K); None where there is none.
        notes: What a reader has to know.
        seconds: What it took, without what an earlier row had computed.
    """

    points: np.ndarray
    best: dict[str, np.ndarray]
    retrieved: np.ndarray | None = None
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0


def read_split(source: str, name: str, split: str, cache: Path) -> Split:
    """Reads a split.

    Args:
        source: See `dataset_scripts.base.sources.load_split`.
        name: `official` or `clean`.
        split: `train`, `validation` or `test`.
        cache: Where prepared Arrow files are kept.

    Raises:
        ValueError: If there is no such configuration or split, a column is missing, it is empty, or a value is no text.
    """
    rows, where = load_split(source, CONFIGS[name], split, cache), f"{source} ({CONFIGS[name]}, {split})"
    if "seen_in" in rows.column_names:
        seen = [value or "" for value in rows["seen_in"]]
        rows = rows.remove_columns("seen_in").add_column("seen_in", seen)
    return Split(name, {column: texts(rows, column, where) for column in COUNTERS})


def load_models(named: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], Any]:
    """(option, source) -> model, of the kind that the option names; one that two options name is loaded once.

    Raises:
        ValueError: If there is no such model, or it is of another kind; the message names the option.
    """
    loaded: dict[tuple[bool, str], Any] = {}
    models = {}
    for option, source in ((option, source) for option, sources in named.items() for source in sources):
        key = option == "cross_encoder", source
        try:
            if key not in loaded:
                loaded[key] = load_cross_encoder(source) if key[0] else load_model(source)
            if option not in ("model", "bi_encoder", "cross_encoder") and heads_of(loaded[key]) is None:
                raise ValueError("it has no heads: no Bipolar-encoder")
        except (OSError, ValueError) as error:
            raise ValueError(f"--{option.replace('_', '-')} {source}: {error}") from error
        models[option, source] = loaded[key]
    return models


def bm25(candidates: Candidates) -> np.ndarray:
    """Okapi BM25 of all texts for all points, shape (n, m), with bm25s's defaults and English stop words.

    These are Lucene's idf, k1 1.5 and b 0.75 (Robertson and Zaragoza, 2009).
    """
    import bm25s  # an optional library

    words = bm25s.tokenize(candidates.texts, return_ids=False, show_progress=False)
    index = bm25s.BM25()
    index.index(words, show_progress=False)
    scores = np.zeros((len(candidates), len(words)), np.float32)
    for row, point in enumerate(candidates.points):
        if words[point]:
            scores[row] = index.get_scores(words[point])
    return scores


class Ranker:
    """Ranks for rows of the tables.

    Vectors, pair scores and rankings by features are kept in the folder: an interrupted command goes on.

    Args:
        rows: From `rows.expand`.
        models: From `load_models`.
        folder: Where is kept what is slow to compute.
        shortlists: How many retrieved candidates are re-ranked.
        max_points: Sample of points for rows that read every pair; None: all.
        train: Name of a split -> what is learned from that ranks for it.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        models: Mapping[tuple[str, str], Any],
        folder: Path,
        shortlists: Sequence[int] = (10, 30, 50),
        max_points: int | None = None,
        train: Callable[[str], Split] | None = None,
    ) -> None:
        self.models, self.folder, self.shortlists, self.max_points = models, folder, shortlists, max_points
        self.train = train
        self.full = any(row.retriever == FEATURES and row.key.endswith("full") for row in rows)
        self.memory = memory(folder)
        self._retrieved: dict[tuple[str, str, str], tuple] = {}
        self._tables: dict[tuple[str, bool], FeatureTable] = {}

    def rank(self, row: Row, split: Split) -> Ranking:
        """The best candidates of a row on a split."""
        begun = time.perf_counter()
        ranking = self._by_features(row, split) if row.retriever == FEATURES else self._by_scores(row, split)
        return replace(ranking, seconds=time.perf_counter() - begun)

    def _by_scores(self, row: Row, split: Split) -> Ranking:
        best, retrieved, values = self._retrieve(row, split)
        points = np.arange(len(split.candidates))
        if not row.reranker:
            return Ranking(points, best, retrieved)
        model, notes = self.models[row.reranker, row.sources[row.reranker]], []
        if isinstance(model, CrossEncoder):
            points = sample(len(points), self.max_points)
            scores = self._pair_scores(model, split.candidates, points, retrieved[points])
        else:
            log_odds = retrieval(model, split.candidates, self.folder / "embeddings")[2]
            scores = shortlist_odds(split.candidates, retrieved, log_odds)
        if row.fused and (weight := heads_of(model).fusion_weight) is None:
            notes = ["the model has no weight that joins its scores: the classifier ranks alone"]
        elif row.fused:
            notes, scores = [f"retrieval similarity + {weight:g} x log-odds"], values + weight * scores
        retrieved = retrieved[points]
        best = {f"@1/{k}": reranked(retrieved[:, :k], scores[:, :k]) for k in self.shortlists}
        return Ranking(points, best, retrieved, notes)

    def _retrieve(self, row: Row, split: Split) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """The best in each setting, and shortlist and scores in epa; rows with one retriever share them."""
        source = row.sources.get(row.retriever, "")
        key = row.retriever, source, split.name
        if key not in self._retrieved:
            candidates = split.candidates
            if row.retriever == WORDS:
                scores = bm25(candidates)
            else:
                model = self.models[row.retriever, source]
                queries, documents, _ = retrieval(model, candidates, self.folder / "embeddings")
                scores = queries @ documents.T
            best = {setting: shortlist(scores, candidates.of(setting), 1)[0][:, 0] for setting in SETTINGS}
            self._retrieved[key] = best, *shortlist(scores, candidates.of("epa"), max(self.shortlists))
        return self._retrieved[key]

    def _pair_scores(
        self, model: CrossEncoder, candidates: Candidates, points: np.ndarray, retrieved: np.ndarray
    ) -> np.ndarray:
        """Scores of shortlists, shape (r, K), kept for each point."""
        predict, key = self.memory.cache(_predict, ignore=["model"]), identity(model)

        def log_odds(point: int, others: np.ndarray) -> np.ndarray:
            pairs = [(candidates.texts[point], candidates.texts[other]) for other in others]
            return predict(VERSION, key, pairs, model)

        return shortlist_odds(candidates.take(points), retrieved, log_odds, "pairs read")

    def _by_features(self, row: Row, split: Split) -> Ranking:
        points, notes = sample(len(split.candidates), self.max_points), []
        size = FULL if row.key.endswith("full") else PART
        key, best = (split.digest, self._encoder_key(size), points.tolist()), {}
        weights, trees = SIMPLE_SD, None
        if row.key != "simple-sd":
            train = self.train(split.name)
            features, labels = self._examples(train, size)
            weights = fit_logistic(features, labels)
            if row.key.startswith("xgboost"):
                trees, key = fit_trees(features, labels), (*key, train.digest)
        cached = self.memory.cache(_rank, ignore=["table", "trees"])
        for setting in SETTINGS:
            blocks = np.array_split(np.arange(len(points)), range(BLOCK, len(points), BLOCK))
            parts = [
                cached(
                    VERSION, key, weights, setting, block, trees is not None, lambda: self._table(split, points), trees
                )
                for block in tqdm(blocks, f"{row.name}, {setting}", unit_scale=BLOCK, unit="point", leave=False)
            ]
            best[setting], possible = (np.concatenate(part) for part in zip(*parts, strict=True))
            if not possible.all():
                notes.append(
                    f"ranks the candidates that logistic regression finds best; they have an answer of "
                    f"{possible.mean():.1%} of the points ({setting})"
                )
        return Ranking(points, best, notes=notes)

    def _examples(self, train: Split, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Features, shape (examples, size), and whether the argument is the point's counter."""
        examples = draw_examples(train.candidates)
        cached, whole = self.memory.cache(_features, ignore=["table"]), FULL if self.full else PART
        key = train.digest, self._encoder_key(whole)
        blocks = [examples[start : start + BLOCK] for start in range(0, len(examples), BLOCK)]
        features = [
            cached(VERSION, key, whole, block, lambda: self._table(train))
            for block in tqdm(blocks, "features of examples", unit_scale=BLOCK, unit="point", leave=False)
        ]
        labels = [np.arange(len(indices)) < answers for _, indices, answers in examples]
        return np.concatenate(features)[:, :size], np.concatenate(labels).astype(int)

    def _table(self, split: Split, points: np.ndarray | None = None) -> FeatureTable:
        """Features of some of the points, or of all, among all candidates."""
        key = split.digest, points is None
        if key not in self._tables:
            candidates = split.candidates if points is None else split.candidates.take(points)
            embed = Vectors(self._encoder, self.folder / "embeddings") if self.full else None
            self._tables[key] = FeatureTable(candidates, embed)
        return self._tables[key]

    @cached_property
    def _encoder(self) -> SentenceTransformer:
        return load_model(ENCODER)

    def _encoder_key(self, size: int) -> str:
        return identity(self._encoder) if size == FULL else ""


# what is kept: functions of their first arguments; the others follow from these


def _predict(version: int, key: str, pairs: list[tuple[str, str]], model: CrossEncoder) -> np.ndarray:
    return predict_pairs(model, pairs)


def _features(
    version: int, key: tuple, size: int, examples: list[tuple], table: Callable[[], FeatureTable]
) -> np.ndarray:
    return np.concatenate([table().features(row, indices, size) for row, indices, _ in examples])


def _rank(
    version: int,
    key: tuple,
    weights: np.ndarray,
    setting: str,
    rows: np.ndarray,
    by_trees: bool,
    table: Callable[[], FeatureTable],
    trees: Any,
) -> tuple[np.ndarray, np.ndarray]:
    if by_trees:
        return rank_trees(table(), trees, weights, setting, rows)
    return rank_linear(table(), weights, setting, rows), np.ones(len(rows), bool)
