"""A configuration as it was built: its Parquet files, and what they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import datasets
import pyarrow.compute as pc
import pyarrow.parquet as pq
from datasets import ClassLabel


@dataclass
class BuiltConfig:
    """One configuration as it was built.

    Attributes:
        info: Features and sizes.
        files: Split -> its file, or its files in the order of the rows, relative to the card.
        counts: Split -> rows.
        dropped: Reason -> number of raw items or rows not used.
        classes: Class -> rows, where the rows have classes.
        facts: What else the builder counted.
    """

    info: datasets.DatasetInfo
    files: dict[str, str | list[str]]
    counts: dict[str, int]
    dropped: dict[str, int] = field(default_factory=dict)
    classes: dict[str, int] = field(default_factory=dict)
    facts: dict[str, int] = field(default_factory=dict)

    def paths(self, folder: Path, split: str) -> list[Path]:
        """The files of a split in a built folder."""
        files = self.files[split]
        return [folder / file for file in ([files] if isinstance(files, str) else files)]


def shard(config: str, split: str, number: int = 0, total: int = 1) -> str:
    """The name of a Parquet file in a built folder, as the Hub names its own: `quote/train-00000-of-00002.parquet`."""
    return f"{config}/{split}-{number:05}-of-{total:05}.parquet"


def read_built(
    folder: Path,
    config: str,
    info: datasets.DatasetInfo,
    dropped: Mapping[str, int] | None = None,
    facts: Mapping[str, int] | None = None,
) -> BuiltConfig:
    """Makes the record of a configuration from the files that lie in `folder/config`, named by `shard`.

    Only the columns of classes are read, one file at a time; of the others the footers. A split without a row
    is left out and its files are removed.

    Args:
        folder: The folder that is being built.
        config: The configuration.
        info: Its features and texts; sizes are filled in where it has none.
        dropped: Reason -> number of raw items or rows not used.
        facts: What else was counted.

    Raises:
        ValueError: If shards of a split are missing, or a file has other columns than `info.features`.
    """
    found: dict[str, list[Path]] = {}
    for path in sorted((folder / config).glob("*.parquet")):
        found.setdefault(path.name.split("-")[0], []).append(path)
    order = [str(split) for split in (datasets.Split.TRAIN, datasets.Split.VALIDATION, datasets.Split.TEST)]
    files, counts, classes, splits = {}, {}, Counter(), datasets.SplitDict()
    for split in sorted(found, key=lambda name: order.index(name) if name in order else len(order)):
        _check(folder, config, split, found[split], info.features)
        footers = [pq.read_metadata(path) for path in found[split]]
        if not (rows := sum(footer.num_rows for footer in footers)):
            for path in found[split]:
                path.unlink()
            continue
        names = [path.relative_to(folder).as_posix() for path in found[split]]
        files[split], counts[split] = names[0] if len(names) == 1 else names, rows
        for path in found[split]:
            classes.update(_classes(path, info.features))
        size = sum(footer.row_group(i).total_byte_size for footer in footers for i in range(footer.num_row_groups))
        splits.add(datasets.SplitInfo(split, num_bytes=size, num_examples=rows))
    if info.splits is None:
        info = info.copy()
        info.splits, info.dataset_size = splits, sum(split.num_bytes for split in splits.values())
        info.download_size = sum(path.stat().st_size for paths in found.values() for path in paths if path.exists())
    return BuiltConfig(info, files, counts, dict(dropped or {}), dict(sorted(classes.items())), dict(facts or {}))


def _check(folder: Path, config: str, split: str, paths: list[Path], features: datasets.Features) -> None:
    expected = [folder / shard(config, split, number, len(paths)) for number in range(len(paths))]
    if paths != expected:
        raise ValueError(f"{paths[0].parent} lacks {(set(expected) - set(paths)).pop().name}")
    for path in paths:
        if (columns := pq.read_schema(path).names) != list(features):
            raise ValueError(f"{path} has the columns {', '.join(columns)} instead of {', '.join(features)}")


def _classes(path: Path, features: datasets.Features) -> dict[str, int]:
    """Class -> rows of a file, where the rows have a label with named classes or a polarity."""
    label = features.get("label")
    column = "label" if isinstance(label, ClassLabel) else "polarity" if "polarity" in features else None
    if column is None:
        return {}
    values = pc.value_counts(pq.read_table(path, columns=[column])[column]).to_pylist()
    name = label.int2str if column == "label" else str
    return {name(entry["values"]): entry["counts"] for entry in values}
