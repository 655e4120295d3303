"""Recipes: every number of a training run, from a YAML file and the command line. Light: imports no torch."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SerializeAsAny, model_validator

from dataset_scripts.base.cli import flag, suggest, validate
from dataset_scripts.base.files import read_json
from modeling.base import rooms


@dataclass(frozen=True)
class DataSource:
    """Marks an option that names data, which may be a local path and stays out of cards."""

    evaluated: bool = False  # test figures are of it, and `opinion eval` offers it
    only_test: bool = False  # only they are: a change evaluates again and trains nothing


def _join(value: Any) -> Any:
    return ",".join(map(str, value)) if isinstance(value, list) else value


def listed(value: Any) -> list[Any]:
    """The parts of an option that names several, by commas or as a list; none of None."""
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
    parts = [part.strip() if isinstance(part, str) else part for part in parts]
    return [part for part in parts if part not in (None, "")]


_Names = Annotated[str | None, BeforeValidator(_join)]
Source = Annotated[_Names, DataSource()]
TestSource = Annotated[_Names, DataSource(evaluated=True)]
OnlyTestSource = Annotated[_Names, DataSource(evaluated=True, only_test=True), Field(exclude=True)]
Texts = Annotated[list[str], BeforeValidator(listed)]
Positive = Annotated[int, Field(gt=0)]
PerSource = Annotated[
    Positive | list[Positive] | None,
    BeforeValidator(lambda value: listed(value) if isinstance(value, str) and "," in value else value),
    Field(description="sample of each source's rows, lest one drown the others: a number, or one each; none: all"),
]


class SystemOptions(BaseModel):
    """Options that one system has: `class Options` in `modeling/<system>/__init__.py`, a field and a sentence each."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, coerce_numbers_to_str=True, use_attribute_docstrings=True
    )

    configs: ClassVar[tuple[str, ...] | None] = None
    """configurations of corpora that the system reads texts of; None: any"""

    def check(self, recipe: Recipe) -> None:
        """Refuses, by a ValueError with the cure, values that do not go with the options that all systems share."""

    @classmethod
    def sources(cls) -> dict[str, DataSource]:
        """The options that name data sources."""
        fields = cls.model_fields.items()
        return {name: mark for name, field in fields for mark in field.metadata if isinstance(mark, DataSource)}


LONGEST = 2.0  # Euclidean distance of opposite unit vectors


class HoldOptions(SystemOptions):
    """Options of a system whose losses can be held to the base's similarities, see `modeling.base.keep`."""

    keep: float = Field(0.0, ge=0)
    """weight of keeping the base's similarities between rows; 0: none"""
    replay: Source = None
    """generic texts (their source) whose similarities are held; none: none"""
    replay_weight: float = Field(10.0, ge=0)
    """weight of holding them"""

    def check_lengths(self, triplets: bool = True) -> None:
        """Refuses what does not go with `normalised`, and with the `margin` of triplets where these are trained on."""
        if triplets and self.normalised and self.margin >= LONGEST:
            raise ValueError(
                f"--margin {self.margin:g} cannot be met on unit vectors, whose distance is {LONGEST:g} at most: lower "
                "it, or use --normalised false as the paper does"
            )
        if not self.normalised and (self.keep or self.replay):
            raise ValueError("--keep and --replay compare unit vectors: they need --normalised true")


class FamilyOptions(HoldOptions):
    """Options of a system that can learn from families of texts, see `modeling.base.families`."""

    per_source: PerSource = None
    per_statement: Positive = 4
    """families: most of one statement, or of one group without any, of up to 8 texts each"""
    teacher: str | None = None
    """families: model whose similarities are held, within families too, instead of the base's; none: the base"""


