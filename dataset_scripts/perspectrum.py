"""PERSPECTRUM: debate claims with the perspectives that support or undermine them (Chen et al., 2019)."""

from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

from dataset_scripts.base.corpus import Rule
from dataset_scripts.base.families import TreesCorpus, claim_rows
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import LeakGuard, normalise
from dataset_scripts.base.reading import members
from dataset_scripts.base.schema import Rows, pair_row, triplet_row
from dataset_scripts.base.splits import SPLIT_NAMES

NAMES = ("perspectrum_with_answers_v1.0.json", "perspective_pool_v1.0.json", "dataset_split_v1.0.json")
STANCES = {"SUPPORT": "pro", "UNDERMINE": "con"}


class Perspective(NamedTuple):
    """One wording of a perspective; wordings with one `cluster` say the same."""

    id: str
    text: str
    stance: str
    cluster: int


class Claim(NamedTuple):
    """A claim, its split and its perspectives in the order of the file."""

    id: str
    text: str
    split: str
    perspectives: list[Perspective]


class Perspectrum(TreesCorpus):
    """Claims and perspectives in the authors' split, with what that split lets through held back.

    - `pairs`: every perspective with its claim ("perspective-to-claim", agree if it supports), and every two
      perspectives of one claim, which agree if both support or both undermine it. Two wordings of one perspective
      (a cluster) agree as well; their relation is "paraphrase" and not "same-claim", so that they can be told apart.
    - `triplets`: every (claim, supporting perspective, undermining perspective).
    - `arguments`: claims and perspectives as trees of depth 1; neither short nor repeated texts are dropped here.
    - `families`: every perspective with its claim.

    The authors split by claim, but a sixth of the texts serve claims of several splits. Such a text stays in the
    best protected split (test before validation before train), and rows with it elsewhere are dropped.
    """

    METADATA = load_metadata("perspectrum")
    RELEASES = (NAMES,)

    def units(self, files: list[Path]) -> list[tuple[str, Claim]]:
        return [(claim.split, claim) for claim in self._claims(files)]

    def texts(self, unit: Claim) -> list[str]:
        return [unit.text, *(perspective.text for perspective in unit.perspectives)]

    def rules(self, config: str) -> tuple[Rule, ...]:
        return (LeakGuard(),) if config == "arguments" else super().rules(config)

    def pairs(self, unit: Claim) -> Rows:
        for p in unit.perspectives:
            yield pair_row(p.text, unit.text, p.stance == "pro", "perspective-to-claim", unit.id)
        for one, other in combinations(unit.perspectives, 2):
            relation = "paraphrase" if one.cluster == other.cluster else "same-claim"
            yield pair_row(one.text, other.text, one.stance == other.stance, relation, unit.id)

    def triplets(self, unit: Claim) -> Rows:
        pros, cons = ([p.text for p in unit.perspectives if p.stance == stance] for stance in ("pro", "con"))
        for pro, con in product(pros, cons):
            yield triplet_row(unit.text, pro, con, unit.id)

    def arguments(self, unit: Claim) -> Rows:
        return claim_rows(unit.id, unit.text, ((p.id, p.stance, p.text) for p in unit.perspectives))

    def _claims(self, files: list[Path]) -> Iterator[Claim]:
        without = self.config.without
        kinds = (list, list, dict)
        claims, items, splits = (member.json(kind) for member, kind in zip(members(files), kinds, strict=True))
        try:  # perspective id -> text, or None where its source is left out
            pool = {item["pId"]: None if item["source"] in without else normalise(item["text"]) for item in items}
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"{files[1]}: every item needs pId, text and source; use the released file") from error
        for number, claim in enumerate(claims, start=1):
            place = f"{NAMES[0]}, claim {number:,}"
            with self.dropped.malformed("claim: malformed", place):
                group, text, clusters = f"claim-{claim['cId']}", normalise(claim["text"]), list(claim["perspectives"])
                split, source = SPLIT_NAMES.get(splits.get(str(claim["cId"]))), claim["source"]
                faults = {
                    "claim: empty text": not text,
                    "claim: in no split": split is None,
                    "claim: from a source left out": source in without,
                }
                if not self.dropped.refuse(place, faults):
                    yield Claim(group, text, split, self._perspectives(group, clusters, pool))

    def _perspectives(self, group: str, clusters: list[Any], pool: dict[int, str | None]) -> list[Perspective]:
        by_text: dict[str, Perspective] = {}
        for number, cluster in enumerate(clusters):
            with self.dropped.malformed("perspective: malformed", group):
                stance, ids = STANCES.get(cluster["stance_label_3"]), list(cluster["pids"])
                for pid in ids:
                    text, place = pool.get(pid, ""), f"{group}:{pid}"
                    key = (text or "").casefold()
                    faults = {
                        "perspective: from a source left out": text is None,
                        "perspective: without text in the pool": not text,
                        "perspective: neither supports nor undermines": stance is None,
                        "perspective: listed twice under its claim": key in by_text,
                    }
                    if not self.dropped.refuse(place, faults):
                        by_text[key] = Perspective(place, text, stance, number)
        return list(by_text.values())
