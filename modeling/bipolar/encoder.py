"""The Bipolar-encoder as a user has it: finds the best counter-arguments to a point among candidates.

    model = BipolarEncoder.from_pretrained("bipolar-minilm")
    model.rank("Trams should be free. They keep cars out of town.", candidates, top_k=3, return_documents=True)

Of a large collection `modeling.bipolar.counter_index` keeps the vectors.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from huggingface_hub import ModelCard, PyTorchModelHubMixin, snapshot_download
from sentence_transformers import SentenceTransformer
from torch import nn

from dataset_scripts.base.files import read_json
from modeling.base.adapters import FINGERPRINT, AdapterError
from modeling.base.models import BUNDLED, load_model, local_folder, unreachable
from modeling.bipolar.files import DESCRIPTION, encoder_of, heads_of, write_merged
from modeling.bipolar.heads import BipolarHeads

__all__ = ["USAGE", "BipolarEncoder", "encoder_of", "heads_of"]

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
_CARD = f"""---
{{{{ card_data }}}}
---

# Bipolar-encoder

Finds counter-arguments. The repository is a plain sentence-transformers model of retrieval embeddings:

```python
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("{{{{repo_id}}}}")
similarities = model.similarity(model.encode_query([point]), model.encode_document(candidates))
```

{USAGE}"""


class BipolarEncoder(
    nn.Module,
    PyTorchModelHubMixin,
    library_name="sentence-transformers",
    pipeline_tag="sentence-similarity",
    tags=["sentence-transformers", "argument-mining", "counter-arguments", "retrieval"],
    model_card_template=_CARD,
):
    """One encoder and two heads: retrieval gives a shortlist, classification ranks it (Shi et al., section 4).

    A point takes one forward pass; all else is computed from vectors that can be kept.

    Args:
        encoder: Returns the embedding u of a text.
        heads: Retrieval and classification heads on u; their `fusion_weight` is the default of `rank`.
        base_model: Hub id of the encoder's base.
    """

    def __init__(self, encoder: SentenceTransformer, heads: BipolarHeads, base_model: str | None = None) -> None:
        super().__init__()
        self.encoder, self.heads, self.base_model = encoder, heads.to(encoder.device), base_model
        self.eval()

    def encode(self, texts: Sequence[str], batch_size: int = 32, show_progress_bar: bool | None = None) -> np.ndarray:
        """The embeddings u that all scores are computed from.

        Args:
            texts: n texts; what lies beyond the encoder's `max_seq_length` is not read.
            batch_size: Texts per forward pass.
            show_progress_bar: As in sentence-transformers.

        Returns:
            Shape (n, d), float32.

        Raises:
            ValueError: If `texts` is one text, or one of them is none.
        """
        texts = _checked(texts)
        if not texts:
            return np.empty((0, self.heads.dimension), dtype=np.float32)
        vectors = self.encoder.encode(texts, batch_size=batch_size, show_progress_bar=show_progress_bar)
        return vectors.astype(np.float32, copy=False)

    def retrieval_embeddings(self, u: np.ndarray, queries: bool = False) -> np.ndarray:
        """The retrieval embeddings E of texts, whose dot products are the similarities.

        Args:
            u: From `encode`, shape (n, d); may be memory-mapped.
            queries: Whether they are points; otherwise candidates.

        Returns:
            Shape (n, d), float32; what `SentenceTransformer.encode_query` or `encode_document` gives for the texts.
        """
        head = self.heads.queries if queries else self.heads.documents
        result = np.empty(self._checked_vectors(u).shape, dtype=np.float32)
        with torch.inference_mode():
            for start in range(0, len(u), _BLOCK):
                block = slice(start, start + _BLOCK)
                result[block] = head(self._tensor(u[block])).float().cpu().numpy()
        return result

    def margins(self, u_point: np.ndarray, u_candidates: np.ndarray) -> np.ndarray:
        """The classifier's log-odds that a candidate counters the point.

        Args:
            u_point: u of the point, shape (d,).
            u_candidates: u of k candidates, shape (k, d).

        Returns:
            Shape (k,), float32: the difference of the two logits.
        """
        candidates = self._tensor(self._checked_vectors(u_candidates))
        point = self._tensor(self._checked_vectors(np.asarray(u_point)[None])).expand_as(candidates)
        with torch.inference_mode():
            logits = self.heads.classify(point, candidates)
        return (logits[:, 1] - logits[:, 0]).float().cpu().numpy()

    def scores(self, u_point: np.ndarray, u_candidates: np.ndarray) -> np.ndarray:
        """The classifier's probabilities that a candidate counters the point.

        Args:
            u_point, u_candidates: As for `margins`.

        Returns:
            Shape (k,), float32, in [0, 1].
        """
        return torch.from_numpy(self.margins(u_point, u_candidates)).sigmoid().numpy()

    def rank(
        self,
        point: str,
        candidates: Sequence[str],
        top_k: int | None = None,
        return_documents: bool = False,
        shortlist: int | None = 50,
        weight: float | None = None,
        candidate_embeddings: np.ndarray | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
    ) -> list[dict[str, Any]]:
        """The best counter-arguments, best first, in the form of `CrossEncoder.rank`.

        Args:
            point: The argument to counter.
            candidates: k texts. Empty ones and the point itself (the same text, but for white space at its ends) are
                never ranked.
            top_k: Number of results; all that were re-ranked if None.
            return_documents: Whether results have their `text`.
            shortlist: Number of candidates with the greatest retrieval similarity that are re-ranked, at least `top_k`;
                all if None.
            weight: Score = retrieval similarity + weight * log-odds of the classifier, so that 0 is retrieval alone;
                `math.inf` is the classifier alone, as in the paper. None takes the model's own, `heads.fusion_weight`,
                which is the classifier alone where there is none.
            candidate_embeddings: u of all candidates, shape (k, d), from `encode`: only the point is then encoded.
            batch_size, show_progress_bar: As for `encode`, if the candidates are encoded.

        Returns:
            Dicts with `corpus_id`, the candidate's index, and `score`: its probability if the classifier ranks alone.

        Raises:
            ValueError: If the point is empty or no text, a candidate is no text, the embeddings do not fit the
                candidates, or a number is out of range.
        """
        if not isinstance(point, str) or not point.strip():
            raise ValueError(f"the point must be a text that is not empty, got {point!r}")
        candidates = _checked(candidates, "candidates")
        for name, number in (("top_k", top_k), ("shortlist", shortlist)):
            if number is not None and number < 1:
                raise ValueError(f"{name} must be at least 1, got {number!r}")
        kept = np.array([i for i, text in enumerate(candidates) if text.strip() not in ("", point.strip())], dtype=int)
        if candidate_embeddings is None:
            u = self.encode([candidates[i] for i in kept], batch_size, show_progress_bar)
        else:
            u = self._checked_vectors(np.asarray(candidate_embeddings))
            if len(u) != len(candidates):
                raise ValueError(f"{len(u)} candidate_embeddings for {len(candidates)} candidates")
            u = u if len(kept) == len(u) else u[kept]
        u_point = self.encode([point])[0]
        order, scores = self.rank_embeddings(u_point, u, max(shortlist or len(kept), top_k or 0), weight)
        results = [
            {"corpus_id": int(kept[i]), "score": float(score)}
            for i, score in zip(order[:top_k], scores[:top_k], strict=True)
        ]
        return [r | {"text": candidates[r["corpus_id"]]} for r in results] if return_documents else results

    def rank_embeddings(
        self, u_point: np.ndarray, u: np.ndarray, shortlist: int, weight: float | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """What `rank` does with vectors.

        Args:
            u_point: u of the point, shape (d,).
            u: Of k candidates, shape (k, d).
            shortlist, weight: As for `rank`.

        Returns:
            Indices of the shortlisted candidates, best first, equals in the order of retrieval; and their scores.
        """
        weight = self._weight(weight)
        similarities = self.retrieval_embeddings(u) @ self.retrieval_embeddings(u_point[None], queries=True)[0]
        found = np.argsort(-similarities, kind="stable")[:shortlist]
        margins = self.margins(u_point, u[found])
        # the probabilities are in the order of the log-odds, but equal where these are great
        keys = margins if math.isinf(weight) else similarities[found] + weight * margins
        order = np.argsort(-keys, kind="stable")
        scores = torch.from_numpy(margins).sigmoid().numpy() if math.isinf(weight) else keys
        return found[order], scores[order]

    def _weight(self, weight: float | None) -> float:
        weight = self.heads.fusion_weight if weight is None else weight
        if weight is not None and not weight >= 0:
            raise ValueError(f"weight must not be negative, got {weight!r}")
        return math.inf if weight is None else float(weight)

    def _checked_vectors(self, u: np.ndarray) -> np.ndarray:
        if np.ndim(u) != 2 or u.shape[1] != self.heads.dimension:
            raise ValueError(f"embeddings of shape {np.shape(u)}: this model needs (n, {self.heads.dimension})")
        return u

    def _tensor(self, u: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.array(u, dtype=np.float32)).to(self.heads.query.weight)  # its device and precision

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: str | Path,
        *,
        force_download: bool = False,
        token: str | bool | None = None,
        cache_dir: str | Path | None = None,
        local_files_only: bool = False,
        revision: str | None = None,
    ) -> BipolarEncoder:
        """Loads a Bipolar-encoder, every part of which is verified.

        Args:
            pretrained_model_name_or_path: A released model (`bipolar-minilm`), a folder (of `save_pretrained`, a run,
                its `merged/` or `adapter/`), or a Hub id. Only the last needs a network.
            force_download, token, cache_dir, local_files_only, revision: As for `PyTorchModelHubMixin`; for the Hub.

        Raises:
            AdapterError: A ValueError: if a head is missing, damaged, of another dimension or another model's, if the
                encoder is another one, or if there are no heads.
            ValueError: If there is no such model, or it cannot be reached.
        """
        # not the mixin's, which takes the config.json in the root for its own: here it is the transformer's
        hub = {"force_download": force_download, "token": token, "cache_dir": cache_dir, "revision": revision,
               "local_files_only": local_files_only}  # fmt: skip
        return cls._from_pretrained(model_id=str(pretrained_model_name_or_path), **hub)

    @classmethod
    def _from_pretrained(cls, *, model_id: str, **hub: Any) -> BipolarEncoder:
        folder = local_folder(model_id)
        if model_id == BUNDLED:
            raise AdapterError(f"{model_id}: the untrained encoder has no heads; it is no Bipolar-encoder")
        if not folder.is_dir():
            try:
                folder = Path(snapshot_download(model_id, **hub))
            except (OSError, ValueError) as error:
                raise ValueError(unreachable(model_id, error)) from error
        folder = folder / "merged" if (folder / "merged").is_dir() else folder
        model = load_model(folder)
        if (heads := heads_of(model)) is None:
            needed = FINGERPRINT if (folder / DESCRIPTION).is_file() else DESCRIPTION
            raise AdapterError(
                f"{model_id}: no Bipolar-encoder: {needed} is missing, so its heads cannot be "
                f"{'verified' if needed == FINGERPRINT else 'found'}; download it again, or load it "
                "with load_model if it never had any"
            )
        return cls(encoder_of(model), heads, read_json(folder / FINGERPRINT).get("base_model"))

    def _save_pretrained(self, save_directory: Path) -> None:
        """Writes a plain SentenceTransformer of E with both heads, loaded again before it takes its place."""
        with tempfile.TemporaryDirectory() as temporary:
            write_merged(self.encoder, self.heads, Path(temporary), self.base_model)
            shutil.copytree(temporary, save_directory, dirs_exist_ok=True)

    def generate_model_card(self, *args: Any, **options: Any) -> ModelCard:
        """As `PyTorchModelHubMixin.generate_model_card`, with the base."""
        card = super().generate_model_card(*args, **({"repo_id": "path/of/this/folder"} | options))
        card.data.base_model = self.base_model
        return card

    def push_to_hub(self, repo_id: str, **options: Any) -> str:
        """As `PyTorchModelHubMixin.push_to_hub`; the card names the repository."""
        card = {"repo_id": repo_id} | (options.pop("model_card_kwargs", None) or {})
        return super().push_to_hub(repo_id, model_card_kwargs=card, **options)


def _checked(texts: Sequence[str], name: str = "texts") -> list[str]:
    if isinstance(texts, str):
        raise ValueError(f"{name} must be a list of texts, not one text: [{texts[:20]!r}]")
    texts = list(texts)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"{name}[{i}] is no text but {type(text).__name__}: {text!r:.50}")
    return texts
