"""IMDB: film reviews with stars, positive or negative (Maas et al., 2011)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from datasets.utils import tqdm

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import MINIMUM_WORDS, bare
from dataset_scripts.base.reading import ARCHIVES, find_released, parse_score, read_members
from dataset_scripts.base.review_files import read_records
from dataset_scripts.base.schema import PAIRS, TRIPLETS, Rows
from dataset_scripts.base.splits import split_groups
from dataset_scripts.granularity import cut
from dataset_scripts.reviews import ReviewConfig, review_pairs, review_triplets
from dataset_scripts.sentiment import NEGATIVE, POSITIVE, Sentence, parse_label
from dataset_scripts.sentiment_corpus import SentimentCorpus

TABLES = ("train.jsonl", "test.jsonl")
REVIEW = re.compile(r"(?:.*/)?(train|test)/(pos|neg)/\d+_(\d+)\.txt")  # train/pos/127_9.txt: number and stars
URLS = re.compile(r"(?:.*/)?(train|test)/urls_(pos|neg)\.txt")  # its line 127 is the page of review 127's film
NUMBER, TITLE = re.compile(r"(\d+)_\d+\.txt$"), re.compile(r"/title/(tt\d+)")
LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
FRACTIONS = {"train": 0.9, "validation": 0.1}
FROM_ONE_FILM: dict[str, Callable[..., Rows]] = {"pairs": review_pairs, "triplets": review_triplets}


class Imdb(SentimentCorpus):
    """IMDB with its own test split, and with a seeded tenth of the films of its train split for validation.

    `group` is the film (`tt0012345`), of which no two splits have reviews; it is empty where the files do not tell.
    Line breaks written as `<br />` are spaces. Reviews have 1 to 4 or 7 to 10 stars, negative or positive.
    `pairs` and `triplets` are of one film; see `reviews.review_pairs` and `reviews.review_triplets`.
    """

    METADATA = load_metadata("imdb")
    BUILDER_CONFIG_CLASS = ReviewConfig
    FEATURES = {**SentimentCorpus.FEATURES, "pairs": PAIRS, "triplets": TRIPLETS}

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """The released archive if that is given; or both JSON lines files below a folder or beside one of them; or the
        unpacked archive's reviews and lists of films, or the archive, below a folder."""
        if path.name.lower().endswith(ARCHIVES):
            return [path]
        folder = path if path.is_dir() else path.parent
        found = find_released(folder, TABLES)
        if len(found) == len(TABLES):
            return [found[name] for name in TABLES]
        files = super().find_files(folder)
        parts = [file for file in files if REVIEW.fullmatch(file.as_posix()) or URLS.fullmatch(file.as_posix())]
        return parts or [file for file in files if file.name.startswith("aclImdb") and file.name.endswith(ARCHIVES)]

    def official(self, files: list[Path]) -> tuple[str, ...]:
        """The test split, but for pairs and triplets, in which no review is to be two."""
        return () if self.config.name in FROM_ONE_FILM else ("test",)

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (split, row); see `Corpus.rows`."""
        self.config.check()
        if config not in FROM_ONE_FILM:
            yield from super().rows(files, config)
            return
        for split, sentences in self.kept(files).items():
            for _, row in FROM_ONE_FILM[config](sentences, self.config.per_product, self.config.seed):
                yield split, row

    def sentences(self, files: list[Path]) -> Iterator[tuple[str, Sentence]]:
        """Yields (split, sentence); see `SentimentCorpus.sentences`."""
        read = self._read_tables(files) if _name(files[0]) in TABLES else self._read_texts(files)
        reviews = list(read)
        tested = {review.group for split, review in reviews if split == "test"} - {""}
        in_train = [_unit(review) for split, review in reviews if split == "train"]
        parts = split_groups(in_train, FRACTIONS, self.config.seed) if in_train else {}
        granularity = self.config.granularity if self.config.name in FROM_ONE_FILM else "review"
        for split, review in reviews:
            text = cut(review.text, granularity, self.config.seed)
            if split == "train" and review.group in tested:  # two reviews of the release
                self.dropped["review: its film is in test"] += 1
            elif not text and granularity != "review":
                self.dropped[f"review: no sentence of {MINIMUM_WORDS} words or more"] += 1
            else:
                yield parts[_unit(review)] if split == "train" else split, review._replace(text=text)

    def _read_tables(self, files: list[Path]) -> Iterator[tuple[str, Sentence]]:
        for file in files:
            split = _name(file).removesuffix(".jsonl")
            records = read_records(file, lambda name: True, self.dropped)
            for _, _, record in tqdm(records, desc=f"Reading {file.name}", unit=" reviews"):
                text, film = record.get("text"), record.get("title_id") or ""
                label = parse_label(str(record["label"])) if "label" in record else _label_of_stars(record.get("stars"))
                if not isinstance(text, str):
                    self.dropped["row: no text"] += 1
                else:
                    yield from self._checked(split, text, label, record.get("stars"), str(film))

    def _read_texts(self, files: list[Path]) -> Iterator[tuple[str, Sentence]]:
        """(split, sentence) of the released layout, of which the lists of films may come after the reviews."""
        films: dict[tuple[str, str], list[str]] = {}
        reviews: dict[tuple[str, str], list[tuple[int, int, str]]] = defaultdict(list)
        for name, content in tqdm(_members(files), desc="Reading", unit=" files"):
            review, urls = REVIEW.fullmatch(name), URLS.fullmatch(name)
            if not review and not urls:
                continue
            try:
                text = content.decode("utf-8-sig")
            except UnicodeDecodeError:
                self.dropped["file: not UTF-8"] += 1
                continue
            if urls:
                titles = map(TITLE.search, text.splitlines())
                films[urls[1], urls[2]] = [title[1] if title else "" for title in titles]
            else:
                reviews[review[1], review[2]].append((int(NUMBER.search(name)[1]), int(review[3]), text))
        for (split, side), found in sorted(reviews.items()):
            titles = films.get((split, side), [])
            for number, stars, text in sorted(found):
                film = titles[number] if number < len(titles) else ""
                yield from self._checked(split, text, parse_label(side), stars, film)

    def _checked(
        self, split: str, text: str, label: int | None, stars: Any, film: str
    ) -> Iterator[tuple[str, Sentence]]:
        """The sentence, if its label and stars are valid and agree; otherwise it is counted."""
        if label is None:
            self.dropped["row: unknown label"] += 1
        elif stars is not None and _label_of_stars(stars) is None:
            self.dropped["row: stars are none of 1 to 4 and 7 to 10"] += 1
        elif stars is not None and _label_of_stars(stars) != label:
            self.dropped["row: label and stars disagree"] += 1
        else:
            yield split, Sentence(LINE_BREAK.sub("\n", text), label, film)


def _unit(review: Sentence) -> str:
    """What is not divided between splits: the film, or the text where the files do not tell the film."""
    return review.group or f"text: {bare(review.text)}"


def _label_of_stars(stars: Any) -> int | None:
    number = parse_score(str(stars), 1, 10)
    if number is None or not number.is_integer() or number in (5, 6):
        return None
    return NEGATIVE if number <= 4 else POSITIVE


def _members(files: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    """(name with its folders, content) of every file, or of every file in an archive."""
    for file in files:
        if file.name.lower().endswith(ARCHIVES):
            yield from read_members(file)
        else:
            yield file.as_posix(), file.read_bytes()


def _name(file: Path) -> str:
    return file.name.removesuffix(".gz")
