"""SOS, SBERT for opinion similarity (Tay, Zhang, Wan and Karimi, NewSum 2021).

Two opinion sentences are alike when they say the same of the same aspect. Stars of reviews supervise that weakly:
reviews of one product are alike if both are good or both are bad. An encoder is fine-tuned to classify such pairs
(Siamese, SOS^S) or to place a review nearer to one of its polarity than to one of the other (triplet, SOS^T).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from datasets import concatenate_datasets
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.losses.merged_forward import embed_columns
from sentence_transformers.sentence_transformer.losses import SoftmaxLoss, TripletLoss
from torch import Tensor

from modeling.base.evaluation import Evaluator, of_source
from modeling.base.families import FamilyTripletLoss, family_data, family_phase
from modeling.base.keep import hold, with_replay
from modeling.base.models import without_normalize
from modeling.base.recipe import listed
from modeling.base.system import Data, Phase, System
from modeling.sos.evaluation import OpinionEvaluator, TripletAccuracyEvaluator

OBJECTIVES = {"siamese": "pairs", "triplet": "triplets"}
COLUMNS = {"pairs": ["sentence1", "sentence2", "label"], "triplets": ["anchor", "positive", "negative"]}


class PairSoftmaxLoss(SoftmaxLoss):
    """sentence-transformers' SoftmaxLoss over [u; v; |u - v|] for two classes, also computable from embeddings.

    Inputs are (sentence, sentence) with the label 1 if they are of one polarity, 0 if of two. The classifier is a
    parameter of the loss and no part of the published model.
    """

    def __init__(self, model: SentenceTransformer) -> None:
        super().__init__(model, model.get_embedding_dimension(), num_labels=2)

    def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor) -> Tensor:
        return self.compute_loss_from_embeddings(embed_columns(self.model, sentence_features), labels)

    def compute_loss_from_embeddings(self, embeddings: list[Tensor], labels: Tensor) -> Tensor:
        """Cross-entropy of two matrices of shape (batch, dimension) and labels of shape (batch,)."""
        u, v = embeddings
        return self.loss_fct(self.classifier(torch.cat([u, v, (u - v).abs()], dim=1)), labels.view(-1))


class SosSystem(System):
    """The system of section 5; `objective`, `margin` and `normalised` are its options.

    The paper's losses see the encoder's vectors as they are, of a length of its own (all-MiniLM-L6-v2: about 5.5), and
    its margins of 1 and 7 are distances between those: `normalised: false`. On unit vectors (`normalised: true`) the
    Euclidean distance is sqrt(2 - 2 cos), at most 2, and the margin has to stay below that. The published encoder
    returns unit vectors in either case, and cosines are what is measured: they are the same.

    Not in the paper are families (all triplets of some reviews of one product, see `modeling.base.families`) and what
    `keep` and `replay` add to hold topical similarity while polarity is learned.
    """

    PRIMARY = "triplets_accuracy"
    TAGS = ["opinion-mining", "opinion-similarity", "reviews", "sentiment"]
    DEMONSTRATIONS = [
        ("The soup was wonderful.", "We loved the soup.", "same aspect, same appraisal"),
        ("The soup was wonderful.", "The soup was awful.", "same aspect, opposite appraisal"),
        ("The soup was wonderful.", "The waiters were charming.", "other aspect, same appraisal"),
        ("The soup was wonderful.", "The waiters were rude.", "other aspect, opposite appraisal"),
        ("The battery is empty after two hours.", "It runs out of power far too soon.", "paraphrase"),
        ("The battery is empty after two hours.", "It lasts the whole day on one charge.", "opposite, in other words"),
    ]

    def load_data(self) -> Data:
        if self.recipe["objective"] == "families":
            return family_data(self, self.recipe["aspects"])
        kind, recipe = OBJECTIVES[self.recipe["objective"]], self.recipe
        rows = concatenate_datasets([rows.select_columns(COLUMNS[kind]) for rows in self.training_rows(kind)])
        counts = {f"{kind} of the sources": len(rows)}
        rows = rows.shuffle(seed=recipe.seed).select(range(min(recipe.max_train_rows or len(rows), len(rows))))
        counts[f"{kind} in training"] = len(rows)
        rows = with_replay(self, rows, counts)
        return Data({kind: rows}, self.source_names("replay"), counts)

    def phases(self, model: SentenceTransformer, data: Data) -> Iterator[Phase]:
        """One phase; without `normalised` the encoder ends before its Normalize module until that is over."""
        if self.recipe["objective"] == "families":
            yield family_phase(self, model, data, FamilyTripletLoss(model, self.recipe["margin"]))
            return
        ((kind, rows),) = data.train.items()
        triplets = TripletLoss(model, triplet_margin=self.recipe["margin"])
        with without_normalize(model, not self.recipe["normalised"]):
            loss = PairSoftmaxLoss(model) if kind == "pairs" else triplets
            yield Phase(kind, rows, hold(self.recipe, model, loss), self.recipe.epochs)

    def evaluators(self, split: str) -> list[Evaluator]:
        """Triplets of `reviews`, else of the data of training, whatever the objective; opinions, domain by domain."""
        recipe, limit = self.recipe, self.limit(split)
        sources = listed(recipe["reviews"]) or recipe.data
        rows = [self.rows(source, "triplets", split, limit).select_columns(COLUMNS["triplets"]) for source in sources]
        facts = {"title": "reviews of one product, of the same and of the other polarity"} | of_source(sources, split)
        result: list[Evaluator] = [TripletAccuracyEvaluator(concatenate_datasets(rows), **facts)]
        if split == "test" and (source := recipe["opinions"]):
            opinions, facts = self.rows(source, "opinions", "test", limit).to_pandas(), of_source(source, split)
            for domain, here in opinions.groupby("domain"):
                facts["dataset"] = f"{facts['dataset_id']} (test, {domain})"
                title = f"opinions that people find different and similar, {domain}"
                result.append(OpinionEvaluator(here, f"opinions_{domain}", title=title, **facts))
        result += self.kept_similarity(split)
        return result
