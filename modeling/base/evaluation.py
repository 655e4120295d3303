"""Evaluators that every system shares: similarities in, the numbers of `metrics/` out, and a picture of both."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import pearsonr, spearmanr
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.evaluation import BaseEvaluator
from sklearn.metrics import roc_auc_score

from metrics.alignment_precision.alignment_precision import alignment_precision
from metrics.stance_kl_divergence.stance_kl_divergence import stance_kl_divergence
from modeling.base.plots import plot_alignment, plot_distributions
from modeling.base.vectors import embed, pair_similarities


class Evaluator(BaseEvaluator):
    """A sentence-transformers evaluator that a model card can describe and plot.

    Attributes:
        name: Prefix of its metrics.
        title: What it measures, for tables and captions.
        dataset: Name of the data, for the card's model index.
        dataset_id: Hub id or short name of the data.
        task: Hub task of the result.
        rows: Number of rows measured.
        headline: Metric keys (without prefix) that go into the tables of cards and runs, the most important first.
        measures: Metric keys (without prefix) of a table that has room for all that helps to read them.
    """

    rows: int = 0
    headline: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()

    def __init__(self, name: str, title: str, dataset: str, dataset_id: str, task: str = "sentence-similarity") -> None:
        super().__init__()
        self.name, self.title, self.dataset, self.dataset_id, self.task = name, title, dataset, dataset_id, task
        self.primary_metric = self.headline[0]

    def __call__(
        self, model: SentenceTransformer, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        return self.prefixed(self.scores(model))

    def prefixed(self, scores: Any) -> dict[str, float]:
        """The metrics of scores, with this evaluator's name in front; counts stay whole, and None stays None."""
        metrics = self.metrics(scores)
        floats = {key: value for key, value in metrics.items() if value is not None and not isinstance(value, int)}
        floats = self.prefix_name_to_metrics(floats, self.name)
        return {name: floats.get(name, value) for name, value in ((f"{self.name}_{k}", v) for k, v in metrics.items())}

    @abstractmethod
    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> Any:
        """What the metrics and the plot are computed from; slow.

        Args:
            model: The encoder.
            cache: Folder where vectors of a model that does not change are kept.
        """

    @abstractmethod
    def metrics(self, scores: Any) -> dict[str, float | int | None]:
        """The metrics of scores, without prefix; None where there is nothing to compute one from."""

    def draw(self, scores: dict[str, Any], path: Path) -> str | None:
        """Draws the scores of models (label -> scores); returns a caption, or None if there is nothing to draw."""
        return None


class PairEvaluator(Evaluator):
    """Cosines of pairs that belong to named groups.

    Args:
        rows: Columns `sentence1`, `sentence2` and `label`, an index into `groups`.
        counted: Which rows are measured, shape (n,) of bool; all if None. The vectors of all are computed, so that
            evaluators of one set of rows share them.
    """

    groups: tuple[str, ...]

    def __init__(self, rows: dict[str, Sequence], name: str, counted: np.ndarray | None = None, **facts: str) -> None:
        super().__init__(name, **facts)
        self.columns = [list(rows["sentence1"]), list(rows["sentence2"])]
        labels = np.asarray(rows["label"])
        self.counted = np.ones(len(labels), bool) if counted is None else counted
        self.labels = labels[self.counted]
        self.rows = len(self.labels)

    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> np.ndarray:
        return pair_similarities(model, self.columns, cache)[0][self.counted]

    def by_group(self, scores: np.ndarray) -> dict[str, np.ndarray]:
        """Group -> its cosines."""
        return {group: scores[self.labels == index] for index, group in enumerate(self.groups)}

    def draw(self, scores: dict[str, np.ndarray], path: Path) -> str:
        title = f"{self.dataset}: {self.title}"
        plot_distributions({label: self.by_group(values) for label, values in scores.items()}, path, title)
        return f"Cosine similarity of {self.title}, by model: {', '.join(scores)} ({self.dataset})."


class StanceEvaluator(PairEvaluator):
    """How far apart the cosines of agreeing and of opposing pairs lie (Ghafouri et al., 2024, section 5.1).

    Labels are 1 for agreement and 0 for opposition.
    """

    headline = ("auroc", "kl", "kl_paper")
    measures = (*headline, "mean_agree", "mean_oppose", "n_agree", "n_oppose")
    groups = ("oppose", "agree")

    def __init__(self, rows: dict[str, Sequence], name: str = "stance", **facts: Any) -> None:
        super().__init__(rows, name, **facts)

    def metrics(self, scores: np.ndarray) -> dict[str, float]:
        paper = stance_kl_divergence(scores, self.labels, mode="paper")
        return stance_kl_divergence(scores, self.labels) | {"kl_paper": paper["kl"]}


