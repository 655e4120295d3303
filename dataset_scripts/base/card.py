"""The dataset card: what was built, from what, under which terms. It holds no text of the corpus and no local path."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import datasets
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard, DatasetCardData

from dataset_scripts.base.cli import flag
from dataset_scripts.base.stances import PLOT, StanceStatistics

if TYPE_CHECKING:
    from dataset_scripts.base.build import BuiltConfig
    from dataset_scripts.base.corpus import Corpus

TEMPLATE = Path(__file__).with_name("card.md.j2")
_SIZES = {10**3: "n<1K", 10**4: "1K<n<10K", 10**5: "10K<n<100K", 10**6: "100K<n<1M", 10**7: "1M<n<10M"}
_SIZES |= {10**8: "10M<n<100M", 10**9: "100M<n<1B", 10**10: "1B<n<10B"}


def write_card(
    corpus: type[Corpus],
    configs: Mapping[str, BuiltConfig],
    options: Mapping[str, Any],
    statistics: Mapping[str, StanceStatistics] | None = None,
) -> str:
    """Writes the card.

    Args:
        corpus: The builder class.
        configs: Name -> configuration, in the order of METADATA.
        options: Options of the build that may be told.
        statistics: See `stances.stance_statistics`; none if the corpus has no arguments with a stance.

    Returns:
        The text of README.md, with its YAML header.
    """
    record, head = corpus.METADATA, [f"`{name}`" for name in configs]
    splits = dict.fromkeys(split for built in configs.values() for split in built.counts)
    facts = dict.fromkeys(fact for built in configs.values() for fact in built.facts)
    card = DatasetCard.from_template(
        _header(corpus, configs, options),
        template_path=str(TEMPLATE),
        record=record,
        command=build_command(corpus, configs, options),
        counts=[
            ["configuration", *splits],
            *(
                [f"`{name}`: {record.configs[name]}", *(f"{built.counts.get(split, 0):,}" for split in splits)]
                for name, built in configs.items()
            ),
        ],
        dropped=[["", *head], *dropped_rows(configs)],
        facts=[
            ["", *head],
            *([fact, *(_number(built.facts.get(fact)) for built in configs.values())] for fact in facts),
        ],
        statistics=[
            ["stance", "arguments", "lexical diversity", "negation terms"],
            *(
                [stance.capitalize(), f"{m.texts:,}", f"{m.lexical_diversity:.3f}", f"{m.negations:.3f}"]
                for stance, m in (statistics or {}).items()
            ),
        ],
        plot=PLOT,
    )
    return str(card).rstrip() + "\n"


def dropped_rows(configs: Mapping[str, BuiltConfig]) -> list[list[str]]:
    """Rows of the table of what was kept and dropped: reason, then one count per configuration."""
    reasons = sorted({reason for built in configs.values() for reason in built.dropped})
    kept = ["rows kept", *(f"{sum(built.counts.values()):,}" for built in configs.values())]
    return [
        kept,
        *([reason, *(f"{built.dropped.get(reason, 0):,}" for built in configs.values())] for reason in reasons),
    ]


def build_command(corpus: type[Corpus], configs: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """The command that gives these configurations with these options."""
    record, words = corpus.METADATA, ["opinion", "corpus", "build", corpus.METADATA.name, "RAW", "-o", "OUT"]
    if list(configs) != list(record.configs):
        words += [word for name in configs for word in ("--config", name)]
    for name, value in options.items():
        if isinstance(value, bool):
            words += [flag(name)] if value else [f"--no-{flag(name)[2:]}"] if record.options[name].default else []
        elif value is None:
            words += [flag(name), "none"]
        else:
            words += [flag(name), ",".join(value) if isinstance(value, list | tuple) else str(value)]
    return shlex.join(words)


def _header(corpus: type[Corpus], configs: Mapping[str, BuiltConfig], options: Mapping[str, Any]) -> DatasetCardData:
    record = corpus.METADATA
    largest = max(sum(built.counts.values()) for built in configs.values())
    other = {"license_name": f"{record.name}-terms", "license_link": record.source}
    data = DatasetCardData(
        license=record.licence,
        **(other if record.licence == "other" else {}),
        language=corpus.languages(options),
        task_categories=record.task_categories,
        size_categories=next((size for limit, size in _SIZES.items() if largest < limit), "10B<n<100B"),
        pretty_name=record.title,
        tags=["opinion-transformers"],
    )
    datasets.info.DatasetInfosDict({name: built.info for name, built in configs.items()}).to_dataset_card_data(data)
    files = {
        name: {
            "data_files": [
                {"split": split, "path": path[0] if len(path) == 1 else path} for split, path in built.files.items()
            ]
        }
        for name, built in configs.items()
    }
    files[next(iter(configs))]["default"] = True
    MetadataConfigs(files).to_dataset_card_data(data)
    return data


def _number(count: int | None) -> str:
    return "" if count is None else f"{count:,}"
