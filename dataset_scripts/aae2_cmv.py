"""Annotated arguments in brat's format: persuasive essays (Stab and Gurevych, 2017) and threads of ChangeMyView."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dataset_scripts.base.families import FamiliesCorpus, topic_group
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import Member, members, named
from dataset_scripts.base.schema import Item, family_row

STANCES = {"For": True, "Against": False}
ESSAY_RELATIONS = {"supports": True, "attacks": False}
# what attacks a step alone ("undercutter") or in part is on neither side for certain
THREAD_RELATIONS = {
    **dict.fromkeys(("agreement", "support"), True),
    **dict.fromkeys(("rebuttal", "rebuttal_attack", "disagreement", "attack"), False),
}
THREAD_WORDS = 7  # shorter spans of threads rarely say what they are about
_LINE = re.compile(r"(T\d+)\t(\w+) [\d ;]+\t(.+)|A\d+\t(\w+) (T\d+) (\w+)\s*|R\d+\t(\w+) Arg1:(T\d+) Arg2:(T\d+)\s*")
_CMV = re.compile(r"CMV\b[\s:-]*")


@dataclass
class Document:
    """An essay or thread: its title, and what is annotated."""

    place: str = ""
    title: str = ""
    types: dict[str, str] = field(default_factory=dict)  # of the spans, by id
    texts: dict[str, str] = field(default_factory=dict)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)  # (name, span, value)
    relations: list[tuple[str, str, str]] = field(default_factory=list)  # (type, span, the span it is about)


class AAE2CMV(FamiliesCorpus):
    """Essays and threads; those of one title are a group.

    - An essay's first major claim is a statement. Pro are its other major claims, which say it again, and claims for
      it; con are claims against it. A claim is a statement with the premises that support it or attack it.
    - A thread's main claim is a statement, with what agrees with it, supports it or rebuts it.
    """

    METADATA = load_metadata("aae2_cmv")
    RAW = named(".ann", ".txt")

    def families(self, files: list[Path]) -> Iterator[tuple[str, Item]]:
        documents: dict[str, Document] = {}
        for member in members(files, lambda name: name.endswith((".ann", ".txt"))):
            document = documents.setdefault(member.name[:-4], Document())
            if member.name.endswith(".ann"):
                self._read(member, document)
            else:
                document.title = next((normalise(line) for _, line in member.lines(self.dropped)), "")
        for document in documents.values():
            kinds = set(document.types.values())
            faults = {
                "document: without annotations": not document.types,
                "document: without a title (.txt)": not document.title,
                "document: without a main claim": kinds.isdisjoint({"MajorClaim", "main_claim"}),
            }
            if document.place and not self.dropped.refuse(document.place, faults):
                arguments = self._essay(document) if "MajorClaim" in kinds else self._thread(document)
                for text, statement, pro in arguments:
                    yield document.place, family_row(text, statement, pro, topic_group(document.title))

    def _read(self, member: Member, document: Document) -> None:
        document.place = member.place()
        for number, line in member.lines(self.dropped):
            if not (parts := _LINE.fullmatch(line)):
                self.dropped.skip("line: no annotation of a span or relation", member.place(number))
            elif parts[1]:
                document.types[parts[1]], document.texts[parts[1]] = parts[2], normalise(parts[3])
            elif parts[4]:
                document.attributes.append((parts[4], parts[5], parts[6]))
            else:
                document.relations.append((parts[7], parts[8], parts[9]))

    def _essay(self, document: Document) -> Iterator[tuple[str, str, bool]]:
        texts = document.texts
        statement, *again = (texts[id] for id, type in document.types.items() if type == "MajorClaim")
        yield from ((text, statement, True) for text in again)
        for name, id, stance in document.attributes:
            if name == "Stance" and id in texts and stance in STANCES:
                yield texts[id], statement, STANCES[stance]
        for type, id, other in document.relations:
            faults = {
                "relation: malformed": type not in ESSAY_RELATIONS or not {id, other} <= texts.keys(),
                "relation: not to a claim": document.types.get(other) != "Claim",
            }
            if not self.dropped.refuse(document.place, faults):
                yield texts[id], texts[other], ESSAY_RELATIONS[type]

    def _thread(self, document: Document) -> Iterator[tuple[str, str, bool]]:
        texts = document.texts
        for type, id, other in document.relations:
            faults = {
                "relation: malformed": not {id, other} <= texts.keys(),
                "relation: not to a main claim": document.types.get(other) != "main_claim",
                "relation: on neither side for certain": type not in THREAD_RELATIONS,
                f"comment: shorter than {THREAD_WORDS} words": len(texts.get(id, "").split()) < THREAD_WORDS,
            }
            if not self.dropped.refuse(document.place, faults):
                yield texts[id], _CMV.sub("", texts[other]), THREAD_RELATIONS[type]
