"""The rows of tables 2 and 3 of Shi et al. (2023): what each of them ranks first for the points of a split."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
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

VERSION = 2  # of what is kept: one more where the same models and texts give other figures
BLOCK = 64  # points, or examples, between two that are kept
ENCODER = "bundled"  # of the features x17 to x20
CONFIGS = {"official": "counters_official", "clean": "counters"}


@dataclass
class Split:
    """The `official` or `clean` split: columns of `dataset_scripts.base.schema.COUNTERS`, and who competes."""

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
        roles, numbers = ("point", "counter"), self.rows["id"]
        pairs = [(text, f"{row}:{role}") for role in roles for row, text in zip(numbers, self.rows[role], strict=True)]
        ids = dict(reversed(pairs))
        return [ids[text] for text in self.candidates.texts]


@dataclass
class Ranking:
    """What a row ranks first."""

    points: np.ndarray  # their numbers, shape (r,)
    best: dict[str, np.ndarray]  # measure (a setting, or "@1/K") -> indices of texts, shape (r,)
    retrieved: np.ndarray | None = None  # the shortlist in epa, shape (r, K), where there is one
    notes: list[str] = field(default_factory=list)  # what a reader has to know
    seconds: float = 0.0  # what it took, without what an earlier row had computed


def read_split(source: str, name: str, split: str, folder: Path) -> Split:
    """Reads `train`, `validation` or `test` of the `official` or `clean` split; Arrow files are kept in the folder.

    Raises:
        ValueError: If there is no such configuration or split, a column is missing, it is empty, or a value is no text.
    """
    rows, where = load_split(source, CONFIGS[name], split, folder), f"{source} ({CONFIGS[name]}, {split})"
    if "seen_in" in rows.column_names:
        seen = [value or "" for value in rows["seen_in"]]
        rows = rows.remove_columns("seen_in").add_column("seen_in", seen)
    return Split(name, {column: texts(rows, column, where) for column in COUNTERS})


def load_models(named: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], Any]:
    """(option, source) -> model, loaded once; raises ValueError if it is not of the kind that the option names."""
    models, load = {}, cache(lambda crosses, source: load_cross_encoder(source) if crosses else load_model(source))
    for option, source in ((option, source) for option, sources in named.items() for source in sources):
        try:
            model = models[option, source] = load(option == "cross_encoder", source)
            if option not in ("model", "bi_encoder", "cross_encoder") and heads_of(model) is None:
                raise ValueError("it has no heads: no Bipolar-encoder")
        except (OSError, ValueError) as error:
            raise ValueError(f"--{option.replace('_', '-')} {source}: {error}") from error
    return models


def bm25(candidates: Candidates) -> np.ndarray:
    """BM25 of all texts for all points, shape (n, m): Lucene's idf, k1 1.5, b 0.75, without English stop words."""
    import bm25s  # an optional library

    words = bm25s.tokenize(candidates.texts, return_ids=False, show_progress=False)
    index = bm25s.BM25()
    index.index(words, show_progress=False)
    nothing = np.zeros(len(words), np.float32)
    return np.stack([index.get_scores(words[point]) if words[point] else nothing for point in candidates.points])


