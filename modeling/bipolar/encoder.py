"""The Bipolar-encoder as a user has it: finds the best counter-arguments to a point among candidates.

`USAGE` shows how. Of a large collection `modeling.bipolar.search` keeps the vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from huggingface_hub import snapshot_download
from sentence_transformers import SentenceTransformer

from modeling.base.adapters import AdapterError
from modeling.base.models import load_model, local_folder, unreachable
from modeling.base.names import BUNDLED, check_model
from modeling.bipolar.heads import BipolarHeads, encoder_of, heads_of

_BLOCK = 65_536  # vectors turned at once, so that a memory-mapped million of them is never in memory as a whole
USAGE = """With its classification head, which ranks what was retrieved, it is opinion-transformers' `BipolarEncoder`:

```python
from modeling.bipolar.encoder import BipolarEncoder

model = BipolarEncoder.from_pretrained("{{repo_id}}")
point = "Trams should be free. Whoever pays nothing leaves the car at home, and the streets get quieter."
candidates = [
    "Free trams are crowded with people who used to walk, and car drivers stay in their cars.",
    "Libraries should open on Sundays, when people have time to read.",
]
for row in model.rank(point, candidates, top_k=3, return_documents=True):
    print(row["score"], row["text"])  # the higher, the better; often below 0, and no probability
```

