"""Builds a corpus into a folder as it is published: Parquet, plot, card and a summary of what was kept and dropped."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
from datasets import ClassLabel, SplitInfo
from filelock import FileLock, Timeout

from dataset_scripts.base.card import write_card
from dataset_scripts.base.corpus import BuiltConfig, Corpus
from dataset_scripts.base.files import atomic_folder, read_json, write_json, write_text
from dataset_scripts.base.sources import source_name
from dataset_scripts.base.splits import SPLITS
from dataset_scripts.base.stances import PLOT, plot_statistics, stance_statistics

SUMMARY = "summary.json"


def build(
    corpus: type[Corpus],
    data: Collection[Path],
    out: Path,
    options: Mapping[str, Any],
    configs: Collection[str] | None = None,
) -> dict[str, Any]:
    """Builds beside the output folder, and puts the new folder in its place when all is well.

    Args:
        corpus: The builder class.
        data: The raw corpus, as METADATA.raw describes it.
        out: The folder to write; a build that is there is replaced.
        options: Options of the builder, by the name of their field.
        configs: Configurations to build; all if None.

    Returns:
        The summary, as it is in the folder; and `first`, which is not: reason -> where the first raw item that was not
        used is.

    Raises:
        FileExistsError: If the output folder holds anything that no earlier build wrote.
        FileNotFoundError: If the raw data hold nothing of this corpus.
        ValueError: If no row is usable.
        BlockingIOError: If another process builds the same output of a RESUMABLE corpus.
        OSError: If the disk is full, see `atomic_folder`; the build that was there stays.
    """
    out, data, record = out.expanduser().resolve(), [path.expanduser().resolve() for path in data], corpus.METADATA
    _check_replaceable(out, data)
    if corpus.RESUMABLE and any(path in out.parents for path in data):
        raise FileExistsError(f"{out} lies in the raw data, where the next build would read it; choose another -o")
    files = corpus.raw_files(data)
    chosen = [name for name in record.configs if name in (configs or record.configs)]
    with _work_folder(out, corpus, options) as work, atomic_folder(out) as folder:
        if corpus.RESUMABLE:
            written = corpus.write(files, folder, options, chosen, work)
        else:
            written = {name: _write(corpus, data, folder, options, name, work) for name in chosen}
        if not any(built.counts for built in written.values()):
            dropped = {reason: count for built in written.values() for reason, count in built.dropped.items()}
            raise ValueError(
                f"{record.name} ({', '.join(chosen)}): no usable row; it needs {record.raw}. "
                f"Dropped: {dropped or 'nothing'}"
            )
        return _complete(corpus, folder, options, written)


def shard(config: str, split: str, number: int = 0, total: int = 1) -> str:
    """The name of a Parquet file in a built folder, as the Hub names its own: `quote/train-00000-of-00002.parquet`."""
    return f"{config}/{split}-{number:05}-of-{total:05}.parquet"


def read_built(
    folder: Path, config: str, features: datasets.Features, dropped: Mapping[str, int], facts: Mapping[str, int]
) -> BuiltConfig:
    """Counts what the Parquet files in `folder/config` hold, which are named by `shard`; empty ones are removed.

    Args:
        folder: The folder that is being built.
        config: The configuration.
        features: Its columns.
        dropped: Reason -> number of raw items or rows not used.
        facts: What else was counted.
    """
    built = BuiltConfig(features, dropped=dict(dropped), facts=dict(facts))
    label = features.get("label")
    column = "label" if isinstance(label, ClassLabel) else "polarity" if "polarity" in features else None
    classes: Counter[str] = Counter()
    for split in SPLITS:
        for path in sorted(folder.glob(f"{config}/{split}-*.parquet")):
            footer = pq.read_metadata(path)
            if not footer.num_rows:
                path.unlink()
                continue
            built.files.setdefault(split, []).append(path.relative_to(folder).as_posix())
            size = sum(footer.row_group(number).total_byte_size for number in range(footer.num_row_groups))
            before = built.splits.get(split, SplitInfo(split))
            built.splits[split] = SplitInfo(split, before.num_bytes + size, before.num_examples + footer.num_rows)
            built.download_size += path.stat().st_size
            if column:
                values = pq.read_table(path, columns=[column])[column].to_pylist()
                classes.update(map(label.int2str, values) if column == "label" else values)
    built.classes = dict(sorted(classes.items()))
    return built


def _write(
    corpus: type[Corpus], data: list[Path], folder: Path, options: Mapping[str, Any], config: str, work: Path
) -> BuiltConfig:
    """Writes a configuration from the rows of its builder."""
    builder = corpus.open(data, config, cache_dir=work, **options)
    features = builder.info.features
    (folder / config).mkdir(parents=True)
    for split, rows in builder.read_splits().items():
        columns = dict(zip(features, map(list, zip(*rows, strict=True)), strict=True))
        datasets.Dataset.from_dict(columns, features=features).to_parquet(folder / shard(config, split))
    built = read_built(folder, config, features, builder.dropped, builder.facts)
    built.first = builder.dropped.first
    return built


def _check_replaceable(out: Path, data: list[Path]) -> None:
    """Refuses an output folder with anything in it that no earlier build wrote, or that holds the raw data."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if any(path == out or out in path.parents for path in data):
        raise FileExistsError(f"the raw data lie in {out}, which would be replaced; choose another -o")
    try:
        written = {SUMMARY, *read_json(out / SUMMARY)["files"]}
    except (OSError, ValueError, LookupError, TypeError):
        raise FileExistsError(f"{out} exists and no build wrote it; choose another -o or remove it") from None
    present = {file.relative_to(out).as_posix() for file in out.rglob("*") if file.is_file()}
    strange = sorted(name for name in present - written if not any(part.startswith(".") for part in name.split("/")))
    if strange:
        raise FileExistsError(f"{out} holds {strange[0]}, which no build wrote; move it away or choose another -o")


