"""Bipolar-encoder for counter-arguments (Shi, Cao and Nguyen, 2023, arXiv:2304.08807).

The best counter-argument to a point takes up the same aspects with the opposite stance. One encoder turns an argument
into a vector u. A retrieval head finds what is similar; a classification head on [u; v; |u - v|], which sees what
differs, ranks what was found again. Both are computed from vectors that a collection keeps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch
from datasets import concatenate_datasets
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Router
from sentence_transformers.sentence_transformer.losses import TripletLoss
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling
from torch import nn

from dataset_scripts.base.files import read_json, write_json
from dataset_scripts.base.sources import has_config
from modeling.base.adapters import save_adapter, save_merged, scale_adapter
from modeling.base.batches import GroupedBatchSampler
from modeling.base.evaluation import Evaluator, of_source
from modeling.base.models import Backbone, load_backbone
from modeling.base.recipe import listed
from modeling.base.system import Data, Phase, System
from modeling.bipolar.candidates import Candidates
from modeling.bipolar.encoder import USAGE
from modeling.bipolar.evaluation import LEARNED, CounterargumentEvaluator, SidesEvaluator, learn_weight, retrieval
from modeling.bipolar.heads import BipolarHeads, attach_heads, heads_of, load_heads, save_heads, with_heads
from modeling.bipolar.losses import BipolarLoss
from modeling.bipolar.negatives import hard_negatives, random_negatives

SPLITS = {"clean": "counters", "official": "counters_official"}
ROUTES = {"point": "query", "counter": "document", "negative": "document"}  # of the bi-encoder
_HOMEWORK = "Homework should be abolished. Children sit at desks all day and need their evenings to play."
_HARBOUR = "The harbour should be closed to cars. Exhaust fumes drive visitors away."


class BipolarSystem(System):
    """The system of section 4.

    The options' defaults are the paper's. Not in it are ranking among the arguments of a batch of whole debates
    (`objective: ranking`, `negatives: batch`), a retrieval head of its own for candidates (`shared: false`), scores of
    both heads joined (`fusion: learned`), and a start from another adapter. Unlike in the paper u is of unit length.
    """

    PRIMARY = "counters_accuracy_epa"
    TAGS = ["argument-mining", "counter-arguments", "retrieval"]
    ASYMMETRIC = True
    USAGE = USAGE
    DEMONSTRATIONS = [
        (
            _HOMEWORK,
            "Without practice at home, what was taught in the morning is forgotten by the next week.",
            "counter",
        ),
        (_HOMEWORK, "Homework ought to go. Pupils are tired after school and have to move.", "the same view"),
        (_HOMEWORK, "School buses cost the town more than it can afford.", "another matter"),
        (_HARBOUR, "Most visitors come by car, and they would simply stay away.", "counter"),
        (
            _HARBOUR,
            "A quay without traffic would be a pleasure for everybody who comes to see the boats.",
            "the same view",
        ),
    ]

    def load_data(self) -> Data:
        recipe, split = self.recipe, self.options.split
        rows = concatenate_datasets([self.rows(source, SPLITS[split], "train") for source in recipe.data])
        counts = {f"pairs of the sources ({split} split)": len(rows)}
        if recipe.max_train_rows and recipe.max_train_rows < len(rows):
            rows = rows.shuffle(seed=recipe.seed).select(range(recipe.max_train_rows))
        counts["pairs in training"] = len(rows)
        train = {"counters": rows.select_columns(["point", "counter"])}
        groups = {name: rows[name] for name in rows.column_names if name not in ("point", "counter")}
        return Data(train, self.source_names(), counts, groups)

    def build_model(self) -> SentenceTransformer:
        """The encoder of u, which carries the heads; in training these belong to the loss."""
        recipe, options = self.recipe, self.options
        if options.architecture == "bi-encoder":
            return build_bi_encoder(self.backbone, recipe.max_length)
        model = super().build_model()
        if options.pooling == "cls":
            model[1] = Pooling(model[0].get_embedding_dimension(), "cls")
        torch.manual_seed(recipe.seed)
        heads = BipolarHeads(model.get_embedding_dimension(), options.shared, options.difference, options.normalised)
        # 0 where only retrieval is trained, none where only classification is
        heads.fusion_weight = {"retrieval": 0.0, "classification": None}.get(options.task, options.fusion)
        attach_heads(model, heads)
        return model

    def phases(self, model: SentenceTransformer, data: Data) -> Iterator[Phase]:
        """One phase where batches have the negatives; else one per epoch, so that negatives are drawn again."""
        recipe, options, rows = self.recipe, self.options, data.train["counters"]
        arguments = {}
        if options.architecture == "bi-encoder":
            loss: nn.Module = TripletLoss(model, triplet_margin=options.margin)
            arguments = {"router_mapping": ROUTES}
        else:
            loss = BipolarLoss(model, heads_of(model), options)
            if options.objective == "ranking":
                arguments = {"batch_sampler": partial(GroupedBatchSampler, groups=data.groups["group"])}
        if options.negatives == "batch":
            yield Phase("counters", rows, loss, recipe.epochs, arguments)
            return
        candidates = Candidates(rows.to_dict() | data.groups)
        for epoch in range(1, math.ceil(recipe.epochs) + 1):
            # kept, since a run that continues has to meet the same rows, and mined ones follow the model
            path = recipe.run_dir / "data" / f"negatives-{epoch}.json"
            if (negatives := read_json(path)) is None:
                negatives = self._negatives(model, candidates, epoch)
                write_json(path, negatives)
            yield Phase(f"epoch-{epoch}", rows.add_column("negative", negatives), loss, 1.0, arguments)

    def _negatives(self, model: SentenceTransformer, candidates: Candidates, epoch: int) -> list[str]:
        options, seed = self.options, (self.recipe.seed, epoch)
        if options.negatives != "hard":
            return random_negatives(candidates, seed)
        documents = retrieval(model, candidates)[1]
        return hard_negatives(candidates, documents, min(epoch * options.hard_rate, 1.0), seed)

    def evaluators(self, split: str) -> list[Evaluator]:
        options, testing = self.options, split == "test"
        sources = listed(options.counters) or self.recipe.data
        evaluators: list[Evaluator] = [self._counters(sources, options.split, split)]
        other = next(name for name in SPLITS if name != options.split)
        if testing and all(has_config(source, SPLITS[other]) for source in sources):
            evaluators.append(self._counters(sources, other, split))
        for number, source in enumerate(listed(options.sides) if testing or self.recipe.evaluate_on == split else []):
            facts = of_source(source, split) | {"title": "opinions on one statement, for and against it"}
            facts["name"] = f"sides_{number + 1}" if number else "sides"
            evaluators.append(SidesEvaluator(self.rows(source, "families", split), limit=self.limit(split), **facts))
        return evaluators + (self.kept_similarity(split) if testing else [])

    def _counters(self, sources: list[str], of_corpus: str, split: str) -> CounterargumentEvaluator:
        rows = [self.rows(source, SPLITS[of_corpus], split) for source in sources]
        name = of_source(sources, split)["dataset_id"]
        return CounterargumentEvaluator(
            concatenate_datasets(rows).to_dict(),
            name=of_corpus if split == "test" else "counters",
            limit=self.limit(split),
            title=f"best counter-arguments, {of_corpus} split",
            dataset=f"{name} ({split}, {of_corpus})",
            dataset_id=name,
        )

    def save(self, model: SentenceTransformer, base: SentenceTransformer) -> SentenceTransformer:
        """Writes adapter/ (with LoRA) and merged/ with both heads, and the weight that joins their scores."""
        recipe, heads = self.recipe, heads_of(model)
        if heads is None:
            return super().save(model, base)
        if recipe.lora:
            scale_adapter(model, recipe.lora_scale)
        if heads.fusion_weight == LEARNED:
            heads.fusion_weight = learn_weight(model, self.evaluators("validation")[0].candidates)
        if recipe.lora:
            model = save_adapter(model, recipe.run_dir / "adapter", base, self, recipe.quick)
        else:
            model = with_heads(model, heads)
        return save_merged(model, recipe.run_dir / "merged", base, self, model.max_seq_length, recipe.quick)

    def save_modules(self, model: SentenceTransformer, folder: Path) -> None:
        if heads_of(model) is not None:
            save_heads(model, folder)

    @classmethod
    def load_modules(cls, model: SentenceTransformer, folder: Path) -> None:
        load_heads(model, folder)


def build_bi_encoder(backbone: Backbone, max_length: int) -> SentenceTransformer:
    """Two copies of the base, `encode_query` and `encode_document`, that give unit vectors (Shi et al., section 4.1).

    The paper takes BERT's [CLS] as it is; here the base's own pooling stays, and vectors have length 1, so that the
    triplet loss's Euclidean distance and the ranking's dot product have one order.
    """
    bases = [load_backbone(backbone, max_length) for _ in range(2)]
    routes = [[module for module in base if not isinstance(module, Normalize)] for base in bases]
    model = SentenceTransformer(modules=[Router.for_query_document(*routes), Normalize()])
    model.model_card_data.base_model = backbone.hub_id
    return model
