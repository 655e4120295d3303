"""SOS: pairs of opinions on laptops and restaurants with people's scores of their similarity (Tay et al., 2021)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import parse_score
from dataset_scripts.base.schema import OPINIONS

ANNOTATIONS = "opinion_similarity_annotation.csv"
DOMAINS = {"EN_LAPT_SB1_TEST_.csv": "laptop", "EN_REST_SB1_TEST.csv": "restaurant"}  # files of sentences
HIGHEST = 4
LOST = "#NAME?"  # what a spreadsheet makes of a text that begins with a dash
Opinions = tuple[str, str, str, float, str]  # id, both sentences, score and domain


class Sos(Corpus):
    """The benchmark, built from the annotations and the sentences that they name, or read from the file of pairs.

    A pair's score is the mean of its annotations. Its `id` is the authors': `pair_N`, the Nth pair of the annotations.
    The published file of pairs lacks seven pairs' texts (`LOST`), so it is read only where nothing else is there.
    Every valid row stays, however short its sentences.
    """

    METADATA = load_metadata("sos")
    FEATURES = {"opinions": OPINIONS}
    RELEASES = ((ANNOTATIONS, *DOMAINS), ("sentence_pair_unique.csv",), ("opinions.csv",))  # the last: of this project

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        rows = self._published(files) if len(files) == 1 else self._rebuilt(*files)
        for id, one, other, score, domain in rows:
            yield "test", {"id": id, "sentence1": one, "sentence2": other, "score": score, "domain": domain}

    def _published(self, files: list[Path]) -> Iterator[Opinions]:
        for place, row in self.table(files, ("pair_id", "sent1_text", "sent2_text", "domain", "avg")):
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

    def _rebuilt(self, annotations: Path, *files: Path) -> Iterator[Opinions]:
        sentences: dict[str, tuple[str, str]] = {}  # id -> sentence and domain
        for file, domain in zip(files, DOMAINS.values(), strict=True):
            for _, row in self.table([file], ("sent_id", "text")):
                if text := normalise(row["text"]):
                    sentences.setdefault(row["sent_id"], (text, domain))
        scores: dict[tuple[str, str], list[float]] = {}
        for place, row in self.table([annotations], ("sent1_id", "sent2_id", "annotation")):
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
