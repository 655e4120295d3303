"""Tables for people: written whole as CSV or Parquet, shown on a terminal, and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dataset_scripts.base.files import atomic_file

if TYPE_CHECKING:
    import pandas as pd

OUTPUTS = (".csv", ".parquet")
_FORMULA = re.compile(r"[=+\-@\t\r]")  # what a spreadsheet takes for the beginning of a formula


def check_output(path: str | Path | None, outputs: Sequence[str] = OUTPUTS) -> Path | None:
    """The file to write to, checked before hours are spent on what goes into it; ValueError if it will not do."""
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
            texts = {name: column for name, column in frame.items() if column.dtype.kind not in "biufcmM"}
            safe = frame.assign(**{name: column.astype(object).map(_unarmed) for name, column in texts.items()})
            safe.rename(columns=_unarmed).to_csv(temporary, index=False)


def _unarmed(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def markdown(frame: pd.DataFrame, width: int | None = None) -> str:
    """A frame as a Markdown table, see `markdown_rows`."""
    return markdown_rows(map(str, frame.columns), frame.astype(object).itertuples(index=False), width)


def markdown_rows(header: Iterable[str], cells: Iterable[Iterable[Any]], width: int | None = None) -> str:
    """A Markdown table whose columns are also aligned for the terminal.

    Counts are whole, measures have three decimals, and where there is nothing there is nothing. Texts stand in one line
    each, of `width` characters at most.
    """

    def cell(value: object) -> str:
        if value is None or value != value:
            return ""
        if isinstance(value, float):
            return f"{value:.3f}"
        text = " ".join(value.split()) if isinstance(value, str) else f"{value:,}"
        return text if width is None or len(text) <= width else f"{text[: width - 3]}..."

    header, rows = list(header), [[cell(value).replace("|", "\\|") for value in row] for row in cells]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines)