class TopicEvaluator(PairEvaluator):
    """Whether texts of one discussion stay nearer to each other than to those of another.

    An encoder that learns stance may come to place texts by their tone alone: what is against anything is alike. Sets
    of scored sentence pairs do not show that, since their pairs share a topic or are as neutral as everyday sentences.
    `auroc` is that of pairs of one discussion against pairs of two; `p99_other` is the cosine that one in a hundred
    pairs of two discussions exceeds.

    Args:
        rows: Pairs within discussions: columns `sentence1`, `sentence2` and `group`, at least two groups.
        seed: Seed of the pairs across discussions, one for each row.
    """

    headline = ("auroc", "p99_other")
    measures = (*headline, "mean_same", "mean_other")
    groups = ("other discussion", "same discussion")

    def __init__(self, rows: dict[str, Sequence], name: str = "topic", seed: int = 0, **facts: Any) -> None:
        first, second = list(rows["sentence1"]), list(rows["sentence2"])
        other = of_another_group(np.unique(rows["group"], return_inverse=True)[1], seed)
        labels = [1] * len(first) + [0] * len(first)
        paired = {"sentence1": first * 2, "sentence2": second + [second[i] for i in other], "label": labels}
        super().__init__(paired, name, **facts)

    def metrics(self, scores: np.ndarray) -> dict[str, float]:
        by_group = self.by_group(scores)
        other, same = (by_group[group].astype(float) for group in self.groups)
        auroc = stance_kl_divergence(scores, self.labels)["auroc"]
        means = {"mean_same": float(same.mean()), "mean_other": float(other.mean())}
        return {"auroc": auroc, "p99_other": float(np.quantile(other, 0.99)), **means}


def of_another_group(groups: np.ndarray, seed: int) -> np.ndarray:
    """For each row the number of a random row of another group."""
    order = np.argsort(groups, kind="stable")
    starts, sizes = np.searchsorted(groups[order], groups), np.bincount(groups)[groups]
    # a place among the rows of other groups: those that lie after the own group's are moved behind it
    place = (np.random.default_rng(seed).random(len(groups)) * (len(groups) - sizes)).astype(np.int64)
    return order[np.where(place >= starts, place + sizes, place)]


