"""Builds a corpus into a folder as it is published: Parquet, plot, card and a summary of what was kept and dropped."""

from __future__ import annotations

import dataclasses
import tempfile
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

from datasets import ClassLabel, DatasetDict

from dataset_scripts import get_corpus
from dataset_scripts.card import PLOT, BuiltConfig, write_card
from dataset_scripts.metadata import Metadata
from dataset_scripts.sources import source_name
from dataset_scripts.statistics import plot_statistics, stance_statistics
from modeling.files import atomic_folder, read_json, write_json, write_text

SUMMARY = "summary.json"


def build(
    metadata: Metadata, data: Path, out: Path, options: dict[str, Any], configs: Collection[str] | None = None
) -> dict[str, Any]:
    """Builds beside the output folder, and puts the new folder in its place when all is well.

    Args:
        metadata: The corpus.
        data: The raw corpus, as METADATA.raw describes it.
        out: The folder to write; a build that is there is replaced.
        options: Options of the builder, by the name of their field.
        configs: Configurations to build; all if None.

    Returns:
        The summary, as it is in the folder.

    Raises:
        FileExistsError: If the output folder holds anything that no earlier build wrote.
        FileNotFoundError: If the raw data hold nothing of this corpus.
        ValueError: If no row is usable.
    """
    out = out.resolve()
    check_replaceable(out, data.resolve())
    # the cache lies beside the output, too: it takes as much room, which a disk for temporary files may lack
    with (
        atomic_folder(out) as folder,
        tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent, ignore_cleanup_errors=True) as cache,
    ):
        return _write(metadata, data, folder, options, configs or metadata.configs, Path(cache))


def check_replaceable(out: Path, data: Path) -> None:
    """Refuses an output folder with anything in it that no earlier build wrote, or that holds the raw data.

    Raises:
        FileExistsError: With what is in the way.
    """
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if data == out or out in data.parents:
        raise FileExistsError(f"the raw data lie in --out {out}, which would be replaced; choose another folder")
    try:
        written = {SUMMARY, *read_json(out / SUMMARY)["files"]}
    except (OSError, ValueError, LookupError, TypeError):
        raise FileExistsError(f"{out} exists and no build wrote it; choose another --out or remove it") from None
    present = {file.relative_to(out).as_posix() for file in out.rglob("*") if file.is_file()}
    strange = sorted(name for name in present - written if not any(part.startswith(".") for part in name.split("/")))
    if strange:
        raise FileExistsError(f"{out} holds {strange[0]}, which no build wrote; move it away or choose another --out")


def _write(
    metadata: Metadata, data: Path, folder: Path, options: dict[str, Any], chosen: Collection[str], cache: Path
) -> dict[str, Any]:
    """Writes Parquet, plot, card and summary to a new folder; returns the summary."""
    configs, statistics = {}, {}
    for name in (name for name in metadata.configs if name in chosen):
        builder = get_corpus(metadata.name).open(data, name, cache_dir=cache, **options)
        builder.download_and_prepare()
        splits = builder.as_dataset()
        files = {split: f"{name}/{split}-00000-of-00001.parquet" for split in splits}
        (folder / name).mkdir(parents=True)
        for split, rows in splits.items():
            rows.to_parquet(folder / files[split])
        counts = {split: len(rows) for split, rows in splits.items()}
        dropped, facts = dict(builder.dropped), dict(builder.facts)
        configs[name] = BuiltConfig(builder.info, files, counts, dropped, _classes(splits), facts)
        if "train" in splits and {"stance", "text"} <= set(splits["train"].column_names):
            statistics = stance_statistics(splits["train"]["stance"], splits["train"]["text"])
    if statistics:
        plot_statistics(statistics, folder / PLOT)
    options = {name: _public(value) for name, value in options.items()}
    write_text(folder / "README.md", write_card(metadata, configs, options, statistics))
    summary = {
        "corpus": metadata.name,
        # modeling.hub publishes by these two, wherever the folder has been moved to
        "redistributable": metadata.redistributable,
        "terms": metadata.terms,
        "options": options,
        "configs": {
            name: {"rows": built.counts, "classes": built.classes, "dropped": built.dropped, "facts": built.facts}
            for name, built in configs.items()
        },
        "statistics": {stance: dataclasses.asdict(means) for stance, means in statistics.items()},
        "files": sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()),
    }
    write_json(folder / SUMMARY, summary)
    return summary


def _public(value: Any) -> Any:
    """An option's value, in which a folder is its name: card and summary hold no local path."""
    if isinstance(value, list | tuple):
        return [_public(item) for item in value]
    return source_name(value) if isinstance(value, str) else value


def _classes(splits: DatasetDict) -> dict[str, int]:
    """Class -> rows of all splits, where the rows have a label with named classes or a polarity."""
    found: Counter[str] = Counter()
    for rows in splits.values():
        label = rows.features.get("label")
        if isinstance(label, ClassLabel):
            found.update(map(label.int2str, rows["label"]))
        elif "polarity" in rows.features:
            found.update(rows["polarity"])
    return dict(sorted(found.items()))
