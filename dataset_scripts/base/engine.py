"""Which engine runs the queries, Daft's own on this machine or a Ray cluster; and stages, which it runs in partitions.

Daft's own engine holds what it joins, groups or sorts in memory, whatever its size. So each stage reads its rows
partition by partition, and writes them by the partitions of the next.
"""

from __future__ import annotations

import logging
import os
import shutil
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import daft
import pyarrow.parquet as pq
from daft import DataFrame, DataType, Expression, col, lit
from daft.execution import udf
from daft.functions import shift_right
from tqdm import tqdm

from dataset_scripts.base.files import atomic_folder, read_json, write_json

ANSWER_SECONDS = 10  # for a cluster
CONNECT_SECONDS = 120  # for a worker process
TASK_BYTES = 16 << 20  # of Parquet
PART, COUNTED, SCHEMA = "part", "counts.json", "schema.parquet"


def start_engine(engine: str, address: str | None = None) -> None:
    """Chooses the engine of this process, `native` or `ray`; Daft has one for all its queries.

    The address is that of a Ray cluster that this machine belongs to, `host:6379` or `auto`; None starts one here. One
    that is none, or another engine at work already, raises ValueError; where no cluster answers, OSError.
    """
    logging.getLogger("tracing").setLevel(logging.WARNING)  # each step of each query, where others log at all
    if address not in (None, "auto"):
        _check_address(address)
    limit_waiting()
    with suppress(daft.exceptions.DaftCoreException):  # one is set already
        if engine == "native":
            daft.set_runner_native()
        elif daft.runners._get_runner() is None:
            import ray

            hook = {"worker_process_setup_hook": limit_waiting}
            ray.init(address, runtime_env=hook, log_to_driver=False, configure_logging=False, ignore_reinit_error=True)
            daft.set_runner_ray()
    if (running := daft.get_or_infer_runner_type()) != engine:
        raise ValueError(f"--engine {engine}: this process works with {running} already; start another")


class PatientListener(udf.Listener):
    """Waits for a worker for some time only: one that dies before it connects would be waited for forever."""

    def accept(self) -> Any:
        self._listener._socket.settimeout(CONNECT_SECONDS)
        try:
            return super().accept()
        except TimeoutError:
            reason = "it died, maybe for want of memory, or this machine is overloaded"
            raise TimeoutError(f"a worker process did not connect in {CONNECT_SECONDS} s: {reason}") from None


def limit_waiting() -> None:
    """Makes the engine wait so, in a process that has workers."""
    udf.Listener = PatientListener


def _check_address(address: str) -> None:
    """Asks whether somebody listens there: Ray itself would try again for minutes."""
    host, _, port = address.rpartition(":")
    if "//" in address or not host or not port.isdigit():
        raise ValueError(f"--address must be host:port of the cluster's head, or auto, got {address!r}")
    try:
        socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS).close()
    except OSError as error:
        raise OSError(f"--address {address}: no Ray cluster answers ({error}); ray start --head starts one") from None


@contextmanager
def engine_errors() -> Iterator[None]:
    """Makes an engine's failure, such as a worker that was killed, an OSError that says what to do."""
    failures = [daft.exceptions.DaftCoreException, daft.errors.UDFException, RuntimeError, TimeoutError]
    if "ray" in sys.modules:
        failures.append(sys.modules["ray"].exceptions.RayError)
    try:
        yield
    except tuple(failures) as error:
        reason = next((line for line in reversed(str(error).splitlines()) if line.strip()), type(error).__name__)
        raise OSError(
            f"the engine stopped ({reason.strip()[:300]}); what was finished is kept, give the same command again"
        ) from error


def cluster(resource: str) -> int:
    """How many of a resource (`CPU`, `GPU`) a Ray cluster has that computes; 0 where none does."""
    return (
        int(sys.modules["ray"].cluster_resources().get(resource, 0)) if daft.get_or_infer_runner_type() == "ray" else 0
    )


def cores() -> int:
    """How many cores compute."""
    return cluster("CPU") or os.cpu_count() or 1


def in_tasks(frame: DataFrame, number: int) -> DataFrame:
    """Divides a frame into so many tasks of a cluster; the native engine divides work by itself."""
    return frame.into_partitions(number) if cluster("CPU") else frame


def part_of(key: Expression, parts: int) -> Expression:
    """The partition of a hash of 64 bits, from 0; partitions follow each other in the order of the hashes."""
    return (
        shift_right(shift_right(key, lit(32)).cast(DataType.int64()) * parts, lit(32))
        .cast(DataType.int32())
        .alias(PART)
    )


def stage(
    folder: Path,
    items: Mapping[str, Any],
    step: Callable[[Any, Counter[str]], DataFrame],
    title: str,
    by: str | None = None,
) -> Counter[str]:
    """Writes the rows that `step` makes of each item, which may count, to a folder of its own; returns all counts.

    A folder is whole or not there, and what is there is not made again; those of other items go. In it is a folder for
    each partition, where `read` finds its rows: by a hash, of as many as there are items, or by a column `part`.
    """
    counts = Counter()
    folder.mkdir(parents=True, exist_ok=True)
    for other in folder.iterdir():
        if other.name not in items:
            shutil.rmtree(other)
    for name, item in tqdm(items.items(), title, unit="part", disable=None):
        if not (folder / name).is_dir():
            with atomic_folder(folder / name) as temporary:
                frame = step(item, counted := Counter())
                part = part_of(col(by), len(items)) if by else col(PART)
                write_rows(frame.with_column(PART, part), temporary)
                write_json(temporary / COUNTED, +counted)
        counts.update(read_json(folder / name / COUNTED))
    return counts


def read(folder: Path, part: int | None = None) -> DataFrame:
    """The rows of a stage, or of one partition of them, maybe none; in tasks of some bytes.

    Many small files would cost a cluster more than their work.
    """
    pattern = "*/**/*.parquet" if part is None else f"*/{PART}={part}/*.parquet"
    files = sorted(file for file in folder.glob(pattern) if file.name != SCHEMA)
    frame = daft.read_parquet([str(file) for file in files] or [str(next(folder.glob(f"*/{SCHEMA}")))])
    return in_tasks(frame, 1 + sum(file.stat().st_size for file in files) // TASK_BYTES)


def write_rows(frame: DataFrame, folder: Path) -> None:
    """Writes a frame to Parquet files in folders of its partitions; nothing else of this kind stays there.

    A worker that is killed leaves what it was writing, whole or not, and another one writes its rows again.
    """
    written = frame.write_parquet(str(folder), partition_cols=[PART]).to_pydict()["path"]
    written = {Path(path).resolve() for path in written}
    present = {file.resolve() for file in folder.rglob("*.parquet")}
    if missing := written - present:
        raise OSError(f"{min(missing)} was written and is not there; all machines must see the folder of --out")
    for file in present - written:
        file.unlink()
    pq.write_table(frame.exclude(PART).schema().to_pyarrow_schema().empty_table(), folder / SCHEMA)


def sizes(frame: DataFrame, *columns: str) -> list[dict[str, Any]]:
    """Each combination of the columns' values, and the number of its `rows`."""
    return frame.groupby(*columns).agg(col(columns[0]).count("all").alias("rows")).to_pylist()
