"""Tables for people: written whole as CSV or Parquet, shown on a terminal, and statements read from files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from dataset_scripts.base.files import atomic_file

if TYPE_CHECKING:
    import pandas as pd

OUTPUTS = (".csv", ".parquet")
_SPACE = re.compile(r"\s+")


def check_output(path: str | Path | None) -> Path | None:
    """The file to write a table to, before hours are spent on what goes into it.

    Raises:
        ValueError: If its ending is not one of `OUTPUTS`.
    """
    if path is None:
        return None
    path = Path(path).expanduser()
    if path.suffix.lower() not in OUTPUTS:
        raise ValueError(f"--out {str(path)!r} has to end in {' or '.join(OUTPUTS)}")
    return path


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Writes a table as CSV or Parquet, by the ending, under a temporary name and renames it."""
    with atomic_file(path) as temporary:
        if path.suffix.lower() == ".parquet":
            frame.to_parquet(temporary, index=False)
        else:
            frame.to_csv(temporary, index=False)


def show(frame: pd.DataFrame, width: int = 100, digits: int = 3) -> str:
    """The table for a terminal; long texts are shortened to `width` characters, missing figures stay empty."""
    from modeling.base.report import text_table

    def cell(value: object) -> str:
        if value is None or value != value:
            return ""
        if isinstance(value, float):
            return f"{value:.{digits}f}"
        if isinstance(value, str):
            text = _SPACE.sub(" ", value)
            return text if len(text) <= width else text[: width - 3] + "..."
        return f"{value:,}"

    rows = [[cell(value) for value in row] for row in frame.astype(object).itertuples(index=False)]
    return text_table([str(name) for name in frame.columns], rows)


def read_statements(
    path: str | Path, column: str = "statement", option: str = "--statements"
) -> list[tuple[str, str | None]]:
    """Statements from a file, each with its target group or None.

    Args:
        path: A text file with one statement a line, or a table (see `modeling.search.records`) with a column of
            them and perhaps one `target`.
        column: Name of that column.
        option: What the file was given with, for messages.

    Raises:
        ValueError: If there is no such file or column, or no statement in it.
    """
    from modeling.search.records import Unreadable, open_source

    path = Path(path).expanduser()
    if path.suffix.lower() == ".txt":
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeError) as error:
            raise ValueError(f"{option} {path} cannot be read ({error}); it has to be UTF-8 text") from error
        found = [(line.strip(), None) for line in lines if line.strip()]
    else:
        source = open_source(path)
        if column not in source.columns:
            raise ValueError(f"{path} has no column {column!r}; it has {', '.join(source.columns) or 'none'}")
        columns = [name for name in (column, "target") if name in source.columns]
        found = []
        for row in source.read(columns):
            if isinstance(row, Unreadable):
                raise ValueError(f"{path}, line {row.line}: {row.reason}; repair the line")
            statement, target = (*row, None)[:2]
            if isinstance(statement, str) and statement.strip():
                known = target is not None and target == target  # NaN is not equal to itself
                found.append((statement.strip(), (str(target).strip() or None) if known else None))
    if not found:
        raise ValueError(f"{path} holds no {column}")
    return found
