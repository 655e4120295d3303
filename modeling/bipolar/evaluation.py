"""How often the best counter-argument comes first, in the four settings of candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

from modeling.base.dot_plots import plot_dots
from modeling.base.evaluation import Evaluator
from modeling.base.vectors import embed
from modeling.bipolar.baselines.data import sample
from modeling.bipolar.baselines.ranking import NONE, reranked, shortlist
from modeling.bipolar.baselines.retrieval import tells_tasks
from modeling.bipolar.candidates import SETTINGS, Candidates
from modeling.bipolar.encoder import BipolarEncoder
from modeling.bipolar.files import encoder_of, heads_of
from modeling.bipolar.heads import BipolarHeads

SHORTLISTS = (10, 30, 50)  # of table 3
WEIGHTS = (0.0, 0.003, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
LEARNED = "learned"


@dataclass
class Ranked:
    """Whether what came first is an answer.

    Attributes:
        hits: Setting, or "retrieval" or "classification_K" (in epa) -> shape (n,) of bool.
        recall: K -> share of points with an answer among the K retrieved, in epa.
        weight: Of the classifier's log-odds in the scores; None where they alone re-rank, or there is no classifier.
    """

    hits: dict[str, np.ndarray]
    recall: dict[int, float]
    weight: float | None = None


@dataclass(frozen=True)
class Heads:
    """Heads and how their scores are joined.

    Attributes:
        heads: The heads.
        weight: A shortlisted candidate's score is its retrieval similarity + weight * log-odds of the classifier; None:
            the log-odds alone, as in the paper; "learned": the best of `WEIGHTS` on these points.
    """

    heads: BipolarHeads
    weight: float | str | None = None


class CounterargumentEvaluator(Evaluator):
    """Accuracy@1 of retrieved and re-ranked counter-arguments (Wachsmuth et al., 2018; Shi et al., 2023, section 6).

    `accuracy_epa` is that of the whole model among all arguments: the candidates that retrieval places first,
    re-ranked by both heads. A model without heads ranks by the cosines of its embeddings, those of queries and of
    documents where it tells them apart.

    Args:
        rows: Columns of `dataset_scripts.base.schema.COUNTERS`.
        heads: Returns the heads in training; None for models that carry theirs with them, or have none.
        limit: Seeded sample of the points; the candidates stay all. None: all points.
    """

    headline = ("accuracy_epa", "retrieval", "classification_10", "classification_30", "classification_50",
                "accuracy_epc", "accuracy_sda", "accuracy_sdoc")  # fmt: skip
    measures = (*headline, "accuracy_epa_unseen", "recall_10", "recall_30", "recall_50", "fusion_weight", "n_unseen")

    def __init__(
        self,
        rows: Mapping[str, Sequence[str]],
        name: str = "counters",
        heads: Callable[[], Heads] | None = None,
        limit: int | None = None,
        **facts: str,
    ) -> None:
        super().__init__(name, **facts)
        every = Candidates(rows)
        self.candidates = every.take(sample(len(every), limit))
        self.rows = len(self.candidates)
        self.heads = heads

    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> Ranked:
        encoder, heads = (model, self.heads()) if self.heads else parts_of(model)
        candidates = self.candidates
        points = [candidates.texts[point] for point in candidates.points]
        if heads is None and tells_tasks(model):
            options = {"batch_size": 64, "normalize_embeddings": True, "show_progress_bar": False}
            documents = model.encode_document(candidates.texts, **options)
            return rank_all(candidates, model.encode_query(points, **options) @ documents.T)
        if cache is None:
            u = encoder.encode(candidates.texts, batch_size=64, normalize_embeddings=True, show_progress_bar=False)
        else:
            u = np.asarray(embed(encoder, candidates.texts, cache, batch_size=64))
        if heads is None:
            return rank_all(candidates, u[candidates.points] @ u.T)
        whole = BipolarEncoder(encoder, heads.heads)
        queries = whole.retrieval_embeddings(u[candidates.points], queries=True)

        def log_odds(point: int, listed: np.ndarray) -> np.ndarray:
            return whole.margins(u[point], u[listed])

        return rank_all(candidates, queries @ whole.retrieval_embeddings(u).T, log_odds, heads.weight)

    def metrics(self, scores: Ranked) -> dict[str, float | int | None]:
        unseen = ~self.candidates.seen
        hits = scores.hits
        return {
            **{f"accuracy_{setting}": float(hits[setting].mean()) for setting in SETTINGS},
            "retrieval": float(hits["retrieval"].mean()),
            "accuracy_epa_unseen": float(hits["epa"][unseen].mean()) if unseen.any() else None,
            **{f"classification_{k}": _mean(hits.get(f"classification_{k}")) for k in SHORTLISTS},
            **{f"recall_{k}": share for k, share in scores.recall.items()},
            "fusion_weight": scores.weight,
            "n_unseen": int(unseen.sum()),
        }

    def draw(self, scores: dict[str, Ranked], path: Path) -> str:
        figures = {(label, s): float(ranked.hits[s].mean()) for label, ranked in scores.items() for s in SETTINGS}
        plot_dots(list(scores), {"all points": (figures, {})}, path, f"{self.dataset}: {self.title}", "accuracy@1")
        return f"Accuracy@1 of {self.title}, by candidates and model: {', '.join(scores)} ({self.dataset})."


def parts_of(model: SentenceTransformer) -> tuple[SentenceTransformer, Heads | None]:
    """The encoder of u and the heads of a Bipolar-encoder; any other model itself, and None."""
    heads = heads_of(model)
    return encoder_of(model), Heads(heads, heads.fusion_weight) if heads is not None else None


def rank_all(
    candidates: Candidates,
    similarities: np.ndarray,
    log_odds: Callable[[int, np.ndarray], np.ndarray] | None = None,
    weight: float | str | None = None,
) -> Ranked:
    """Ranks the candidates of every point in every setting.

    Args:
        candidates: n points and m texts.
        similarities: Of points and texts, shape (n, m).
        log_odds: Those of the classifier for the text number of a point and k candidates', shape (k,); None: there is
            no classifier.
        weight: See `Heads`.
    """
    listed = {setting: shortlist(similarities, candidates.of(setting), max(SHORTLISTS)) for setting in SETTINGS}
    found, values = listed["epa"]
    firsts = {"retrieval": found[:, 0]}
    if log_odds is None:
        firsts |= {setting: rows[:, 0] for setting, (rows, _) in listed.items()}
    else:
        odds = {setting: _odds(candidates, rows, log_odds) for setting, (rows, _) in listed.items()}
        weight = _learned(candidates, found, values, odds["epa"]) if weight == LEARNED else weight
        for setting, (rows, scores) in listed.items():
            firsts[setting] = _first(rows, scores, odds[setting], weight)
        for k in SHORTLISTS:
            firsts[f"classification_{k}"] = reranked(found[:, :k], odds["epa"][:, :k])
    right = np.array([[text in answers for text in row] for row, answers in
                      zip(found.tolist(), candidates.answers, strict=True)])  # fmt: skip
    hits = {name: _hits(candidates, first) for name, first in firsts.items()}
    return Ranked(hits, {k: float(right[:, :k].any(axis=1).mean()) for k in SHORTLISTS}, weight)


def _odds(candidates: Candidates, found: np.ndarray, log_odds: Callable[[int, np.ndarray], np.ndarray]) -> np.ndarray:
    """The log-odds of shortlisted texts, shape (n, K); 0 where there is none, which no ranking looks at."""
    odds = np.zeros(found.shape, np.float32)
    for row, (point, texts) in enumerate(zip(candidates.points, found, strict=True)):
        there = texts != NONE
        if there.any():
            odds[row, there] = log_odds(point, texts[there])
    return odds


def _first(found: np.ndarray, similarities: np.ndarray, odds: np.ndarray, weight: float | None) -> np.ndarray:
    return reranked(found, odds if weight is None else similarities + weight * odds)


def _learned(candidates: Candidates, found: np.ndarray, similarities: np.ndarray, odds: np.ndarray) -> float | None:
    """The weight with the highest accuracy; the first, and so the smallest, of equals, the classifier alone last."""
    weights = [*WEIGHTS, None]
    accuracies = [_hits(candidates, _first(found, similarities, odds, weight)).mean() for weight in weights]
    return weights[int(np.argmax(accuracies))]


def _hits(candidates: Candidates, first: np.ndarray) -> np.ndarray:
    return np.array([text in answers for text, answers in zip(first.tolist(), candidates.answers, strict=True)])


def _mean(values: np.ndarray | None) -> float | None:
    return None if values is None else float(values.mean())
