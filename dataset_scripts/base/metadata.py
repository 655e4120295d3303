"""The declarative record of a corpus: where it comes from, under which terms, what a user may choose, which class."""

from __future__ import annotations

import importlib
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, create_model

from dataset_scripts.base.cli import suggest, validate
from dataset_scripts.base.splits import SEED

FOLDER = Path(__file__).parents[1] / "metadata"
_TYPES = {"bool": bool, "int": int, "float": float, "str": str, "list": str}


class Option(BaseModel, extra="forbid", frozen=True):
    """What a user may choose when a corpus is built.

    Attributes:
        type: Of its value; a list is one of texts.
        help: One line.
        default: None where that is a value of its own (all, or none).
        nullable: Whether it may be None although its default is not.
        choices: What a text, or a text of a list, may be.
        gt: Bound of a number, as are ge, lt and le.
        published: False for one that says where or how a build runs and changes no row: no card has it.
        secret: The card names it without its value.
    """

    type: Literal["bool", "int", "float", "str", "list"]
    help: str
    default: bool | int | float | str | list[str] | None = None
    nullable: bool = False
    choices: list[str] = []
    gt: float | None = None
    ge: float | None = None
    lt: float | None = None
    le: float | None = None
    published: bool = True
    secret: bool = False

    def field(self) -> tuple[Any, Any]:
        """Its type and default, as `pydantic.create_model` wants them."""
        kind: Any = Literal[tuple(self.choices)] if self.choices else _TYPES[self.type]
        if self.type == "list":
            return tuple[kind, ...], Field(tuple(self.default or ()), description=self.help)
        kind = kind | None if self.nullable or self.default is None else kind
        return kind, Field(self.default, description=self.help, gt=self.gt, ge=self.ge, lt=self.lt, le=self.le)


class Demo(BaseModel, extra="forbid", frozen=True):
    """What of this project's demonstration a corpus reads.

    Attributes:
        name: The source `demo:NAME`.
        raw: File or folder in `dataset_scripts/demo`.
        options: Of the build.
        default: Whether `demo` alone means this one for its configurations.
    """

    name: str
    raw: str
    options: dict[str, Any] = {}
    default: bool = True


class Metadata(BaseModel, extra="forbid", frozen=True, ignored_types=(cached_property,)):
    """What is known of a corpus before it is read; one YAML file in `dataset_scripts/metadata/` each.

    Attributes:
        name: Name of the corpus and of the YAML file.
        builder: Its class, as `module:Class`.
        title: Human name, heading of the dataset card.
        summary: One line for the list of corpora.
        description: A paragraph for the dataset card.
        source: Where a user gets the raw files.
        raw: What the raw data of a build have to be.
        licence: Licence identifier as the Hub spells it (`cc-by-sa-4.0`, `other`, ...).
        terms: One sentence on what the licence allows and asks; printed before a push.
        redistributable: Whether the built data may be published; if not, a push has to be private.
        languages: ISO 639-1 codes.
        citation: BibTeX.
        task_categories: Hub task categories for the card.
        configs: Name of each configuration -> one-line description; the first is the default.
        options: What a user may choose beyond the seed.
        demo: Its part of the demonstration, if it has one.
        expected: Configuration -> split -> rows in a build of the complete public release, checked by tests
            and reported by the command line where a build differs.
        expected_facts: The same of what else the builder counts (`Corpus.facts`): configuration -> fact -> number.
    """

    name: str
    builder: str
    title: str
    summary: str
    description: str
    source: str
    raw: str
    licence: str
    terms: str
    redistributable: bool
    languages: list[str]
    citation: str
    task_categories: list[str] = ["sentence-similarity"]
    configs: dict[str, str]
    options: dict[str, Option] = {}
    demo: Demo | None = None
    expected: dict[str, dict[str, int]] = {}
    expected_facts: dict[str, dict[str, int]] = {}

    @cached_property
    def options_model(self) -> type[BaseModel]:
        """The model of a build's options; what does not fit raises a ValidationError that names the field."""
        seed = int, Field(SEED, ge=0, description="seed of the split, and of whatever else is drawn")
        fields = {name: option.field() for name, option in self.options.items()}
        return create_model(self.name, __config__=ConfigDict(extra="forbid", frozen=True), seed=seed, **fields)


def list_corpora() -> list[str]:
    """The names of all corpora."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


@cache
def load_metadata(name: str) -> Metadata:
    """Reads the record of one corpus.

    Raises:
        ValueError: If there is no such corpus, or its record lacks a field or has one that is unknown.
    """
    path = FOLDER / f"{name}.yaml"
    if not path.is_file():
        names = list_corpora()
        raise ValueError(f"there is no corpus {name!r}{suggest(name, names) or '; choose from ' + ', '.join(names)}")
    return validate(Metadata, {"name": name, **yaml.safe_load(path.read_text(encoding="utf-8"))})


def get_corpus(name: str) -> type:
    """The builder class of a corpus; see `load_metadata`."""
    module, _, attribute = load_metadata(name).builder.partition(":")
    return getattr(importlib.import_module(module), attribute)