class InferenceEvaluator(PairEvaluator):
    """Cosines of contradicting, neutral and entailing pairs (Ghafouri et al., 2024, appendix A.5).

    Labels are 0 for contradiction, 1 for neutral and 2 for entailment; AUROC is that of entailment against
    contradiction, and `ordered` is 1 if the means rise in that order.
    """

    headline = ("auroc", "ordered")
    groups = ("contradiction", "neutral", "entailment")
    measures = (*headline, "mean_contradiction", "mean_neutral", "mean_entailment")

    def __init__(self, rows: dict[str, Sequence], name: str = "inference", **facts: Any) -> None:
        super().__init__(rows, name, **facts)

    def metrics(self, scores: np.ndarray) -> dict[str, float]:
        ends = self.labels != 1
        auroc = stance_kl_divergence(scores[ends], self.labels[ends] // 2)["auroc"]
        means = {f"mean_{group}": float(values.mean()) for group, values in self.by_group(scores).items()}
        ordered = means["mean_contradiction"] < means["mean_neutral"] < means["mean_entailment"]
        return {"auroc": auroc, "ordered": int(ordered), **means}


class SimilarityEvaluator(Evaluator):
    """Correlation of cosine and human judgement: the topical similarity that fine-tuning may forget.

    Args:
        rows: Columns `sentence1`, `sentence2`, `score`.
    """

    headline = ("spearman",)
    measures = ("spearman", "pearson")

    def __init__(self, rows: dict[str, Sequence], name: str = "similarity", **facts: str) -> None:
        super().__init__(name, **facts)
        self.columns = [list(rows["sentence1"]), list(rows["sentence2"])]
        self.judgements = np.asarray(rows["score"], dtype=float)
        self.rows = len(self.judgements)

    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> np.ndarray:
        return pair_similarities(model, self.columns, cache)[0]

    def metrics(self, scores: np.ndarray) -> dict[str, float]:
        return {
            "spearman": float(spearmanr(scores, self.judgements).statistic),
            "pearson": float(pearsonr(scores, self.judgements).statistic),
        }


@dataclass(frozen=True)
class Query:
    """A statement whose like is looked for among texts of several groups.

    Attributes:
        name: First part of its metrics' names.
        text: The statement.
        target: The group whose view it states.
        threshold: Cosine from which a text counts as found, in [-1, 1].
    """

    name: str
    text: str
    target: str
    threshold: float


class AlignmentEvaluator(Evaluator):
    """Whose texts a statement finds (Ghafouri et al., 2024, section 5.3, table 4).

    A fixed threshold finds ever fewer texts where a model's cosines are lower as a whole. Beside it stand figures that
    do not depend on that level: the share of the target group among the k texts most similar to the statement. Over
    texts on many topics all of these also tell who writes on the statement's topic. Where all texts are on it, there
    are the AUROC of the target group against the others, and that of two statements' groups by the difference of the
    two cosines, which a word that both statements have does not change.

    Args:
        rows: Columns `text` and `group`.
        queries: The statements.
        on_topic: Whether all texts are on the statements' topic. If not, AUROC would mostly tell the topic of a text.

    Raises:
        ValueError: If there are no such columns, or nobody or everybody is of a statement's group.
    """

    cutoffs = (10, 25, 50)

    def __init__(
        self, rows: Any, queries: Sequence[Query], name: str = "alignment", on_topic: bool = False, **facts: str
    ) -> None:
        columns = getattr(rows, "column_names", rows)
        if missing := [column for column in ("text", "group") if column not in columns]:
            raise ValueError(f"{facts['dataset']}: no column {' and no column '.join(missing)}; it has {list(columns)}")
        self.texts, self.groups, self.queries = list(rows["text"]), list(rows["group"]), queries
        self.rows, self.on_topic = len(self.texts), on_topic
        found = sorted(set(self.groups))
        for query in queries:
            if query.target not in found or len(found) < 2:
                raise ValueError(f"{facts['dataset']}: {query.text!r} needs texts of {query.target!r} and of others to "
                                 f"tell apart; there are {', '.join(map(repr, found)) or 'none'}")  # fmt: skip
        at_k = [f"precision_at_{k}" for k in self.cutoffs if k <= self.rows]
        if on_topic:
            self.opposed = [(a, b) for a, b in itertools.combinations(range(len(queries)), 2)
                            if queries[a].target != queries[b].target]  # fmt: skip
            headline, measures = ["auroc"], ["auroc", *at_k, "base_rate"]
        else:
            self.opposed = []
            headline = ["precision", "retrieved", *at_k[:1], "base_rate"]
            measures = ["precision", "retrieved", *(f"retrieved_{group}" for group in found), *at_k, "base_rate"]
        contrasts = tuple(self._contrast(*pair) for pair in self.opposed)
        self.headline, self.measures = (
            contrasts + tuple(f"{query.name}_{key}" for query in queries for key in keys)
            for keys in (headline, measures)
        )
        super().__init__(name, **facts)

    def _contrast(self, one: int, other: int) -> str:
        return f"{self.queries[one].name}_{self.queries[other].name}_contrast_auroc"

    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> np.ndarray:
        """Cosines of shape (queries, texts); every distinct text is embedded once."""
        index: dict[str, int] = {}
        positions = [index.setdefault(text, len(index)) for text in self.texts]
        options = {"normalize_embeddings": True, "show_progress_bar": False}
        statements = model.encode([query.text for query in self.queries], **options)
        vectors = embed(model, list(index), cache) if cache else model.encode(list(index), **options)
        return np.clip(statements @ vectors.T, -1.0, 1.0)[:, positions]

    def metrics(self, scores: np.ndarray) -> dict[str, float | int | None]:
        cutoffs = [k for k in self.cutoffs if k <= self.rows]
        result: dict[str, float | int | None] = {}
        for query, cosines in zip(self.queries, scores, strict=True):
            found = alignment_precision(cosines, self.groups, query.target, query.threshold, cutoffs)
            values = {key: found[key] for key in ("precision", "retrieved", "base_rate")}
            values |= {f"retrieved_{group}": count for group, count in found["counts"].items()}
            values |= {f"precision_at_{k}": share for k, share in found["precision_at_k"].items()}
            if self.on_topic:
                values["auroc"] = float(roc_auc_score(self.aligned(query), cosines))
            result |= {f"{query.name}_{key}": value for key, value in values.items()}
        for one, other in self.opposed:
            ours, theirs = (self.aligned(self.queries[number]) for number in (one, other))
            nearer = (scores[one] - scores[other])[ours | theirs]
            result[self._contrast(one, other)] = float(roc_auc_score(ours[ours | theirs], nearer))
        return result

    def aligned(self, query: Query) -> np.ndarray:
        """Whether each text is of the statement's group, shape (texts,)."""
        return np.array([group == query.target for group in self.groups])

    def draw(self, scores: dict[str, np.ndarray], path: Path) -> str:
        panels = [
            (f"{query.text} ({query.target})", query.threshold, self.aligned(query),
             {label: cosines[number] for label, cosines in scores.items()})
            for number, query in enumerate(self.queries)
        ]  # fmt: skip
        plot_alignment(panels, path, f"{self.dataset}: share of the statement's own group")
        return f"Share of the statement's own group among {self.title}, by cosine and by rank ({self.dataset})."
