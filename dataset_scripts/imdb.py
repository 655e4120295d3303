"""IMDB: film reviews with stars, positive or negative (Maas et al., 2011)."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from datasets.utils import tqdm

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import bare
from dataset_scripts.base.reading import ARCHIVES, members, parse_score
from dataset_scripts.base.splits import split_groups
from dataset_scripts.reviews import ReviewCorpus
from dataset_scripts.sentiment import NEGATIVE, POSITIVE, Sentence, parse_label

TABLES = ("train.jsonl", "test.jsonl")
REVIEW = re.compile(r"(?:.*/)?(train|test)/(pos|neg)/(\d+)_(\d+)\.txt")  # train/pos/127_9.txt: number and stars
URLS = re.compile(r"(?:.*/)?(train|test)/urls_(pos|neg)\.txt")  # its line 127 is the page of review 127's film
TITLE = re.compile(r"/title/(tt\d+)")
LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
FRACTIONS = {"train": 0.9, "validation": 0.1}
Raw = tuple[str, str, Any, int | None, Any, str]  # place, split, text, label, stars and film


class Imdb(ReviewCorpus):
    """IMDB with its own test split, and with a seeded tenth of the films of its train split for validation.

    `group` is the film (`tt0012345`), of which no two splits have reviews; it is empty where the files do not tell.
    Line breaks written as `<br />` are spaces. Reviews have 1 to 4 or 7 to 10 stars, negative or positive.
    """

    METADATA = load_metadata("imdb")

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """The released archive, JSON lines files, or the unpacked archive's reviews and lists of films."""
        files = super().find_files(path)
        tables = [file for file in files if file.name.removesuffix(".gz") in TABLES]
        parts = [file for file in files if REVIEW.fullmatch(file.as_posix()) or URLS.fullmatch(file.as_posix())]
        archives = [file for file in files if file.name.lower().endswith(ARCHIVES)]
        return tables or parts or [file for file in archives if file == path or file.name.startswith("aclImdb")]

    def official(self, files: list[Path]) -> tuple[str, ...]:
        # but for pairs and triplets, in which no review is to be two
        return () if self.of_one_product else ("test",)

    def sentences(self, files: list[Path]) -> Iterator[tuple[str, Sentence]]:
        is_table = files[0].name.removesuffix(".gz") in TABLES
        reviews = list(self._valid(self._read_tables(files) if is_table else self._read_texts(files)))
        tested = {review.group for split, review in reviews if split == "test"} - {""}
        in_train = [_unit(review) for split, review in reviews if split == "train"]
        parts = split_groups(in_train, FRACTIONS, self.config.seed) if in_train else {}
        for split, review in reviews:
            if split == "train" and review.group in tested:  # two reviews of the release
                self.dropped["review: its film is in test"] += 1
            elif text := self.cut(review.text):
                yield parts[_unit(review)] if split == "train" else split, review._replace(text=text)

    def _valid(self, reviews: Iterable[Raw]) -> Iterator[tuple[str, Sentence]]:
        """(split, sentence) of those whose label and stars are valid and agree."""
        for place, split, text, label, stars, film in reviews:
            lines = LINE_BREAK.sub("\n", text) if isinstance(text, str) else ""
            rated, of_stars = stars is not None, _label_of_stars(stars)
            faults = {
                "row: no text": not isinstance(text, str),
                "row: unknown label": label is None,
                "row: stars are none of 1 to 4 and 7 to 10": rated and of_stars is None,
                "row: label and stars disagree": rated and of_stars != label,
                "row: empty text": not lines.strip(),
            }
            if not self.dropped.refuse(place, faults):
                yield split, Sentence(lines, label, film)

    def _read_tables(self, files: list[Path]) -> Iterator[Raw]:
        for member in members(files):
            split = Path(member.name).stem
            for line, record in tqdm(member.records(self.dropped), desc=f"Reading {split}", unit=" reviews"):
                text, film, stars = record.get("text"), record.get("title_id") or "", record.get("stars")
                label = parse_label(record["label"]) if "label" in record else _label_of_stars(stars)
                yield member.place(line), split, text, label, stars, str(film)

    def _read_texts(self, files: list[Path]) -> Iterator[Raw]:
        """The released layout, of which the lists of films may come after the reviews."""
        films: dict[tuple[str, str], list[str]] = {}
        reviews: dict[tuple[str, str], list[tuple[int, int, str, str]]] = defaultdict(list)
        for member in tqdm(members(files), desc="Reading", unit=" files"):
            review, urls = REVIEW.fullmatch(member.name), URLS.fullmatch(member.name)
            if not review and not urls:
                continue
            if (text := member.text(self.dropped)) is None:
                continue
            if urls:
                titles = map(TITLE.search, text.splitlines())
                films[urls[1], urls[2]] = [title[1] if title else "" for title in titles]
            else:
                reviews[review[1], review[2]].append((int(review[3]), int(review[4]), text, member.place()))
        for (split, side), of_side in sorted(reviews.items()):
            titles = films.get((split, side), [])
            for number, stars, text, place in sorted(of_side):
                film = titles[number] if number < len(titles) else ""
                yield place, split, text, parse_label(side), stars, film


def _unit(review: Sentence) -> str:
    """What is not divided between splits: the film, or the text where the files do not tell the film."""
    return review.group or f"text: {bare(review.text)}"


def _label_of_stars(stars: Any) -> int | None:
    number = parse_score(str(stars), 1, 10)
    if number is None or not number.is_integer() or number in (5, 6):
        return None
    return NEGATIVE if number <= 4 else POSITIVE