class Recipe(BaseModel):
    """All options of a run: those of all systems, and in `options` of one; `recipe["margin"]` reads either kind.

    On those without `exclude` the trained weights depend: runs with equal `model_dump()` are one.
    """

    model_config = SystemOptions.model_config
    name: str
    system: str
    options: SerializeAsAny[SystemOptions]
    base: str = "bundled"
    """encoder: Hub id, local folder, or 'bundled' (all-MiniLM-L6-v2, needs no network)"""
    base_id: str | None = None
    """Hub id to publish for a base that is a local folder"""
    start: str | None = None
    """adapter to begin with, a released model or a folder, such as stance-minilm; none: the base as it is"""
    data: Texts = ["demo"]
    """training corpora: 'demo', folders built by `opinion corpus build`, or Hub data sets"""
    output_dir: str = Field("runs", exclude=True)
    """folder of runs; this one goes to OUTPUT_DIR/NAME"""
    seed: int = Field(42, ge=0)
    """seed of weights, order of data and samples"""
    epochs: float = Field(1.0, gt=0)
    """passes over the training data, all phases together"""
    max_steps: int = Field(-1, ge=-1)
    """optimiser steps per phase at most; -1: as many as the epochs take"""
    max_train_rows: Positive | None = None
    """seeded sample of the training rows of each phase"""
    max_eval_rows: Positive | None = 2000
    """seeded sample of the validation rows scored during training"""
    max_test_rows: Positive | None = Field(None, exclude=True)
    """seeded sample of the test rows scored at the end"""
    batch_size: Positive = 64
    """rows per forward pass over all processes together"""
    accumulation: Positive = 1
    """forward passes per optimiser step"""
    learning_rate: float = Field(2e-05, gt=0)
    """peak learning rate of AdamW"""
    weight_decay: float = Field(0.0, ge=0)
    """weight decay of AdamW"""
    warmup: float = Field(0.1, ge=0)
    """share of the steps with a rising learning rate"""
    schedule: str = "linear"
    """learning rate schedule, as transformers names it"""
    max_grad_norm: float = Field(1.0, ge=0)
    """gradient norm at which to clip"""
    max_length: Positive = 128
    """tokens per text in training; the published model keeps the base's limit"""
    dropout: float | None = Field(None, ge=0, lt=1)
    """of the encoder in training, and of its adapter; default: the encoder's own, and lora_dropout"""
    lora: bool = True
    """train a LoRA adapter; false: all weights"""
    lora_rank: Positive = 32
    """rank of the LoRA matrices"""
    lora_alpha: Positive = 32
    """LoRA scale numerator"""
    lora_dropout: float = Field(0.05, ge=0, lt=1)
    """dropout before the LoRA matrices"""
    lora_targets: Texts | None = None
    """module names to adapt; default: the attention projections"""
    lora_scale: float = Field(1.0, gt=0, exclude=True)
    """factor on the trained adapter when it is saved; below 1: back towards the base"""
    bf16: bool | None = None
    """bfloat16 autocast, also of evaluations if true; default: in training, where the accelerator supports it"""
    eval_steps: float = Field(0.1, gt=0)
    """steps between evaluations and checkpoints, or (below 1) that share of a phase"""
    patience: int = Field(0, ge=0)
    """evaluations without improvement before a phase stops; 0: never"""
    keep_best: bool = True
    """end each phase with its best checkpoint rather than its last"""
    logging_steps: Positive = Field(10, exclude=True)
    """steps between log lines"""
    report_to: str = Field("none", exclude=True)
    """experiment tracker, as transformers names it: wandb, tensorboard, trackio, ..."""
    cache_dir: str = Field("~/.cache/opinion-transformers", exclude=True)
    """where prepared data and base similarities are kept"""
    license: str = Field("apache-2.0", exclude=True)
    """licence of the published model, as the Hub spells it"""
    push_to_hub: str | None = Field(None, exclude=True)
    """repository for the merged model; the adapter goes to NAME-adapter"""
    private: bool = Field(False, exclude=True)
    """make the repositories private"""
    release: bool = Field(False, exclude=True)
    """put adapter and card into model_cards/NAME, as a model that comes with the project"""
    evaluate_on: Literal["test", "validation"] = Field("test", exclude=True)
    """split of the figures at the end; validation while a recipe is being chosen"""
    overwrite: bool = Field(False, exclude=True)
    """discard an earlier run of this name, whatever its options, and begin again"""
    quick: bool = Field(False, exclude=True)
    """try it out in minutes: five steps on samples of all data, in a run of its own, NAME-quick"""

    @model_validator(mode="after")
    def _consistent(self) -> Recipe:
        if self.report_to not in ("none", "all", "azure_ml", "flyte") and not find_spec(self.report_to):
            raise ValueError(f"--report-to {self.report_to}: there is no such package here; give none, or install it")
        if not self.lora and self.lora_scale != 1:
            raise ValueError("--lora-scale scales an adapter: it needs --lora true")
        if not self.lora and self.start:
            raise ValueError("--start begins with an adapter: it needs --lora true")
        if self.evaluate_on != "test" and (self.release or self.push_to_hub):
            raise ValueError("--evaluate-on validation chooses a recipe: a published card has figures of test data")
        if self.quick and self.release:
            raise ValueError("--quick trains nothing that is worth a --release")
        if not self.data:
            raise ValueError("--data names no corpus: give demo, folders of opinion corpus build, or Hub data sets")
        limits = getattr(self.options, "per_source", None)
        if isinstance(limits, list) and len(limits) != len(self.data):
            corpora = len(self.data)
            raise ValueError(f"--per-source has {len(limits)} numbers, --data {corpora} corpora: give one for each")
        self.options.check(self)
        return self

    @property
    def run_dir(self) -> Path:
        """The run's folder."""
        return Path(self.output_dir) / self.name

    def training_sources(self) -> list[str]:
        """The sources of the training texts: the corpora, and what options name that is not for evaluation alone."""
        others = [listed(self[name]) for name, mark in self.options.sources().items() if not mark.evaluated]
        return list(dict.fromkeys([*self.data, *itertools.chain(*others)]))

    def evaluation_options(self) -> dict[str, str | None]:
        """Options that change figures, card or saved files, but not what is trained."""
        only_test = [key for key, source in self.options.sources().items() if source.only_test]
        keys = ("max_test_rows", "evaluate_on", "lora_scale", "license", *only_test)
        return {key: None if self[key] is None else str(self[key]) for key in keys}

    def public_options(self) -> dict[str, Any]:
        """The options that made the weights and the files, without anything that names a local path."""
        hidden = {"name", "system", "base", "base_id", "data", "options", "max_eval_rows"}
        own = self.options.model_dump(exclude=set(self.options.sources()))
        own |= {"lora_scale": self.lora_scale, "start": self.start and Path(self.start).name}
        return self.model_dump(exclude=hidden) | own

    def __getitem__(self, key: str) -> Any:
        for options in (self.options, self):
            if key in type(options).model_fields:
                return getattr(options, key)
        raise KeyError(f"neither recipes nor the system {self.system!r} have an option {key!r}")


