"""Statements read from files, for commands that have not moved yet."""

from __future__ import annotations

from pathlib import Path

from dataset_scripts.base.tables import OUTPUTS, check_output, show, write_table  # noqa: F401


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
