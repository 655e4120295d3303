"""IBM Debater: crowd arguments for and against motions, and their key points (ArgQ-Rank-30k and ArgKP-2021)."""

import random
from dataclasses import dataclass, field
from pathlib import Path

from dataset_scripts.base.families import TreesCorpus, claim_rows, topic_group
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import MINIMUM_WORDS, normalise
from dataset_scripts.base.reading import named, parse_score
from dataset_scripts.base.schema import Rows, pair_row, triplet_row
from dataset_scripts.base.splits import SPLIT_NAMES, across, within

NAMES = "arg_quality_rank_30k", "ArgKP-2021"
COLUMNS = (
    ("argument", "topic", "set", "stance_WA", "stance_WA_conf"),
    ("topic", "argument", "key_point", "stance", "label"),
)
STANCES = {"1": "pro", "-1": "con", "0": "neutral"}


@dataclass
class Motion:
    """A motion, which the releases call topic, with arguments and matched key points."""

    id: str
    text: str
    split: str
    arguments: dict[str, tuple[str, str]] = field(default_factory=dict)  # case-folded text -> (text, stance)
    matches: list[tuple[str, str]] = field(default_factory=list)

    def sides(self, seed: int) -> tuple[list[str], list[str]]:
        """The texts for and against the motion, shuffled; the order depends on seed and motion alone."""
        shuffled = list(self.arguments.values())
        random.Random(f"{seed}:{self.text}").shuffle(shuffled)
        return tuple([text for text, of_text in shuffled if of_text == stance] for stance in ("pro", "con"))


class IbmArgKP(TreesCorpus):
    """Both releases as one corpus: 28 motions are in both, with equal words, and most of their arguments too.

    - `pairs`: every argument with its motion ("argument-to-topic"; a motion is a claim such as "We should ban X"),
      every argument with each key point it was matched to ("key-point", agree), and a sample of two arguments of one
      motion ("same-topic", agree if on the same side). An argument that does not match a key point says no more about
      agreement than its stance does: those judgements are not used.
    - `triplets`: a sample of (motion, argument for, argument against) and (argument, same side, other side).
    - `arguments`: motions with their arguments and key points.
    - `families`: every argument and key point with its motion.

    A key point counts as an argument of its stance. The split is ArgQ-Rank's own, which no motion crosses; the three
    motions that only ArgKP-2021 has were the test set of its shared task and are in test.
    """

    METADATA = load_metadata("ibm_argkp")
    RAW = named(".csv")

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """Both releases by a part of their names: those of IBM's zips begin with "IBM_Debater_(R)_", or without (R)."""
        files = super().find_files(path if path.is_dir() else path.parent)
        found = {name: next((file for file in files if name in file.name), None) for name in NAMES}
        if missing := [name for name, file in found.items() if file is None]:
            raise FileNotFoundError(f"{path} lacks {' and '.join(missing)}; it needs {cls.METADATA.raw}")
        return list(found.values())

    def units(self, files: list[Path]) -> list[tuple[str, Motion]]:
        motions: dict[str, Motion] = {}
        adders = self._add_rating, self._add_key_point
        for path, columns, add in zip(files, COLUMNS, adders, strict=True):
            for place, row in self.table([path], columns, wanted=lambda name: name.endswith(".csv")):  # of the zip
                add(motions, place, row)
        for motion in motions.values():
            # before sampling, so that the sample is as large as was asked for
            for key in [key for key in motion.arguments if len(key.split()) < MINIMUM_WORDS]:
                del motion.arguments[key]
                self.dropped.skip(f"argument: shorter than {MINIMUM_WORDS} words", key)
            texts = {text for text, _ in motion.arguments.values()}
            motion.matches = [match for match in motion.matches if texts.issuperset(match)]
        return [(motion.split, motion) for motion in motions.values()]

    def texts(self, unit: Motion) -> list[str]:
        return [unit.text, *(text for text, _ in unit.arguments.values())]

    def _add_rating(self, motions: dict[str, Motion], place: str, row: dict[str, str]) -> None:
        text, stance, split = normalise(row["argument"]), STANCES.get(row["stance_WA"]), SPLIT_NAMES.get(row["set"])
        confidence = parse_score(row["stance_WA_conf"], 0, 1)
        if not (text and normalise(row["topic"]) and stance and split) or confidence is None:
            self.dropped.skip("argument: malformed row", place)
            return
        motion = _motion(motions, row["topic"], split)
        if motion.split != split:
            raise ValueError(f"{place}: {motion.text!r} is in {motion.split} and in {split}; a motion needs one set")
        faults = {
            "argument: neutral": stance == "neutral",
            "argument: stance is uncertain": confidence < self.config.minimum_confidence,
            "argument: repeated": text.casefold() in motion.arguments,
        }
        if not self.dropped.refuse(place, faults):
            motion.arguments[text.casefold()] = text, stance

    def _add_key_point(self, motions: dict[str, Motion], place: str, row: dict[str, str]) -> None:
        texts, stance = (normalise(row["argument"]), normalise(row["key_point"])), STANCES.get(row["stance"])
        if not (all(texts) and normalise(row["topic"]) and stance in ("pro", "con") and row["label"] in ("0", "1")):
            self.dropped.skip("key point: malformed row", place)
            return
        motion = _motion(motions, row["topic"], "test")
        stored = [motion.arguments.setdefault(text.casefold(), (text, stance)) for text in texts]
        faults = {
            "key point: stance differs between the releases": any(of_text != stance for _, of_text in stored),
            "key point: does not match the argument": row["label"] == "0",
        }
        if not self.dropped.refuse(place, faults):
            motion.matches.append((stored[0][0], stored[1][0]))

    def pairs(self, motion: Motion) -> Rows:
        for text, stance in motion.arguments.values():
            yield pair_row(text, motion.text, stance == "pro", "argument-to-topic", motion.id)
        for argument, key_point in motion.matches:
            yield pair_row(argument, key_point, True, "key-point", motion.id)
        pros, cons = motion.sides(self.config.seed)
        for side in (pros, cons):
            for one, other in within(side, self.config.pairs_per_topic // 4):
                yield pair_row(one, other, True, "same-topic", motion.id)
        for one, other in across(pros, cons, self.config.pairs_per_topic // 2):
            yield pair_row(one, other, False, "same-topic", motion.id)

    def triplets(self, motion: Motion) -> Rows:
        sides, limit = motion.sides(self.config.seed), self.config.triplets_per_topic
        drawn = [(motion.text, pro, con) for pro, con in across(*sides, limit // 2)]
        for side, others in (sides, sides[::-1]):
            if others:
                pairs = enumerate(within(side, limit // 4))
                drawn += [(anchor, positive, others[n % len(others)]) for n, (anchor, positive) in pairs]
        for texts in drawn:
            yield triplet_row(*texts, motion.id)

    def arguments(self, motion: Motion) -> Rows:
        answers = enumerate(motion.arguments.values(), start=1)
        return claim_rows(motion.id, motion.text, ((f"{motion.id}:{n}", stance, text) for n, (text, stance) in answers))


def _motion(motions: dict[str, Motion], topic: str, split: str) -> Motion:
    """The motion with these words; a new one, in `split`, if there is none."""
    id = topic_group(topic)
    return motions.setdefault(id, Motion(id, normalise(topic), split))
