"""Bipolar-encoder for counter-arguments (Shi, Cao and Nguyen, 2023, arXiv:2304.08807).

The best counter-argument to a point takes up the same aspects with the opposite stance. One encoder turns an argument
into a vector u. A retrieval head finds what is similar; a classification head on [u; v; |u - v|], which sees what
differs, ranks what was found again. Both are computed from vectors that a collection keeps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from datasets import concatenate_datasets
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling

from dataset_scripts.base.files import read_json, write_json
from dataset_scripts.base.sources import has_config, source_name
from modeling.base.batches import GroupedBatchSampler
from modeling.base.evaluation import Evaluator, SimilarityEvaluator
from modeling.base.recipe import Recipe, listed
from modeling.base.system import Data, Paper, Phase, System
from modeling.bipolar.candidates import Candidates
from modeling.bipolar.encoder import USAGE, BipolarEncoder
from modeling.bipolar.evaluation import LEARNED, CounterargumentEvaluator, Heads
from modeling.bipolar.files import load_merged_with_heads, save_adapter_with_heads, save_merged_with_heads
from modeling.bipolar.heads import BipolarHeads
from modeling.bipolar.losses import OBJECTIVES, TASKS, BipolarLoss
from modeling.bipolar.negatives import hard_negatives, hard_probability, random_negatives

PAPER = Paper.load("bipolar")
SPLITS = {"clean": "counters", "official": "counters_official"}
NEGATIVES = ("batch", "random", "debate", "hard")
CHOICES = {"split": tuple(SPLITS), "objective": OBJECTIVES, "task": TASKS, "negatives": NEGATIVES,
           "pooling": ("base", "cls")}  # fmt: skip


class BipolarSystem(System):
    """The system of section 4.

    The paper draws a random negative for each point in each epoch and joins a triplet loss and two cross-entropies
    (`objective: triplet`, `negatives: random`, `shared: true`, `normalised: false`, `fusion: none`). What is not in it:
    ranking among the arguments of a batch that holds whole debates (`objective: ranking`, `negatives: batch`), a
    retrieval head of its own for candidates (`shared: false`), which can tell counters from points, scores of both
    heads joined with a weight learned on validation data (`fusion: learned`), and a start from another adapter. Unlike
    in the paper u is of unit length throughout, as for all systems here, with the paper's pooling too.
    """

    PRIMARY = "counters_accuracy_epa"
    PAPER = PAPER
    SOURCES = ("counters", "similarity", "start")
    TEST_OPTIONS = ("counters",)
    TAGS = ["argument-mining", "counter-arguments", "retrieval"]
    ASYMMETRIC = True
    USAGE = USAGE
    DEMONSTRATIONS = [
        ("Homework should be abolished. Children sit at desks all day and need their evenings to play.",
         "Without practice at home, what was taught in the morning is forgotten by the next week.", "counter"),
        ("Homework should be abolished. Children sit at desks all day and need their evenings to play.",
         "Homework ought to go. Pupils are tired after school and have to move.", "the same view"),
        ("Homework should be abolished. Children sit at desks all day and need their evenings to play.",
         "School buses cost the town more than it can afford.", "another matter"),
        ("The harbour should be closed to cars. Exhaust fumes drive visitors away.",
         "Most visitors come by car, and they would simply stay away.", "counter"),
        ("The harbour should be closed to cars. Exhaust fumes drive visitors away.",
         "A quay without traffic would be a pleasure for everybody who comes to see the boats.", "the same view"),
    ]  # fmt: skip

    def __init__(self, recipe: Recipe) -> None:
        super().__init__(recipe)
        for option, choices in CHOICES.items():
            if recipe[option] not in choices:
                raise ValueError(f"--{option} must be one of {', '.join(choices)}, got {recipe[option]!r}")
        for option in ("margin", "scale", "hard_rate"):
            if not isinstance(recipe[option], int | float) or not 0 < recipe[option] < math.inf:
                raise ValueError(f"--{option} must be above 0, got {recipe[option]!r}")
        if not isinstance(recipe["hardest"], int) or recipe["hardest"] < 1:
            raise ValueError(f"--hardest must be a number of arguments from 1, got {recipe['hardest']!r}")
        if recipe["objective"] == "triplet" and recipe["negatives"] == "batch":
            raise ValueError("--objective triplet needs a negative in each row: --negatives random, debate or hard")
        fusion = recipe["fusion"]
        if fusion not in (None, LEARNED) and not (isinstance(fusion, int | float) and 0 <= fusion < math.inf):
            raise ValueError(f"--fusion must be {LEARNED}, none or a weight from 0, got {fusion!r}")
        if recipe["pooling"] == "cls" and recipe.lora:
            raise ValueError(
                "--pooling cls changes a module that a LoRA adapter's files do not hold: use --lora false, or "
                "--pooling base"
            )
        self.heads: BipolarHeads | None = None

    def load_data(self) -> Data:
        recipe = self.recipe
        config = SPLITS[recipe["split"]]
        found = concatenate_datasets([self.rows(source, config, "train") for source in recipe.data])
        counts = {f"pairs of the sources ({recipe['split']} split)": len(found)}
        wanted = min(recipe.max_train_rows or len(found), len(found))
        self._rows = found if wanted == len(found) else found.shuffle(seed=recipe.seed).select(range(wanted))
        counts["pairs in training"] = wanted
        rows = self._rows.select_columns(["point", "counter"])
        return Data({"counters": rows}, [source_name(source) for source in recipe.data], counts)

    def build_model(self) -> SentenceTransformer:
        """The encoder of u; the heads belong to the loss until they are published with it."""
        model, recipe = super().build_model(), self.recipe
        if recipe["pooling"] == "cls":
            model[1] = Pooling(model[0].get_embedding_dimension(), "cls")
        if recipe["start"]:
            from modeling.base.adapters import copy_adapter
            from modeling.base.models import adapter_folder

            copy_adapter(adapter_folder(recipe["start"]), model)
        torch.manual_seed(recipe.seed)
        self.heads = BipolarHeads(
            model.get_embedding_dimension(), recipe["shared"], recipe["difference"], recipe["normalised"]
        )
        return model

    def phases(self, model: SentenceTransformer, data: Data) -> Iterator[Phase]:
        """One phase where batches have the negatives; else one per epoch, so that negatives are drawn again."""
        recipe, rows = self.recipe, data.train["counters"]
        loss = BipolarLoss(model, self.heads, recipe["objective"], recipe["task"], recipe["margin"], recipe["scale"],
                           recipe["hardest"])  # fmt: skip
        sampler = {"batch_sampler": partial(GroupedBatchSampler, groups=self._rows["group"])}
        arguments = sampler if recipe["objective"] == "ranking" else {}
        if recipe["negatives"] == "batch":
            yield Phase("counters", rows, loss, recipe.epochs, arguments)
            return
        candidates = Candidates(self._rows.to_dict())
        for epoch in range(1, math.ceil(recipe.epochs) + 1):
            # kept, since a run that continues has to meet the same rows, and mined ones follow the model
            path = recipe.run_dir / "data" / f"negatives-{epoch}.json"
            if (negatives := read_json(path)) is None:
                negatives = self._negatives(model, candidates, epoch)
                write_json(path, negatives)
            yield Phase(f"epoch-{epoch}", rows.add_column("negative", negatives), loss, 1.0, arguments)

    def _negatives(self, model: SentenceTransformer, candidates: Candidates, epoch: int) -> list[str]:
        recipe, seed = self.recipe, (self.recipe.seed, epoch)
        if recipe["negatives"] != "hard":
            return random_negatives(candidates, seed, "sda" if recipe["negatives"] == "debate" else "epa")
        whole = BipolarEncoder(model, self.heads)
        u = whole.encode(candidates.texts, batch_size=64)
        documents = whole.retrieval_embeddings(u)
        queries = whole.retrieval_embeddings(u[candidates.points], queries=True)
        probability = hard_probability(epoch, recipe["hard_rate"])
        return hard_negatives(candidates, documents, probability, seed, "point", queries)

    def evaluators(self, split: str) -> list[Evaluator]:
        recipe, testing = self.recipe, split == "test"
        limit = recipe.max_test_rows if testing else recipe.max_eval_rows
        sources = listed(recipe["counters"]) or recipe.data
        result: list[Evaluator] = [self._ranked(sources, recipe["split"], split, limit, testing)]
        other = next(name for name in SPLITS if name != recipe["split"])
        if testing and all(has_config(source, SPLITS[other]) for source in sources):
            result.append(self._ranked(sources, other, split, limit, testing))
        if testing and (source := recipe["similarity"]):
            rows, name = self.rows(source, "similarity", split, limit), source_name(source)
            facts = {"dataset": f"{name} ({split})", "dataset_id": name}
            result.append(SimilarityEvaluator(rows, title="topical similarity kept", **facts))
        return result

    def _ranked(
        self, sources: list[str], split_of_corpus: str, split: str, limit: int | None, testing: bool
    ) -> CounterargumentEvaluator:
        rows = [self.rows(source, SPLITS[split_of_corpus], split) for source in sources]
        name = ", ".join(source_name(source) for source in sources)
        return CounterargumentEvaluator(
            concatenate_datasets(rows).to_dict(),
            split_of_corpus if testing else "counters",
            heads=None if testing else self._in_training,
            limit=limit,
            title=f"best counter-arguments, {split_of_corpus} split",
            dataset=f"{name} ({split}, {split_of_corpus})",
            dataset_id=name,
        )

    def _in_training(self) -> Heads:
        return Heads(self.heads, self._weight(self.recipe["fusion"]))

    def _weight(self, fusion: Any) -> Any:
        """Of the scores: 0 where only retrieval is trained, none where only classification is."""
        return {"retrieval": 0.0, "classification": None}.get(self.recipe["task"], fusion)

    def save(self, model: SentenceTransformer) -> None:
        """Writes adapter/ (with LoRA) and merged/ with both heads, and the weight that joins their scores."""
        from modeling.base.adapters import load_adapter, scale_adapter

        recipe = self.recipe
        if recipe.lora:
            scale_adapter(model, recipe.lora_scale)
        weight = self._weight(recipe["fusion"])
        if weight == LEARNED:
            weight = self.evaluators("validation")[0].scores(model).weight
        if recipe.lora:
            save_adapter_with_heads(model, self.heads, recipe.run_dir / "adapter", self.backbone, weight)
            model = load_adapter(recipe.run_dir / "adapter", self.backbone)
        save_merged_with_heads(model, self.heads, recipe.run_dir / "merged", self.backbone, weight)

    def load_trained(self) -> SentenceTransformer:
        """The published SentenceTransformer, of retrieval embeddings, with its heads; from its files."""
        return load_merged_with_heads(self.recipe.run_dir / "merged")
