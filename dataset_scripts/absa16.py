"""Sentences of SemEval-2016's training reviews of laptops and restaurants, by aspect and appraisal."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

from dataset_scripts.base.families import FamiliesCorpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import members
from dataset_scripts.base.schema import Item, family_row
from dataset_scripts.base.splits import split_groups

POLARITIES = {"positive": True, "negative": False}
TRAINED = {"train": 0.8, "validation": 0.2}  # the release's test sentences are those of SOS


class Absa16(FamiliesCorpus):
    """Families of one aspect each, such as a laptop's battery: sentences that praise it (pro), and that complain (con).

    A sentence that speaks of several aspects stands with the first, if it appraises all of them alike.
    """

    METADATA = load_metadata("absa16")
    RAW = re.compile(r".*ABSA16_(Laptops|Restaurants)_Train.*\.xml(\.gz)?", re.IGNORECASE)
    ANY_SPELLING = ONE_SIDED = True

    def families(self, files: list[Path]) -> Iterator[tuple[str, Item]]:
        for member in members(files):
            domain = self.RAW.fullmatch(Path(member.name).name)[1].lower()
            if (content := member.text(self.dropped)) is None:
                continue
            try:
                reviews = ElementTree.fromstring(content)
            except ElementTree.ParseError as error:
                raise ValueError(f"{member.path}: {error}; give the released file") from None
            for sentence in reviews.iter("sentence"):
                opinions = [opinion.attrib for opinion in sentence.iter("Opinion")]
                polarities = {opinion["polarity"] for opinion in opinions}
                faults = {
                    "sentence: without an opinion": not opinions,
                    "sentence: of several appraisals": len(polarities) > 1,
                    "sentence: neutral": not polarities <= POLARITIES.keys(),
                }
                place = f"{member.place()}, sentence {sentence.get('id')}"
                if not self.dropped.refuse(place, faults):
                    aspect = f"{domain}-{re.sub(r'[^a-z]+', '-', opinions[0]['category'].lower())}"
                    text = normalise(sentence.findtext("text"))
                    yield place, family_row(text, "", POLARITIES[polarities.pop()], aspect)

    def split(self, groups: Mapping[str, Collection[Item]]) -> dict[str, str]:
        return split_groups(groups, TRAINED, self.config.seed)
