"""The dataset card: what was built, from what, under which terms. It holds no text of the corpus and no local path."""

from __future__ import annotations

from typing import Any

import datasets
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCardData

from dataset_scripts.base.built import BuiltConfig
from dataset_scripts.base.metadata import Metadata
from dataset_scripts.base.options import flag
from dataset_scripts.kialo.statistics import StanceStatistics

PLOT = "plots/statistics.png"
_SIZES = {10**3: "n<1K", 10**4: "1K<n<10K", 10**5: "10K<n<100K", 10**6: "100K<n<1M", 10**7: "1M<n<10M"}
_SIZES |= {10**8: "10M<n<100M", 10**9: "100M<n<1B", 10**10: "1B<n<10B"}


def write_card(
    metadata: Metadata,
    configs: dict[str, BuiltConfig],
    options: dict[str, Any],
    statistics: dict[str, StanceStatistics] | None = None,
) -> str:
    """Writes the card.

    Args:
        metadata: The corpus.
        configs: Name -> configuration, in the order of METADATA.
        options: Options of the build, by the name of their field.
        statistics: Stance -> means, if the corpus has arguments with a stance.

    Returns:
        The text of README.md, with its YAML header.
    """
    title = f"{metadata.title} (built with opinion-transformers)"
    sections = [f"---\n{_header(metadata, configs, options)}\n---", f"# {title}", metadata.description]
    sections += ["## Source and terms", f"Source: {metadata.source}", _terms(metadata)]
    sections += ["## How it was built", _command(metadata, configs, options)]
    sections += ["## Rows", _counts(metadata, configs), "## Kept and dropped", _dropped(configs)]
    if any(built.facts for built in configs.values()):
        sections += ["## Counted", _facts(configs)]
    if statistics:
        sections += ["## Pro and Con on the surface", _statistics(statistics)]
    sections += ["## Citation", f"```bibtex\n{metadata.citation.strip()}\n```"]
    return "\n\n".join(sections) + "\n"


def markdown_table(header: list[str], rows: list[list[Any]]) -> str:
    """A table whose columns after the first are aligned to the right; integers get thousands separators."""
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in [header, *rows]]
    cells.insert(1, ["---", *["---:"] * (len(header) - 1)])
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def dropped_rows(configs: dict[str, BuiltConfig]) -> list[list[Any]]:
    """Rows of the table of what was kept and dropped: reason, then one count per configuration."""
    reasons = sorted({reason for built in configs.values() for reason in built.dropped})
    kept = ["rows kept", *(sum(built.counts.values()) for built in configs.values())]
    return [kept, *([reason, *(built.dropped.get(reason, 0) for built in configs.values())] for reason in reasons)]


def _header(metadata: Metadata, configs: dict[str, BuiltConfig], options: dict[str, Any]) -> str:
    largest = max(sum(built.counts.values()) for built in configs.values())
    other = {"license_name": f"{metadata.name}-terms", "license_link": metadata.source}
    data = DatasetCardData(
        license=metadata.licence,
        **(other if metadata.licence == "other" else {}),
        language=_languages(metadata, options),
        task_categories=metadata.task_categories,
        size_categories=next((size for limit, size in _SIZES.items() if largest < limit), "10B<n<100B"),
        pretty_name=metadata.title,
        tags=["opinion-transformers"],
    )
    datasets.info.DatasetInfosDict({name: built.info for name, built in configs.items()}).to_dataset_card_data(data)
    default = next(iter(configs))
    files = {
        name: {"data_files": [{"split": split, "path": path} for split, path in built.files.items()]}
        | ({"default": True} if name == default else {})
        for name, built in configs.items()
    }
    MetadataConfigs(files).to_dataset_card_data(data)
    return data.to_yaml()


def _languages(metadata: Metadata, options: dict[str, Any]) -> list[str]:
    """Codes for the header: those of the corpus, unless an option chose another or all."""
    if lang := options.get("lang"):
        return ["multilingual" if lang == "all" else lang]
    return [*metadata.languages, "multilingual"] if options.get("all_languages") else metadata.languages


def _terms(metadata: Metadata) -> str:
    terms = f"Licence: {metadata.licence}. {metadata.terms}"
    return terms if metadata.redistributable else f"{terms}\n\n**This data set must not be published.**"


def _command(metadata: Metadata, configs: dict[str, BuiltConfig], options: dict[str, Any]) -> str:
    chosen = "" if list(configs) == list(metadata.configs) else "".join(f" --config {name}" for name in configs)
    extra = "".join(f" {flag(name, value)}" for name, value in options.items() if name != "seed")
    if options.get("exclude"):  # which works with the salt alone, and that is not published
        extra += " --salt SECRET"
    command = f"python -m dataset_scripts {metadata.name} --data RAW --out OUT{chosen} --seed {options['seed']}{extra}"
    return f"```bash\n{command}\n```\n\n`RAW` is {metadata.raw}."


def _counts(metadata: Metadata, configs: dict[str, BuiltConfig]) -> str:
    splits = list(dict.fromkeys(split for built in configs.values() for split in built.counts))
    rows = [
        [f"`{name}`: {metadata.configs[name]}", *(built.counts.get(split, 0) for split in splits)]
        for name, built in configs.items()
    ]
    return markdown_table(["configuration", *splits], rows)


def _dropped(configs: dict[str, BuiltConfig]) -> str:
    return markdown_table(["", *(f"`{name}`" for name in configs)], dropped_rows(configs))


def _facts(configs: dict[str, BuiltConfig]) -> str:
    names = dict.fromkeys(name for built in configs.values() for name in built.facts)
    rows = [[name, *(built.facts.get(name, "") for built in configs.values())] for name in names]
    return markdown_table(["", *(f"`{name}`" for name in configs)], rows)


def _statistics(statistics: dict[str, StanceStatistics]) -> str:
    rows = [
        [stance.capitalize(), means.texts, f"{means.lexical_diversity:.3f}", f"{means.negations:.3f}"]
        for stance, means in statistics.items()
    ]
    table = markdown_table(["stance", "arguments", "lexical diversity", "negation terms"], rows)
    note = (
        "Means over the arguments of the train split: unique words / all words, and the number of negation terms (no, "
        "not, never, none, cannot, neither, nor, and words in n't). Words are lower-case runs of letters and digits, "
        "joined by inner apostrophes and hyphens."
    )
    return f"{note}\n\n{table}\n\n![Lexical diversity and negation terms by stance]({PLOT})"
