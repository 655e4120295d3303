"""Stance-aware sentence transformers (Ghafouri, Such and Suarez-Tangil, EMNLP 2024).

Opposing views on one topic come to lie apart and agreeing ones together, while topical similarity is kept: an
encoder is fine-tuned on agreeing / opposing pairs (Siamese), on (claim, supporting, opposing) triplets, or on
triplets first and pairs after (hybrid).
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from datasets import Dataset, concatenate_datasets
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.losses import TripletLoss
from torch import Tensor

from dataset_scripts.base.sources import has_config
from modeling.base.evaluation import Evaluator, of_source
from modeling.base.families import FamilyTripletLoss, family_data, family_phase
from modeling.base.keep import MarginLoss, hold, with_replay
from modeling.base.models import load_backbone
from modeling.base.system import Data, Phase, System
from modeling.base.vectors import Vectors, pair_similarities
from modeling.stance.evaluation import (
    AlignmentEvaluator,
    FilteredStanceEvaluator,
    InferenceEvaluator,
    Query,
    StanceEvaluator,
    TargetAxisEvaluator,
    TopicEvaluator,
)

TEST_FILTER = 0.5  # the paper's test figures are over pairs that the base finds this similar
# statements, party whose view they state, and threshold of table 4; the topic they are on in labelled samples
QUERIES = (
    Query("healthcare", "Abortion is healthcare.", "D", 0.70),
    Query("murder", "Abortion is murder.", "R", 0.60),
)
QUERIED_TOPIC = "abort"
OBJECTIVES = {"siamese": ["pairs"], "triplet": ["triplets"], "hybrid": ["triplets", "pairs"]}
TEXTS = {"pairs": ["sentence1", "sentence2"], "triplets": ["anchor", "positive", "negative"]}
LABEL = {"pairs": ["label"], "triplets": []}


class LinearContrastiveLoss(MarginLoss):
    """Contrastive loss that is linear in the distance (Ghafouri et al., 2024, equation of section 3.3).

    `y D + (1 - y) max(m - D, 0)` with D = 1 - cos in [0, 2], averaged over the batch. Inputs are (sentence, sentence)
    with the label y, 1 if they agree and 0 if they oppose each other; beyond the margin m, in (0, 2], opposing texts
    cost nothing.
    """

    def compute_loss_from_embeddings(self, embeddings: list[Tensor], labels: Tensor) -> Tensor:
        """The loss of two matrices of shape (batch, dimension) and labels of shape (batch,)."""
        distance = 1 - torch.cosine_similarity(*embeddings)
        agree = labels.to(distance.dtype)
        return (agree * distance + (1 - agree) * torch.relu(self.margin - distance)).mean()


class StanceSystem(System):
    """The system of section 3; `objective`, `margin` and the two filters are its options."""

    PRIMARY = "stance_auroc"
    TAGS = ["stance", "opinion-mining", "argument-mining"]
    DEMONSTRATIONS = [
        ("I love pineapple on pizza.", "I hate pineapple on pizza.", "opposite stance"),
        ("I love pineapple on pizza.", "Pineapple makes every pizza taste better.", "same stance"),
        ("Cyclists should wear helmets.", "Cyclists should not be made to wear helmets.", "negated"),
        ("Cyclists should wear helmets.", "Everyone on a bicycle ought to put on a helmet.", "paraphrase"),
        ("I love pineapple on pizza.", "The night train to the coast was cancelled.", "other topic"),
    ]

    def load_data(self) -> Data:
        recipe, train, counts = self.recipe, {}, {}
        if recipe["objective"] == "families":
            return family_data(self)
        filters = {kind: recipe[f"filter_{kind}"] for kind in OBJECTIVES[recipe["objective"]]}
        base = None if set(filters.values()) == {None} else self._base_vectors()
        for kind, threshold in filters.items():
            parts = [rows.select_columns(TEXTS[kind] + LABEL[kind]) for rows in self.training_rows(kind)]
            rows = concatenate_datasets(parts).shuffle(seed=recipe.seed)
            counts[f"{kind} before the filter"] = len(rows)
            rows = self._filter(rows, kind, threshold, base)
            counts[f"{kind} in training"] = len(rows)
            train[kind] = with_replay(self, rows, counts)
        return Data(train, self.source_names("replay"), counts)

    def _filter(self, rows: Dataset, kind: str, threshold: float | None, base: Vectors | None) -> Dataset:
        """Quality filter (section 3.4): drops rows whose least similar two texts are below the threshold for the base.

        All texts are embedded at once, or, where that is more than `max_train_rows` can need, by blocks of rows.
        """
        wanted = min(self.recipe.max_train_rows or len(rows), len(rows))
        if threshold is None:
            return rows.select(range(wanted))
        columns = {name: np.asarray(rows[name], object) for name in TEXTS[kind]}
        distinct = len(set().union(*columns.values()))
        size = len(rows) if distinct <= len(columns) * wanted else wanted
        chosen: list[int] = []
        for start in range(0, len(rows), size):
            block = [column[start : start + size] for column in columns.values()]
            chosen += (start + np.flatnonzero(pair_similarities(base, block).min(axis=0) > threshold)).tolist()
            if len(chosen) >= wanted:
                break
        if not chosen:
            raise ValueError(f"--filter-{kind} {threshold} drops all {len(rows)} rows of {kind}: lower it, or use none")
        return rows.select(chosen[:wanted])

    def _base_vectors(self) -> Vectors:
        """Those of the untrained encoder, which reads as much of a text as in training."""
        return Vectors(load_backbone(self.backbone, self.recipe.max_length), self.cache / "embeddings")

    def phases(self, model: SentenceTransformer, data: Data) -> list[Phase]:
        if self.recipe["objective"] == "families":
            return [family_phase(self, model, data, FamilyTripletLoss(model, self.recipe["margin"]))]
        margin, epochs = self.recipe["margin"], self.recipe.epochs / len(data.train)
        # the authors' code squares distance and excess of pairs
        losses = {"triplets": TripletLoss(model, triplet_margin=margin), "pairs": LinearContrastiveLoss(model, margin)}
        return [Phase(kind, rows, hold(self.recipe, model, losses[kind]), epochs) for kind, rows in data.train.items()]

    def evaluators(self, split: str) -> list[Evaluator]:
        recipe, testing, limit = self.recipe, split == "test", self.limit(split)
        at_the_end = testing or recipe.evaluate_on == split
        source = recipe["stance"] or recipe.data[0]
        pairs, facts = self.rows(source, "pairs", split, limit), of_source(source, split)
        result: list[Evaluator] = [StanceEvaluator(pairs, title="agreeing and opposing pairs", **facts)]
        if testing:
            title = f"agreeing and opposing pairs with a base cosine above {TEST_FILTER}"
            result.append(FilteredStanceEvaluator(pairs, partial(self._similar, pairs), title=title, **facts))
        # not during training, where it would double the time of an evaluation; pairs of others may have no groups
        groups = set(pairs["group"]) if "group" in pairs.column_names else ()
        if at_the_end and len(groups) > 1:
            title = "texts of one discussion and of two"
            result.append(TopicEvaluator(pairs, seed=recipe.seed, title=title, **facts))
        result += self.kept_similarity(split)
        if testing and (other := recipe["inference"]):
            title = "contradicting, neutral and entailing pairs"
            rows = self.rows(other, "inference", split, limit)
            result.append(InferenceEvaluator(rows, title=title, **of_source(other, split)))
        if testing and (other := recipe["alignment"]):
            texts, facts = self.rows(other, "tweets", split, limit), of_source(other, split)
            result.append(AlignmentEvaluator(texts, QUERIES, title="the texts that a statement finds", **facts))
            if has_config(other, "issues"):  # texts with their topic
                rows = self.rows(other, "issues", split)
                rows = rows.select(np.flatnonzero(np.asarray(rows["topic"]) == QUERIED_TOPIC))
                facts |= {"title": "the texts on its topic that a statement finds", "name": "alignment_on_topic"}
                facts["dataset"] = f"{facts['dataset_id']} (test, issue {QUERIED_TOPIC})"
                result += [AlignmentEvaluator(rows, QUERIES, on_topic=True, **facts)] if len(rows) else []
        if at_the_end and (other := recipe["targets"]):
            title = "texts for and against a target, by statements of either side"
            rows = self.rows(other, "families", "test")
            result.append(TargetAxisEvaluator(rows, title=title, **of_source(other, "test")))
        return result

    def _similar(self, pairs: Dataset) -> np.ndarray:
        """Whether the base finds the texts of each pair similar, shape (n,) of bool."""
        columns = [pairs[name][:] for name in TEXTS["pairs"]]
        return pair_similarities(self._base_vectors(), columns)[0] > TEST_FILTER
