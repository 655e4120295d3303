"""Builds a corpus into a folder as it is published: Parquet, plot, card and a summary of what was kept and dropped."""

import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from datasets import Dataset, DatasetInfo, Features, SplitDict, SplitInfo
from filelock import FileLock, Timeout

from dataset_scripts.base.card import write_card
from dataset_scripts.base.corpus import BuiltConfig, Corpus
from dataset_scripts.base.files import atomic_folder, read_json, write_json, write_text
from dataset_scripts.base.sources import source_name
from dataset_scripts.base.splits import SPLITS
from dataset_scripts.base.stances import PLOT, plot_statistics, stance_statistics

SUMMARY = "summary.json"


def build(
    corpus: type[Corpus], data: list[Path], out: Path, options: Mapping[str, Any], configs: list[str] | None = None
) -> dict[str, Any]:
    """Builds configurations (all if None) beside the output folder, and replaces that when all is well.

    Returns the summary, as it is in the folder, and `first`: reason -> where the first raw item that was not used is.
    An output folder with anything that no earlier build wrote, or with the raw data, raises OSError, as does another
    process at the same output of a RESUMABLE corpus; data without a usable row raise ValueError.
    """
    out, data = out.expanduser().resolve(), [path.expanduser().resolve() for path in data]
    _check_replaceable(out, data)
    if corpus.RESUMABLE and any(path in out.parents for path in data):
        raise FileExistsError(f"{out} lies in the raw data, where the next build would read it; choose another -o")
    files = corpus.raw_files(data)
    names = [name for name in corpus.METADATA.configs if name in (configs or corpus.METADATA.configs)]
    out.parent.mkdir(parents=True, exist_ok=True)
    if corpus.RESUMABLE:
        working = _resumable(out, options.get("keep_work", False))
    else:  # beside the output, on whose disk there is room
        working = tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent, ignore_cleanup_errors=True)
    with working as work, atomic_folder(out) as folder:
        if corpus.RESUMABLE:
            configs = corpus.write(files, folder, options, names, work)
        else:
            configs = {name: _write(corpus.open(data, name, work, **options), folder) for name in names}
        if not any(built.counts for built in configs.values()):
            dropped = {reason: count for built in configs.values() for reason, count in built.dropped.items()}
            raise corpus.no_rows(", ".join(names), files, dropped)
        return _describe(corpus, folder, options, configs)


def shard(config: str, split: str, number: int = 0, total: int = 1) -> str:
    """The name of a Parquet file in a built folder, as the Hub names its own: `quote/train-00000-of-00002.parquet`."""
    return f"{config}/{split}-{number:05}-of-{total:05}.parquet"


def read_built(
    folder: Path, config: str, features: Features, dropped: Mapping[str, int], facts: Mapping[str, int]
) -> BuiltConfig:
    """Counts what the Parquet files in `folder/config` hold, which are named by `shard`; empty ones are removed."""
    info = DatasetInfo(features=features, config_name=config, splits=SplitDict(), download_size=0, dataset_size=0)
    column = next((name for name in ("label", "polarity") if name in features), None)
    files: dict[str, list[str]] = {}
    classes: Counter[str] = Counter()
    for split in SPLITS:
        footers = {path: pq.read_metadata(path) for path in sorted(folder.glob(f"{config}/{split}-*.parquet"))}
        for path in [path for path, footer in footers.items() if not footer.num_rows]:
            path.unlink()
            del footers[path]
        if not footers:
            continue
        size = sum(each.row_group(n).total_byte_size for each in footers.values() for n in range(each.num_row_groups))
        info.splits.add(SplitInfo(split, size, sum(footer.num_rows for footer in footers.values())))
        info.dataset_size += size
        info.download_size += sum(path.stat().st_size for path in footers)
        files[split] = [path.relative_to(folder).as_posix() for path in footers]
        if column:
            values = pq.read_table(list(footers), columns=[column])[column].to_pylist()
            classes.update(map(features[column].int2str, values) if column == "label" else values)
    return BuiltConfig(info, files, dict(dropped), dict(facts), dict(sorted(classes.items())))


