"""PERSPECTRUM: debate claims with the perspectives that support or undermine them (Chen et al., 2019)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import Cleaner, LeakGuard, normalise
from dataset_scripts.base.reading import members
from dataset_scripts.base.schema import (
    ARGUMENTS,
    FAMILIES,
    PAIRS,
    TRIPLETS,
    Rows,
    pair_row,
    tree_families,
    tree_rows,
    triplet_row,
)
from dataset_scripts.base.splits import SPLIT_NAMES

NAMES = ("perspectrum_with_answers_v1.0.json", "perspective_pool_v1.0.json", "dataset_split_v1.0.json")
KINDS = (list, list, dict)
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


class Perspectrum(Corpus):
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
    FEATURES = {"pairs": PAIRS, "triplets": TRIPLETS, "arguments": ARGUMENTS, "families": FAMILIES}
    RELEASES = (NAMES,)

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        make_rows = {"pairs": _pairs, "triplets": _triplets, "arguments": _arguments, "families": _families}[config]
        rules = (LeakGuard(),) if config == "arguments" else (LeakGuard(), Cleaner(ordered=config != "pairs"))
        units = [(claim.split, claim) for claim in self._claims(files)]
        yield from self.clean(units, make_rows, lambda c: (c.text, *(p.text for p in c.perspectives)), rules)

    def _claims(self, files: list[Path]) -> Iterator[Claim]:
        without = self.config.without
        claims, items, splits = (member.json(kind) for member, kind in zip(members(files), KINDS, strict=True))
        try:  # perspective id -> text, or None where its source is left out
            pool = {item["pId"]: None if item["source"] in without else normalise(item["text"]) for item in items}
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"{files[1]}: every item needs pId, text and source; use the released file") from error
        for number, claim in enumerate(claims, start=1):
            place = f"{NAMES[0]}, claim {number:,}"
            try:
                group, text, clusters = f"claim-{claim['cId']}", normalise(claim["text"]), list(claim["perspectives"])
                split, source = SPLIT_NAMES.get(splits.get(str(claim["cId"]))), claim["source"]
            except (AttributeError, KeyError, TypeError):
                self.dropped.skip("claim: malformed", place)
                continue
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
            try:
                stance, ids = STANCES.get(cluster["stance_label_3"]), list(cluster["pids"])
            except (KeyError, TypeError):
                self.dropped.skip("perspective: malformed", group)
                continue
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


def _pairs(claim: Claim) -> Rows:
    for p in claim.perspectives:
        yield pair_row(p.text, claim.text, p.stance == "pro", "perspective-to-claim", claim.id)
    for one, other in combinations(claim.perspectives, 2):
        relation = "paraphrase" if one.cluster == other.cluster else "same-claim"
        yield pair_row(one.text, other.text, one.stance == other.stance, relation, claim.id)


def _triplets(claim: Claim) -> Rows:
    pros, cons = ([p.text for p in claim.perspectives if p.stance == stance] for stance in ("pro", "con"))
    for pro, con in product(pros, cons):
        yield triplet_row(claim.text, pro, con, claim.id)


def _arguments(claim: Claim) -> Rows:
    return tree_rows(claim.id, claim.text, ((p.id, p.stance, p.text) for p in claim.perspectives))


def _families(claim: Claim) -> Rows:
    return tree_families(row for _, row in _arguments(claim))
