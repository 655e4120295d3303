"""Evaluators that every system shares: similarities in, the numbers of `metrics/` out, and a picture of both."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.evaluation import BaseEvaluator
from sentence_transformers.sentence_transformer.evaluation import EmbeddingSimilarityEvaluator

from metrics.stance_kl_divergence.stance_kl_divergence import stance_kl_divergence
from modeling.embeddings import pair_similarities
from modeling.plots import plot_distributions


class Evaluator(BaseEvaluator):
    """A sentence-transformers evaluator that a model card can describe and plot.

    Attributes:
        name: Prefix of its metrics.
        title: What it measures, for tables and captions.
        dataset: Name of the data, for the card's model index.
        dataset_id: Hub id or short name of the data.
        task: Hub task of the result.
        headline: Metric keys (without prefix) that go into tables, the most important first.
    """

    headline: tuple[str, ...] = ()

    def __init__(self, name: str, title: str, dataset: str, dataset_id: str, task: str = "sentence-similarity") -> None:
        super().__init__()
        self.name, self.title, self.dataset, self.dataset_id, self.task = name, title, dataset, dataset_id, task
        self.primary_metric = self.headline[0]

    def __call__(
        self, model: SentenceTransformer, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        return self.prefixed(self.scores(model))

    def prefixed(self, scores: Any) -> dict[str, float]:
        """The metrics of scores, with this evaluator's name in front."""
        return self.prefix_name_to_metrics(self.metrics(scores), self.name)

    @abstractmethod
    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> Any:
        """What the metrics and the plot are computed from; slow.

        Args:
            model: The encoder.
            cache: Folder where vectors of a model that does not change are kept.
        """

    @abstractmethod
    def metrics(self, scores: Any) -> dict[str, float]:
        """The metrics of scores, without prefix."""

    def draw(self, before: Any, after: Any, path: Path) -> str | None:
        """Draws the scores of two models side by side; returns a caption, or None if there is nothing to draw."""
        return None


class PairEvaluator(Evaluator):
    """Cosines of pairs that belong to named groups.

    Args:
        rows: Columns `sentence1`, `sentence2` and `label`, an index into `groups`.
    """

    groups: tuple[str, ...]

    def __init__(self, rows: dict[str, Sequence], name: str, **facts: str) -> None:
        super().__init__(name, **facts)
        self.columns = [list(rows["sentence1"]), list(rows["sentence2"])]
        self.labels = np.asarray(rows["label"])

    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> np.ndarray:
        return pair_similarities(model, self.columns, cache)[0]

    def by_group(self, scores: np.ndarray) -> dict[str, np.ndarray]:
        """Group -> its cosines."""
        return {group: scores[self.labels == index] for index, group in enumerate(self.groups)}

    def draw(self, before: np.ndarray, after: np.ndarray, path: Path) -> str:
        title = f"{self.dataset}: cosine similarity of pairs"
        plot_distributions(self.by_group(before), self.by_group(after), path, title)
        return f"Cosine similarity of {self.title}, before and after training ({self.dataset})."


class StanceEvaluator(PairEvaluator):
    """How far apart the cosines of agreeing and of opposing pairs lie (Ghafouri et al., 2024, section 5.1).

    Labels are 1 for agreement and 0 for opposition.
    """

    headline = ("auroc", "kl", "kl_paper")
    groups = ("oppose", "agree")

    def __init__(self, rows: dict[str, Sequence], name: str = "stance", **facts: str) -> None:
        super().__init__(rows, name, **facts)

    def metrics(self, scores: np.ndarray) -> dict[str, float]:
        paper = stance_kl_divergence(scores, self.labels, mode="paper")
        return stance_kl_divergence(scores, self.labels) | {"kl_paper": paper["kl"]}


class InferenceEvaluator(PairEvaluator):
    """Cosines of contradicting, neutral and entailing pairs (Ghafouri et al., 2024, appendix A.5).

    Labels are 0 for contradiction, 1 for neutral and 2 for entailment; AUROC is that of entailment against
    contradiction, and `ordered` is 1 if the means rise in that order.
    """

    headline = ("auroc", "ordered")
    groups = ("contradiction", "neutral", "entailment")

    def __init__(self, rows: dict[str, Sequence], name: str = "inference", **facts: str) -> None:
        super().__init__(rows, name, **facts)

    def metrics(self, scores: np.ndarray) -> dict[str, float]:
        ends = self.labels != 1
        auroc = stance_kl_divergence(scores[ends], self.labels[ends] // 2)["auroc"]
        means = {f"mean_{group}": float(values.mean()) for group, values in self.by_group(scores).items()}
        ordered = means["mean_contradiction"] < means["mean_neutral"] < means["mean_entailment"]
        return {"auroc": auroc, "ordered": float(ordered), **means}


class SimilarityEvaluator(Evaluator):
    """Correlation of cosine and human judgement: the topical similarity that fine-tuning may forget.

    Args:
        rows: Columns `sentence1`, `sentence2`, `score`.
    """

    headline = ("spearman",)

    def __init__(self, rows: dict[str, Sequence], name: str = "similarity", **facts: str) -> None:
        super().__init__(name, **facts)
        columns = (list(rows[column]) for column in ("sentence1", "sentence2", "score"))
        self._evaluator = EmbeddingSimilarityEvaluator(*columns, main_similarity="cosine", write_csv=False)

    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> dict[str, float]:
        return self._evaluator(model)

    def metrics(self, scores: dict[str, float]) -> dict[str, float]:
        return {"spearman": scores["spearman_cosine"], "pearson": scores["pearson_cosine"]}
