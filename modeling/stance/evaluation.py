"""Evaluators of stance: do agreeing texts lie together, do topics stay apart, and whose texts does a statement find?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from sentence_transformers import SentenceTransformer

from dataset_scripts.base.schema import PRO
from metrics.alignment_precision.alignment_precision import alignment_precision
from metrics.stance_kl_divergence.stance_kl_divergence import stance_kl_divergence
from modeling.base.evaluation import AUROC, Evaluator, PairEvaluator, auroc_interval, of_another_group, texts
from modeling.base.plots import dots, model_style, panels, plain, save_figure
from modeling.base.vectors import Vectors

RANKS = 100  # texts that a person may read
# target -> "for" and "against" -> statements
TARGETS: dict[str, dict[str, list[str]]] = yaml.safe_load(
    Path(__file__).with_name("targets.yaml").read_text(encoding="utf-8")
)
PER_TARGET = 400  # texts, for intervals of .05 to either side
LEAST = 5  # a share of fewer texts jumps with each of them


class StanceEvaluator(PairEvaluator):
    """How far apart the cosines of agreeing and of opposing pairs lie (Ghafouri et al., 2024, section 5.1).

    Labels are 1 for agreement and 0 for opposition.
    """

    groups = ("oppose", "agree")
    prefix = "stance"
    headline = ("auroc", "kl", "kl_paper")
    measures = {
        "auroc": AUROC,
        "kl": "divergence of their histograms, which grows with any difference and is to be read with auroc",
        "kl_paper": "the divergence by the paper's code, whose bins differ between the groups",
        "mean_agree": "mean cosine of agreeing pairs",
        "mean_oppose": "mean cosine of opposing pairs",
        "n_agree": "agreeing pairs",
        "n_oppose": "opposing pairs",
    }

    def metrics(self, scores: np.ndarray) -> dict[str, float]:
        paper = stance_kl_divergence(scores, self.labels, mode="paper")
        return stance_kl_divergence(scores, self.labels) | {"kl_paper": paper["kl"]}


class FilteredStanceEvaluator(StanceEvaluator):
    """`StanceEvaluator` over some of the pairs: as in the paper's tables, those that the base finds similar.

    `counts` tells whether each row counts, shape (n,) of bool; it is asked when the first model is measured, since an
    encoder has to embed all texts for it. The vectors of all rows are computed, so that evaluators share them.
    """

    prefix = "stance_filtered"

    def __init__(self, rows: Mapping[str, Sequence], counts: Callable[[], np.ndarray], **facts: Any) -> None:
        super().__init__(rows, **facts)
        self.counts, self.counted = counts, None

    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> np.ndarray | None:
        if self.counted is None:
            self.counted = self.counts()
            self.labels = self.labels[self.counted]
            self.rows = len(self.labels)
        return super().scores(model, cache)[self.counted] if len(set(self.labels)) == 2 else None


class TopicEvaluator(PairEvaluator):
    """Whether texts of one discussion stay nearer to each other than to those of another.

    An encoder that learns stance may come to place texts by their tone alone: what is against anything is alike. Rows
    are pairs within discussions, columns `sentence1`, `sentence2` and `group`, of at least two groups; for each a pair
    across discussions is drawn.
    """

    groups = ("other discussion", "same discussion")
    prefix = "topic"
    headline = ("auroc", "p99_other")
    measures = {
        "auroc": AUROC,
        "p99_other": "cosine that one in a hundred pairs of two discussions exceeds: low where topics stay apart",
        "mean_same": "mean cosine within discussions",
        "mean_other": "mean cosine across discussions",
    }

    def __init__(self, rows: Mapping[str, Sequence], seed: int = 0, **facts: Any) -> None:
        first, second = (texts(rows, column, facts["dataset"]) for column in ("sentence1", "sentence2"))
        other = of_another_group(np.unique(rows["group"], return_inverse=True)[1], seed)
        labels = [1] * len(first) + [0] * len(first)
        paired = {"sentence1": first * 2, "sentence2": second + [second[i] for i in other], "label": labels}
        super().__init__(paired, **facts)

    def metrics(self, scores: np.ndarray) -> dict[str, float]:
        other, same = (values.astype(float) for values in self.by_group(scores).values())
        return {
            "auroc": stance_kl_divergence(scores, self.labels)["auroc"],
            "p99_other": float(np.quantile(other, 0.99)),
            "mean_same": float(same.mean()),
            "mean_other": float(other.mean()),
        }


class InferenceEvaluator(PairEvaluator):
    """Cosines of contradicting, neutral and entailing pairs (Ghafouri et al., 2024, appendix A.5).

    Labels are 0 for contradiction, 1 for neutral and 2 for entailment.
    """

    groups = ("contradiction", "neutral", "entailment")
    prefix = "inference"
    headline = ("auroc", "ordered")
    measures = {
        "auroc": "0.5 where entailment and contradiction do not come apart, 1 where they do so fully",
        "ordered": "1 where contradiction, neutral and entailment rise in the mean",
        "mean_contradiction": "mean cosine of contradicting pairs",
        "mean_neutral": "mean cosine of neutral pairs",
        "mean_entailment": "mean cosine of entailing pairs",
    }

    def metrics(self, scores: np.ndarray) -> dict[str, float]:
        ends = self.labels != 1
        auroc = stance_kl_divergence(scores[ends], self.labels[ends] // 2)["auroc"]
        means = {f"mean_{group}": float(values.mean()) for group, values in self.by_group(scores).items()}
        ordered = means["mean_contradiction"] < means["mean_neutral"] < means["mean_entailment"]
        return {"auroc": auroc, "ordered": int(ordered), **means}


@dataclass(frozen=True)
class Query:
    """A statement, the group whose view it states, and the cosine in [-1, 1] from which a text is retrieved.

    `name` is the first part of its metrics' names.
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
    are the AUROC of the target group against the others, and that of the two statements' groups by the difference of
    the two cosines, which a word that both statements have does not change.

    Rows have the columns `text` and `group`; a ValueError if nobody or everybody is of a statement's group.
    """

    cutoffs = (10, 25, 50)

    def __init__(
        self,
        rows: Mapping[str, Sequence],
        queries: Sequence[Query],
        name: str = "alignment",
        on_topic: bool = False,
        **facts: str,
    ) -> None:
        self.texts, groups = (texts(rows, column, facts["dataset"]) for column in ("text", "group"))
        self.groups, self.queries, self.rows, self.on_topic = np.array(groups, str), queries, len(groups), on_topic
        names = sorted(set(groups))
        for query in queries:
            if query.target not in names or len(names) < 2:
                raise ValueError(
                    f"{facts['dataset']}: {query.text!r} needs texts of {query.target!r} and of others to tell apart; "
                    f"there are {', '.join(map(repr, names)) or 'none'}"
                )
        own = "share of the statement's own group among"
        at_k = {f"precision_at_{k}": f"{own} the {k} most similar texts, whatever their cosine" for k in self._cutoffs}
        contrast = {}
        if on_topic:
            each = {"auroc": f"of the statement's own group against the others: {AUROC}"}
            headline = ("auroc",)
            self.contrast = f"{'_'.join(query.name for query in queries)}_contrast_auroc"
            contrast[self.contrast] = "auroc of two groups by which of their statements a text is nearer to"
        else:
            each = {
                "precision": f"{own} the retrieved texts, those at or above the paper's cosine",
                "retrieved": "number of retrieved texts",
                **{f"retrieved_{group}": f"those of {group}" for group in names},
            }
            headline = ("precision", "retrieved", *list(at_k)[:1], "base_rate")
        each |= at_k | {"base_rate": f"{own} all texts"}
        self.measures = contrast | {f"{q.name}_{key}": meaning for q in queries for key, meaning in each.items()}
        self.headline = (*contrast, *(f"{query.name}_{key}" for query in queries for key in headline))
        super().__init__(name, **facts)

    @property
    def _cutoffs(self) -> list[int]:
        return [k for k in self.cutoffs if k <= self.rows]

    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> np.ndarray:
        """Cosines of shape (queries, texts); every distinct text is embedded once."""
        vectors, index = Vectors(model, cache), {text: row for row, text in enumerate(dict.fromkeys(self.texts))}
        cosines = vectors([query.text for query in self.queries]) @ vectors(list(index)).T
        return np.clip(cosines, -1.0, 1.0)[:, [index[text] for text in self.texts]]

    def metrics(self, scores: np.ndarray) -> dict[str, float | int | None]:
        result: dict[str, float | int | None] = {}
        for query, cosines in zip(self.queries, scores, strict=True):
            values = alignment_precision(cosines, self.groups.tolist(), query.target, query.threshold, self._cutoffs)
            counts, shares = values.pop("counts"), values.pop("precision_at_k")
            values |= {f"retrieved_{group}": count for group, count in counts.items()}
            values |= {f"precision_at_{k}": share for k, share in shares.items()}
            result |= {f"{query.name}_{key}": value for key, value in values.items()}
        return result | {key: auroc for key, (auroc, *_) in self._aurocs(scores).items()}

    def intervals(self, scores: np.ndarray) -> dict[str, tuple[float, float]]:
        return {key: ends for key, (_, *ends) in self._aurocs(scores).items()}

    def _aurocs(self, scores: np.ndarray) -> dict[str, tuple[float, float, float]]:
        """AUROCs with their intervals, of texts on the topic."""
        if not self.on_topic:
            return {}
        result = {}
        for query, cosines in zip(self.queries, scores, strict=True):
            result[f"{query.name}_auroc"] = auroc_interval(cosines, self.groups == query.target)
        ours, theirs = (self.groups == query.target for query in self.queries)
        nearer = (scores[0] - scores[1])[ours | theirs]
        return result | {self.contrast: auroc_interval(nearer, ours[ours | theirs])}

    def draw(self, scores: dict[str, np.ndarray], path: Path) -> str:
        """The share of each statement's own group by cosine and by rank: the latter compares models by order alone."""
        figure, axes = panels(2 * len(self.queries), (4.5, 3.0), across=2, sharey=True)
        metrics = {label: self.metrics(cosines) for label, cosines in scores.items()}
        for number, query in enumerate(self.queries):
            by_cosine, by_rank = axes[2 * number : 2 * number + 2]
            aligned, key = self.groups == query.target, "auroc" if self.on_topic else "precision"
            for model, (label, cosines) in enumerate(scores.items()):
                value = metrics[label][f"{query.name}_{key}"]
                text = plain(f"{label}, {key} {'-' if value is None else f'{value:.3f}'}")
                style = model_style(model) | {"label": text}
                order = np.argsort(-cosines[number], kind="stable")
                ranks = np.arange(1, len(order) + 1)
                shares = np.cumsum(aligned[order]) / ranks
                # of millions of points the first ones matter most
                drawn = np.unique(np.geomspace(min(LEAST, len(order)), len(order), 2000).round().astype(int)) - 1
                by_cosine.plot(cosines[number][order][drawn], shares[drawn], **style)
                by_rank.plot(ranks[LEAST - 1 : RANKS], shares[LEAST - 1 : RANKS], **style)
            by_cosine.axvline(query.threshold, color="black", lw=0.8, linestyle=":", label="threshold of the paper")
            for axis in (by_cosine, by_rank):
                axis.axhline(aligned.mean(), color="black", linewidth=0.8, label="share among all texts")
            by_cosine.set_title(plain(f"{query.text} ({query.target})"), loc="left")
            by_cosine.set(ylabel="share of its group", xlabel=f"cosine from which texts count (at least {LEAST} do)")
            by_cosine.legend(frameon=False, loc="lower left", fontsize="small")
            by_rank.set(xlabel="number of most similar texts")
        axes[0].set_ylim(0, 1.02)
        save_figure(figure, path, f"{self.dataset}: share of the statement's own group")
        return f"Share of the statement's own group among {self.title}, by cosine and by rank ({self.dataset})."


