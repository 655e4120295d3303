"""MR: sentences of film reviews, positive or negative (Pang and Lee, 2005)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import bare, normalise
from dataset_scripts.base.reading import members
from dataset_scripts.base.splits import SPLITS, split_groups
from dataset_scripts.sentiment import NEGATIVE, POSITIVE, Sentence, SentimentCorpus

BY_LABEL = {"rt-polarity.pos": POSITIVE, "rt-polarity.neg": NEGATIVE}
FRACTIONS = {"train": 0.8, "validation": 0.1, "test": 0.1}  # as in the usual split of 8,530 / 1,066 / 1,066
ENCODING = "cp1252"  # of the first release, with Latin-1's letters; later copies are in UTF-8


class MovieReviews(SentimentCorpus):
    """MR in the usual split, or with a seeded split of its own where only the two files of the first release are there.

    The usual split has three tab separated files with the header label, text; the first release rt-polarity.pos and
    rt-polarity.neg, one sentence per line, in which a line that is not UTF-8 is read as Windows-1252.
    """

    METADATA = load_metadata("mr")
    RELEASES = (
        tuple(f"split_{split}.tsv" for split in SPLITS),
        tuple(f"{split}.tsv" for split in SPLITS),
        (*BY_LABEL,),
    )

    def official(self, files: list[Path]) -> tuple[str, ...]:
        return () if files[0].name.removesuffix(".gz") in BY_LABEL else SPLITS

    def sentences(self, files: list[Path]) -> Iterator[tuple[str, Sentence]]:
        without_split = []
        for member in members(files):
            name = Path(member.name).name
            if name in BY_LABEL:
                lines = member.lines(self.dropped, otherwise=ENCODING)
                without_split += [Sentence(normalise(line), BY_LABEL[name]) for _, line in lines]
            else:
                split = name.removeprefix("split_").removesuffix(".tsv")
                yield from ((split, sentence) for sentence in self.labelled(member))
        if without_split:
            # spellings of one text share a side, so that none has to be dropped as a leak
            splits = split_groups((bare(sentence.text) for sentence in without_split), FRACTIONS, self.config.seed)
            yield from ((splits[bare(sentence.text)], sentence) for sentence in without_split)
