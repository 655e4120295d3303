"""Making an index of counter-arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from modeling.bipolar.counter_index import FAISS, CounterIndex
from modeling.bipolar.counter_models import document_encoder
from modeling.search import shortlist as nearest
from modeling.search.collection import MAX_CHARACTERS, Collection, choose_columns, collect
from modeling.search.index_build import check, describe_index, store
from modeling.search.records import open_source

MODEL = "bipolar-minilm"
ROW_GROUP = 512  # rows of the table that are read for one text


def build_counter_index(
    source: str | Path,
    out: str | Path,
    text: str | None = None,
    id: str | None = None,
    model: str = MODEL,
    config: str | None = None,
    split: str | None = None,
    encoding: str = "utf-8-sig",
    max_characters: int = MAX_CHARACTERS,
    batch_size: int = 128,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Embeds a source of arguments; continues what was interrupted, replaces what is damaged, repeats nothing else.

    An index that was extended since is left as it is.

    Args:
        model: A Bipolar-encoder, or any encoder that `modeling.base.models.load_model` takes, which has no classification
            head to re-rank with.
        source, out, text, id, config, split, encoding, max_characters, batch_size, overwrite: See
            `modeling.search.index_build.build_index`.

    Returns:
        The facts in `index.json`. Beside those of every index: `parts`, the sources with their columns, counts and
        digests, the first row of each, and how many of its texts were `known`; `reranks`; and `search`, what
        `modeling.search.shortlist.build` says of the FAISS index.

    Raises:
        ValueError: As for `build_index`; or if FAISS is not installed.
    """
    nearest.load_faiss()
    folder = Path(out).expanduser()
    check(folder, max_characters, batch_size)
    opened = open_source(source, config, split, encoding)
    columns = choose_columns(opened, text, None, id)
    loaded = CounterIndex.load_model(model)
    found = collect(opened, columns, max_characters)
    dimension = loaded.encoder.get_embedding_dimension()
    facts = describe_index(CounterIndex, found, model, loaded, dimension, max_characters)
    facts |= {"parts": [part_of(found)]}

    def finish(facts: dict[str, Any]) -> dict[str, Any]:
        index = CounterIndex(folder, facts)
        index.model = loaded
        made, search = nearest.build(index._documents, index._queries, *index.shape)
        nearest.write(made, folder / FAISS)
        return {**facts, "reranks": index.reranks, "search": search}

    return store(folder, found, document_encoder(loaded), facts, batch_size, overwrite, ROW_GROUP, finish)


def part_of(found: Collection, first_row: int = 0, known: int = 0) -> dict[str, Any]:
    """What `index.json` says of one of its sources.

    Args:
        found: Its texts.
        first_row: Number of its first row, counted on from the sources before.
        known: Texts that the index had before.
    """
    return {"source": found.source, "columns": found.columns, "digest": found.digest, "first_row": first_row,
            "known": known, "counts": found.counts.facts()}  # fmt: skip
