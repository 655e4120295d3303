"""Making an index: a source of texts embedded, continued after an interruption, never mixed with another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dataset_scripts.base.files import atomic_file, read_json, write_json
from modeling.search.collection import MAX_CHARACTERS, Collection, choose_columns, collect
from modeling.search.records import open_source
from modeling.search.stored_texts import FACTS, ROWS, VECTORS, StoredTexts

if TYPE_CHECKING:
    import pyarrow
    from sentence_transformers import SentenceTransformer

ROW_GROUP = 1 << 20  # rows of a table that are read at once: pyarrow's default


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
        source: See `modeling.search.records.open_source`, also for `config`, `split` and `encoding`.
        out: Folder of the index.
        text: Column of the texts; guessed if it is called `text` or there is no other.
        group: Column of the groups; none if None.
        id: Column of the ids; `id` if there is one.
        model: See `modeling.base.models.load_model`.
        max_characters: Longer texts are cut; the default is far above what an encoder of 512 tokens reads.
        batch_size: Texts per forward pass.
        overwrite: Discard an index of other texts or another model.

    Returns:
        The facts in `index.json`.

    Raises:
        ValueError: If the source cannot be read, or `out` holds something else; the message says what.
    """
    from modeling.base.models import load_model

    folder = Path(out).expanduser()
    check(folder, max_characters, batch_size)
    opened = open_source(source, config, split, encoding)
    columns = choose_columns(opened, text, group, id)
    # loaded where all is done, too: only the model itself can show that it is the one of the vectors
    encoder = load_model(model)
    found = collect(opened, columns, max_characters)
    facts = describe_index(StoredTexts, found, model, encoder, encoder.get_embedding_dimension(), max_characters)
    return store(folder, found, encoder, facts, batch_size, overwrite)


def check(folder: Path, max_characters: int, batch_size: int) -> None:
    """Raises a ValueError if options are out of range or `folder` cannot become an index, before any work."""
    if max_characters < 1 or batch_size < 1:
        raise ValueError("--max_characters and --batch_size must be 1 or more")
    check_folder(folder)


def describe_index(
    kind: type[StoredTexts], found: Collection, name: str, model: Any, dimension: int, max_characters: int
) -> dict[str, Any]:
    """The facts of an index that is yet to be written.

    Args:
        kind: Class of the index, which knows what tells the model from others.
        found: The texts.
        name: The model's name.
        model: The model.
        dimension: Length of its vectors.
        max_characters: Where texts were cut.
    """
    place = Path(name).expanduser()
    return {
        "complete": False,
        # a relative path would mean another folder when asked from elsewhere
        "model": str(place.resolve()) if place.is_dir() else str(name),
        **({"kind": kind.KIND} if kind is not StoredTexts else {}),
        **kind.behaviour(model),
        "dimension": dimension,
        "source": found.source,
        "columns": found.columns,
        "max_characters": max_characters,
        "digest": found.digest,
        "counts": found.counts.facts(),
    }


def store(
    folder: Path,
    found: Collection,
    encoder: SentenceTransformer,
    facts: dict[str, Any],
    batch_size: int,
    overwrite: bool,
    row_group: int = ROW_GROUP,
    finish: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> dict[str, Any]:
    """Writes an index, or what an interruption or damage left to be written.

    Args:
        folder: Checked by `check`.
        found: The texts.
        encoder: What embeds them.
        facts: From `describe_index`.
        batch_size: Texts per forward pass.
        overwrite: Discard an index of other texts or another model.
        row_group: Rows that are read from the table at once.
        finish: What is left to do when the vectors are there; takes the facts and returns those to write.

    Returns:
        The facts in `index.json`.

    Raises:
        ValueError: If the folder holds an index of something else.
    """
    from modeling.base.vectors import embed_file

    stored = read_json(folder / FACTS)
    if stored is not None and (changes := differences(stored, facts)):
        if not overwrite:
            raise ValueError(
                f"{folder} was made from something else: {'; '.join(changes)}. Choose another --out, or discard it "
                "with --overwrite"
            )
        stored = None
    whole = _vectors_are_whole(folder, stored or facts)
    if stored is not None and stored["complete"] and whole and (folder / ROWS).is_file():
        return stored
    if stored is None:
        _clear(folder)
    elif not whole:
        (folder / VECTORS).unlink(missing_ok=True)
    write_json(folder / FACTS, facts)
    write_rows(found.rows, folder / ROWS, row_group)
    embed_file(encoder, found.texts, folder / VECTORS, batch_size)
    facts = {**finish(facts), "complete": True}
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
    from modeling.base.vectors import differs

    changes = []
    kinds = [facts_of.get("kind", StoredTexts.KIND) for facts_of in (stored, facts)]
    if kinds[0] != kinds[1]:
        return [f"it is an index of {kinds[0]}, not of {kinds[1]}"]
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
        index = StoredTexts(folder, facts)
        return index.vectors.shape == index.shape
    except (FileNotFoundError, ValueError):
        return False


def _clear(folder: Path) -> None:
    """Makes the folder, or removes the files of an index from it."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in folder.iterdir():
        if entry.name.startswith(("index.json", "rows.parquet", "vectors.", "counter.", "extension")):
            entry.unlink()


def write_rows(rows: pyarrow.Table, path: Path, row_group: int = ROW_GROUP) -> None:
    """Writes the table of an index."""
    import pyarrow.parquet as pq

    with atomic_file(path) as temporary:
        pq.write_table(
            rows, temporary, store_schema=False, row_group_size=row_group
        )  # with it, text would be read as a category
