"""Recipes: every number of a training run, from a YAML file and the command line. Light: imports no torch."""

from __future__ import annotations

import difflib
import itertools
import types
import typing
from dataclasses import asdict, dataclass, field, fields, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import yaml

import modeling


def _option(default: Any, text: str) -> Any:
    if isinstance(default, list):
        return field(default_factory=lambda: list(default), metadata={"help": text})
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class Recipe:
    """All options of a run. Those every system shares are fields, those of one system are in `options`."""

    name: str
    system: str
    base: str = _option("bundled", "encoder: Hub id, local folder, or 'bundled' (all-MiniLM-L6-v2, needs no network)")
    base_id: str | None = _option(None, "Hub id to publish for a base that is a local folder")
    data: list[str] = _option(["demo"], "training corpora: 'demo', folders built by dataset_scripts, or Hub data sets")
    output_dir: str = _option("runs", "folder of runs; this one goes to OUTPUT_DIR/NAME")
    seed: int = _option(42, "seed of weights, order of data and samples")
    epochs: float = _option(1.0, "passes over the training data, all phases together")
    max_steps: int = _option(-1, "optimiser steps per phase at most; -1: as many as the epochs take")
    max_train_rows: int | None = _option(None, "seeded sample of the training rows of each phase")
    max_eval_rows: int | None = _option(2000, "seeded sample of the validation rows scored during training")
    max_test_rows: int | None = _option(None, "seeded sample of the test rows scored at the end")
    batch_size: int = _option(64, "rows per forward pass over all processes together")
    accumulation: int = _option(1, "forward passes per optimiser step")
    learning_rate: float = _option(2e-5, "peak learning rate of AdamW")
    weight_decay: float = _option(0.0, "weight decay of AdamW")
    warmup: float = _option(0.1, "share of the steps with a rising learning rate")
    schedule: str = _option("linear", "learning rate schedule, as transformers names it")
    max_grad_norm: float = _option(1.0, "gradient norm at which to clip")
    max_length: int = _option(128, "tokens per text in training; the published model keeps the base's limit")
    lora: bool = _option(True, "train a LoRA adapter; false: all weights")
    lora_rank: int = _option(32, "rank of the LoRA matrices")
    lora_alpha: int = _option(32, "LoRA scale numerator")
    lora_dropout: float = _option(0.05, "dropout before the LoRA matrices")
    lora_targets: list[str] | None = _option(None, "module names to adapt; default: the attention projections")
    lora_scale: float = _option(1.0, "factor on the trained adapter when it is saved; below 1: back towards the base")
    bf16: bool | None = _option(None, "bfloat16 autocast; default: where the accelerator supports it")
    eval_steps: float = _option(0.1, "steps between evaluations and checkpoints, or (below 1) that share of a phase")
    patience: int = _option(0, "evaluations without improvement before a phase stops; 0: never")
    keep_best: bool = _option(True, "end each phase with its best checkpoint rather than its last")
    logging_steps: int = _option(10, "steps between log lines")
    report_to: str = _option("none", "experiment tracker, as transformers names it: wandb, tensorboard, trackio, ...")
    cache_dir: str = _option("~/.cache/opinion-transformers", "where prepared data and base similarities are kept")
    world_size: int | None = _option(None, "processes that must be running; another number is an error")
    license: str = _option("apache-2.0", "licence of the published model, as the Hub spells it")
    push_to_hub: str | None = _option(None, "repository for the merged model; the adapter goes to NAME-adapter")
    private: bool = _option(False, "make the repositories private")
    release: bool = _option(False, "put adapter and card into model_cards/NAME, as a model that comes with the project")
    evaluate_on: str = _option("test", "split of the figures at the end; validation while a recipe is being chosen")
    overwrite: bool = _option(False, "discard an earlier run of this name that had other options")
    options: dict[str, Any] = field(default_factory=dict, metadata={"help": "options of the system"})

    @property
    def run_dir(self) -> Path:
        """Folder of this run."""
        return Path(self.output_dir) / self.name

    def identity(self) -> dict[str, Any]:
        """The options on which the trained weights depend; two runs with equal identity continue each other."""
        outside = ("output_dir", "report_to", "cache_dir", "world_size", "push_to_hub", "private", "overwrite",
                   "release", "evaluate_on", "lora_scale", "logging_steps", "max_test_rows", "license")  # fmt: skip
        return {key: value for key, value in asdict(self).items() if key not in outside}

    def __getitem__(self, key: str) -> Any:
        if key in self.options:
            return self.options[key]
        if key not in SHARED:
            raise ValueError(f"recipe {self.name!r} lacks the option {key!r} of the system {self.system!r}")
        return getattr(self, key)


