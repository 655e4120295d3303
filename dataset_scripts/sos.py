"""SOS: pairs of opinions on laptops and restaurants with people's scores of their similarity (Tay et al., 2021)."""

import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import Dropped, members, named, parse_score, read_file
from dataset_scripts.base.schema import OPINIONS

# columns of the three kinds of CSV files
ANNOTATIONS = ("sent1_id", "sent2_id", "annotation")
SENTENCES = ("sent_id", "text", "category")
PAIRS = ("pair_id", "sent1_text", "sent2_text", "domain", "avg")
DOMAINS = {"LAPTOP": "laptop", "RESTAURANT": "restaurant"}  # entity of a file's opinions -> domain
HIGHEST = 4
LOST = "#NAME?"  # what a spreadsheet makes of a text that begins with a dash


class Sos(Corpus):
    """The benchmark, built from the annotations and the sentences that they name, or read from the file of pairs.

    A pair's score is the mean of its annotations. Its `id` is the authors': `pair_N`, the Nth pair of the annotations.
    The published file of pairs lacks seven pairs' texts (`LOST`), so it is read only where nothing else is there.
    Every valid row stays, however short its sentences.
    """

    METADATA = load_metadata("sos")
    RAW = named(".csv", packed=False)
    FEATURES = {"opinions": OPINIONS}

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """The annotations and every file with sentences, or else the file of pairs; CSV is known by its header."""
        by_layout: dict[Any, list[Path]] = defaultdict(list)
        for file in super().find_files(path):
            by_layout[_columns(file)].append(file)
        if by_layout[ANNOTATIONS] and by_layout[SENTENCES]:
            return [by_layout[ANNOTATIONS][0], *by_layout[SENTENCES]]
        return by_layout[PAIRS][:1]

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        rows = self._published(files[0]) if len(files) == 1 else self._rebuilt(files[0], self._sentences(files[1:]))
        for id, one, other, score, domain in rows:
            yield "test", {"id": id, "sentence1": one, "sentence2": other, "score": score, "domain": domain}

    def _published(self, path: Path) -> Iterator[tuple[str, str, str, float, str]]:
        for place, row in self.table([path]):
            one, other = normalise(row["sent1_text"]), normalise(row["sent2_text"])
            score, domain = parse_score(row["avg"], 0, HIGHEST), row["domain"].strip().lower()
            lost = f"pair: text lost in a spreadsheet ({LOST}); build from the annotations to have it"
            faults = {
                "pair: empty text": not (one and other),
                lost: LOST in (one, other),
                f"pair: score is no number from 0 to {HIGHEST}": score is None,
                f"pair: domain is none of {', '.join(DOMAINS.values())}": domain not in DOMAINS.values(),
            }
            if not self.dropped.refuse(place, faults):
                yield row["pair_id"], one, other, score, domain

    def _rebuilt(self, path: Path, sentences: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str, str, float, str]]:
        scores: dict[tuple[str, str], list[float]] = {}
        for place, row in self.table([path]):
            # its order numbers the pairs
            of_pair = scores.setdefault((row["sent1_id"], row["sent2_id"]), [])
            score = parse_score(row["annotation"], 0, HIGHEST)
            if score is None:
                self.dropped.skip(f"annotation: no number from 0 to {HIGHEST}", place)
            else:
                of_pair.append(score)
        for number, (pair, of_pair) in enumerate(scores.items(), start=1):
            (one, domain), (other, of_other) = (sentences.get(id, ("", "")) for id in pair)
            faults = {
                "pair: a sentence is in none of the files": not (one and other),
                "pair: without a valid annotation": not of_pair,
                "pair: sentences of two domains": domain != of_other,
            }
            if not self.dropped.refuse(", ".join(pair), faults):
                yield f"pair_{number}", one, other, sum(of_pair) / len(of_pair), domain

    def _sentences(self, files: list[Path]) -> dict[str, tuple[str, str]]:
        """Id -> sentence and domain of its file, of all files on laptops or restaurants."""
        sentences: dict[str, tuple[str, str]] = {}
        for member in members(files):
            rows = [row for _, row in member.table(self.dropped)]
            texts, categories = {row["sent_id"]: row["text"] for row in rows}, {row["category"] for row in rows}
            entities = {category.split("#")[0] for category in categories}
            domain = next((DOMAINS[entity] for entity in DOMAINS if entity in entities), None)
            if domain is None:
                self.dropped.skip("file: no opinions on laptops or restaurants", member.place())
                continue
            for id, text in texts.items():
                if text := normalise(text):
                    sentences.setdefault(id, (text, domain))
        return sentences


def _columns(path: Path) -> tuple[str, ...] | None:
    """Which of the three kinds a CSV file is, by its header; None if it is none of them."""
    try:
        with (member := read_file(path)).stream:
            _, line = next(member.lines(Dropped()), (1, ""))
    except ValueError:  # damaged, and so none of ours
        return None
    header = set(next(csv.reader([line]), ()))
    return next((layout for layout in (ANNOTATIONS, SENTENCES, PAIRS) if header.issuperset(layout)), None)
