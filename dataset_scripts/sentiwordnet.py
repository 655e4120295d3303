"""SentiWordNet 3.0: WordNet's synsets with polarity scores and example sentences (Baccianella et al., 2010)."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dataset_scripts.corpus import Corpus
from dataset_scripts.metadata import load_metadata
from dataset_scripts.quality import Cleaner, normalise
from dataset_scripts.reading import open_text, parse_score, whole_rows
from dataset_scripts.schema import TEXTS, Rows

RELEASED = re.compile(r"SentiWordNet.*\.txt(\.gz)?", re.IGNORECASE)
COLUMNS = ("POS", "ID", "PosScore", "NegScore", "SynsetTerms", "Gloss")  # the file has them in a comment only
SCORES = ("PosScore", "NegScore")
SYNSET = re.compile(r"[nvasr]\d+")


class SentiWordNet(Corpus):
    """The usage examples in the glosses, one row each, all in the train split: they are for training, not for testing.

    A gloss is a definition, then examples: `fond of fish; "a cat is piscivorous"; "piscivorous birds" - Jane Doe`.
    What stands in double quotes is an example; the definition and the author quoted are left out. Where a gloss quotes
    the word that it defines, not an example, the quotation is nearly always too short to be kept. A gloss with a
    quotation mark that has no pair is not used: nothing tells its examples from what lies between them.

    `id` is the synset and the example's place in the gloss (`v00012345:2`), `group` the synset; author, topic and date
    are empty.
    """

    METADATA = load_metadata("sentiwordnet")
    FEATURES = {"examples": TEXTS}

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """One given file, or the only release in a folder; plain or gzipped.

        Raises:
            ValueError: If a folder holds several releases, whose synsets would be mixed.
        """
        if path.is_file():
            return [path]
        found = [file for file in super().find_files(path) if RELEASED.fullmatch(file.name)]
        if len({file.name.removesuffix(".gz") for file in found}) > 1:
            raise ValueError(f"{path} holds {', '.join(file.name for file in found)}; give one file as --data")
        return found[:1]

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (split, row); see `Corpus.clean`."""
        synsets = (("train", synset) for file in files for synset in self._synsets(file))
        yield from self.clean(synsets, self._examples, lambda synset: (), (Cleaner(any_spelling=True),))

    def _synsets(self, path: Path) -> Iterator[tuple[str, dict[str, str]]]:
        """(id, columns) of every valid line."""
        seen: set[str] = set()
        with open_text(path) as file:
            lines = (line for line in file if not line.startswith("#"))
            table = csv.DictReader(lines, COLUMNS, delimiter="\t", quoting=csv.QUOTE_NONE)
            for row in whole_rows(table, self.dropped):
                id = row["POS"] + row["ID"]
                if not SYNSET.fullmatch(id):
                    self.dropped["row: no part of speech and number of a synset"] += 1
                elif any(parse_score(row[column], 0, 1) is None for column in SCORES):
                    self.dropped["row: score is no number from 0 to 1"] += 1
                elif id in seen:
                    self.dropped["row: repeated synset"] += 1
                else:
                    seen.add(id)
                    yield id, row

    def _examples(self, synset: tuple[str, dict[str, str]]) -> Rows:
        id, row = synset
        outside_and_inside = row["Gloss"].split('"')
        if len(outside_and_inside) % 2 == 0:
            self.dropped["gloss: quotation mark without its pair"] += 1
            return
        for number, quoted in enumerate(outside_and_inside[1::2], start=1):
            # WordNet writes `so' for single quotes; some examples end in the separator that belongs behind them
            text = normalise(quoted.replace("`", "'")).strip(" ,;")
            yield (text,), {"id": f"{id}:{number}", "text": text, "author": "", "group": id, "topic": "", "date": ""}
