"""The declarative record of a corpus: where it comes from, under which terms, what a user may choose, which class."""

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
    """What a user may choose when a corpus is built."""

    type: Literal["bool", "int", "float", "str", "list"]  # a list is one of texts
    help: str  # one line
    default: bool | int | float | str | list[str] | None = None  # None where that is a value of its own (all, or none)
    nullable: bool = False  # whether it may be None although its default is not
    choices: list[str] = []  # what a text, or a text of a list, may be
    gt: float | None = None
    ge: float | None = None
    lt: float | None = None
    le: float | None = None
    published: bool = True  # False for what says where or how a build runs and changes no row: no card has it

    def field(self) -> tuple[Any, Any]:
        """Its type and default, as `pydantic.create_model` wants them."""
        kind: Any = Literal[tuple(self.choices)] if self.choices else _TYPES[self.type]
        if self.type == "list":
            return tuple[kind, ...], Field(tuple(self.default or ()), description=self.help)
        kind = kind | None if self.nullable or self.default is None else kind
        return kind, Field(self.default, description=self.help, gt=self.gt, ge=self.ge, lt=self.lt, le=self.le)


class Demo(BaseModel, extra="forbid", frozen=True):
    """What of this project's demonstration a corpus reads."""

    name: str  # the source `demo:NAME`
    raw: str  # file or folder in `dataset_scripts/demo`
    options: dict[str, Any] = {}  # of the build
    default: bool = True  # whether `demo` alone means this one for its configurations


class Metadata(BaseModel, extra="forbid", frozen=True, ignored_types=(cached_property,)):
    """What is known of a corpus before it is read; one YAML file in `dataset_scripts/metadata/` each.

    `expected` and `expected_facts` are the rows, and what else the builder counts (`Corpus.facts`), of a build of the
    complete public release. Tests check them, and the command line reports where a build differs.
    """

    name: str  # of the corpus and of the YAML file
    builder: str  # its class, as `module:Class`
    title: str  # heading of the dataset card
    summary: str  # one line for the list of corpora
    description: str  # a paragraph for the dataset card
    source: str  # where a user gets the raw files
    hub: str | None = None  # id of a data set on the Hub with the same texts
    raw: str  # what the raw data of a build have to be
    licence: str  # as the Hub spells it (`cc-by-sa-4.0`, `other`, ...)
    terms: str  # one sentence on what the licence allows and asks; printed before a push
    redistributable: bool  # whether the built data may be published; if not, a push has to be private
    languages: list[str]  # ISO 639-1 codes
    citation: str  # BibTeX
    task_categories: list[str] = ["sentence-similarity"]  # of the Hub
    configs: dict[str, str]  # name of each configuration -> one-line description; the first is the default
    options: dict[str, Option] = {}  # what a user may choose beyond the seed
    demo: Demo | None = None
    expected: dict[str, dict[str, int]] = {}  # configuration -> split -> rows
    expected_facts: dict[str, dict[str, int]] = {}  # configuration -> fact -> number

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
    """Reads the record of one corpus; ValueError if there is none, or it is not complete."""
    path = FOLDER / f"{name}.yaml"
    if not path.is_file():
        names = list_corpora()
        raise ValueError(f"there is no corpus {name!r}{suggest(name, names) or '; choose from ' + ', '.join(names)}")
    return validate(Metadata, {"name": name, **yaml.safe_load(path.read_text(encoding="utf-8"))})


def check_folder(source: str, option: str = "") -> None:
    """Refuses, before any network, a source of data that can only be meant as a folder, and is none, naming the cure.

    Such is what lies beside existing folders, is spelled as no id on the Hub is, lies in `data/`, or is called like a
    corpus; anything else may be on the Hub. `option` is the one that named it.
    """
    path = Path(source).expanduser()
    if path.is_dir():
        return
    corpus = path.name.replace("-", "_") if path.name.replace("-", "_") in list_corpora() else "CORPUS"
    build = f"build it with opinion corpus build {corpus} RAW -o"
    if path.is_file():
        raise ValueError(f"{option}{path} is a file: name a folder; {build} FOLDER")
    spelled = source.startswith((".", "~", "/", "data/")) or source.endswith("/") or source.count("/") > 1
    if spelled or (source == path.name and corpus != "CORPUS") or (path.parent.name and path.parent.is_dir()):
        folder = f"data/{source}" if source == path.name else path
        raise ValueError(f"{option}there is no folder {folder}; {build} {folder}")


def get_corpus(name: str) -> type:
    """The builder class of a corpus; see `load_metadata`."""
    module, _, attribute = load_metadata(name).builder.partition(":")
    return getattr(importlib.import_module(module), attribute)
