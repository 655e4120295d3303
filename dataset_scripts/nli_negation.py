"""Premises with entailed and contradicted sentences that differ by a negation or a few words, of four collections."""

import html
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dataset_scripts.base.families import FamiliesCorpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import bare, normalise
from dataset_scripts.base.reading import Member, members, unquote
from dataset_scripts.base.schema import Item, family_row
from dataset_scripts.base.splits import linked_groups
from dataset_scripts.base.stances import is_negation, tokenize

# part -> how its files are named
PARTS = {
    "counterfactual": re.compile(r"(train|dev|test)\.tsv(\.gz)?"),
    "negated": re.compile(r"(SNLI|MNLI)\.txt(\.gz)?"),
    "replaced": re.compile(r"breaking_nli_dataset\.zip|dataset\.jsonl(\.gz)?"),
    "refuted": re.compile(r"wikifactcheck_english_\d+\.tsv(\.gz)?"),
}
LABELS = {"entailment": True, "contradiction": False, "neutral": None}


class Judgement(NamedTuple):
    """Whether a premise entails a sentence or contradicts it, and where that is said; None if neither."""

    place: str
    premise: str
    sentence: str
    entailed: bool | None


class NliNegation(FamiliesCorpus):
    """A premise is a family's statement; entailed sentences are pro, contradicted ones con. Groups share a sentence.

    - `counterfactual` (Kaushik et al., 2020): sentences of SNLI and minimal revisions of them by people.
    - `negated` (Hossain et al., 2020): premises T and hypotheses H of SNLI and MNLI with the negations of both. All
      pairs but (T, H) are labelled. Those are used where T's negation entails one of H and its negation, and
      contradicts the other: T, too, is then taken to entail the one if it contradicts the other.
    - `replaced` (Glockner et al., 2018): one word replaced by a synonym, or by one that excludes it.
    - `refuted` (WikiFactCheck, Sathe et al., 2020): a claim with its refutation alone, where one of the two is negated.

    Of the first three parts only families with both sides are used.
    """

    METADATA = load_metadata("nli_negation")
    RAW = re.compile("|".join(pattern.pattern for pattern in PARTS.values()))

    def families(self, files: list[Path]) -> Iterator[tuple[str, Item]]:
        families: list[list[Judgement]] = []
        for part, pattern in PARTS.items():
            read = {"negated": self._negated, "refuted": self._refuted}.get(part, self._labelled)
            found = members([file for file in files if pattern.fullmatch(file.name)], lambda n: n.endswith(".jsonl"))
            judgements = (judgement for member in found for judgement in read(member))
            of_part = list(self._families(judgements, 1 if part == "refuted" else 2))
            size = min(self.config.per_part, len(of_part))
            families += random.Random(f"{self.config.seed}:{part}").sample(of_part, size)
        groups = linked_groups(
            [{bare(text) for j in family for text in (j.premise, j.sentence)} for family in families]
        )
        for group, family in zip(groups, families, strict=True):
            for j in family:
                yield j.place, family_row(j.sentence, j.premise, j.entailed, f"premises-{group}")

    def _families(self, judgements: Iterator[Judgement], sides: int) -> Iterator[list[Judgement]]:
        """The judgements of each premise, without neutral ones, where there are as many sides."""
        by_premise: dict[str, dict[str, list[Judgement]]] = defaultdict(lambda: defaultdict(list))
        for judgement in judgements:
            by_premise[judgement.premise][judgement.sentence].append(judgement)
        for by_sentence in by_premise.values():
            family = []
            for first, *others in by_sentence.values():
                faults = {
                    "sentence: judged in two ways": any(other.entailed != first.entailed for other in others),
                    "sentence: neutral": first.entailed is None,
                }
                if not self.dropped.refuse(first.place, faults):
                    family.append(first)
            missing = len({judgement.entailed for judgement in family}) < sides
            if family and not self.dropped.refuse(family[0].place, {"family: on one side alone": missing}):
                yield family

    def _labelled(self, member: Member) -> Iterator[Judgement]:
        for number, record in member.records(self.dropped):
            premise, sentence, label = (record.get(name) for name in ("sentence1", "sentence2", "gold_label"))
            if isinstance(premise, str) and isinstance(sentence, str) and label in LABELS:
                texts = (normalise(unquote(text)) for text in (premise, sentence))
                yield Judgement(member.place(number), *texts, LABELS[label])
            else:
                self.dropped.skip("sentence: malformed", member.place(number))

    def _negated(self, member: Member) -> Iterator[Judgement]:
        # in rows of three: (not T, H), (T, not H), (not T, not H)
        threes: dict[int, list[Judgement]] = defaultdict(list)
        for line, row in member.table(self.dropped, ("index", "Text", "Hypothesis", "gold_label"), "\t"):
            texts = (normalise(html.unescape(row[column])) for column in ("Text", "Hypothesis"))
            if row["index"].isdecimal() and row["gold_label"] in LABELS:
                threes[int(row["index"]) // 3].append(Judgement(member.place(line), *texts, LABELS[row["gold_label"]]))
            else:
                self.dropped.skip("sentence: malformed", member.place(line))
        for three in threes.values():
            sides = [judgement.entailed for judgement in three]
            faults = {
                "negations: one row of three is missing": len(three) != 3,
                "negations: not one entailed and one contradicted": {sides[0], sides[-1]} != {True, False},
            }
            if not self.dropped.refuse(three[0].place, faults):
                yield from three
                one, mirrored, _ = three
                if mirrored.entailed is not None:
                    yield mirrored._replace(sentence=one.sentence, entailed=not mirrored.entailed)

    def _refuted(self, member: Member) -> Iterator[Judgement]:
        for line, row in member.table(self.dropped, ("sentence", "negated"), "\t"):
            texts = [normalise(row[column]) for column in ("sentence", "negated")]
            negated = [any(map(is_negation, tokenize(text))) for text in texts]
            if not self.dropped.refuse(member.place(line), {"refutation: by no negation": negated[0] == negated[1]}):
                yield Judgement(member.place(line), *texts, False)