class TargetAxisEvaluator(Evaluator):
    """Whether texts for a target lie nearer to statements for it than texts against it do, one target at a time.

    The score of a text is the mean of its cosines to the statements for its target minus the mean of those to the
    statements against it: what all statements on a target have in common, its name above all, does not change it.

    Rows have the columns `text`, `side` (0 con, 1 pro) and `group`, the target; targets without `statements`, or with
    texts on one side only, are left out. Of each target a seeded sample of 400 is used.
    """

    headline = ("auroc",)

    def __init__(
        self,
        rows: Mapping[str, Sequence],
        statements: Mapping[str, Mapping[str, Sequence[str]]] = TARGETS,
        name: str = "targets",
        **facts: str,
    ) -> None:
        every, groups = (texts(rows, column, facts["dataset"]) for column in ("text", "group"))
        frame = pd.DataFrame({"text": every, "target": groups, "pro": np.asarray(rows["side"]) == PRO})
        sides = frame.groupby("target")["pro"].nunique()
        self.statements = {target: statements[target] for target in statements if sides.get(target) == 2}
        if not self.statements:
            raise ValueError(
                f"{facts['dataset']}: no target with statements has texts on both sides; {', '.join(statements)} have "
                f"statements, and texts are on {', '.join(sides.index[:5]) or 'none'}"
            )
        frame = frame[frame["target"].isin(self.statements)].sample(frac=1, random_state=0)
        frame = frame.groupby("target").head(PER_TARGET).sort_index().reset_index(drop=True)
        self.texts, self.pro, self.rows = frame["text"].to_numpy(), frame["pro"].to_numpy(), len(frame)
        self.of_target: dict[str, np.ndarray] = frame.groupby("target").indices
        self.measures = {"auroc": f"mean over targets: {AUROC}"}
        for target in self.statements:
            self.measures[f"{_key(target)}_auroc"] = f"of texts for against texts against: {AUROC}"
            self.measures[f"{_key(target)}_texts"] = "texts on it"
        super().__init__(name, **facts)

    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> np.ndarray:
        """Differences of mean cosines, in [-2, 2], shape (rows,)."""
        vectors, scores = Vectors(model, cache), np.empty(self.rows)
        for target, sides in self.statements.items():
            axis = vectors(sides["for"]).mean(axis=0) - vectors(sides["against"]).mean(axis=0)
            rows = self.of_target[target]
            scores[rows] = vectors(self.texts[rows].tolist()) @ axis
        return scores

    def metrics(self, scores: np.ndarray) -> dict[str, float | int]:
        aurocs = self._aurocs(scores)
        result: dict[str, float | int] = {"auroc": float(np.mean([auroc for auroc, *_ in aurocs.values()]))}
        for target, (auroc, *_) in aurocs.items():
            result |= {f"{_key(target)}_auroc": auroc, f"{_key(target)}_texts": len(self.of_target[target])}
        return result

    def intervals(self, scores: np.ndarray) -> dict[str, tuple[float, float]]:
        return {f"{_key(target)}_auroc": (low, high) for target, (_, low, high) in self._aurocs(scores).items()}

    def _aurocs(self, scores: np.ndarray) -> dict[str, tuple[float, float, float]]:
        """Target -> AUROC and the ends of its interval."""
        rows = {target: self.of_target[target] for target in self.statements}
        return {target: auroc_interval(scores[own], self.pro[own]) for target, own in rows.items()}

    def draw(self, scores: dict[str, np.ndarray], path: Path) -> str:
        rows = [
            {"who": "ours", "model": label, "data": target, "value": auroc, "low": low, "high": high}
            for label, values in scores.items()
            for target, (auroc, low, high) in self._aurocs(values).items()
        ]
        dots(pd.DataFrame(rows), path, f"{self.dataset}: {self.title}", "AUROC", width=6.0, origin=0.5)
        return f"AUROC of {self.title}, with 95 % intervals ({self.dataset})."


def _key(target: str) -> str:
    return target.replace(" ", "_")
