"""The declarative record of a corpus: where it comes from, under which terms, and what a build must contain."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import yaml

FOLDER = Path(__file__).parents[1] / "metadata"


@dataclass(frozen=True)
class Metadata:
    """What is known of a corpus before it is read; one YAML file in `dataset_scripts/metadata/` each.

    Attributes:
        name: Key in the registry and name of the YAML file.
        title: Human name, heading of the dataset card.
        summary: One line for `python -m dataset_scripts list`.
        description: A paragraph for the dataset card.
        source: Where a user gets the raw files.
        raw: What `--data` has to point to.
        licence: Licence identifier as the Hub spells it (`cc-by-sa-4.0`, `other`, ...).
        terms: One sentence on what the licence allows and asks; printed before a push.
        redistributable: Whether the built data may be published; if not, a push needs `--private`.
        languages: ISO 639-1 codes.
        citation: BibTeX.
        task_categories: Hub task categories for the card.
        configs: Name of each configuration -> one-line description; the first is the default.
        options: What a user may choose beyond the seed -> one line of help; the fields of the builder's config class.
        expected: Configuration -> split -> rows in a build of the complete public release, checked by tests
            and reported by the command line where a build differs.
        expected_facts: The same of what else the builder counts (`Corpus.facts`): configuration -> fact -> number.
    """

    name: str
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
    configs: dict[str, str]
    task_categories: list[str] = field(default_factory=lambda: ["sentence-similarity"])
    options: dict[str, str] = field(default_factory=dict)
    expected: dict[str, dict[str, int]] = field(default_factory=dict)
    expected_facts: dict[str, dict[str, int]] = field(default_factory=dict)


def load_metadata(name: str) -> Metadata:
    """Reads the record of one corpus.

    Raises:
        FileNotFoundError: If the corpus has no record.
        TypeError: If the record lacks a field or has one that is unknown.
    """
    return Metadata(name=name, **yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")))
