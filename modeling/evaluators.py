"""Evaluators that every system shares: similarities in, the numbers of `metrics/` out, and a picture of both."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path

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
        return self.prefix_name_to_metrics(self.measure(model), self.name)

    @abstractmethod
    def measure(self, model: SentenceTransformer) -> dict[str, float]:
        """The metrics of a model, without prefix."""

    def plot(self, before: SentenceTransformer, after: SentenceTransformer, path: Path) -> str | None:
        """Draws two models side by side; returns a caption, or None if there is nothing to draw."""
        return None


class StanceEvaluator(Evaluator):
    """How far apart the cosines of agreeing and of opposing pairs lie (Ghafouri et al., 2024, section 5.1).

    Args:
        rows: Columns `sentence1`, `sentence2`, `label` (1 agree, 0 oppose).
    """

    headline = ("auroc", "kl", "kl_paper")

    def __init__(self, rows: dict[str, Sequence], name: str = "stance", **facts: str) -> None:
        super().__init__(name, **facts)
        self.columns = [list(rows["sentence1"]), list(rows["sentence2"])]
        self.labels = np.asarray(rows["label"])

    def measure(self, model: SentenceTransformer) -> dict[str, float]:
        cosines = pair_similarities(model, self.columns)[0]
        shared = stance_kl_divergence(cosines, self.labels)
        paper = stance_kl_divergence(cosines, self.labels, mode="paper")
        return shared | {"kl_paper": paper["kl"]}

    def plot(self, before: SentenceTransformer, after: SentenceTransformer, path: Path) -> str:
        groups = []
        for model in (before, after):
            cosines = pair_similarities(model, self.columns)[0]
            groups.append({"agree": cosines[self.labels == 1], "oppose": cosines[self.labels == 0]})
        plot_distributions(groups[0], groups[1], path, f"{self.dataset}: cosine similarity of pairs")
        return f"Cosine similarity of agreeing and opposing pairs, before and after training ({self.dataset})."


class InferenceEvaluator(Evaluator):
    """Cosines of entailing, neutral and contradicting pairs (Ghafouri et al., 2024, appendix A.5).

    Args:
        rows: Columns `sentence1`, `sentence2`, `label` (0 contradiction, 1 neutral, 2 entailment).
    """

    headline = ("auroc", "ordered")
    classes = ("contradiction", "neutral", "entailment")

    def __init__(self, rows: dict[str, Sequence], name: str = "inference", **facts: str) -> None:
        super().__init__(name, **facts)
        self.columns = [list(rows["sentence1"]), list(rows["sentence2"])]
        self.labels = np.asarray(rows["label"])

    def measure(self, model: SentenceTransformer) -> dict[str, float]:
        groups = self._groups(model)
        ends = np.concatenate([groups["contradiction"], groups["entailment"]])
        gold = np.repeat([0, 1], [len(groups["contradiction"]), len(groups["entailment"])])
        means = {f"mean_{name}": float(values.mean()) for name, values in groups.items()}
        ordered = means["mean_contradiction"] < means["mean_neutral"] < means["mean_entailment"]
        return {"auroc": stance_kl_divergence(ends, gold)["auroc"], "ordered": float(ordered), **means}

    def plot(self, before: SentenceTransformer, after: SentenceTransformer, path: Path) -> str:
        title = f"{self.dataset}: cosine similarity by relation"
        plot_distributions(self._groups(before), self._groups(after), path, title)
        return f"Cosine similarity of contradicting, neutral and entailing pairs, before and after ({self.dataset})."

    def _groups(self, model: SentenceTransformer) -> dict[str, np.ndarray]:
        cosines = pair_similarities(model, self.columns)[0]
        return {name: cosines[self.labels == index] for index, name in enumerate(self.classes)}


class SimilarityEvaluator(Evaluator):
    """Spearman correlation of cosine and human judgement: the topical similarity that fine-tuning may forget.

    Args:
        rows: Columns `sentence1`, `sentence2`, `score`.
    """

    headline = ("spearman",)

    def __init__(self, rows: dict[str, Sequence], name: str = "similarity", **facts: str) -> None:
        super().__init__(name, **facts)
        self._evaluator = EmbeddingSimilarityEvaluator(
            list(rows["sentence1"]), list(rows["sentence2"]), list(rows["score"]), main_similarity="cosine",
            batch_size=128, write_csv=False,
        )  # fmt: skip

    def measure(self, model: SentenceTransformer) -> dict[str, float]:
        scores = self._evaluator(model)
        return {"spearman": scores["spearman_cosine"], "pearson": scores["pearson_cosine"]}
