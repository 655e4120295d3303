"""What visitors bring: tables, embedded in a folder of each one's own, which goes when the visitor does."""

from __future__ import annotations

import shutil
import tempfile
from itertools import islice
from pathlib import Path

from sentence_transformers import SentenceTransformer

from dataset_scripts.base.files import write_json
from dataset_scripts.base.reading import Dropped
from modeling.search.index import FACTS, Index
from modeling.search.texts import Counts, open_source


class Visitor:
    """The texts that a visitor asks.

    Attributes:
        index: Folder of the index that is asked, at first the served one, if there is one.
        name: What it was made of.
        texts, coded: Tables that were brought, None before.
        source: The table of which the index is, and its columns of texts and groups; None while it is the served one.
    """

    def __init__(self, folder: Path, served: Path | None) -> None:
        self.folder, self._served, self._gone = folder, served, False
        self.index, self.name = served, served and served.resolve().name
        self.texts: Path | None = None
        self.coded: Path | None = None
        self.source: tuple[Path, str, str | None] | None = None

    def bring(self, path: str | Path, uploaded: bool = True) -> Path:
        """A file in the visitor's folder: one that was uploaded, or a copy of one of ours."""
        return Path((shutil.move if uploaded else shutil.copy)(path, tempfile.mkdtemp(dir=self.folder)))

    def embed(
        self,
        model: SentenceTransformer,
        name: str,
        max_rows: int,
        source: tuple[Path, str, str | None] | None = None,
    ) -> str:
        """Embeds a source, or what is asked already, with a model; says what became of the rows read.

        Raises as `Index.build`, and a ValueError if there are more than `max_rows` rows.
        """
        if source := source or self.source:
            table, text, group = source
            title = table.name
        else:
            served = Index.open(self._served)
            if served.facts["model"] == name:
                self.index = self._served
                return ""
            table, title = served.table.select(["id", "group", "text"]).to_pandas(), self.name
            text, group = "text", "group" if served.groups else None
        rows = open_source(table).read([text], Dropped())
        if sum(1 for _ in islice(rows, max_rows + 1)) > max_rows:
            raise ValueError(f"{title} has more than {max_rows:,} rows: take fewer, or embed them by opinion embed")
        out = self.folder / Path(name).name
        try:
            index = Index.build(table, out, model, overwrite=True, text=text, group=group)
            write_json(out / FACTS, index.facts | {"model": name})  # which the model in memory does not tell
        finally:
            if self._gone:
                self.leave()
        self.index, self.name, self.source = out, title, source
        return Counts(**index.facts["parts"][-1]["counts"]).describe(title)

    def leave(self) -> None:
        """Deletes all that was brought, and what is yet made of it."""
        self._gone = True
        shutil.rmtree(self.folder, ignore_errors=True)