@contextmanager
def _work_folder(out: Path, corpus: type[Corpus], options: Mapping[str, Any]) -> Iterator[Path]:
    """A folder beside the output, on whose disk there is room; of a RESUMABLE corpus it goes when the build is done."""
    out.parent.mkdir(parents=True, exist_ok=True)
    if not corpus.RESUMABLE:
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent, ignore_cleanup_errors=True) as folder:
            yield Path(folder)
        return
    work = out.with_name(f".{out.name}-work")
    work.mkdir(exist_ok=True)
    lock = FileLock(work / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise BlockingIOError(f"another process is building {out}; wait for it or choose another -o") from None
    keep, advice = True, f"The same command goes on from what is in {work}; remove that to start afresh."
    try:
        for path in out.parent.glob(".*.tmp"):  # of killed builds: none is running while the lock is held
            if re.fullmatch(rf"\.{re.escape(out.name)}\.\d+\.tmp", path.name):
                shutil.rmtree(path, ignore_errors=True)
        yield work
        keep, advice = options.get("keep_work", False), ""
    except ValueError:  # of an option or of the data, which the same command would find again
        advice = f"Intermediate files are kept in {work}; remove them if you do not go on."
        raise
    finally:
        if not keep or all(path.name == ".lock" for path in work.iterdir()):
            shutil.rmtree(work, ignore_errors=True)
        elif advice:
            print(advice, file=sys.stderr)
        lock.release()


def _complete(
    corpus: type[Corpus], folder: Path, options: Mapping[str, Any], written: dict[str, BuiltConfig]
) -> dict[str, Any]:
    """Writes plot, card and summary beside the Parquet files; returns the summary."""
    configs = {name: built for name, built in written.items() if built.counts}
    record, told = corpus.METADATA, _told(corpus, options)
    secrets = {name: "SECRET" for name in options if name in record.options and record.options[name].secret}
    statistics = {}
    for built in configs.values():
        if "train" in built.files and {"stance", "text"} <= set(built.features):
            paths = [folder / name for name in built.files["train"]]
            statistics = stance_statistics(*pq.read_table(paths, columns=["stance", "text"]).to_pydict().values())
    if statistics:
        plot_statistics(statistics, folder / PLOT)
    write_text(folder / "README.md", write_card(corpus, configs, told | secrets, statistics))
    summary = {
        "corpus": record.name,
        # `hub` publishes by these two, wherever the folder has been moved to
        "redistributable": record.redistributable,
        "terms": record.terms,
        "options": told,
        "configs": {
            name: {"rows": built.counts, "classes": built.classes, "dropped": built.dropped, "facts": built.facts}
            for name, built in configs.items()
        },
        # those without a row, and why
        "empty": {name: built.dropped for name, built in written.items() if name not in configs},
        "statistics": {stance: asdict(means) for stance, means in statistics.items()},
        "files": sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()),
    }
    write_json(folder / SUMMARY, summary)
    return summary | {"first": {reason: place for built in written.values() for reason, place in built.first.items()}}


def _told(corpus: type[Corpus], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that card and summary tell: no secret, none that changes no row, and of a folder its name."""
    hidden = {name for name, option in corpus.METADATA.options.items() if not option.published}
    return {name: _public(value) for name, value in options.items() if name not in hidden}


def _public(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_public(item) for item in value]
    return source_name(value) if isinstance(value, str) else value
