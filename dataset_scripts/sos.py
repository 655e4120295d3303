"""SOS: pairs of opinions on laptops and restaurants with people's scores of their similarity (Tay et al., 2021)."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import open_text, parse_score, whole_rows
from dataset_scripts.base.schema import OPINIONS

ANNOTATIONS = ("sent1_id", "sent2_id", "annotation")
SENTENCES = ("sent_id", "text", "category")
PAIRS = ("pair_id", "sent1_text", "sent2_text", "domain", "avg")
DOMAINS = {
    "LAPTOP": "laptop",
    "RESTAURANT": "restaurant",
}  # entity of a file's opinions -> domain
HIGHEST = 4
LOST = "#NAME?"  # what a spreadsheet makes of a text that begins with a dash
_XML = re.compile(r"\.xml(\.gold)?(\.gz)?$", re.IGNORECASE)
_CSV = re.compile(r"\.csv(\.gz)?$", re.IGNORECASE)


class Sentence(NamedTuple):
    """A sentence of SemEval-2016 and the domain of its file."""

    text: str
    domain: str


class Sos(Corpus):
    """The benchmark, built from the annotations and the sentences that they name, or read from the file of pairs.

    A pair's score is the mean of its annotations. Its `id` is the authors': `pair_N`, the Nth pair of the annotations.
    The published file of pairs lacks seven pairs' texts (`LOST`), so it is read only where nothing else is there.

    An evaluation set keeps every valid row, however short its sentences.
    """

    METADATA = load_metadata("sos")
    FEATURES = {"opinions": OPINIONS}

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """The annotations and every file with sentences, or else the file of pairs; a CSV file is known by its header.

        Raises:
            FileNotFoundError: If a folder holds annotations, but neither sentences nor pairs; or nothing of either.
            ValueError: If a given file is no file of pairs.
        """
        if path.is_file():
            if _columns(path) == PAIRS:
                return [path]
            raise ValueError(f"{path} has no columns {', '.join(PAIRS)}; it needs {cls.METADATA.raw}")
        found: dict[Any, list[Path]] = defaultdict(list)
        for file in super().find_files(path):
            if _XML.search(file.name):
                found["xml"].append(file)
            elif _CSV.search(file.name):
                found[_columns(file)].append(file)
        # XML first: of a sentence that is in several files, the first counts
        sentences = [*found["xml"], *found[SENTENCES]]
        if found[ANNOTATIONS] and sentences:
            return [found[ANNOTATIONS][0], *sentences]
        if found[PAIRS]:
            return found[PAIRS][:1]
        lacking = "the sentences that its annotations name" if found[ANNOTATIONS] else "annotations and pairs"
        raise FileNotFoundError(f"{path} lacks {lacking}; it needs {cls.METADATA.raw}")

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields ("test", row); see `Corpus.rows`."""
        rows = self._published(files[0]) if len(files) == 1 else self._rebuilt(files[0], self._sentences(files[1:]))
        for row in rows:
            yield "test", row

    def _published(self, path: Path) -> Iterator[dict[str, Any]]:
        for row in self._table(path):
            texts = [normalise(row[column]) for column in ("sent1_text", "sent2_text")]
            score, domain = parse_score(row["avg"], 0, HIGHEST), row["domain"].strip().lower()
            if not all(texts):
                self.dropped["pair: empty text"] += 1
            elif LOST in texts:
                self.dropped[f"pair: text lost in a spreadsheet ({LOST}); build from the annotations to have it"] += 1
            elif score is None:
                self.dropped[f"pair: score is no number from 0 to {HIGHEST}"] += 1
            elif domain not in DOMAINS.values():
                self.dropped[f"pair: domain is none of {', '.join(DOMAINS.values())}"] += 1
            else:
                yield _row(row["pair_id"], *texts, score, domain)

    def _rebuilt(self, annotations: Path, sentences: dict[str, Sentence]) -> Iterator[dict[str, Any]]:
        scores: dict[tuple[str, str], list[float]] = {}
        for row in self._table(annotations):
            pair, score = (row["sent1_id"], row["sent2_id"]), parse_score(row["annotation"], 0, HIGHEST)
            of_pair = scores.setdefault(pair, [])  # in the order of the file, which numbers the pairs
            if score is None:
                self.dropped[f"annotation: no number from 0 to {HIGHEST}"] += 1
            else:
                of_pair.append(score)
        for number, (pair, of_pair) in enumerate(scores.items(), start=1):
            one, other = (sentences.get(id) for id in pair)
            if one is None or other is None:
                self.dropped["pair: a sentence is in none of the files"] += 1
            elif not of_pair:
                self.dropped["pair: without a valid annotation"] += 1
            elif one.domain != other.domain:
                self.dropped["pair: sentences of two domains"] += 1
            else:
                yield _row(f"pair_{number}", one.text, other.text, sum(of_pair) / len(of_pair), one.domain)

    def _sentences(self, files: list[Path]) -> dict[str, Sentence]:
        """Id -> sentence, of all files on laptops or restaurants."""
        found: dict[str, Sentence] = {}
        for file in files:
            texts, entities = (_read_xml if _XML.search(file.name) else self._read_csv)(file)
            domain = next((DOMAINS[entity] for entity in DOMAINS if entity in entities), None)
            if domain is None:
                self.dropped["file: no opinions on laptops or restaurants"] += 1
                continue
            for id, text in texts.items():
                if text := normalise(text):
                    found.setdefault(id, Sentence(text, domain))
        return found

    def _read_csv(self, path: Path) -> tuple[dict[str, str], set[str]]:
        rows = list(self._table(path))
        return {row["sent_id"]: row["text"] for row in rows}, {row["category"].split("#")[0] for row in rows}

    def _table(self, path: Path) -> Iterator[dict[str, str]]:
        with open_text(path) as file:
            yield from whole_rows(csv.DictReader(file), self.dropped)


def _row(id: str, one: str, other: str, score: float, domain: str) -> dict[str, Any]:
    return {"id": id, "sentence1": one, "sentence2": other, "score": score, "domain": domain}


def _columns(path: Path) -> tuple[str, ...] | None:
    """Which of the three layouts a CSV file has, by its header; None if it has none of them."""
    try:
        with open_text(path) as file:
            header = set(next(csv.reader(file), ()))
    except ValueError:  # not text
        return None
    return next((layout for layout in (ANNOTATIONS, SENTENCES, PAIRS) if header.issuperset(layout)), None)


def _read_xml(path: Path) -> tuple[dict[str, str], set[str]]:
    """Id -> text, and the entities of the opinions, e.g. {"LAPTOP", "BATTERY"}."""
    with open_text(path) as file:
        try:
            # the file's declaration of its encoding is void for a string that is decoded already
            root = ElementTree.fromstring(file.read().encode())
        except ElementTree.ParseError as error:
            raise ValueError(f"{path} is no valid XML ({error}); give SemEval's file as it was released") from error
    texts = {node.get("id", ""): node.findtext("text") or "" for node in root.iter("sentence")}
    return texts, {node.get("category", "").split("#")[0] for node in root.iter("Opinion")}
