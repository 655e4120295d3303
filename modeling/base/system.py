"""The contract between `train.py` and a published system: what a sixth system has to provide."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from torch import nn

from dataset_scripts.base.sources import load_split, source_name
from modeling.base.adapters import add_lora, copy_adapter, save_adapter, save_merged, scale_adapter
from modeling.base.evaluation import SimilarityEvaluator, of_source
from modeling.base.models import adapter_folder, load_backbone, resolve
from modeling.base.paper import Paper
from modeling.base.recipe import Recipe

if TYPE_CHECKING:
    from datasets import Dataset
    from sentence_transformers import SentenceTransformer
    from torch import nn

    from modeling.base.evaluation import Evaluator
    from modeling.base.overlap import LeftOut

QUICK_ROWS = 256  # of a split in a --quick run


@dataclass
class Phase:
    """One stretch of training with one data set and one loss."""

    name: str  # folder of its checkpoints and label in the card
    dataset: Dataset  # in the column order that the loss expects; a column of labels is called `label`
    loss: nn.Module  # built around the model in training
    epochs: float  # passes over `dataset`
    arguments: dict[str, Any] = field(default_factory=dict)  # that differ from the recipe's, as another batch sampler


@dataclass
class Data:
    """What a system trains on; systems keep no state between calls."""

    train: dict[str, Dataset]  # name -> training rows, as the system's phases need them
    sources: list[str]  # Hub ids or names of the corpora, for the card
    counts: dict[str, int] = field(default_factory=dict)  # for the card, such as rows that a filter dropped
    groups: dict[str, Sequence[Hashable]] = field(default_factory=dict)  # a value for each row, for samplers of batches


def with_limits(sources: Sequence[str], limits: int | list[int] | None) -> Iterator[tuple[str, int | None]]:
    """Each source with its limit: of one number, or none, all have the same."""
    return zip(sources, limits if isinstance(limits, list) else [limits] * len(sources), strict=True)


class System(ABC):
    """A published system. Its file reads like the method section of its paper.

    Attributes:
        PRIMARY: The key of a validation metric, higher is better, that chooses checkpoints.
        DEMONSTRATIONS: (sentence, sentence, what they show): our own sentences for widget and report.
        TAGS: Hub tags of its models.
        ASYMMETRIC: Whether the first text of a demonstration is a query and the second a document.
        USAGE: Markdown that its cards have after the usual example, `{{repo_id}}` standing for the model's name.
    """

    PRIMARY: ClassVar[str]
    DEMONSTRATIONS: ClassVar[list[tuple[str, str, str]]]
    TAGS: ClassVar[list[str]] = []
    ASYMMETRIC: ClassVar[bool] = False
    USAGE: ClassVar[str] = ""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe, self.options = recipe, recipe.options
        self.backbone = resolve(recipe.base, recipe.base_id)
        self.cache = Path(recipe.cache_dir).expanduser()
        self.left_out: LeftOut | None = None

    @cached_property
    def paper(self) -> Paper:
        """The paper, with its figures: `paper.yaml` beside the system's file."""
        return Paper.read(Path(inspect.getfile(type(self))).with_name("paper.yaml"))

    @abstractmethod
    def load_data(self) -> Data:
        """Loads the training data; builds what is missing, from caches where possible."""

    @abstractmethod
    def phases(self, model: SentenceTransformer, data: Data) -> Iterable[Phase]:
        """The phases in order; a generator may mine the next one's data with the model that the last one trained."""

    @abstractmethod
    def evaluators(self, split: str) -> list[Evaluator]:
        """The evaluators of a split, `validation` or `test`, the first with the PRIMARY metric; embeds nothing."""

    def rows(self, source: str, config: str, split: str, limit: int | None = None) -> Dataset:
        """A split of a source without what is left out, or a seeded sample of `limit` rows where it has more."""
        rows = load_split(source, config, split, self.cache)
        return self.sample(self.left_out.apply(rows, source) if self.left_out and split == "test" else rows, limit)

    def kept_similarity(self, split: str) -> list[Evaluator]:
        """The evaluator of what is forgotten, if the option `similarity` names a source of scored pairs."""
        if not (source := self.recipe["similarity"]):
            return []
        rows = self.rows(source, "similarity", split, self.limit(split))
        return [SimilarityEvaluator(rows, title="topical similarity kept", **of_source(source, split))]

    def limit(self, split: str) -> int | None:
        """How many rows of a split are evaluated."""
        return self.recipe.max_test_rows if split == "test" else self.recipe.max_eval_rows

    def source_names(self, *options: str) -> list[str]:
        """Names, for the card, of the training corpora and of the sources that these options name."""
        sources = [*self.recipe.data, *(self.recipe[option] for option in options)]
        return [source_name(source) for source in sources if source]

    def sample(self, rows: Dataset, limit: int | None = None) -> Dataset:
        """The rows, or a seeded sample of `limit` where there are more; a `--quick` run never needs many."""
        if self.recipe.quick:
            limit = min(limit or QUICK_ROWS, QUICK_ROWS)
        return rows if limit is None or len(rows) <= limit else rows.shuffle(seed=self.recipe.seed).select(range(limit))

    def training_rows(self, config: str) -> list[Dataset]:
        """The training rows of each corpus, sampled as the option `per_source` says: one number, or one for each."""
        limited = with_limits(self.recipe.data, self.recipe["per_source"])
        return [self.rows(source, config, "train", limit) for source, limit in limited]

    # what follows serves an encoder with one adapter or none; a system with further modules overrides it

    def build_model(self) -> SentenceTransformer:
        """The encoder in the state in which training starts, adapters added."""
        recipe = self.recipe
        model = load_backbone(self.backbone, recipe.max_length)
        if recipe.lora:
            add_lora(model, recipe.lora_rank, recipe.lora_alpha, recipe.lora_dropout, recipe.lora_targets)
        if recipe.dropout is not None:
            for module in model.modules():
                if isinstance(module, nn.Dropout):
                    module.p = recipe.dropout
        if recipe.start:
            copy_adapter(adapter_folder(recipe.start), model)
        return model

    def load_base(self) -> SentenceTransformer:
        """The untrained encoder that results are compared with."""
        return load_backbone(self.backbone)

    def save(self, model: SentenceTransformer, base: SentenceTransformer) -> SentenceTransformer:
        """Writes adapter/ (with LoRA) and merged/ into the run's folder; returns the model from its files, proved."""
        recipe = self.recipe
        if recipe.lora:
            scale_adapter(model, recipe.lora_scale)
            model = save_adapter(model, recipe.run_dir / "adapter", base, self, recipe.quick)
        return save_merged(model, recipe.run_dir / "merged", base, self, allow_unchanged=recipe.quick)

    def save_modules(self, model: SentenceTransformer, folder: Path) -> None:  # noqa: B027
        """Writes what the model has beside its encoder into the folder of the encoder or its adapter."""

    @classmethod  # noqa: B027
    def load_modules(cls, model: SentenceTransformer, folder: Path) -> None:
        """Puts what `save_modules` wrote on the model that was loaded from the folder, in place, and proves it."""
