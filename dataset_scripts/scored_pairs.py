"""Sentence pairs with a score, tab separated: STS Benchmark, PIT-2015, Twitter URL; SICK, which has labels, too."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import ARCHIVES, members, parse_score
from dataset_scripts.base.schema import INFERENCE, SIMILARITY
from dataset_scripts.base.splits import SPLIT_NAMES

Fields = tuple[str, str, float | None, str]  # both sentences, their score, and what they are about


class ScoredPairs(Corpus):
    """Released files, one of each split, by themselves or in an archive.

    A subclass writes `pair`: the fields of a line -> `Fields`; IndexError or ValueError where they are too few or many.

    Every valid row stays: short sentences, equal sentences and repeated pairs too, and no text is unescaped, since
    results are published on the texts as they are.

    Attributes:
        FILES: Names of the files, with the split as it calls it.
        SCORE: What a score is, for those that are none.
    """

    FEATURES = {"similarity": SIMILARITY}

    @classmethod
    def is_raw(cls, name: str) -> bool:
        return cls._split(name.removesuffix(".gz")) is not None or name.lower().endswith(ARCHIVES)

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        splits = set()
        for member in members(files, lambda name: self._split(Path(name).name) is not None):
            split = self._split(Path(member.name).name)
            if self.dropped.refuse(member.place(), {"file: a second one of its split": split in splits}):
                continue
            splits.add(split)
            for number, line in member.lines(self.dropped):
                try:
                    first, second, score, group = self.pair(line.split("\t"))
                except (IndexError, ValueError):
                    reason = "row: wrong number of columns" if line.strip() else "line: empty"
                    self.dropped.skip(reason, member.place(number))
                    continue
                texts = {"sentence1": normalise(first), "sentence2": normalise(second)}
                faults = {f"row: no {self.SCORE}": score is None, "row: empty text": not all(texts.values())}
                if not self.dropped.refuse(member.place(number), faults):
                    yield split, {**texts, "score": score, "group": group.strip()}

    @classmethod
    def _split(cls, name: str) -> str | None:
        found = cls.FILES.fullmatch(name)
        return SPLIT_NAMES[found[1]] if found else None


class STSBenchmark(ScoredPairs):
    """STS Benchmark (Cer et al., 2017), with the genre as `group`, for scores by genre: the split does not follow it.

    Some lines name a source and its licence behind the sentences.
    """

    METADATA = load_metadata("stsb")
    FILES = re.compile(r"sts-(train|dev|test)\.csv")
    SCORE = "number from 0 to 5"

    def pair(self, fields: list[str]) -> Fields:
        return fields[5], fields[6], parse_score(fields[4], 0, 5), fields[0]


class Pit2015(ScoredPairs):
    """PIT-2015 (Xu et al., 2015; SemEval-2015 task 1), with the number of the topic, a trend on Twitter, as `group`.

    The score is the official one, from 0 to 5: in train and validation how many of five crowd workers called the pair
    a paraphrase, in test an expert's grade. The task's classification leaves out debatable pairs (2 votes of 5; grade
    3), its graded similarity does not, and neither does Di Giovanni and Brambilla's (2021, section 4.2).
    """

    METADATA = load_metadata("pit2015")
    FILES = re.compile(r"(train|dev|test)\.data")
    SCORE = "5 votes, as in (3, 2), nor a digit from 0 to 5"
    LABEL = re.compile(r"\(([0-5]), ?([0-5])\)|([0-5])")

    def pair(self, fields: list[str]) -> Fields:
        label = self.LABEL.fullmatch(fields[4].strip())
        if label and label[1] and int(label[1]) + int(label[2]) != 5:
            label = None
        return fields[2], fields[3], float(label[1] or label[3]) if label else None, fields[0]


class TwitterUrl(ScoredPairs):
    """Twitter News URL corpus (Lan et al., 2017), its samples aside, with the link of both tweets as `group`.

    The score is the number of people, of six, who called the pair a paraphrase.
    """

    METADATA = load_metadata("turl")
    FILES = re.compile(r"Twitter_URL_Corpus_(train|test)(?!.*sample).*\.txt")
    SCORE = "votes of 6, as in (4,6)"
    VOTES = re.compile(r"\(([0-6]), ?6\)")

    def pair(self, fields: list[str]) -> Fields:
        first, second, votes, link = fields
        votes = self.VOTES.fullmatch(votes.strip())
        return first, second, float(votes[1]) if votes else None, link


SETS = {"TRAIN": "train", "TRIAL": "validation", "TEST": "test"}
FIRST, SECOND, SCORE, SPLIT = "sentence_A", "sentence_B", "relatedness_score", "SemEval_set"
LABELS = ("entailment_label", "entailment_judgment")  # the name changed between releases


class Sick(Corpus):
    """SICK with its split where the file has one, and as one test split where it has none.

    Ghafouri et al. (2024) take all 9,927 pairs of SemEval-2014 task 1 as a test set: SICK.txt without a split column,
    or the three files of the shared task together. The later release with the column SemEval_set has 9,840 pairs.
    Every valid row stays, however short its sentences.
    """

    METADATA = load_metadata("sick")
    FEATURES = {"inference": INFERENCE}
    # all hold the same pairs, the last one 87 fewer
    RELEASES = (
        ("SICK.txt",),
        ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"),
        ("SICK_with_splits.txt",),
    )

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        return [path] if path.is_file() else super().find_files(path)

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        labels = INFERENCE["label"]
        for place, row in self.table(files, (FIRST, SECOND, SCORE), delimiter="\t"):
            label = next((row[column].strip().lower() for column in LABELS if column in row), None)
            texts = {"sentence1": normalise(row[FIRST]), "sentence2": normalise(row[SECOND])}
            score, split = parse_score(row[SCORE], 1, 5), SETS.get(row.get(SPLIT, "TEST").strip())
            faults = {
                "row: unknown split": split is None,
                "row: unknown label": label not in labels.names,
                "row: score is no number from 1 to 5": score is None,
                "row: empty text": not all(texts.values()),
            }
            if not self.dropped.refuse(place, faults):
                yield split, {**texts, "label": labels.str2int(label), "score": score}