POSITIVE = {"epochs", "max_train_rows", "max_eval_rows", "max_test_rows", "batch_size", "accumulation", "max_length",
            "learning_rate", "lora_rank", "lora_alpha", "lora_scale", "eval_steps", "logging_steps",
            "world_size"}  # fmt: skip
SHARED = {f.name: f for f in fields(Recipe) if f.name not in ("name", "options", "system")}


def _bundled() -> dict[str, Path]:
    """Name -> YAML file, of all systems."""
    return {path.stem: path for folder in modeling.__path__ for path in Path(folder).glob("*/recipes/*.yaml")}


def list_recipes() -> list[str]:
    """Names of the recipes that come with the package."""
    return sorted(_bundled())


def recipe_path(name: str) -> Path:
    """The YAML file of a recipe given by name or by path.

    Raises:
        ValueError: If there is none; the message lists the recipes and the nearest name.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else _bundled().get(name)
    if path is None or not path.is_file():
        near = difflib.get_close_matches(name, list_recipes(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"no recipe {name!r}{hint} There are {', '.join(list_recipes())}, or give a path to a .yaml")
    return path


def load_recipe(name: str, overrides: dict[str, str] | None = None) -> Recipe:
    """Reads a recipe and applies options from the command line.

    Args:
        name: Name of a bundled recipe or path to a YAML file.
        overrides: Option -> value as text, read as YAML (`true`, `0.4`, `[a, b]`).

    Raises:
        ValueError: If the recipe or an option does not exist, or a value has the wrong type.
    """
    path = recipe_path(name)
    values = _read_yaml(path.read_text(encoding="utf-8"), str(path)) or {}
    if "system" not in values:
        raise ValueError(f"{path}: a recipe must name its system")
    own = dict(values.pop("options", None) or {})
    for key in values:
        if key != "system" and key not in SHARED:
            raise ValueError(f"{path}: unknown key {key!r}; options of the system belong under 'options:'")
    shared = {key: _coerce(key, value) for key, value in values.items() if key != "system"}
    for key, text in (overrides or {}).items():
        value = _parse(text)
        if key in SHARED:
            shared[key] = _coerce(key, value)
        elif key in own:
            own[key] = _like(key, own[key], value)
        else:
            near = difflib.get_close_matches(key, [*SHARED, *own], n=1)
            hint = f"; did you mean --{near[0]}?" if near else ""
            raise ValueError(f"recipe {name!r} has no option --{key}{hint} (train.py {name} --help lists them)")
    recipe = Recipe(name=path.stem, system=values["system"], **shared, options=own)
    if recipe.evaluate_on not in ("test", "validation"):
        raise ValueError(f"--evaluate_on must be test or validation, got {recipe.evaluate_on!r}")
    if not recipe.lora and recipe.lora_scale != 1:
        raise ValueError("--lora_scale scales an adapter: it needs --lora true")
    if recipe.evaluate_on != "test" and (recipe.release or recipe.push_to_hub):
        raise ValueError("--evaluate_on validation is for choosing a recipe: a published card has figures of test data")
    return recipe


def _read_yaml(text: str, source: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"{source} cannot be read as YAML: {error}") from None


def _parse(text: str) -> Any:
    value = _read_yaml(text, f"the value {text!r}") if text else text
    if isinstance(value, str) and value.lower() == "none":
        return None
    try:  # YAML 1.1 reads 2e-5 as a string
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _like(key: str, default: Any, value: Any) -> Any:
    """Checks a system's option against the type of the recipe's own value, where there is one."""
    if default is None or value is None:
        return value
    if isinstance(default, bool) != isinstance(value, bool):
        wanted = "true or false" if isinstance(default, bool) else "a value"
        raise ValueError(f"--{key} must be {wanted}, got {value!r}")
    if isinstance(default, list):
        return value if isinstance(value, list) else str(value).split(",")
    return _convert(key, type(default), value)


def listed(value: str | list[str] | None) -> list[str]:
    """The parts of an option that names several, separated by commas; none of None."""
    parts = value.split(",") if isinstance(value, str) else value or []
    return [part.strip() for part in parts if part.strip()]


def _coerce(key: str, value: Any) -> Any:
    """Gives a value the type of the field, or says why it cannot have it."""
    annotation = typing.get_type_hints(Recipe)[key]
    allowed = annotation.__args__ if isinstance(annotation, types.UnionType) else (annotation,)
    if value is None and type(None) in allowed:
        return None
    kind = next(kind for kind in allowed if kind is not type(None))
    if value is None and kind is str:
        return "none"  # the word, as in --report_to none
    if typing.get_origin(kind) is list:
        return [str(item) for item in value] if isinstance(value, list) else str(value).split(",")
    if kind is bool and not isinstance(value, bool):
        raise ValueError(f"--{key} must be true or false, got {value!r}")
    if kind in (int, float) and (isinstance(value, bool) or not isinstance(value, int | float | str)):
        raise ValueError(f"--{key} must be a number, got {value!r}")
    return _convert(key, kind, value)


def _convert(key: str, kind: type, value: Any) -> Any:
    try:
        converted = kind(value)
    except (TypeError, ValueError, OverflowError):
        wanted = {int: "whole number", float: "number"}.get(kind, kind.__name__)
        raise ValueError(f"--{key} must be a {wanted}, got {value!r}") from None
    if kind is int and isinstance(value, float) and converted != value:
        raise ValueError(f"--{key} must be a whole number, got {value!r}")
    if key in POSITIVE and not converted > 0:
        raise ValueError(f"--{key} must be above 0, got {value!r}")
    return converted


def expand_grid(recipe: Recipe, grid: list[str]) -> list[tuple[dict[str, Any], Recipe]]:
    """The recipes of a grid search.

    Args:
        recipe: The recipe all points share.
        grid: Axes as `option=a,b,c` or `option=start:stop:step` (stop included).

    Returns:
        (values of the axes, recipe) per point, none without axes; each point's run has a folder of its own.

    Raises:
        ValueError: If an axis is malformed or names an unknown option.
    """
    if not grid:
        return []
    axes: dict[str, list[str]] = {}
    for axis in grid:
        key, separator, values = axis.partition("=")
        key = key.replace("-", "_")
        if not separator or not values:
            raise ValueError(f"--grid {axis!r} must look like margin=0.1:1.0:0.1 or objective=siamese,triplet")
        if key not in SHARED and key not in recipe.options:
            raise ValueError(f"--grid names the unknown option {key!r}")
        if key in ("release", "push_to_hub", "evaluate_on"):
            raise ValueError(f"--grid {key} is no option of training: a grid has one value of it")
        axes[key] = axis_values(values)
    points = []
    for combination in itertools.product(*axes.values()):
        texts = dict(zip(axes, combination, strict=True))
        shared = {key: _coerce(key, _parse(text)) for key, text in texts.items() if key in SHARED}
        own = {key: _like(key, recipe.options[key], _parse(text)) for key, text in texts.items() if key not in SHARED}
        label = ",".join(f"{key}={text}" for key, text in texts.items())
        point = replace(recipe, **shared, options={**recipe.options, **own}, name=f"{recipe.name}-grid/{label}")
        points.append(({**shared, **own}, point))
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
