"""SST-2: phrases and sentences of film reviews, positive or negative (Socher et al., 2013)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.reading import members
from dataset_scripts.base.splits import SPLIT_NAMES, SPLITS
from dataset_scripts.sentiment import Sentence, SentimentCorpus

RELEASED = {f"sentiment-{name}": split for name, split in SPLIT_NAMES.items()}


class SST2(SentimentCorpus):
    """SST-2 as SentEval released it: text, tab, label; the test split has its labels, unlike GLUE's.

    The train split has the phrases of its sentences, some of one word, and phrases that occur in several sentences as
    often as they occur. All stay in `sentences`, but for those that are a sentence of the other splits.
    """

    METADATA = load_metadata("sst2")
    OFFICIAL = SPLITS
    RELEASES = (tuple(RELEASED),)

    def sentences(self, files: list[Path]) -> Iterator[tuple[str, Sentence]]:
        for member in members(files):
            split = RELEASED[Path(member.name).name]
            yield from ((split, sentence) for sentence in self.labelled(member, header=("text", "label")))
