"""The base class of corpora of reviews with stars and products (Yelp, Amazon)."""

from __future__ import annotations

import hashlib
import logging
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from datasets.utils import tqdm

from dataset_scripts.base.quality import MINIMUM_WORDS, bare
from dataset_scripts.base.review_files import SUFFIXES, Columns, Review, read_records
from dataset_scripts.base.schema import PAIRS, TRIPLETS
from dataset_scripts.base.splits import FRACTIONS, split_groups
from dataset_scripts.granularity import cut
from dataset_scripts.reviews import ReviewConfig, by_product, review_pairs, review_triplets
from dataset_scripts.sentiment import Sentence
from dataset_scripts.sentiment_corpus import SentimentCorpus

logger = logging.getLogger(__name__)
FROM_ONE_PRODUCT = {"pairs": review_pairs, "triplets": review_triplets}


@dataclass
class StarsConfig(ReviewConfig):
    """Options of a corpus of reviews with stars.

    Attributes:
        share: Share of the products that are read, in (0, 1], drawn by their id: what is read is held in memory.
    """

    share: float = 1.0

    def check(self) -> None:
        """See `ReviewConfig.check`."""
        super().check()
        if not isinstance(self.share, int | float) or not 0 < self.share <= 1:
            raise ValueError(f"share={self.share!r}: give a number above 0 and up to 1")


class ReviewCorpus(SentimentCorpus):
    """Reviews as sentiment corpora have them, and pairs and triplets of one product, see `dataset_scripts.reviews`.

    A subclass states METADATA, COLUMNS and `is_release`. The split is by product, so that no product is on both sides;
    reviews without a product are split one by one. It depends neither on granularity nor on domain. Products with
    reviews of both polarities, the only ones that give triplets, are divided for themselves: every split has its share.
    """

    BUILDER_CONFIG_CLASS = StarsConfig
    FEATURES = {**SentimentCorpus.FEATURES, "pairs": PAIRS, "triplets": TRIPLETS}
    MINIMUM_WORDS = MINIMUM_WORDS
    COLUMNS: ClassVar[Columns]

    @classmethod
    @abstractmethod
    def is_release(cls, name: str) -> bool:
        """Whether a file, in a folder or an archive, may hold reviews, by its name in small letters."""

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """One given file, or all tables, JSON lines and archives of reviews below a folder."""
        return [path] if path.is_file() else [f for f in super().find_files(path) if cls._may_hold_reviews(f.name)]

    @classmethod
    def _may_hold_reviews(cls, name: str) -> bool:
        name = Path(name).name.lower()
        return name.endswith(SUFFIXES) and not name.startswith(".") and cls.is_release(name)

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (split, row); see `Corpus.rows`.

        Raises:
            ValueError: If an option has a value that it does not take, or pairs or triplets have not one row.
        """
        self.config.check()
        if config not in FROM_ONE_PRODUCT:
            yield from super().rows(files, config)
            return
        found = False
        for split, reviews in self.kept(files).items():
            if config == "triplets":
                self._count_products(reviews)
            for _, row in FROM_ONE_PRODUCT[config](reviews, self.config.per_product, self.config.seed):
                found = True
                yield split, row
        if not found:
            others = " ".join(f"--config {name}" for name in self.FEATURES if name not in FROM_ONE_PRODUCT)
            raise ValueError(
                f"{self.METADATA.name}: no product has the reviews of both polarities that {config} are made of; build "
                f"with {others}. Dropped: {dict(self.dropped) or 'nothing'}"
            )

    def sentences(self, files: list[Path]) -> Iterator[tuple[str, Sentence]]:
        """Yields (split, review), cut to its granularity for pairs and triplets; see `SentimentCorpus.sentences`."""
        from_one_product = self.config.name in FROM_ONE_PRODUCT
        granularity = self.config.granularity if from_one_product else "review"
        for split, review in self._split(files):
            if not self.wants(review):
                continue
            text = cut(review.text, granularity, self.config.seed)
            if from_one_product and not review.product:
                self.dropped["review: without a product"] += 1
            elif not text:
                self.dropped[f"review: no sentence of {MINIMUM_WORDS} words or more"] += 1
            else:
                yield split, Sentence(text, review.label, review.product)

    def wants(self, review: Review) -> bool:
        """Whether a review is one of those that the options choose; one that is not is counted here."""
        return True

    def domain(self, record: dict[str, Any], where: str) -> str:
        """The kind of product that a record is on; empty if the corpus does not tell.

        Args:
            record: One review.
            where: Name of its file; of one in an archive, "archive:file".
        """
        return ""

    def _count_products(self, reviews: list[Sentence]) -> None:
        """Counts the products that give no triplet."""
        for _, positives, negatives in by_product(reviews, self.config.seed):
            if not (positives and negatives):
                self.dropped["product: no reviews of both polarities"] += 1
            elif len(positives) == len(negatives) == 1:
                self.dropped["product: one review of either polarity only"] += 1

    def _split(self, files: list[Path]) -> Iterator[tuple[str, Review]]:
        """(split, review), in an order that does not depend on that of the files."""
        units: dict[tuple[bool, str], list[Review]] = defaultdict(list)
        for review in self._read(files):
            units[bool(review.product), review.product or bare(review.text)].append(review)
        parts: dict[tuple[bool, bool], list[tuple[bool, str]]] = defaultdict(list)
        for unit, reviews in units.items():
            parts[unit[0], len({review.label for review in reviews}) == 2].append(unit)
        if any(len(part) < len(FRACTIONS) for part in parts.values()):
            parts = {(True, True): list(units)}
        # products with both polarities first: of copies of a text, the first is kept
        for _, part in sorted(parts.items(), reverse=True):
            if len(part) < len(FRACTIONS):
                logger.warning("%d product(s) are too few for splits: all go to train", len(part))
                splits = dict.fromkeys(part, "train")
            else:
                splits = split_groups(part, seed=self.config.seed)
            for unit in sorted(part):
                yield from ((splits[unit], review) for review in sorted(units[unit]))

    def _read(self, files: list[Path]) -> Iterator[Review]:
        """Every usable review of the files.

        Raises:
            ValueError: If no file has a record with the columns of a review.
        """
        strange: list[str] = []  # files without reviews, in words
        for file in files:
            fitting, first_misfit = 0, None
            records = read_records(file, self._may_hold_reviews, self.dropped)
            for where, number, record in tqdm(records, desc=f"Reading {file.name}", unit=" reviews"):
                if self.COLUMNS.fit(record):
                    fitting += 1
                    review = self.COLUMNS.review(record, self.dropped)
                    if review and self._in_share(review.product or review.text):
                        yield review._replace(domain=self.domain(record, where))
                else:
                    self.dropped["review: no column of text, or none of stars"] += 1
                    found = ", ".join(list(record)[:12])
                    first_misfit = first_misfit or f"{file.parent / where}, line {number}: found {found}"
            if not fitting:
                logger.warning("skipped %s: no reviews", file)
                strange.append(first_misfit or f"{file}: no record")
        if len(strange) == len(files):
            raise ValueError(f"{strange[0]}; expected {self.METADATA.raw}")

    def _in_share(self, unit: str) -> bool:
        if self.config.share == 1:
            return True
        # a hash in [0, 1): seeding a generator for every review of millions would take minutes
        drawn = hashlib.blake2b(f"{self.config.seed}:{unit}".encode(), digest_size=8).digest()
        if int.from_bytes(drawn, "big") / 2**64 < self.config.share:
            return True
        self.dropped["review: of a product outside the share"] += 1
        return False
