"""What a statement finds: whether the first texts are on it, and for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from sentence_transformers import SentenceTransformer
from sklearn.metrics import roc_auc_score

from dataset_scripts.base.schema import PRO
from modeling.base.evaluation import AUROC, Evaluator, texts
from modeling.base.vectors import Vectors
from modeling.search.lenses import TwoLenses, weigh, with_crowding

FIRST = 5  # texts that a person reads
LEAST = 3  # texts that a statement needs on either side


class HitsEvaluator(Evaluator):
    """Statements of families asked among the texts of all of them.

    A text of another statement is a miss, on the same debate, too. A text that is the statement itself is no answer.

    Args:
        rows: Columns of `dataset_scripts.base.schema.FAMILIES`; rows without a statement are left out.
        statements: Size of the seeded sample of statements with three texts on either side; None takes all.
        side: Texts of either side of a statement at most, a seeded sample.
        seed: Seed of both.

    Raises:
        ValueError: If there is no statement with three texts on either side.
    """

    headline = ("for_at_5", "on_at_5", "side_at_5")
    measures = {
        "for_at_5": "share of the first five texts that are on the statement and for it",
        "on_at_5": "share of the first five texts that are on the statement",
        "side_at_5": "share of texts for the statement among those of the first five that are on it",
        "topic_auroc": f"texts on a statement against the others, mean over statements: {AUROC}",
        "side_auroc": f"texts for a statement against those that oppose it, mean over statements: {AUROC}",
        "statements": "statements asked",
        "texts": "texts that they are asked among",
    }

    def __init__(
        self,
        rows: Mapping[str, Sequence],
        statements: int | None = 90,
        side: int = 6,
        seed: int = 0,
        name: str = "hits",
        **facts: str,
    ) -> None:
        super().__init__(name, **facts)
        columns = {column: texts(rows, column, self.dataset) for column in ("text", "statement", "group")}
        frame = pd.DataFrame(columns | {"pro": np.asarray(rows["side"]) == PRO})
        frame = frame[frame["statement"] != ""].drop_duplicates(["text", "statement", "group"])
        counts = frame.groupby(["group", "statement"])["pro"].agg(["sum", "size"])
        usable = counts[(counts["sum"] >= LEAST) & (counts["size"] - counts["sum"] >= LEAST)]
        if usable.empty:
            raise ValueError(f"{self.dataset}: no statement has {LEAST} texts for and {LEAST} against it")
        usable = usable.sample(min(statements or len(usable), len(usable)), random_state=seed)
        families = frame.set_index(["group", "statement"]).loc[usable.index].sample(frac=1, random_state=seed)
        families = families.groupby(["group", "statement", "pro"], sort=True).head(side).reset_index()
        asked = families.drop_duplicates(["group", "statement"])
        self.statements, self.texts = asked["statement"].tolist(), families["text"].tolist()
        number = families.groupby(["group", "statement"], sort=False).ngroup().to_numpy()
        self.on = number == np.arange(len(asked))[:, None]  # (statements, texts)
        self.pro = self.on & families["pro"].to_numpy()
        self.own = np.array([[text == statement for text in self.texts] for statement in self.statements])
        self.rows = len(self.texts)

    def scores(self, model: SentenceTransformer, cache: Path | None = None) -> np.ndarray:
        """Scores of shape (statements, texts): cosines; of two lenses, as an index weighs them."""
        vectors = Vectors(model, cache)
        asked, found = vectors(self.statements), vectors(self.texts)
        if isinstance(model, TwoLenses):
            asked, found = weigh(asked), np.vstack(list(with_crowding(found)))
        return asked @ found.T

    def first(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of each statement, shape (statements,): how many of its first five texts are for it, and on it."""
        places = np.argsort(-np.where(self.own, -np.inf, scores), axis=1, kind="stable")[:, :FIRST]
        return tuple(np.take_along_axis(each, places, axis=1).sum(axis=1) for each in (self.pro, self.on))

    def metrics(self, scores: np.ndarray) -> dict[str, float | int | None]:
        first_pro, first_on = self.first(scores)
        families = list(zip(self.on, self.pro, ~self.own, scores, strict=True))
        of_topic = [roc_auc_score(on[other], values[other]) for on, _, other, values in families]
        of_side = [roc_auc_score(pro[on], values[on]) for on, pro, _, values in families]
        return {
            "for_at_5": float(first_pro.mean()) / FIRST,
            "on_at_5": float(first_on.mean()) / FIRST,
            "side_at_5": float(first_pro.sum() / first_on.sum()) if first_on.any() else None,
            "topic_auroc": float(np.mean(of_topic)),
            "side_auroc": float(np.mean(of_side)),
            "statements": len(self.statements),
            "texts": len(self.texts),
        }

    def intervals(self, scores: np.ndarray) -> dict[str, tuple[float, float]]:
        """Percentiles of 2,000 samples of the statements, with replacement."""
        shares = np.stack(self.first(scores)) / FIRST
        drawn = np.random.default_rng(0).integers(shares.shape[1], size=(2_000, shares.shape[1]))
        ends = np.percentile(shares[:, drawn].mean(axis=2), [2.5, 97.5], axis=1)
        return {key: (float(low), float(high)) for key, low, high in zip(self.headline, *ends, strict=False)}
