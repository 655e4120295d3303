"""How often the best counter-argument comes first, in the four settings of candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from modeling.bipolar_files import encoder_of, heads_of
from modeling.bipolar_heads import BipolarHeads
from modeling.counterarguments.candidates import SETTINGS, Candidates
from modeling.dot_plots import plot_dots
from modeling.embeddings import embed
from modeling.evaluators import Evaluator

SHORTLISTS = (10, 30, 50)  # of table 3
WEIGHTS = (0.0, 0.003, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
LEARNED = "learned"
BLOCK = 512  # points ranked at once


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
        rows: Columns of `dataset_scripts.schema.COUNTERS`.
        heads: Returns the heads in training; None for models that carry theirs with them, or have none.
    """

    headline = ("accuracy_epa", "retrieval", "classification_10", "classification_30", "classification_50",
                "accuracy_epc", "accuracy_sda", "accuracy_sdoc")  # fmt: skip
    measures = (*headline, "accuracy_epa_unseen", "recall_10", "recall_30", "recall_50", "fusion_weight", "n_unseen")

    def __init__(
        self,
        rows: Mapping[str, Sequence[str]],
        name: str = "counters",
        heads: Callable[[], Heads] | None = None,
        **facts: str,
    ) -> None:
        super().__init__(name, **facts)
        self.candidates = Candidates(rows)
        self.rows = len(self.candidates)
        self.heads = heads

    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> Ranked:
        encoder, heads = (model, self.heads()) if self.heads else parts_of(model)
        if cache is None:
            vectors = encoder.encode(self.candidates.texts, batch_size=64, normalize_embeddings=True,
                                     show_progress_bar=False)  # fmt: skip
        else:
            vectors = embed(encoder, self.candidates.texts, cache, batch_size=64)
        return rank_all(self.candidates, torch.from_numpy(np.array(vectors)), heads)

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


def rank_all(candidates: Candidates, vectors: torch.Tensor, heads: Heads | None) -> Ranked:
    """Ranks the candidates of every point in every setting.

    Args:
        candidates: n points and m texts.
        vectors: u of the texts, shape (m, d).
        heads: None: by cosine.
    """
    with torch.no_grad():
        if heads is None:
            queries = documents = vectors
        else:
            heads.heads.eval()
            queries, documents = heads.heads.queries(vectors), heads.heads.documents(vectors)
        shortlists = {s: _shortlists(candidates, queries, documents, s) for s in SETTINGS}
        firsts = {"retrieval": shortlists["epa"][0][:, 0]}
        weight = None
        if heads is None:
            firsts |= {setting: found[:, 0] for setting, (found, _) in shortlists.items()}
        else:
            odds = {s: _log_odds(heads.heads, vectors, candidates, found) for s, (found, _) in shortlists.items()}
            weight = _learned(candidates, *shortlists["epa"], odds["epa"]) if heads.weight == LEARNED else heads.weight
            for setting, (found, similarities) in shortlists.items():
                firsts[setting] = _first(found, similarities, odds[setting], weight)
            for k in SHORTLISTS:
                found, similarities = shortlists["epa"]
                firsts[f"classification_{k}"] = _first(found[:, :k], similarities[:, :k], odds["epa"][:, :k], None)
    hits = {name: _hits(candidates, first) for name, first in firsts.items()}
    within = np.array([[index in right for index in row] for row, right in
                       zip(shortlists["epa"][0].tolist(), candidates.answers, strict=True)])  # fmt: skip
    return Ranked(hits, {k: float(within[:, :k].any(axis=1).mean()) for k in SHORTLISTS}, weight)


def _shortlists(
    candidates: Candidates, queries: torch.Tensor, documents: torch.Tensor, setting: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """The candidates with the greatest similarities, as indices of texts, and these; shape (n, K), K at most 50.

    Where a setting has fewer, the rest are -1 with a similarity of -inf.
    """
    pools = candidates.of(setting)
    width = min(max(SHORTLISTS), max(len(pool) for pool in pools))
    parts = []
    for start in range(0, len(candidates), BLOCK):
        block = pools[start : start + BLOCK]
        allowed = torch.zeros(len(block), len(candidates.texts), dtype=torch.bool)
        for row, pool in enumerate(block):
            allowed[row, torch.from_numpy(pool)] = True
        similarities = queries[torch.from_numpy(candidates.points[start : start + BLOCK])] @ documents.T
        parts.append(similarities.masked_fill(~allowed, -torch.inf).topk(width))
    values = torch.cat([part.values for part in parts])
    return torch.cat([part.indices for part in parts]).masked_fill(values.isinf(), -1), values


def _log_odds(
    heads: BipolarHeads, vectors: torch.Tensor, candidates: Candidates, shortlists: torch.Tensor
) -> torch.Tensor:
    """The classifier's log-odds that a shortlisted text counters the point; shape (n, K)."""
    parts = []
    for start in range(0, len(shortlists), BLOCK):
        found = shortlists[start : start + BLOCK]
        points = vectors[torch.from_numpy(candidates.points[start : start + BLOCK])]
        logits = heads.classify(points[:, None].expand(*found.shape, -1), vectors[found.clamp(min=0)])
        parts.append((logits[..., 1] - logits[..., 0]).masked_fill(found < 0, -torch.inf))
    return torch.cat(parts)


def _first(found: torch.Tensor, similarities: torch.Tensor, odds: torch.Tensor, weight: float | None) -> torch.Tensor:
    scores = odds if weight is None else similarities + weight * odds.masked_fill(found < 0, 0.0)
    return found.gather(1, scores.argmax(dim=1, keepdim=True))[:, 0]


def _learned(
    candidates: Candidates, found: torch.Tensor, similarities: torch.Tensor, odds: torch.Tensor
) -> float | None:
    """The weight with the highest accuracy; the first, and so the smallest, of equals, the classifier alone last."""
    weights = [*WEIGHTS, None]
    accuracies = [_hits(candidates, _first(found, similarities, odds, weight)).mean() for weight in weights]
    return weights[int(np.argmax(accuracies))]


def _hits(candidates: Candidates, first: torch.Tensor) -> np.ndarray:
    return np.array([index in right for index, right in zip(first.tolist(), candidates.answers, strict=True)])


def _mean(values: np.ndarray | None) -> float | None:
    return None if values is None else float(values.mean())
