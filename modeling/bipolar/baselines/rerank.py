"""Re-rankers: other scores for shortlisted candidates, by a classification head or by a cross-encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sentence_transformers import CrossEncoder
from torch import nn
from tqdm.auto import tqdm

from dataset_scripts.base.files import read_json, write_json
from modeling.bipolar.baselines.costs import Cost, Costs, Meter, metered, read_cost, weights
from modeling.bipolar.baselines.models import check_finite, identity
from modeling.bipolar.baselines.ranking import NONE
from modeling.bipolar.baselines.retrieval import Vectors
from modeling.bipolar.candidates import Candidates

PAIRS = 256  # scored between two checkpoints: a minute or so of a MiniLM on one core
BATCH = 32


class Reranker(Protocol):
    """Scores shortlists; `key` tells re-rankers apart, `slow` those whose scores cost a forward pass a pair."""

    key: str
    slow: bool

    def scores(
        self, candidates: Candidates, digest: str, rows: np.ndarray, shortlists: np.ndarray
    ) -> tuple[np.ndarray, Costs]:
        """Scores of shortlisted candidates and what each step cost.

        Args:
            candidates: Points and texts.
            digest: Of both.
            rows: Which points, shape (r,).
            shortlists: Their candidates, shape (r, K); -1 where there is none.

        Returns:
            Shape (r, K) of float32, -inf where there is none; the higher, the better.
        """
        ...


class ClassificationHead:
    """Log-odds of a Bipolar-encoder's classification head, from vectors that are kept (Shi et al., section 5.1).

    Args:
        model: The Bipolar-encoder.
        label: What it is called in messages.
        folder: Where the vectors u are kept.
    """

    slow = False

    def __init__(self, model: Any, label: str, folder: Path) -> None:
        self.model, self.texts = model, Vectors(model.encoder, label, folder)
        self.key = f"classification-{identity(model)}"

    def scores(
        self, candidates: Candidates, digest: str, rows: np.ndarray, shortlists: np.ndarray
    ) -> tuple[np.ndarray, Costs]:
        u, costs = self.texts(candidates.texts)
        found = np.full(shortlists.shape, -np.inf, np.float32)
        with Meter() as meter:
            for row, (point, listed) in enumerate(zip(candidates.points[rows], shortlists, strict=True)):
                there = listed != NONE
                if there.any():
                    found[row, there] = self.model.margins(u[point], u[listed[there]])
        check_finite(found[shortlists != NONE], f"{self.texts.label}, classification head")
        return found, costs | weights(self.model, identity(self.model)) | {self.key: meter.cost}


class PairScores:
    """Scores of a cross-encoder, kept for every pair of a point and a text, whichever retriever found it.

    Args:
        model: The cross-encoder.
        label: What it is called in messages.
        folder: Where scores are kept.
    """

    slow = True

    def __init__(self, model: CrossEncoder, label: str, folder: Path) -> None:
        self.model, self.label, self.folder = model, label, folder
        self.key = f"cross-encoder-{identity(model)}"

    def scores(
        self, candidates: Candidates, digest: str, rows: np.ndarray, shortlists: np.ndarray
    ) -> tuple[np.ndarray, Costs]:
        path = self.folder / f"{self.key}-{digest}.npy"
        kept = self._open(path, (len(candidates), len(candidates.texts)))
        there = shortlists != NONE
        points, texts = np.broadcast_to(rows[:, None], shortlists.shape)[there], shortlists[there]
        missing = np.isnan(kept[points, texts])
        self._compute(kept, path, candidates, points[missing], texts[missing])
        found = np.full(shortlists.shape, -np.inf, np.float32)
        found[there] = kept[points, texts]
        return found, self._cost(path, len(points))

    def _open(self, path: Path, shape: tuple[int, int]) -> np.ndarray:
        """All scores, NaN where one was not computed; written in place, since a pair is there or not."""
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_suffix(".partial.npy")
            kept = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.float32, shape=shape)
            kept[:] = np.nan
            del kept
            temporary.replace(path)
        return np.load(path, mmap_mode="r+")

    def _compute(
        self, kept: np.ndarray, path: Path, candidates: Candidates, points: np.ndarray, texts: np.ndarray
    ) -> None:
        with tqdm(total=len(points), desc=f"pairs read by {self.label}", unit="pair", disable=not len(points)) as bar:
            for start in range(0, len(points), PAIRS):
                block = slice(start, start + PAIRS)
                pairs = [
                    (candidates.texts[candidates.points[point]], candidates.texts[text])
                    for point, text in zip(points[block], texts[block], strict=True)
                ]
                with metered(path.with_name(f"{path.stem}-cost.json")):
                    scores = self.model.predict(
                        pairs, batch_size=BATCH, show_progress_bar=False, activation_fn=nn.Identity()
                    )
                    scores = scores if scores.ndim == 1 else scores[:, 1] - scores[:, 0]
                    check_finite(scores, f"the scores of {self.label}")
                    kept[points[block], texts[block]] = scores
                    kept.flush()
                count = path.with_name(f"{path.stem}-count.json")
                write_json(count, (read_json(count) or 0) + len(pairs))
                bar.update(len(pairs))

    def _cost(self, path: Path, pairs: int) -> Costs:
        """What these pairs cost, by the mean of all that were ever scored."""
        whole, count = (path.with_name(f"{path.stem}-{name}.json") for name in ("cost", "count"))
        cost = read_cost(whole)
        seconds = cost.seconds * pairs / max(read_json(count) or 0, 1)
        return weights(self.model, self.key) | {self.key: Cost(seconds, cost.peak)}