class Ranker:
    """Ranks for rows of the tables, from `rows.expand`, by the models of `load_models`.

    Args:
        folder: Where vectors, pair scores and rankings by features are kept: an interrupted command goes on.
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
        self.models, self.shortlists, self.max_points, self.train = models, shortlists, max_points, train
        self.vectors = folder / "embeddings"
        self.full = any(row.retriever == FEATURES and row.key.endswith("full") for row in rows)
        self._computed = memory(folder).cache(_compute, ignore=["compute"])
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
            scores = self._pair_scores(model, split.candidates.take(points), retrieved[points])
        else:
            log_odds = retrieval(model, split.candidates, self.vectors)[2]
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
        source, candidates = row.sources.get(row.retriever, ""), split.candidates
        key = row.retriever, source, split.name
        if key not in self._retrieved:
            if row.retriever == WORDS:
                scores = bm25(candidates)
            else:
                queries, documents, _ = retrieval(self.models[row.retriever, source], candidates, self.vectors)
                scores = queries @ documents.T
            best = {setting: shortlist(scores, candidates.of(setting), 1)[0][:, 0] for setting in SETTINGS}
            self._retrieved[key] = best, *shortlist(scores, candidates.of("epa"), max(self.shortlists))
        return self._retrieved[key]

    def _pair_scores(self, model: CrossEncoder, candidates: Candidates, retrieved: np.ndarray) -> np.ndarray:
        """Scores of shortlists, shape (r, K), kept for each point."""
        key = identity(model)

        def log_odds(point: int, others: np.ndarray) -> np.ndarray:
            pairs = [(candidates.texts[point], candidates.texts[other]) for other in others]
            return self._computed((VERSION, "pairs", key, pairs), lambda: predict_pairs(model, pairs))

        return shortlist_odds(candidates, retrieved, log_odds, "pairs read")

    def _by_features(self, row: Row, split: Split) -> Ranking:
        points, notes, best = sample(len(split.candidates), self.max_points), [], {}
        size = FULL if row.key.endswith("full") else PART
        weights, trees, key = SIMPLE_SD, None, (VERSION, "best", split.digest, self._encoder_key(size), points.tolist())
        if row.key != "simple-sd":
            train = self.train(split.name)
            features, labels = self._examples(train, size)
            weights = fit_logistic(features, labels)
            if row.key.startswith("xgboost"):
                trees, key = fit_trees(features, labels), (*key, train.digest)

        def rank(setting: str, rows: list[int]) -> tuple[np.ndarray, np.ndarray]:
            table = self._table(split, points)
            if trees is None:
                return rank_linear(table, weights, setting, rows), np.ones(len(rows), bool)
            return rank_trees(table, trees, weights, setting, rows)

        for setting in SETTINGS:
            numbers, title = list(range(len(points))), f"{row.name}, {setting}"
            parts = self._blocks((*key, weights, setting), numbers, lambda rows, of=setting: rank(of, rows), title)
            best[setting], possible = (np.concatenate(part) for part in zip(*parts, strict=True))
            if not possible.all():
                learnt = "ranks the candidates that logistic regression finds best; they have an answer of"
                notes.append(f"{learnt} {possible.mean():.1%} of the points ({setting})")
        return Ranking(points, best, notes=notes)

    def _examples(self, train: Split, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Features, shape (examples, size), and whether the argument is the point's counter."""
        examples, whole = draw_examples(train.candidates), FULL if self.full else PART

        def features(block: list[tuple[int, list[int], int]]) -> np.ndarray:
            return np.concatenate([self._table(train).features(row, indices, whole) for row, indices, _ in block])

        key = VERSION, "features", train.digest, self._encoder_key(whole)
        parts = self._blocks(key, examples, features, "features of examples")
        labels = [np.arange(len(indices)) < answers for _, indices, answers in examples]
        return np.concatenate(parts)[:, :size], np.concatenate(labels).astype(int)

    def _blocks(self, key: tuple, items: list, compute: Callable[[list], Any], title: str) -> list[Any]:
        """What is computed of blocks of items, each of them kept."""
        blocks = [items[start : start + BLOCK] for start in range(0, len(items), BLOCK)]
        bar = tqdm(blocks, title, unit_scale=BLOCK, unit="point", leave=False)
        return [self._computed((*key, block), lambda block=block: compute(block)) for block in bar]

    def _table(self, split: Split, points: np.ndarray | None = None) -> FeatureTable:
        """Features of some of the points, or of all, among all candidates."""
        key = split.digest, points is None
        if key not in self._tables:
            candidates = split.candidates if points is None else split.candidates.take(points)
            self._tables[key] = FeatureTable(candidates, Vectors(self._encoder, self.vectors) if self.full else None)
        return self._tables[key]

    @cached_property
    def _encoder(self) -> SentenceTransformer:
        return load_model(ENCODER)

    def _encoder_key(self, size: int) -> str:
        return identity(self._encoder) if size == FULL else ""


def _compute(key: tuple, compute: Callable[[], Any]) -> Any:
    """Kept by its key, from which all that is computed has to follow."""
    return compute()