Retrieval alone needs sentence-transformers only. Points go through `model.encode_query`, candidates through
`model.encode_document`, which differ where the model has a retrieval head for each; `model.encode` takes the latter.
Without its heads the encoder gives vectors that neither retrieve nor classify, so an adapter is not to be loaded
without them.
"""


class BipolarEncoder:
    """One encoder of u and two heads: retrieval gives a shortlist, classification ranks it (Shi et al., section 4).

    A point takes one forward pass; all else is computed from vectors that can be kept.
    """

    def __init__(self, encoder: SentenceTransformer, heads: BipolarHeads) -> None:
        self.encoder, self.heads = encoder, heads.to(encoder.device)

    @classmethod
    def from_pretrained(cls, name: str | Path) -> BipolarEncoder:
        """Loads a released model, a folder (a run, its `merged/` or `adapter/`) or a Hub id; every part is verified.

        A ValueError if there is no such model, or heads or encoder are missing, damaged or another model's.
        """
        source = local_folder(name)
        if str(name) != BUNDLED and not source.is_dir():
            check_model(str(name))
            try:
                source = Path(snapshot_download(str(name)))
            except (OSError, ValueError) as error:
                raise ValueError(unreachable(name, error)) from error
        model = load_model(name if str(name) == BUNDLED else source)
        if heads_of(model) is None:
            raise AdapterError(f"{name}: no Bipolar-encoder: it has no heads; load it with load_model, or name another")
        return cls.of(model)

    @classmethod
    def of(cls, model: SentenceTransformer) -> BipolarEncoder:
        """That of a loaded model which carries heads, sharing its weights."""
        return cls(encoder_of(model), heads_of(model))

    def encode(self, texts: Sequence[str], batch_size: int = 32, show_progress_bar: bool | None = None) -> np.ndarray:
        """The embeddings u of n texts that all scores are computed from, shape (n, d), float32."""
        if not (texts := _checked(texts)):
            return np.empty((0, self.heads.dimension), dtype=np.float32)
        vectors = self.encoder.encode(texts, batch_size=batch_size, show_progress_bar=show_progress_bar)
        return vectors.astype(np.float32, copy=False)

    @torch.inference_mode()
    def retrieval_embeddings(self, u: np.ndarray, queries: bool = False) -> np.ndarray:
        """The retrieval embeddings of queries or candidates, compared by dot product: u -> E, both (n, d)."""
        head = self.heads.queries if queries else self.heads.documents
        embeddings = np.empty(self._checked_vectors(u).shape, dtype=np.float32)
        for start in range(0, len(u), _BLOCK):
            block = slice(start, start + _BLOCK)
            embeddings[block] = head(self._tensor(u[block])).float().cpu().numpy()
        return embeddings

    @torch.inference_mode()
    def margins(self, u_point: np.ndarray, u_candidates: np.ndarray) -> np.ndarray:
        """The classifier's log-odds that a candidate counters the point: u of shapes (d,) and (k, d) -> (k,)."""
        candidates = self._tensor(self._checked_vectors(u_candidates))
        logits = self.heads.classify(self._tensor(u_point).expand_as(candidates), candidates)
        return (logits[:, 1] - logits[:, 0]).float().cpu().numpy()

    def rank(
        self,
        point: str,
        candidates: Sequence[str],
        top_k: int | None = None,
        return_documents: bool = False,
        shortlist: int | None = 50,
        weight: float | None = None,
        candidate_embeddings: np.ndarray | None = None,
    ) -> list[dict[str, Any]]:
        """The best counter-arguments, best first, in the form of `CrossEncoder.rank`: dicts of `corpus_id` and `score`.

        Args:
            point: The argument to counter.
            candidates: k texts. Empty ones and the point itself, but for white space at its ends, are never ranked.
            top_k: Number of results; all that were re-ranked if None.
            return_documents: Whether results have their `text`.
            shortlist: How many with the greatest retrieval similarity are re-ranked, at least `top_k`; all if None.
            weight: Score = retrieval similarity + weight * log-odds of the classifier, so that 0 is retrieval alone;
                `math.inf` is the classifier alone, as in the paper, whose score is a probability. None takes the
                model's own, `heads.fusion_weight`, which is the classifier alone where there is none.
            candidate_embeddings: u of all candidates, shape (k, d), from `encode`: only the point is then encoded.
        """
        if not isinstance(point, str) or not point.strip():
            raise ValueError(f"the point must be a text that is not empty, got {point!r}")
        candidates = _checked(candidates, "candidates")
        ids = np.array([i for i, text in enumerate(candidates) if text.strip() not in ("", point.strip())], dtype=int)
        if candidate_embeddings is None:
            u = self.encode([candidates[i] for i in ids])
        else:
            u = self._checked_vectors(np.asarray(candidate_embeddings))
            if len(u) != len(candidates):
                raise ValueError(f"{len(u)} candidate_embeddings for {len(candidates)} candidates")
            u = u[ids]
        order, scores = self.rank_embeddings(self.encode([point])[0], u, max(shortlist or len(ids), top_k or 0), weight)
        ranking = zip(ids[order[:top_k]].tolist(), scores[:top_k].tolist(), strict=True)
        results = [{"corpus_id": corpus_id, "score": score} for corpus_id, score in ranking]
        return [r | {"text": candidates[r["corpus_id"]]} for r in results] if return_documents else results

    def rank_embeddings(
        self, u_point: np.ndarray, u: np.ndarray, shortlist: int, weight: float | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """What `rank` does with u of the point, shape (d,), and of k candidates, shape (k, d).

        Returns:
            Indices of the shortlisted candidates, best first, equals in the order of retrieval; and their scores.
        """
        weight = self.heads.fusion_weight if weight is None else weight
        weight = math.inf if weight is None else weight
        if not weight >= 0:
            raise ValueError(f"weight must not be negative, got {weight!r}")
        similarities = self.retrieval_embeddings(u) @ self.retrieval_embeddings(u_point[None], queries=True)[0]
        near = np.argsort(-similarities, kind="stable")[:shortlist]
        margins = self.margins(u_point, u[near])
        # the probabilities are in the order of the log-odds, but equal where these are great
        keys = margins if math.isinf(weight) else similarities[near] + weight * margins
        order = np.argsort(-keys, kind="stable")
        scores = torch.from_numpy(margins).sigmoid().numpy() if math.isinf(weight) else keys
        return near[order], scores[order]

    def _checked_vectors(self, u: np.ndarray) -> np.ndarray:
        if np.ndim(u) != 2 or u.shape[1] != self.heads.dimension:
            raise ValueError(f"embeddings of shape {np.shape(u)}: this model needs (n, {self.heads.dimension})")
        return u

    def _tensor(self, u: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.array(u, dtype=np.float32)).to(self.heads.query.weight)  # its device and precision


def _checked(texts: Sequence[str], name: str = "texts") -> list[str]:
    if isinstance(texts, str):
        raise ValueError(f"{name} must be a list of texts, not one text: [{texts[:20]!r}]")
    texts = list(texts)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"{name}[{i}] is no text but {type(text).__name__}: {text!r:.50}")
    return texts
