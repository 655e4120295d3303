"""How often the best counter-argument comes first, in the four settings of candidates, and who answers an opinion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Router

from metrics.counterargument_accuracy.counterargument_accuracy import accuracy_interval
from modeling.base.evaluation import Evaluator
from modeling.base.plots import dots
from modeling.base.vectors import Vectors
from modeling.bipolar.candidates import NONE, SETTINGS, Candidates, Opinions, Points, reranked, sample, shortlist
from modeling.bipolar.encoder import BipolarEncoder
from modeling.bipolar.heads import heads_of

SHORTLISTS = (10, 30, 50)  # of table 3
WEIGHTS = (0.0, 0.003, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.4, 0.8)
LEARNED = "learned"
CLASSIFICATION = {f"classification_{k}": k for k in SHORTLISTS}
LogOdds = Callable[[int, np.ndarray], np.ndarray]


@dataclass
class Ranked:
    """Whether what came first is an answer."""

    hits: dict[str, np.ndarray]  # setting, or "retrieval" or "classification_K" (in epa) -> shape (n,) of bool
    recall: dict[int, float]  # K -> share of points with an answer among the K retrieved, in epa
    weight: float | None = None  # of the classifier's log-odds; None where they alone re-rank, or there is none


class CounterargumentEvaluator(Evaluator):
    """Accuracy@1 of retrieved and re-ranked counter-arguments (Wachsmuth et al., 2018; Shi et al., 2023, section 6).

    The candidates that retrieval places first are ranked by both heads, joined by the heads' `fusion_weight`; where
    that is "learned", by the best of `WEIGHTS` on these points. A model without heads ranks by cosines. The rows are of
    `dataset_scripts.base.schema.COUNTERS`; of a seeded sample of `limit` points all candidates stay.
    """

    headline = ("accuracy_epa", "retrieval", *CLASSIFICATION, "accuracy_epc", "accuracy_sda", "accuracy_sdoc")
    measures = {
        "accuracy_epa": "share of points whose counter-argument comes first among all arguments",
        "retrieval": "the same by the retrieval head alone, or by cosine",
        **{key: f"the same when the classifier alone re-ranks the {k} retrieved" for key, k in CLASSIFICATION.items()},
        "accuracy_epc": "as accuracy_epa, among all counters",
        "accuracy_sda": "as accuracy_epa, among the arguments of the debate",
        "accuracy_sdoc": "as accuracy_epa, among the opposing counters of the debate",
        "accuracy_epa_unseen": "accuracy_epa of the points that no earlier split has",
        **{f"recall_{k}": f"share of points with a counter-argument among the {k} retrieved" for k in SHORTLISTS},
        "fusion_weight": "what the classifier's log-odds weigh beside the similarity; none: they rank alone",
        "n_unseen": "points that no earlier split has",
    }

    def __init__(
        self, rows: Mapping[str, Sequence[str]], name: str = "counters", limit: int | None = None, **facts: str
    ) -> None:
        super().__init__(name, **facts)
        everything = Candidates(rows)
        self.candidates = everything.take(sample(len(everything), limit))
        self.rows = len(self.candidates)

    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> Ranked:
        queries, documents, log_odds = retrieval(model, self.candidates, cache)
        heads = heads_of(model)
        return rank_all(self.candidates, queries @ documents.T, log_odds, heads.fusion_weight if heads else None)

    def metrics(self, scores: Ranked) -> dict[str, float | int | None]:
        unseen, hits = ~self.candidates.seen, scores.hits
        return {
            **{f"accuracy_{setting}": float(hits[setting].mean()) for setting in SETTINGS},
            "retrieval": float(hits["retrieval"].mean()),
            "accuracy_epa_unseen": float(hits["epa"][unseen].mean()) if unseen.any() else None,
            **{key: float(hits[key].mean()) if key in hits else None for key in CLASSIFICATION},
            **{f"recall_{k}": share for k, share in scores.recall.items()},
            "fusion_weight": scores.weight,
            "n_unseen": int(unseen.sum()),
        }

    def draw(self, scores: dict[str, Ranked], path: Path) -> str:
        shares = {label: {name: ranked.hits[name].mean() for name in SETTINGS} for label, ranked in scores.items()}
        frame = pd.DataFrame(shares).melt(var_name="model", ignore_index=False).reset_index(names="data")
        dots(frame.assign(who="ours"), path, f"{self.dataset}: {self.title}", "accuracy@1")
        return f"Accuracy@1 of {self.title}, by candidates and model: {', '.join(scores)} ({self.dataset})."


class SidesEvaluator(Evaluator):
    """On which side the first hit of a short opinion is: an answer takes the other side, a repetition its own.

    Each opinion of `Opinions`, rows of `dataset_scripts.base.schema.FAMILIES`, asks for the other texts for and against
    the same statement, ranked as by `CounterargumentEvaluator`.
    """

    headline = ("other_side", "chance")
    measures = {
        "other_side": "share of opinions whose first hit among the texts on the same statement takes the other side",
        "chance": "the same of a text drawn at random",
        "n_debates": "debates that the opinions are of",
    }

    def __init__(
        self, rows: Mapping[str, Sequence], name: str = "sides", limit: int | None = None, **facts: str
    ) -> None:
        super().__init__(name, **facts)
        self.opinions = Opinions(rows, limit)
        self.rows = len(self.opinions)

    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> np.ndarray:
        """Whether the first hit takes the other side, shape (n,) of bool."""
        queries, documents, log_odds = retrieval(model, self.opinions, cache)
        weight = heads_of(model).fusion_weight if log_odds else None
        # before the end of training a weight that is to be learned is not known: the classifier alone
        weight = None if weight == LEARNED else weight
        return rank_all(self.opinions, queries @ documents.T, log_odds, weight, ("epa",)).hits["epa"]

    def metrics(self, scores: np.ndarray) -> dict[str, float | int]:
        sizes = zip(self.opinions.answers, self.opinions.of("epa"), strict=True)
        return {
            "other_side": float(scores.mean()),
            "chance": float(np.mean([len(answers) / len(pool) for answers, pool in sizes])),
            "n_debates": int(self.opinions.groups.max() + 1),
        }

    def intervals(self, scores: np.ndarray) -> dict[str, tuple[float, float]]:
        """That of `other_side`, over debates."""
        low, high = accuracy_interval(scores, self.opinions.groups, 1000, 0)
        return {} if low is None else {"other_side": (low, high)}


def retrieval(
    model: SentenceTransformer, candidates: Points, folder: Path | None = None
) -> tuple[np.ndarray, np.ndarray, LogOdds | None]:
    """What a model ranks by: embeddings of the points, (n, d), and of all texts, (m, d), compared by dot product.

    And what gives the log-odds for the text number of a point and those of k candidates, shape (k,), if it has heads.
    """
    if heads_of(model) is None:
        prompts, points = model.prompts or {}, [candidates.texts[point] for point in candidates.points]
        if any(isinstance(module, Router) for module in model) or prompts.get("query") or prompts.get("document"):
            query, document = (Vectors(model, folder, task) for task in ("query", "document"))
            return query(points, 64), document(candidates.texts, 64), None
        documents = Vectors(model, folder)(candidates.texts, 64)
        return documents[candidates.points], documents, None
    whole = BipolarEncoder.of(model)
    u = Vectors(whole.encoder, folder)(candidates.texts, 64)
    queries = whole.retrieval_embeddings(u[candidates.points], queries=True)
    return queries, whole.retrieval_embeddings(u), lambda point, texts: whole.margins(u[point], u[texts])


def rank_all(
    candidates: Points,
    similarities: np.ndarray,
    log_odds: LogOdds | None = None,
    weight: float | str | None = None,
    settings: Sequence[str] = tuple(SETTINGS),
) -> Ranked:
    """Ranks the candidates of every point in every setting by similarities, shape (n, m), and a classifier.

    A shortlisted candidate's score is its similarity + weight * log-odds; with weight None the log-odds alone, as in
    the paper; "learned": with the best of `WEIGHTS` on these points.
    """
    lists = {setting: shortlist(similarities, candidates.of(setting), max(SHORTLISTS)) for setting in settings}
    near, values = lists["epa"]
    firsts = {"retrieval": near[:, 0]}
    if log_odds is None:
        firsts |= {setting: texts[:, 0] for setting, (texts, _) in lists.items()}
    else:
        odds = {setting: _shortlist_odds(candidates, texts, log_odds) for setting, (texts, _) in lists.items()}
        weight = _best(candidates, near, values, odds["epa"]) if weight == LEARNED else weight
        firsts |= {setting: _first(*pair, odds[setting], weight) for setting, pair in lists.items()}
        firsts |= {key: reranked(near[:, :k], odds["epa"][:, :k]) for key, k in CLASSIFICATION.items()}
    right = candidates.hits(near)
    recall = {k: float(right[:, :k].any(axis=1).mean()) for k in SHORTLISTS}
    return Ranked({name: candidates.hits(first) for name, first in firsts.items()}, recall, weight)


def _shortlist_odds(candidates: Points, shortlists: np.ndarray, log_odds: LogOdds) -> np.ndarray:
    """The log-odds of shortlisted texts, shape (n, K), 0 where there is none."""
    odds = np.zeros(shortlists.shape, np.float32)
    for row, (point, texts) in enumerate(zip(candidates.points, shortlists, strict=True)):
        if (there := texts != NONE).any():
            odds[row, there] = log_odds(point, texts[there])
    return odds


def _first(near: np.ndarray, similarities: np.ndarray, odds: np.ndarray, weight: float | None) -> np.ndarray:
    return reranked(near, odds if weight is None else similarities + weight * odds)


def _best(points: Points, near: np.ndarray, similarities: np.ndarray, odds: np.ndarray) -> float | None:
    """The weight with the highest accuracy; the first, and so the smallest, of equals, the classifier alone last."""
    return max([*WEIGHTS, None], key=lambda weight: points.hits(_first(near, similarities, odds, weight)).mean())


def learn_weight(model: SentenceTransformer, candidates: Candidates) -> float | None:
    """The best of `WEIGHTS` among all arguments, or None for the classifier alone, for a model with heads."""
    queries, documents, log_odds = retrieval(model, candidates)
    return rank_all(candidates, queries @ documents.T, log_odds, LEARNED, settings=("epa",)).weight
