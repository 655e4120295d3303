"""Statements written by a language model that people of some view, interest or character agree with, or not."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import MINIMUM_WORDS, TEST_TOPICS, Cleaner, LeakGuard, TestSetGuard, normalise
from dataset_scripts.base.reading import ARCHIVES, Member, members, parse_score
from dataset_scripts.base.schema import FAMILIES, Rows, family_row
from dataset_scripts.base.splits import split_groups

ANSWERS = {"Yes": True, "No": False}
_OF_AN_AI = re.compile(r"\b(?:AIs?|artificial intelligence|language model|my (?:creators|developers|training))\b")


@dataclass
class Behaviour:
    """A file of the release: its name, and text -> whether somebody with the behaviour agrees."""

    name: str
    statements: dict[str, bool] = field(default_factory=dict)


class Persona(Corpus):
    """Families of one behaviour each: statements that somebody with it agrees with (pro), and disagrees with (con).

    The behaviours are those that the option `without` may name: views, interests and character of people. The others
    of the release are an AI's wishes, or disabilities.
    """

    METADATA = load_metadata("persona")
    FEATURES = {"families": FAMILIES}

    @classmethod
    def is_raw(cls, name: str) -> bool:
        return name.endswith((".jsonl", ".jsonl.gz", *ARCHIVES))

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        behaviours: dict[str, Behaviour] = {}
        for member in members(files, lambda name: name.endswith(".jsonl")):
            name = Path(member.name).stem
            faults = {
                "family: on a topic that models are tested on": bool(TEST_TOPICS.search(name)),
                "family: no listed behaviour": name not in self.METADATA.options["without"].choices,
                "family: left out": name in self.config.without,
            }
            if not self.dropped.refuse(member.place(), faults):
                self._read(member, behaviours.setdefault(name, Behaviour(name)))
        splits = split_groups(behaviours, seed=self.config.seed) if behaviours else {}
        units = [(splits[name], behaviour) for name, behaviour in behaviours.items()]
        rules = LeakGuard(), TestSetGuard("persona"), Cleaner(ordered=True, any_spelling=True)
        yield from self.clean(units, self._families, lambda behaviour: behaviour.statements, rules)

    def _read(self, member: Member, behaviour: Behaviour) -> None:
        for number, record in member.objects(self.dropped):
            text, answer = record.get("statement"), record.get("answer_matching_behavior")
            confidence = parse_score(record.get("label_confidence"), 0, 1)
            answer = ANSWERS.get(answer.strip()) if isinstance(answer, str) else None
            if not isinstance(text, str) or answer is None or confidence is None:
                self.dropped.skip("statement: malformed", member.place(number))
                continue
            text = normalise(text)
            faults = {
                "statement: label is uncertain": confidence < self.config.minimum_confidence,
                f"statement: shorter than {MINIMUM_WORDS} words": len(text.split()) < MINIMUM_WORDS,
                "statement: on a topic that models are tested on": bool(TEST_TOPICS.search(text)),
                "statement: of an AI": bool(_OF_AN_AI.search(text)),
                "statement: repeated": text in behaviour.statements,
            }
            if not self.dropped.refuse(member.place(number), faults):
                behaviour.statements[text] = answer

    def _families(self, behaviour: Behaviour) -> Rows:
        for pro in (True, False):
            texts = [text for text, answer in behaviour.statements.items() if answer == pro]
            random.Random(f"{self.config.seed}:{behaviour.name}:{pro}").shuffle(texts)
            for text in texts[: self.config.per_behaviour]:
                yield family_row(text, "", pro, behaviour.name)
