"""Making an index: a source of texts embedded, continued after an interruption, never mixed with another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from modeling.collection import MAX_CHARACTERS, choose_columns, collect
from modeling.files import atomic_file, read_json, write_json
from modeling.index import FACTS, ROWS, VECTORS, Index
from modeling.records import open_source


def build_index(
    source: str | Path,
    out: str | Path,
    text: str | None = None,
    group: str | None = None,
    id: str | None = None,
    model: str = "stance-minilm",
    config: str | None = None,
    split: str | None = None,
    encoding: str = "utf-8-sig",
    max_characters: int = MAX_CHARACTERS,
    batch_size: int = 128,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Embeds a source of texts; continues what was interrupted, replaces what is damaged, repeats nothing else.

    Args:
        source: See `modeling.records.open_source`, also for `config`, `split` and `encoding`.
        out: Folder of the index.
        text: Column of the texts; guessed if it is called `text` or there is no other.
        group: Column of the groups; none if None.
        id: Column of the ids; `id` if there is one.
        model: See `modeling.loading.load_model`.
        max_characters: Longer texts are cut; the default is far above what an encoder of 512 tokens reads.
        batch_size: Texts per forward pass.
        overwrite: Discard an index of other texts or another model.

    Returns:
        The facts in `index.json`.

    Raises:
        ValueError: If the source cannot be read, or `out` holds something else; the message says what.
    """
    from modeling.embeddings import behaviour, embed_file
    from modeling.loading import load_model

    if max_characters < 1 or batch_size < 1:
        raise ValueError("--max_characters and --batch_size must be 1 or more")
    folder = Path(out).expanduser()
    check_folder(folder)
    opened = open_source(source, config, split, encoding)
    columns = choose_columns(opened, text, group, id)
    # loaded where all is done, too: only the model itself can show that it is the one of the vectors
    encoder = load_model(model)
    found = collect(opened, columns, max_characters)
    place = Path(model).expanduser()
    facts = {
        "complete": False,
        # a relative path would mean another folder when asked from elsewhere
        "model": str(place.resolve()) if place.is_dir() else str(model),
        **behaviour(encoder),
        "dimension": encoder.get_embedding_dimension(),
        "source": found.source,
        "columns": found.columns,
        "max_characters": max_characters,
        "digest": found.digest,
        "counts": found.counts.facts(),
    }
    stored = read_json(folder / FACTS)
    if stored is not None and (changes := differences(stored, facts)):
        if not overwrite:
            raise ValueError(
                f"{folder} was made from something else: {'; '.join(changes)}. Choose another --out, or discard it "
                "with --overwrite"
            )
        stored = None
    whole = _vectors_are_whole(folder, facts)
    if stored is not None and stored["complete"] and whole and (folder / ROWS).is_file():
        return stored
    if stored is None:
        _clear(folder)
    elif not whole:
        (folder / VECTORS).unlink(missing_ok=True)
    write_json(folder / FACTS, facts)
    _write_rows(found.rows, folder / ROWS)
    embed_file(encoder, found.texts, folder / VECTORS, batch_size)
    facts["complete"] = True
    write_json(folder / FACTS, facts)  # last: it marks the index as whole
    return facts


def check_folder(folder: Path) -> None:
    """Raises a ValueError if a folder is neither empty nor an index, before anything is computed for it."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--out {folder} is a file: name a folder")
    if folder.is_dir() and not (folder / FACTS).is_file() and any(folder.iterdir()):
        raise ValueError(f"--out {folder} is not empty and no index: choose another --out")


def differences(stored: dict[str, Any], facts: dict[str, Any]) -> list[str]:
    """In what an index differs from what it would be now; each entry says what was and what is."""
    from modeling.embeddings import differs

    changes = []
    if reason := differs(stored, facts):
        changes.append(f"the model was {stored['model']!r} and is {facts['model']!r} now ({reason})")
    for name, column in stored["columns"].items():
        if column != facts["columns"][name]:
            changes.append(f"the column of the {name} was {column!r} and is {facts['columns'][name]!r} now")
    if stored["max_characters"] != facts["max_characters"]:
        changes.append(f"texts were cut at {stored['max_characters']:,} characters, now at {facts['max_characters']:,}")
    if not changes and stored["digest"] != facts["digest"]:
        was, now = stored["counts"], facts["counts"]
        changes.append(
            f"the rows differ ({stored['source']} had {was['kept']:,} with {was['distinct']:,} distinct texts, "
            f"{facts['source']} has {now['kept']:,} with {now['distinct']:,})"
        )
    return changes


def _vectors_are_whole(folder: Path, facts: dict[str, Any]) -> bool:
    try:
        index = Index(folder, facts)
        return index.vectors.shape == index.shape
    except (FileNotFoundError, ValueError):
        return False


def _clear(folder: Path) -> None:
    """Makes the folder, or removes the files of an index from it."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in folder.iterdir():
        if entry.name.startswith(("index.json", "rows.parquet", "vectors.")):
            entry.unlink()


def _write_rows(rows: Any, path: Path) -> None:
    import pyarrow.parquet as pq

    with atomic_file(path) as temporary:
        pq.write_table(rows, temporary, store_schema=False)  # with it, text would be read as a category
