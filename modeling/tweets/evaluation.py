"""Evaluators of tweets: are those that belong to a tweet ranked first, and do cosines agree with people's scores?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from sentence_transformers import SentenceTransformer
from sklearn.metrics import label_ranking_average_precision_score, ndcg_score

from modeling.base.evaluation import Evaluator, SimilarityEvaluator
from modeling.base.plots import densities, dots
from modeling.base.vectors import Vectors

NOBODY = -2.0  # below any cosine, where a row has fewer candidates than others
BLOCK = 512  # rows whose candidates' vectors lie in memory together
Cosines = dict[str, np.ndarray]  # benchmark -> shape (rows, candidates), in [-1, 1], or NOBODY


class Rankings:
    """The queries and candidates of several benchmarks, by name, as numbers of their distinct texts.

    They are made of columns of `dataset_scripts.base.schema.RANKINGS`, of one row at least; a query without positives
    or negatives, or a text that is null, is a ValueError.

    Attributes:
        texts: Every text once.
        queries: Name -> the number of each query's text, shape (rows,).
        candidates: Name -> those of its candidates, positives first, shape (rows, most candidates); -1 for none.
        relevance: Name -> 1 for a positive and 0 for others, of the same shape.
    """

    def __init__(self, benchmarks: Mapping[str, Mapping[str, Sequence]], dataset: str = "benchmarks") -> None:
        index: dict[str, int] = {}
        self.queries, self.candidates, self.relevance = {}, {}, {}
        for name, columns in benchmarks.items():
            rows = list(zip(*(columns[column] for column in ("query", "positives", "negatives")), strict=True))
            most = max(len(positives) + len(negatives) for _, positives, negatives in rows)
            self.candidates[name] = np.full((len(rows), most), -1)
            self.relevance[name] = np.zeros((len(rows), most), int)
            for row, (query, positives, negatives) in enumerate(rows):
                for what, texts in (("text", [query]), ("positives", positives), ("negatives", negatives)):
                    if not texts or not all(isinstance(text, str) for text in texts):
                        has = f"{dataset}, {name}, row {row}: the query has no {what}, or one that is null"
                        raise ValueError(f"{has}; build the benchmark again")
                numbers = [index.setdefault(text, len(index)) for text in (*positives, *negatives)]
                self.candidates[name][row, : len(numbers)] = numbers
                self.relevance[name][row, : len(positives)] = 1
            self.queries[name] = np.array([index.setdefault(query, len(index)) for query, _, _ in rows])
        self.texts = list(index)


class RankingEvaluator(Evaluator):
    """How far up the tweets that belong to a tweet come among others (Di Giovanni and Brambilla, 2021, section 4.1).

    Candidates are ranked by their cosine with the query. `ndcg` is the normalised discounted cumulative gain over all
    of them, with gain 1 for a positive, and `map` the mean average precision, both as in sentence-transformers'
    `RerankingEvaluator` with `at_k` of as many candidates as there are; `mrr` and `accuracy_at_1` are the mean
    reciprocal rank of the first positive and the share of queries with a positive in the first place. Of several
    benchmarks, each is their unweighted mean: the column "Avg" of table 1.

    In random order 5 positives and 25 negatives have an expected nDCG of 0.518 and an average precision of 0.253. Ten
    figures of untrained encoders in table 1 lie below the former, though they are called nDCG, and the evaluator in the
    paper's code returns the latter: which of the two they are is not certain.

    Of the benchmarks those in `of` are measured, or all; evaluators of one set share the vectors of all their texts.
    """

    groups = ("negatives", "positives")
    headline = ("ndcg", "map")
    measures = {
        "ndcg": "discounted gain by rank of the texts that belong to the query, 1 where they come before all others",
        "map": "mean average precision of the same ranking",
        "mrr": "mean of 1 / rank of the first text that belongs to the query",
        "accuracy_at_1": "share of queries with a text that belongs to them in the first place",
    }

    def __init__(
        self, rankings: Rankings, name: str = "benchmarks", of: Sequence[str] | None = None, **facts: str
    ) -> None:
        super().__init__(name, **facts)
        self.rankings, self.of = rankings, list(of or rankings.queries)
        self.rows = sum(len(rankings.queries[each]) for each in self.of)

    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> Cosines:
        """The cosines of every query with its candidates; every distinct text is embedded once."""
        vectors = Vectors(model, cache)(self.rankings.texts)
        return {name: self._cosines(name, vectors) for name in self.of}

    def _cosines(self, name: str, vectors: np.ndarray) -> np.ndarray:
        queries, candidates = self.rankings.queries[name], self.rankings.candidates[name]
        cosines = np.empty(candidates.shape)
        for start in range(0, len(queries), BLOCK):
            rows = slice(start, start + BLOCK)
            cosines[rows] = np.einsum("nd,nkd->nk", vectors[queries[rows]], vectors[candidates[rows]])
        return np.where(candidates < 0, NOBODY, cosines.clip(-1, 1))

    def metrics(self, scores: Cosines) -> dict[str, float]:
        each = [ranking_metrics(self.rankings.relevance[name], cosines) for name, cosines in scores.items()]
        return {key: float(np.mean([values[key] for values in each])) for key in self.measures}

    def by_group(self, name: str, cosines: np.ndarray) -> dict[str, np.ndarray]:
        """`negatives` and `positives` -> their cosines."""
        there, relevant = self.rankings.candidates[name] >= 0, self.rankings.relevance[name] == 1
        return dict(zip(self.groups, (cosines[there & ~relevant], cosines[relevant]), strict=True))

    def draw(self, scores: dict[str, Cosines], path: Path) -> str:
        models = ", ".join(scores)
        if len(self.of) == 1:
            (name,) = self.of
            groups = {label: self.by_group(name, cosines[name]) for label, cosines in scores.items()}
            notes = {label: self.note(cosines) for label, cosines in scores.items()}
            densities(groups, path, f"{self.dataset}: {self.title}", notes)
            return f"Cosine similarity of query and candidates, {self.title}, by model: {models} ({self.dataset})."
        rows = [
            ("ours", label, name, ranking_metrics(self.rankings.relevance[name], of[name])["ndcg"])
            for label, of in scores.items()
            for name in self.of
        ]
        chance = random_ndcg(self.rankings.relevance[self.of[0]])
        frame = pd.DataFrame(rows, columns=["who", "model", "data", "value"])
        dots(frame, path, f"{self.dataset}: all queries", "nDCG", width=6.0, origin=chance)
        line = f"Line: candidates in random order, {chance:.3f}."
        return f"nDCG of {self.title}, by benchmark and model: {models} ({self.dataset}). {line}"


def ranking_metrics(relevance: np.ndarray, cosines: np.ndarray) -> dict[str, float]:
    """The metrics of one benchmark, of relevance (1 or 0) and cosines of shape (rows, candidates)."""
    best = np.where(relevance == 1, cosines, -np.inf).max(axis=1, keepdims=True)
    # of equal cosines the negatives count as ahead: an encoder that tells nothing apart gains nothing
    ahead = ((relevance == 0) & (cosines >= best)).sum(axis=1)
    return {
        "ndcg": float(ndcg_score(relevance, cosines)),
        "map": float(label_ranking_average_precision_score(relevance, cosines)),
        "mrr": float((1 / (ahead + 1)).mean()),
        "accuracy_at_1": float((ahead == 0).mean()),
    }


def random_ndcg(relevance: np.ndarray) -> float:
    """The mean nDCG of candidates in random order, given their relevance (0 or 1), shape (rows, candidates)."""
    discounts = 1 / np.log2(np.arange(relevance.shape[1]) + 2)
    relevant = relevance.sum(axis=1)
    best = np.cumsum(discounts)[relevant.astype(int) - 1]
    return float((relevant / relevance.shape[1] * discounts.sum() / best).mean())


class PearsonEvaluator(SimilarityEvaluator):
    """Pearson correlation of cosine and human judgement, the measure of section 4.2; see `SimilarityEvaluator`."""

    headline = ("pearson",)
    measures = {key: SimilarityEvaluator.measures[key] for key in ("pearson", "spearman")}
