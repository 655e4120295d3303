"""MR: sentences of film reviews, positive or negative (Pang and Lee, 2005)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dataset_scripts.base.corpus import SPLITS
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import bare, normalise
from dataset_scripts.base.reading import find_released, text_lines
from dataset_scripts.base.review_files import read_records
from dataset_scripts.base.splits import split_groups
from dataset_scripts.sentiment import NEGATIVE, POSITIVE, Sentence, parse_label
from dataset_scripts.sentiment_corpus import SentimentCorpus

BY_LABEL = {"rt-polarity.pos": POSITIVE, "rt-polarity.neg": NEGATIVE}
# the first release of which every file is there is read
RELEASES = (*(tuple(f"{prefix}{split}.tsv" for split in SPLITS) for prefix in ("split_", "")), tuple(BY_LABEL))
FRACTIONS = {"train": 0.8, "validation": 0.1, "test": 0.1}  # as in the usual split of 8,530 / 1,066 / 1,066
ENCODING = "cp1252"  # of the first release, with Latin-1's letters; later copies are in UTF-8


class MovieReviews(SentimentCorpus):
    """MR in the usual split, or with a seeded split of its own where only the two files of the first release are there.

    The usual split has three tab separated files with the header label, text; the first release rt-polarity.pos and
    rt-polarity.neg, one sentence per line, in which a line that is not UTF-8 is read as Windows-1252.

    Example:
        >>> builder = MovieReviews.open("~/mr", "quadruples", hold_out=["data/sst2"])   # doctest: +SKIP
    """

    METADATA = load_metadata("mr")

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """The files of the first complete release below a folder or beside a file, plain or gzipped.

        Raises:
            FileNotFoundError: If no release is complete; the message names the files.
        """
        folder = path if path.is_dir() else path.parent
        for names in RELEASES:
            found = find_released(folder, names)
            if len(found) == len(names):
                return [found[name] for name in names]
        names = "; or ".join(", ".join(names) for names in RELEASES)
        raise FileNotFoundError(f"{folder} lacks the files of MR (plain or .gz): {names}")

    def official(self, files: list[Path]) -> tuple[str, ...]:
        """All splits, unless the files have none."""
        return () if _name(files[0]) in BY_LABEL else SPLITS

    def sentences(self, files: list[Path]) -> Iterator[tuple[str, Sentence]]:
        """Yields (split, sentence); see `SentimentCorpus.sentences`."""
        if _name(files[0]) in BY_LABEL:
            yield from self._own_split(files)
            return
        for file in files:
            split = _name(file).removeprefix("split_").removesuffix(".tsv")
            for _, number, row in read_records(file, lambda name: True, self.dropped):
                if not {"label", "text"} <= row.keys():
                    raise ValueError(f"{file}, line {number}: no tab separated columns label and text in the header")
                label = parse_label(row["label"])
                if label is None:
                    self.dropped["row: unknown label"] += 1
                else:
                    yield split, Sentence(normalise(row["text"]), label)

    def _own_split(self, files: list[Path]) -> Iterator[tuple[str, Sentence]]:
        sentences = [
            Sentence(normalise(line), BY_LABEL[_name(file)])
            for file in files
            for line in text_lines(file, self.dropped, otherwise=ENCODING)
        ]
        # spellings of one text share a side, so that none has to be dropped as a leak
        splits = split_groups((bare(sentence.text) for sentence in sentences), FRACTIONS, self.config.seed)
        for sentence in sentences:
            yield splits[bare(sentence.text)], sentence


def _name(file: Path) -> str:
    return file.name.removesuffix(".gz")
