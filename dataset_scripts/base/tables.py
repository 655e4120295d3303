"""Tables for people: written whole as CSV or Parquet, shown on a terminal, and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dataset_scripts.base.files import atomic_file

if TYPE_CHECKING:
    import pandas as pd

OUTPUTS = (".csv", ".parquet")
_SPACE = re.compile(r"\s+")
_FORMULA = re.compile(r"[=+\-@\t\r]")  # what a spreadsheet takes for the beginning of a formula


def check_output(path: str | Path | None, outputs: Sequence[str] = OUTPUTS) -> Path | None:
    """The file to write to, before hours are spent on what goes into it.

    Raises:
        ValueError: If its ending is not one of `outputs`, or its folder is a file.
    """
    if path is None:
        return None
    path = Path(path).expanduser()
    if path.suffix.lower() not in outputs:
        raise ValueError(f"-o {str(path)!r} has to end in {', '.join(outputs[:-1])} or {outputs[-1]}")
    if path.is_dir():
        raise ValueError(f"-o {str(path)!r} is a folder: name a file in it")
    if file := next((parent for parent in path.parents if parent.is_file()), None):
        raise ValueError(f"-o {str(path)!r}: {file} is a file and no folder")
    return path


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Writes a table as CSV or Parquet, by the ending, whole or not at all.

    In a CSV, texts that begin like a formula (= + - @) get an apostrophe before them: what strangers wrote must not be
    computed by the spreadsheet of whoever opens it. Numbers stay as they are.
    """
    with atomic_file(path) as temporary:
        if path.suffix.lower() == ".parquet":
            frame.to_parquet(temporary, index=False)
        else:
            texts = [name for name in frame.columns if not _is_numeric(frame[name])]
            safe = frame.assign(**{name: frame[name].astype(object).map(_unarmed) for name in texts})
            safe.rename(columns=_unarmed).to_csv(temporary, index=False)


def _is_numeric(column: pd.Series) -> bool:
    return column.dtype.kind in "biufcmM"


def _unarmed(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def show(frame: pd.DataFrame, width: int = 100, digits: int = 3) -> str:
    """The table for a terminal; long texts are shortened to `width` characters, missing figures stay empty."""

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
    return markdown([str(name) for name in frame.columns], rows)


def markdown(table: pd.DataFrame | Sequence[str], rows: Sequence[Sequence[str]] | None = None) -> str:
    """A Markdown table whose columns are also aligned for the terminal.

    Args:
        table: Its columns' names, or a frame, whose cells are shown as they are and where nothing is, as nothing.
        rows: Its cells, if `table` is the names.
    """
    if rows is None:
        filled = table.astype(object).where(table.notna(), "")
        header, rows = [str(name) for name in table.columns], [list(map(str, row)) for row in filled.to_numpy()]
    else:
        header = list(table)
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(len(row[number]) for row in [header, *rows]) for number in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in lines)
