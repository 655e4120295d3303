"""Stance-aware sentence transformers (Ghafouri, Such and Suarez-Tangil, EMNLP 2024).

Opposing views on one topic come to lie apart and agreeing ones together, while topical similarity is kept: an
encoder is fine-tuned on agreeing / opposing pairs (Siamese), on (claim, supporting, opposing) triplets, or on
triplets first and pairs after (hybrid).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
import torch
from datasets import Dataset, concatenate_datasets
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.losses import (
    ContrastiveLoss,
    SiameseDistanceMetric,
    TripletDistanceMetric,
    TripletLoss,
)
from torch import Tensor, nn

from dataset_scripts.base.sources import has_config, load_split, source_name
from modeling.base.evaluation import Evaluator, SimilarityEvaluator
from modeling.base.holding import held, with_replay
from modeling.base.models import load_backbone
from modeling.base.system import Data, Paper, Phase, System
from modeling.base.vectors import pair_similarities
from modeling.stance.evaluation import (
    AlignmentEvaluator,
    FilteredStanceEvaluator,
    InferenceEvaluator,
    Query,
    StanceEvaluator,
    TopicEvaluator,
)

PAPER = Paper.load("stance")
TEST_FILTER = 0.5  # the paper's test figures are over pairs that the base finds this similar
# statements, party whose view they state, and threshold of table 4; the topic they are on in labelled samples
QUERIES = (
    Query("healthcare", "Abortion is healthcare.", "D", 0.70),
    Query("murder", "Abortion is murder.", "R", 0.60),
)
QUERIED_TOPIC = "abort"
OBJECTIVES = {"siamese": ["pairs"], "triplet": ["triplets"], "hybrid": ["triplets", "pairs"]}
COLUMNS = {"pairs": ["sentence1", "sentence2", "label"], "triplets": ["anchor", "positive", "negative"]}


class LinearContrastiveLoss(nn.Module):
    """Contrastive loss that is linear in the distance (Ghafouri et al., 2024, equation of section 3.3).

    `y D + (1 - y) max(m - D, 0)` with D = 1 - cos in [0, 2] and y = 1 for agreement, averaged over the batch.

    Args:
        model: The encoder.
        margin: Distance m beyond which opposing texts cost nothing, in (0, 2].

    Inputs:
        +----------------------+----------------------------+
        | Texts                | Labels                     |
        +======================+============================+
        | (sentence, sentence) | 1 if they agree, 0 oppose  |
        +----------------------+----------------------------+
    """

    def __init__(self, model: SentenceTransformer, margin: float) -> None:
        super().__init__()
        self.model = model
        self.margin = margin

    def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor) -> Tensor:
        embeddings = [self.model(features)["sentence_embedding"] for features in sentence_features]
        return self.compute_loss_from_embeddings(embeddings, labels)

    def compute_loss_from_embeddings(self, embeddings: list[Tensor], labels: Tensor) -> Tensor:
        """The loss of two matrices of shape (batch, dimension) and labels of shape (batch,)."""
        distance = 1 - torch.cosine_similarity(*embeddings)
        agree = labels.to(distance.dtype)
        return (agree * distance + (1 - agree) * torch.relu(self.margin - distance)).mean()

    def get_config_dict(self) -> dict[str, float]:
        """The hyperparameters, for logs and cards."""
        return {"margin": self.margin}

    @property
    def citation(self) -> str:
        """BibTeX of the paper."""
        return PAPER.citation


class StanceSystem(System):
    """The system of section 3; `objective`, `margin`, `contrastive` and the two filters are its options."""

    PRIMARY = "stance_auroc"
    PAPER = PAPER
    TAGS = ["stance", "opinion-mining", "argument-mining"]
    DEMONSTRATIONS = [
        ("I love pineapple on pizza.", "I hate pineapple on pizza.", "opposite stance"),
        ("I love pineapple on pizza.", "Pineapple makes every pizza taste better.", "same stance"),
        ("Cyclists should wear helmets.", "Cyclists should not be made to wear helmets.", "negated"),
        ("Cyclists should wear helmets.", "Everyone on a bicycle ought to put on a helmet.", "paraphrase"),
        ("I love pineapple on pizza.", "The night train to the coast was cancelled.", "other topic"),
    ]

    def load_data(self) -> Data:
        kinds = OBJECTIVES[self.recipe["objective"]]
        base = None
        train, counts = {}, {}
        for kind in kinds:
            rows = concatenate_datasets([rows.select_columns(COLUMNS[kind]) for rows in self.training_rows(kind)])
            rows = rows.shuffle(seed=self.recipe.seed)
            counts[f"{kind} before the filter"] = len(rows)
            threshold = self.recipe[f"filter_{kind}"]
            if threshold is not None:
                base = base or load_backbone(self.backbone, self.recipe.max_length)
            train[kind] = self._filter(rows, kind, threshold, base)
            counts[f"{kind} in training"] = len(train[kind])
            train[kind] = with_replay(self, train[kind], counts)
        sources = [*self.recipe.data, *([self.recipe["replay"]] if self.recipe["replay"] else [])]
        return Data(train, [source_name(source) for source in sources], counts)

    def _filter(self, rows: Dataset, kind: str, threshold: float | None, base: SentenceTransformer | None) -> Dataset:
        """Quality filter (section 3.4): drops rows whose least similar two texts are below the threshold for the base.

        All texts are embedded at once, or, where that is more than `max_train_rows` can need, by blocks of rows.
        """
        wanted = min(self.recipe.max_train_rows or len(rows), len(rows))
        if threshold is None:
            return rows.select(range(wanted))
        names = [name for name in COLUMNS[kind] if name != "label"]
        distinct = len(set().union(*(rows.unique(name) for name in names)))
        size = len(rows) if distinct <= len(names) * wanted else wanted
        kept, count = [], 0
        for start in range(0, len(rows), size):
            block = rows.select(range(start, min(start + size, len(rows))))
            columns = [block[name] for name in names]
            lowest = pair_similarities(base, columns, self.cache / "embeddings").min(axis=0)
            kept.append(block.select(np.flatnonzero(lowest > threshold)[: wanted - count]))
            count += len(kept[-1])
            if count >= wanted:
                break
        if not count:
            raise ValueError(f"--filter_{kind} {threshold} drops all {len(rows)} rows of {kind}: lower it, or use none")
        return concatenate_datasets(kept)

    def phases(self, model: SentenceTransformer, data: Data) -> list[Phase]:
        epochs = self.recipe.epochs / len(data.train)
        return [Phase(kind, rows, self._loss(kind, model), epochs) for kind, rows in data.train.items()]

    def _loss(self, kind: str, model: SentenceTransformer) -> nn.Module:
        return held(self.recipe, model, self._stance_loss(kind, model))

    def _stance_loss(self, kind: str, model: SentenceTransformer) -> nn.Module:
        margin = self.recipe["margin"]
        if kind == "triplets":
            return TripletLoss(model, distance_metric=TripletDistanceMetric.EUCLIDEAN, triplet_margin=margin)
        if self.recipe["contrastive"] == "paper":
            return LinearContrastiveLoss(model, margin)
        # the authors' code doubles the margin because the cosine distance reaches 2
        return ContrastiveLoss(model, distance_metric=SiameseDistanceMetric.COSINE_DISTANCE, margin=2 * margin)

    def evaluators(self, split: str) -> list[Evaluator]:
        testing = split == "test"
        source = self.recipe["stance"] or self.recipe.data[0]
        limit = self.recipe.max_test_rows if testing else self.recipe.max_eval_rows
        pairs = self.rows(source, "pairs", split, limit)

        def facts(source: str) -> dict[str, str]:
            return {"dataset": f"{source_name(source)} ({split})", "dataset_id": source_name(source)}

        result: list[Evaluator] = [StanceEvaluator(pairs, title="agreeing and opposing pairs", **facts(source))]
        if testing:
            title = f"agreeing and opposing pairs with a base cosine above {TEST_FILTER}"
            similar = partial(self._similar_for_base, pairs)
            result.append(FilteredStanceEvaluator(pairs, similar, title=title, **facts(source)))
        # not during training, where it would double the time of an evaluation
        if (testing or self.recipe.evaluate_on == split) and _groups(pairs) > 1:
            title = "texts of one discussion and of two"
            result.append(TopicEvaluator(pairs, seed=self.recipe.seed, title=title, **facts(source)))
        further = {"similarity": (SimilarityEvaluator, "topical similarity kept")}
        if testing:
            further["inference"] = (InferenceEvaluator, "contradicting, neutral and entailing pairs")
        for config, (evaluator, title) in further.items():
            if other := self.recipe[config]:
                result.append(evaluator(self.rows(other, config, split, limit), title=title, **facts(other)))
        if testing and self.recipe["alignment"]:
            result += self._alignment(self.recipe["alignment"], limit)
        return result

    def _alignment(self, source: str, limit: int | None) -> list[Evaluator]:
        """Whose texts the paper's statements find: among all, and among those labelled as on their topic, if any."""
        name = source_name(source)
        facts = {"dataset_id": name, "queries": QUERIES}
        texts = self.rows(source, "tweets", "test", limit)
        title = "the texts that a statement finds"
        result: list[Evaluator] = [AlignmentEvaluator(texts, title=title, dataset=f"{name} (test)", **facts)]
        if has_config(source, "issues"):
            rows = load_split(source, "issues", "test", self.cache)
            on_topic = rows.select([i for i, topic in enumerate(rows["topic"]) if topic == QUERIED_TOPIC])
            facts |= {"title": "the texts on its topic that a statement finds", "on_topic": True}
            dataset = f"{name} (test, issue {QUERIED_TOPIC})"
            if len(on_topic):
                result += [AlignmentEvaluator(on_topic, name="alignment_on_topic", dataset=dataset, **facts)]
        return result

    def _similar_for_base(self, pairs: Dataset) -> np.ndarray:
        """Whether the base finds the texts of each pair similar, shape (n,) of bool."""
        base = load_backbone(self.backbone, self.recipe.max_length)
        return (
            pair_similarities(base, [pairs["sentence1"], pairs["sentence2"]], self.cache / "embeddings")[0]
            > TEST_FILTER
        )


def _groups(rows: Dataset) -> int:
    """How many groups the rows are of; pairs of others may have no such column."""
    return len(set(rows["group"])) if "group" in rows.column_names else 0