def _write(builder: Corpus, folder: Path) -> BuiltConfig:
    """Writes a configuration from the rows of its builder."""
    config, features = builder.config.name, builder.info.features
    (folder / config).mkdir(parents=True)
    for split, rows in builder.read_splits().items():
        columns = dict(zip(features, map(list, zip(*rows, strict=True)), strict=True))
        Dataset.from_dict(columns, features=features).to_parquet(folder / shard(config, split))
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
        own = {SUMMARY, *read_json(out / SUMMARY)["files"]}
    except (OSError, ValueError, LookupError, TypeError):
        raise FileExistsError(f"{out} exists and no build wrote it; choose another -o or remove it") from None
    files = {file.relative_to(out).as_posix() for file in out.rglob("*") if file.is_file()}
    others = sorted(name for name in files - own if not any(part.startswith(".") for part in name.split("/")))
    if others:
        raise FileExistsError(f"{out} holds {others[0]}, which no build wrote; move it away or choose another -o")


@contextmanager
def _resumable(out: Path, keep: bool) -> Iterator[Path]:
    """The work folder of an output, for this process alone; it goes when the build is done, unless it is to be kept."""
    work = out.with_name(f".{out.name}-work")
    work.mkdir(exist_ok=True)
    lock = FileLock(work / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise BlockingIOError(f"another process is building {out}; wait for it or choose another -o") from None
    advice = f"The same command goes on from what is in {work}; remove that to start afresh."
    try:
        for path in out.parent.glob(".*.tmp"):  # of killed builds: none is running while the lock is held
            if re.fullmatch(rf"\.{re.escape(out.name)}\.\d+\.tmp", path.name):
                shutil.rmtree(path, ignore_errors=True)
        yield work
        advice = ""
    except ValueError:  # of an option or of the data, which the same command would find again
        advice = f"Intermediate files are kept in {work}; remove them if you do not go on."
        raise
    finally:
        if not (advice or keep) or all(path.name == ".lock" for path in work.iterdir()):
            shutil.rmtree(work, ignore_errors=True)
        elif advice:
            print(advice, file=sys.stderr)
        lock.release()


def _describe(
    corpus: type[Corpus], folder: Path, options: Mapping[str, Any], written: Mapping[str, BuiltConfig]
) -> dict[str, Any]:
    """Writes plot, card and summary beside the Parquet files; returns the summary."""
    configs = {name: built for name, built in written.items() if built.counts}
    record, known = corpus.METADATA, corpus.METADATA.options
    # no option that changes no row, and of folders their names
    public = {name: _public(value) for name, value in options.items() if name not in known or known[name].published}
    statistics = {}
    for built in configs.values():
        if "train" in built.files and {"stance", "text"} <= set(built.info.features):
            paths = [folder / name for name in built.files["train"]]
            statistics = stance_statistics(*pq.read_table(paths, columns=["stance", "text"]).to_pydict().values())
    if statistics:
        plot_statistics(statistics, folder / PLOT)
    write_text(folder / "README.md", write_card(corpus, configs, public, statistics))
    summary = {
        "corpus": record.name,
        # `hub` publishes by these two, wherever the folder has been moved to
        "redistributable": record.redistributable,
        "terms": record.terms,
        "options": public,
        "configs": {
            name: {"rows": built.counts, "classes": built.classes, "dropped": built.dropped, "facts": built.facts}
            for name, built in configs.items()
        },
        # those without a row, and why
        "empty": {name: built.dropped for name, built in written.items() if name not in configs},
        "statistics": statistics,
        "files": sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()),
    }
    write_json(folder / SUMMARY, summary)
    return summary | {"first": {reason: place for built in written.values() for reason, place in built.first.items()}}


def _public(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_public(item) for item in value]
    return source_name(value) if isinstance(value, str) else value
