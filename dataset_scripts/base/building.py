"""Builds a corpus into a folder as it is published: Parquet, plot, card and a summary of what was kept and dropped."""

from __future__ import annotations

import dataclasses
import re
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from dataset_scripts import get_corpus
from dataset_scripts.base.built import BuiltConfig
from dataset_scripts.base.card import PLOT, write_card
from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.files import atomic_folder, read_json, write_json, write_text
from dataset_scripts.base.metadata import Metadata
from dataset_scripts.base.sources import source_name
from dataset_scripts.kialo.statistics import StanceStatistics, plot_statistics, stance_statistics

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
        BlockingIOError: If another process builds the same output of a RESUMABLE corpus.
    """
    out, corpus = out.resolve(), get_corpus(metadata.name)
    check_replaceable(out, data.resolve())
    if corpus.RESUMABLE and data.resolve() in out.parents:
        raise FileExistsError(f"--out {out} lies in the raw data, where the next build would read it; choose another")
    chosen = [name for name in metadata.configs if name in (configs or metadata.configs)]
    public = {name: _public(value) for name, value in options.items() if name not in corpus.UNPUBLISHED}
    with _work_folder(out, corpus, options) as work, atomic_folder(out) as folder:
        written = corpus.write(data, folder, options, chosen, work)
        return _complete(metadata, folder, public, _with_rows(corpus, chosen, written), written)


@contextmanager
def _work_folder(out: Path, corpus: type[Corpus], options: dict[str, Any]) -> Iterator[Path]:
    """A folder beside the output, on whose disk there is room; that of a RESUMABLE corpus goes when the build is done.

    Raises:
        BlockingIOError: If another process works there.
    """
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
        raise BlockingIOError(f"another process is building {out}; wait for it or choose another --out") from None
    finished = refused = False
    try:
        _remove_unfinished(out)
        yield work
        finished = True
    except ValueError:  # of an option or of the data, which the same command would find again
        refused = True
        raise
    finally:
        begun = any(path.name != ".lock" for path in work.iterdir())
        if not begun or (finished and not options.get("keep_work", False)):
            shutil.rmtree(work, ignore_errors=True)
        elif refused:
            print(f"Intermediate files are kept in {work}; remove them if you do not go on.", file=sys.stderr)
        elif not finished:
            print(f"The same command goes on from what is in {work}; remove that to start afresh.", file=sys.stderr)
        lock.release()


def _remove_unfinished(out: Path) -> None:
    """Removes what killed builds of this output left; none is running while the lock is held."""
    for path in out.parent.glob(".*.tmp"):
        if re.fullmatch(rf"\.{re.escape(out.name)}\.\d+\.tmp", path.name):
            shutil.rmtree(path, ignore_errors=True)


def _with_rows(corpus: type[Corpus], chosen: list[str], written: dict[str, BuiltConfig]) -> dict[str, BuiltConfig]:
    """The configurations that have rows, in the order of METADATA.

    Raises:
        ValueError: If none has, or one has none and the corpus does not allow that.
    """
    configs = {name: written[name] for name in chosen if name in written and any(written[name].counts.values())}
    if len(configs) < len(chosen) and not (configs and corpus.RESUMABLE):
        empty = next(name for name in chosen if name not in configs)
        dropped = {reason: count for built in written.values() for reason, count in built.dropped.items()}
        raise ValueError(
            f"{corpus.METADATA.name} ({', '.join(chosen) if not configs else empty}): no usable row; it needs "
            f"{corpus.METADATA.raw}. Dropped: {dropped or 'nothing'}"
        )
    return configs


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


def _complete(
    metadata: Metadata,
    folder: Path,
    options: dict[str, Any],
    configs: dict[str, BuiltConfig],
    written: dict[str, BuiltConfig],
) -> dict[str, Any]:
    """Writes plot, card and summary beside the Parquet files; returns the summary."""
    statistics = {}
    for built in configs.values():
        if "train" in built.files and {"stance", "text"} <= set(built.info.features):
            statistics = _stance_statistics(built.paths(folder, "train"))
    if statistics:
        plot_statistics(statistics, folder / PLOT)
    write_text(folder / "README.md", write_card(metadata, configs, options, statistics))
    summary = {
        "corpus": metadata.name,
        # base.hub publishes by these two, wherever the folder has been moved to
        "redistributable": metadata.redistributable,
        "terms": metadata.terms,
        "options": options,
        "configs": {
            name: {"rows": built.counts, "classes": built.classes, "dropped": built.dropped, "facts": built.facts}
            for name, built in configs.items()
        },
        # those without a row, and why
        "empty": {name: built.dropped for name, built in written.items() if name not in configs},
        "statistics": {stance: dataclasses.asdict(means) for stance, means in statistics.items()},
        "files": sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()),
    }
    write_json(folder / SUMMARY, summary)
    return summary


def _stance_statistics(files: list[Path]) -> dict[str, StanceStatistics]:
    rows = pq.read_table(files, columns=["stance", "text"]).to_pydict()
    return stance_statistics(rows["stance"], rows["text"])


def _public(value: Any) -> Any:
    """An option's value, in which a folder is its name: card and summary hold no local path."""
    if isinstance(value, list | tuple):
        return [_public(item) for item in value]
    return source_name(value) if isinstance(value, str) else value
