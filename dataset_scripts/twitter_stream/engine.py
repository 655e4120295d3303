"""Which engine runs the queries: Daft's own on this machine, or a Ray cluster; and how it reads and writes Parquet."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import daft

ANSWER_SECONDS = 10
TASK_BYTES = 16 << 20  # of Parquet


def start_engine(engine: str, address: str | None = None) -> None:
    """Chooses the engine of this process, `native` or `ray`; Daft has one for all its queries.

    The address is that of a Ray cluster that this machine belongs to, `host:6379` or `auto`; None starts one here. One
    that is none, or another engine at work already, raises ValueError; where no cluster answers, OSError.
    """
    logging.getLogger("tracing").setLevel(logging.WARNING)  # each step of each query, where others log at all
    if engine == "ray":
        import ray  # noqa: F401
    if address not in (None, "auto"):
        _check_address(address)
    try:
        daft.set_runner_ray(address=address) if engine == "ray" else daft.set_runner_native()
    except daft.exceptions.DaftCoreException as error:  # one is set already
        if (running := daft.get_or_infer_runner_type()) != engine:
            raise ValueError(f"--engine {engine}: this process mines with {running} already; start another") from error


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
    failures = [daft.exceptions.DaftCoreException, daft.errors.UDFException, RuntimeError]
    if "ray" in sys.modules:
        failures.append(sys.modules["ray"].exceptions.RayError)
    try:
        yield
    except tuple(failures) as error:
        reason = next((line for line in reversed(str(error).splitlines()) if line.strip()), type(error).__name__)
        raise OSError(
            f"the engine stopped ({reason.strip()[:300]}); what was finished is kept, give the same command again"
        ) from error


def cores() -> int:
    """How many cores compute."""
    if daft.get_or_infer_runner_type() == "ray":
        return int(sys.modules["ray"].cluster_resources().get("CPU", 1))
    return os.cpu_count() or 1


def in_tasks(frame: daft.DataFrame, number: int) -> daft.DataFrame:
    """Divides a frame into so many tasks of a cluster; the native engine divides work by itself."""
    return frame.into_partitions(number) if daft.get_or_infer_runner_type() == "ray" else frame


def read_rows(files: Sequence[str]) -> daft.DataFrame:
    """A frame of Parquet files, in tasks of some bytes: many small files would cost a cluster more than their work."""
    size = sum(Path(file).stat().st_size for file in files)
    return in_tasks(daft.read_parquet(list(files)), 1 + size // TASK_BYTES)


def write_rows(frame: daft.DataFrame, folder: Path, by: str | None = None) -> None:
    """Writes a frame to Parquet files; nothing else of this kind stays in the folder.

    A worker that is killed leaves what it was writing, whole or not, and another one writes its rows again. With `by`
    there is a folder for each value of that column.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = frame.write_parquet(str(folder), partition_cols=by and [by]).to_pydict()["path"]
    written = {Path(path).resolve() for path in written}
    present = {file.resolve() for file in folder.rglob("*.parquet")}
    if missing := written - present:
        raise OSError(f"{min(missing)} was written and is not there; all machines must see the folder of --out")
    for file in present - written:
        file.unlink()
