"""The dataset card: what was built, from what, under which terms. It holds no text of the corpus and no local path."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from datasets.info import DatasetInfosDict
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard, DatasetCardData

from dataset_scripts.base.cli import flag
from dataset_scripts.base.corpus import BuiltConfig, Corpus
from dataset_scripts.base.stances import PLOT

TEMPLATE = Path(__file__).with_name("card.md.j2")
_SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "1B<n<10B")


def write_card(
    corpus: type[Corpus],
    configs: Mapping[str, BuiltConfig],
    options: Mapping[str, Any],
    statistics: Mapping[str, Mapping[str, float]],
) -> str:
    """The text of README.md, with its YAML header; `options` may be told, `statistics` are `stance_statistics`."""
    card = DatasetCard.from_template(
        _header(corpus, configs, options),
        template_path=str(TEMPLATE),
        record=corpus.METADATA,
        configs=configs,
        names=[f"`{name}`" for name in configs],
        splits=list(dict.fromkeys(split for built in configs.values() for split in built.counts)),
        reasons=sorted({reason for built in configs.values() for reason in built.dropped}),
        facts=list(dict.fromkeys(fact for built in configs.values() for fact in built.facts)),
        command=_command(corpus, configs, options),
        statistics=statistics,
        plot=PLOT,
    )
    return str(card).rstrip() + "\n"


def _command(corpus: type[Corpus], configs: Mapping[str, BuiltConfig], options: Mapping[str, Any]) -> str:
    record, words = corpus.METADATA, ["opinion", "corpus", "build", corpus.METADATA.name, "RAW", "-o", "OUT"]
    if list(configs) != list(record.configs):
        words += [word for name in configs for word in ("--config", name)]
    for name, value in options.items():
        if isinstance(value, bool):  # none is true by default
            words += [flag(name)] * value
        else:
            text = ",".join(value) if isinstance(value, list | tuple) else "none" if value is None else str(value)
            words += [flag(name), text]
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
        size_categories=_SIZES[max(0, len(str(largest)) - 3)],
        pretty_name=record.title,
        tags=["opinion-transformers"],
    )
    files = MetadataConfigs()
    for name, built in configs.items():
        paths = {split: names[0] if len(names) == 1 else names for split, names in built.files.items()}
        files[name] = {"data_files": [{"split": split, "path": path} for split, path in paths.items()]}
    files[next(iter(configs))]["default"] = True
    DatasetInfosDict({name: built.info for name, built in configs.items()}).to_dataset_card_data(data)
    files.to_dataset_card_data(data)
    return data
