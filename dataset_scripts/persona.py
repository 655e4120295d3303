"""Statements written by a language model that people of some view, interest or character agree with, or not."""

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from dataset_scripts.base.families import FamiliesCorpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import MINIMUM_WORDS, TEST_TOPICS, bare, normalise
from dataset_scripts.base.reading import Member, members, named, parse_score
from dataset_scripts.base.schema import Item, family_row

ANSWERS = {"Yes": True, "No": False}
_OF_AN_AI = re.compile(r"\b(?:AIs?|artificial intelligence|language model|my (?:creators|developers|training))\b")
Statements = dict[str, tuple[str, str, bool]]  # letters -> (place, text, whether somebody with the behaviour agrees)


class Persona(FamiliesCorpus):
    """Families of one behaviour each: statements that somebody with it agrees with (pro), and disagrees with (con).

    The behaviours are those that the option `without` may name: views, interests and character of people. The others
    of the release are an AI's wishes, or disabilities.
    """

    METADATA = load_metadata("persona")
    RAW = named(".jsonl")

    def families(self, files: list[Path]) -> Iterator[tuple[str, Item]]:
        behaviours: dict[str, Statements] = defaultdict(dict)
        for member in members(files, lambda name: name.endswith(".jsonl")):
            name = Path(member.name).stem
            faults = {
                "family: on a topic that models are tested on": bool(TEST_TOPICS.search(name)),
                "family: no listed behaviour": name not in self.METADATA.options["without"].choices,
                "family: left out": name in self.config.without,
            }
            if not self.dropped.refuse(member.place(), faults):
                self._read(member, behaviours[name])
        for name, statements in behaviours.items():
            for side in ANSWERS.values():
                rows = [(place, text) for place, text, pro in statements.values() if pro == side]
                random.Random(f"{self.config.seed}:{name}:{side}").shuffle(rows)
                for place, text in rows[: self.config.per_behaviour]:
                    yield place, family_row(text, "", side, name)

    def _read(self, member: Member, statements: Statements) -> None:
        for number, record in member.objects(self.dropped):
            text, answer = record.get("statement"), record.get("answer_matching_behavior")
            confidence, place = parse_score(record.get("label_confidence"), 0, 1), member.place(number)
            pro = ANSWERS.get(answer.strip()) if isinstance(answer, str) else None
            if not isinstance(text, str) or pro is None or confidence is None:
                self.dropped.skip("statement: malformed", place)
                continue
            text = normalise(text)
            faults = {
                "statement: label is uncertain": confidence < self.config.minimum_confidence,
                # before sampling, so that the sample is as large as was asked for
                f"statement: shorter than {MINIMUM_WORDS} words": len(text.split()) < MINIMUM_WORDS,
                "statement: on a topic that models are tested on": bool(TEST_TOPICS.search(text)),
                "statement: of an AI": bool(_OF_AN_AI.search(text)),
                "statement: repeated": bare(text) in statements,
            }
            if not self.dropped.refuse(place, faults):
                statements[bare(text)] = place, text, pro