SHARED = {key: field for key, field in Recipe.model_fields.items() if key not in ("name", "system", "options")}
# five optimiser steps of each phase, whatever the recipe trains with
QUICK = {"epochs": 1.0, "max_steps": 5, "eval_steps": 5, "logging_steps": 1, "batch_size": 8, "accumulation": 1}
QUICK |= {"max_train_rows": 64, "max_eval_rows": 24, "max_test_rows": 24}


def _bundled() -> dict[str, Path]:
    """Name -> YAML file, of all systems."""
    return {path.stem: path for folder in rooms.folders() for path in folder.glob("*/recipes/*.yaml")}


def list_recipes() -> list[str]:
    """Names of the recipes that come with the package."""
    return sorted(_bundled())


def load_recipe(name: str, overrides: Mapping[str, str] | None = None) -> Recipe:
    """Reads a recipe, by the name of a bundled one or the path of a YAML file, and applies options.

    `overrides` are option -> value as text: `0.4`, `true`, `a,b`, `none`. A ValueError if the recipe, its system or an
    option does not exist, or a value is not what it may be.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else _bundled().get(name)
    if path is None or not path.is_file():
        near, names = suggest(name, list_recipes()) or ".", ", ".join(list_recipes())
        raise ValueError(f"no recipe {name!r}{near} There are {names}, or give a path to a .yaml")
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"{path} cannot be read as YAML: {error}") from None
    if not isinstance(values, dict) or "system" not in values:
        raise ValueError(f"{path}: a recipe must name its system")
    system, own = values.pop("system"), values.pop("options", None) or {}
    if not isinstance(own, dict):
        raise ValueError(f"{path}: 'options:' holds no option: value")
    if unknown := [key for key in values if key not in SHARED]:
        raise ValueError(f"{path}: unknown key {unknown[0]!r}; options of the system belong under 'options:'")
    values, overrides = values | {str(key): value for key, value in own.items()}, dict(overrides or {})
    recipe = _build(path.stem, system, values | overrides)
    return _build(f"{path.stem}-quick", system, values | QUICK | overrides) if recipe.quick else recipe


def load_run(folder: Path) -> Recipe:
    """The recipe of a run, as the run's folder has it; ValueError if there is none, or another version wrote it."""
    if not (record := read_json(folder / "recipe.json")) or "system" not in record:
        raise ValueError(f"{folder} has no recipe.json of a training run")
    values = record.pop("options") | record
    return _build(values.pop("name"), values.pop("system"), values)


