"""SentiWordNet 3.0: WordNet's synsets with polarity scores and example sentences (Baccianella et al., 2010)."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import Cleaner, TestSetGuard, normalise
from dataset_scripts.base.reading import parse_score
from dataset_scripts.base.schema import TEXTS, WORDS, Rows

COLUMNS = ("POS", "ID", "PosScore", "NegScore", "SynsetTerms", "Gloss")  # the file has them in a comment only
SCORES = ("PosScore", "NegScore")
SYNSET = re.compile(r"[nvasr]\d+")
TERM = re.compile(r"(?P<word>\S+)#(?P<sense>\d+)")


class SentiWordNet(Corpus):
    """Usage examples and words with their polarity, all in the train split: they are for training, not for testing.

    - `examples`: a gloss is a definition, then examples, as in `fond of fish; "a cat is piscivorous"; "piscivorous
      birds" - Jane Doe`. What stands in double quotes is an example, nearly always; where a gloss quotes the word that
      it defines, the quotation is too short to be kept. A gloss with a quotation mark that has no pair is not used.
      `id` is the synset and the example's place in the gloss (`v00012345:2`), `group` the synset.
    - `words`: a word in small letters of whatever part of speech, with the highest PosScore and the highest NegScore of
      its senses, and the polarity that follows (Kim et al., 2024, equation 1): "positive" if only the first is above
      zero, "negative" if only the second is, "both" if both are. Words of several parts ("take_place") and those
      without any polarity are left out.
    """

    METADATA = load_metadata("sentiwordnet")
    RELEASES = (("SentiWordNet_3.0.0.txt",), ("SentiWordNet_3.0.0_20130122.txt",))
    FEATURES = {"examples": TEXTS, "words": WORDS}

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        if config == "words":
            yield from (("train", row) for row in self._words(self._synsets(files)))
            return
        synsets = (("train", synset) for synset in self._synsets(files))
        rules = (Cleaner(any_spelling=True), TestSetGuard("sentiwordnet"))
        yield from self.clean(synsets, self._examples, lambda synset: (), rules)

    def _synsets(self, files: list[Path]) -> Iterator[tuple[str, dict[str, str]]]:
        """(id, columns) of every valid line."""
        seen: set[str] = set()
        for place, row in self.table(files, header=COLUMNS, delimiter="\t", comment="#"):
            id = row["POS"] + row["ID"]
            faults = {
                "row: no part of speech and number of a synset": not SYNSET.fullmatch(id),
                "row: score is no number from 0 to 1": None in (parse_score(row[name], 0, 1) for name in SCORES),
                "row: repeated synset": id in seen,
            }
            if not self.dropped.refuse(place, faults):
                seen.add(id)
                yield id, row

    def _examples(self, synset: tuple[str, dict[str, str]]) -> Rows:
        id, row = synset
        outside_and_inside = row["Gloss"].split('"')
        if len(outside_and_inside) % 2 == 0:
            self.dropped.skip("gloss: quotation mark without its pair", id)
            return
        for number, quoted in enumerate(outside_and_inside[1::2], start=1):
            # WordNet writes `so' for single quotes; some examples end in the separator that belongs behind them
            text = normalise(quoted.replace("`", "'")).strip(" ,;")
            yield (text,), {"id": f"{id}:{number}", "text": text, "author": "", "group": id, "topic": "", "date": ""}

    def _words(self, synsets: Iterable[tuple[str, dict[str, str]]]) -> Iterator[dict[str, Any]]:
        """Rows of `WORDS`, in alphabetical order."""
        highest: dict[str, tuple[float, float]] = {}
        for _, row in synsets:
            scores = [float(row[column]) for column in SCORES]
            for term in map(TERM.fullmatch, row["SynsetTerms"].split()):
                if not term:
                    self.dropped["term: not of the form word#1"] += 1
                elif "_" in term["word"]:
                    self.dropped["term: of several words"] += 1
                elif self.config.senses == "first" and int(term["sense"]) > 1:
                    self.dropped["term: not the first sense"] += 1
                else:
                    word = term["word"].lower()
                    highest[word] = tuple(map(max, highest.get(word, (0.0, 0.0)), scores))
        named = {(True, False): "positive", (False, True): "negative", (True, True): "both"}
        for word, (positive, negative) in sorted(highest.items()):
            polarity = named.get((positive > 0, negative > 0))
            if polarity:
                yield {"word": word, "polarity": polarity, "positive": positive, "negative": negative}
            else:
                self.dropped["word: no polarity"] += 1
