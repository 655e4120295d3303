"""Which engine runs the queries: Daft's own on this machine, or a Ray cluster."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from daft import DataFrame

ENGINES = ("native", "ray")
ANSWER_SECONDS = 10


def start_engine(engine: str, address: str | None = None) -> None:
    """Chooses the engine of this process; Daft has one for all its queries.

    Args:
        engine: `native` or `ray`.
        address: Of a Ray cluster that this machine belongs to, `host:6379` or `auto`; None starts one here.

    Raises:
        ValueError: If there is no such engine, an address without Ray, or another engine is at work already; or the
            packages of the extra `scale` are missing.
        OSError: If no cluster answers at the address.
    """
    if engine not in ENGINES:
        raise ValueError(f"--engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    if address is not None and engine != "ray":
        raise ValueError("--address is that of a Ray cluster: it needs --engine ray")
    os.environ.setdefault("DAFT_PROGRESS_BAR", "0")  # a bar for each query would hide that of the whole
    os.environ.setdefault("DAFT_SHOW_QUERY_ID", "0")
    os.environ.setdefault("DAFT_ANALYTICS_ENABLED", "0")
    logging.getLogger("tracing").setLevel(logging.WARNING)  # each step of each query, where others log at all
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    try:
        import daft

        if engine == "ray":
            import ray  # noqa: F401
    except ImportError as error:
        raise ValueError(f"mining needs {error.name}: pip install 'opinion-transformers[scale]'") from error
    if address is not None:
        _check_address(address)
    try:
        daft.set_runner_ray(address=address) if engine == "ray" else daft.set_runner_native()
    except daft.exceptions.DaftCoreException as error:  # one is set already
        if (running := daft.get_or_infer_runner_type()) != engine:
            raise ValueError(f"--engine {engine}: this process mines with {running} already; start another") from error


def _check_address(address: str) -> None:
    """Asks whether somebody listens there: Ray itself would try again for minutes."""
    host, colon, port = address.rpartition(":")
    if address == "auto":
        return
    if "//" in address or not colon or not port.isdigit():
        raise ValueError(f"--address must be host:port of the cluster's head, or auto, got {address!r}")
    try:
        socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS).close()
    except OSError as error:
        raise OSError(f"--address {address}: no Ray cluster answers ({error}); ray start --head starts one") from None


@contextmanager
def engine_errors() -> Iterator[None]:
    """Makes an engine's failure, such as a worker that was killed, an OSError that says what to do."""
    import daft

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
    import daft

    if daft.get_or_infer_runner_type() == "ray":
        import ray

        return int(ray.cluster_resources().get("CPU", 1))
    return os.cpu_count() or 1


def write_rows(frame: DataFrame, folder: Path, by: str | None = None) -> None:
    """Writes a frame to Parquet files; nothing else of this kind stays in the folder.

    A worker that is killed leaves what it was writing, whole or not, and another one writes its rows again.

    Args:
        frame: The rows.
        folder: Where to; it is made.
        by: A column for whose values there are folders.

    Raises:
        OSError: If a file is not there, since a machine of the cluster wrote it where this one does not see it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = frame.write_parquet(str(folder), partition_cols=None if by is None else [by]).to_pydict()["path"]
    kept = {Path(path).resolve() for path in written}
    present = {file.resolve() for file in folder.rglob("*.parquet")}
    if missing := kept - present:
        raise OSError(f"{min(missing)} was written and is not there; all machines must see the folder of --out")
    for file in present - kept:
        file.unlink()


def in_tasks(frame: DataFrame, number: int) -> DataFrame:
    """Divides a frame into so many tasks of a cluster; the native engine divides work by itself."""
    import daft

    return frame.into_partitions(number) if daft.get_or_infer_runner_type() == "ray" else frame