def _build(name: str, system: str, values: Mapping[str, Any]) -> Recipe:
    """The recipe of options of all systems and of this one."""
    kind = rooms.get_options(system)
    shared = {key: value for key, value in values.items() if key in SHARED}
    own = {key: value for key, value in values.items() if key not in SHARED}
    if unknown := next((flag(key) for key in own if key not in kind.model_fields), None):
        near = suggest(unknown, map(flag, [*SHARED, *kind.model_fields]))
        raise ValueError(f"recipes of {system} have no option {unknown}{near}")
    return validate(Recipe, {"name": name, "system": system, "options": validate(kind, own)} | shared)


def spell(value: Any) -> str:
    """A value as it stands in help, tables and pictures, and as it can be given again."""
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return text.lower() if text in ("None", "True", "False") else text


def expand_grid(recipe: Recipe, grid: list[str]) -> list[tuple[dict[str, Any], Recipe]]:
    """The points of a grid search, each (values of the axes, recipe with a folder of its own); none without axes.

    Axes are `option=a,b,c` or `option=start:stop:step` (stop included); a ValueError if one is malformed or unknown.
    """
    axes: dict[str, list[str]] = {}
    for axis in grid:
        key, _, text = axis.partition("=")
        key = key.replace("-", "_")
        if not text:
            raise ValueError(f"--grid {axis!r} must look like margin=0.1:1.0:0.1 or objective=siamese,triplet")
        if key in ("evaluate_on", "quick", "push_to_hub", "private", "release"):
            raise ValueError(f"--grid {key} is no option of training: a grid has one value of it")
        axes[key] = axis_values(text)
    values = {key: getattr(recipe, key) for key in SHARED} | dict(recipe.options)
    points = []
    for combination in itertools.product(*axes.values()) if axes else []:
        texts = dict(zip(axes, combination, strict=True))
        name = f"{recipe.name}-grid/" + ",".join(f"{key}={text}" for key, text in texts.items())
        point = _build(name, recipe.system, values | texts)
        points.append(({key: point[key] for key in axes}, point))
    return points


def axis_values(values: str) -> list[str]:
    """The points of an axis, `a,b,c` or `start:stop:step` (stop included), as text."""
    if ":" not in values:
        return values.split(",")
    # decimals: 0.1 + 0.1 + 0.1 in binary is not the 0.3 that the table's column is called
    try:
        start, stop, step = (Decimal(part) for part in values.split(":"))
        if step <= 0 or stop < start:
            raise ValueError
    except (ValueError, InvalidOperation):
        raise ValueError(f"range {values!r} must be start:stop:step with start <= stop and step > 0") from None
    return [str(start + i * step) for i in range(int((stop - start) / step) + 1)]
