"""Corpora of reviews (Tay et al., 2021): sentences of reviews, and rows of one product; Yelp and Amazon."""

import hashlib
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from datasets.utils import tqdm

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import MINIMUM_WORDS, bare, normalise
from dataset_scripts.base.reading import members, named, parse_score
from dataset_scripts.base.schema import FAMILIES, PAIRS, TRIPLETS, Rows, family_row, pair_row, triplet_row
from dataset_scripts.base.splits import FRACTIONS, SEED, across, split_or_train, within
from dataset_scripts.sentiment import NEGATIVE, POSITIVE, Sentence, SentimentCorpus, parse_label

REVIEWS = f"({named('.json', '.jsonl', '.ndjson', '.tsv').pattern})"  # files of reviews
ABBREVIATIONS = frozenset(
    ("mr", "mrs", "ms", "dr", "prof", "st", "mt", "jr", "sr", "vs", "etc", "e.g", "i.e", "approx", "inc", "ltd")
)
_BLANK_LINE = re.compile(r"\n\s*\n")
_END = re.compile(r"""(?P<mark>[.!?…]+)["'”’)\]]*\s+(?=(?P<next>\S))""")
_NO_WORD = re.compile(r"[^\w.]+")
_LONGEST = 12  # characters that are looked at for an abbreviation


def sentences(text: str) -> Iterator[str]:
    """Yields the sentences of a text, their white space normalised.

    A sentence ends at a blank line, and at `.`, `!`, `?` or `...` with its closing quotation marks and brackets before
    white space. A full stop ends none after one of `ABBREVIATIONS` or a single letter, nor do several dots before a
    small letter.

    Example:
        >>> list(sentences("Dr. Who was late... again! No refund."))
        ['Dr. Who was late... again!', 'No refund.']
    """
    for paragraph in _BLANK_LINE.split(text.replace("\r\n", "\n")):
        start = 0
        for end in _END.finditer(paragraph):
            word = _NO_WORD.split(paragraph[max(start, end.start() - _LONGEST) : end.start()])[-1]
            if end["mark"] == ".":
                is_end = word.lower() not in ABBREVIATIONS and (len(word) != 1 or word.isdigit())
            else:
                is_end = not (end["next"].islower() and set(end["mark"]) <= set(".…"))
            if is_end:
                yield normalise(paragraph[start : end.end()])
                start = end.end()
        if rest := normalise(paragraph[start:]):
            yield rest


def cut(text: str, granularity: str, seed: int) -> str:
    """The part of a review that stands for it (section 5.3 of the paper), its white space normalised.

    All of it (`review`), its `first` sentence or a `random` one, which depends on seed and text alone. Sentences of
    fewer than `MINIMUM_WORDS` words ("Wow!") stand for none; if all are so short, the result is empty.
    """
    if granularity == "review":
        return normalise(text)
    usable = [sentence for sentence in sentences(text) if len(sentence.split()) >= MINIMUM_WORDS]
    return "" if not usable else usable[0] if granularity == "first" else random.Random(f"{seed}:{text}").choice(usable)


def by_product(reviews: Iterable[Sentence], seed: int) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yields (product, positive texts, negative texts) in the order of the products, of all reviews that have one.

    The texts are shuffled; their order depends on the seed, the product and the texts alone.
    """
    texts: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for review in reviews:
        if review.group:
            texts[review.group][review.label != POSITIVE].append(review.text)
    for product in sorted(texts):
        draw = random.Random(f"{seed}:{product}")
        for side in texts[product]:
            side.sort()
            draw.shuffle(side)
        yield product, *texts[product]


def review_triplets(reviews: Iterable[Sentence], limit: int, seed: int = SEED) -> Rows:
    """Rows of `TRIPLETS`: a review, one of the same polarity and one of the other, all of one product.

    At most `limit` of a product, half of them with a positive anchor, half with a negative one, where it has the
    reviews for both. The reviews are of one split, none of them twice; `group` is the product.
    """
    for product, positives, negatives in by_product(reviews, seed):
        anchors = (positives, negatives, limit - limit // 2), (negatives, positives, limit // 2)
        for same, other, share in anchors:
            for n, (anchor, positive) in enumerate(within(same, share if other else 0, ordered=True)):
                yield triplet_row(anchor, positive, other[n % len(other)], product)


def review_pairs(reviews: Iterable[Sentence], limit: int, seed: int = SEED) -> Rows:
    """Rows of `PAIRS`: two reviews of one product, which agree if their polarity is the same; as many agree as oppose.

    At most `limit` of a product. Every pair that opposes holds a negative review: so that this alone gives none away,
    half of those that agree are of negative reviews, as far as there are enough.

    Args:
        reviews: Reviews of one split, none of them twice; `group` is the product.
    """
    oppose, both_positive, both_negative = [], [], []
    for product, positives, negatives in by_product(reviews, seed):
        oppose += [(product, *texts) for texts in across(positives, negatives, limit // 2)]
        negative, positive = list(within(negatives, limit // 2)), list(within(positives, limit // 2))
        few = min(len(negative), max(limit // 4, limit // 2 - len(positive)))
        both_negative += [(product, *texts) for texts in negative[:few]]
        both_positive += [(product, *texts) for texts in positive[: limit // 2 - few]]
    draw = random.Random(seed)
    size = min(len(oppose), len(both_positive) + len(both_negative))
    few = min(len(both_negative), max(size // 2, size - len(both_positive)))
    agree = draw.sample(both_negative, few) + draw.sample(both_positive, size - few)
    rows = [(pair, True) for pair in agree] + [(pair, False) for pair in draw.sample(oppose, size)]
    draw.shuffle(rows)
    for (product, *texts), same in rows:
        # in either order: otherwise the first text of a pair that opposes would always be the positive one
        draw.shuffle(texts)
        yield pair_row(*texts, same, "same-product", product)


def review_families(reviews: Iterable[Sentence], limit: int, seed: int = SEED) -> Rows:
    """Rows of `FAMILIES` without a statement: the reviews of a product, the positive ones (pro) against the negative.

    At most `limit` of a product and polarity. Products of one polarity, or of one review of either, have none: they
    make no triplets. The reviews are as for `review_triplets`.
    """
    for product, *sides in by_product(reviews, seed):
        if all(sides) and sum(map(len, sides)) > 2:
            for pro, texts in zip((True, False), sides, strict=True):
                yield from (family_row(text, "", pro, product) for text in texts[:limit])


MAKERS = {"pairs": review_pairs, "triplets": review_triplets, "families": review_families}


class ReviewCorpus(SentimentCorpus):
    """Reviews as sentiment corpora have them, and rows of one product, which is the `group` of a review.

    `sentences` of a subclass cuts reviews to their granularity by `cut`.
    """

    FEATURES = {**SentimentCorpus.FEATURES, "pairs": PAIRS, "triplets": TRIPLETS, "families": FAMILIES}

    @property
    def of_one_product(self) -> bool:
        """Whether the rows of this configuration are made of reviews of one product."""
        return self.config.name in MAKERS

    def cut(self, text: str) -> str:
        """A review as this configuration has it, counted where nothing is left of it; see `reviews.cut`."""
        part = cut(text, self.config.granularity if self.of_one_product else "review", self.config.seed)
        if not part:
            self.dropped[f"review: no sentence of {MINIMUM_WORDS} words or more"] += 1
        return part

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        if not self.of_one_product:
            yield from super().rows(files, config)
            return
        row = None
        for split, reviews in self.clean_sentences(files).items():
            for _, row in MAKERS[config](reviews, self.config.per_product, self.config.seed):
                yield split, row
        if row is None:
            raise ValueError(
                f"{self.METADATA.name}: no product has the reviews of both polarities that {config} are made of; build "
                f"with {' '.join(f'--config {name}' for name in SentimentCorpus.FEATURES)}. "
                f"Dropped: {dict(self.dropped) or 'nothing'}"
            )


class StarsCorpus(ReviewCorpus):
    """Reviews with stars from 1 to 5, in JSON lines or tab separated tables (Yelp, Amazon).

    A subclass states METADATA, RAW and the columns TEXT, STARS and PRODUCT, of which the first with a value counts. The
    split is by product; reviews without one are split one by one. It does not depend on granularity. Products with
    reviews of both polarities, the only ones that give triplets, are divided for themselves: every split has its share.
    A release without stars has the polarity, 1 or 0, in the column label.
    """

    MINIMUM_WORDS = MINIMUM_WORDS

    def sentences(self, files: list[Path]) -> Iterator[tuple[str, Sentence]]:
        for split, review in self._split(files):
            if self.of_one_product and not review.group:
                self.dropped["review: without a product"] += 1
            elif text := self.cut(review.text):
                yield split, review._replace(text=text)

    def clean_sentences(self, files: list[Path]) -> dict[str, list[Sentence]]:
        by_split = super().clean_sentences(files)
        for reviews in by_split.values() if self.config.name in ("triplets", "families") else ():
            for _, positives, negatives in by_product(reviews, self.config.seed):
                if not (positives and negatives):
                    self.dropped["product: no reviews of both polarities"] += 1
                elif len(positives) == len(negatives) == 1:
                    self.dropped["product: one review of either polarity only"] += 1
        return by_split

    def _split(self, files: list[Path]) -> Iterator[tuple[str, Sentence]]:
        """(split, review), in an order that does not depend on that of the files."""
        units: dict[tuple[bool, str], list[Sentence]] = defaultdict(list)
        for review in self._read(files):
            units[bool(review.group), review.group or bare(review.text)].append(review)
        parts: dict[tuple[bool, bool], list[tuple[bool, str]]] = defaultdict(list)
        for unit, reviews in units.items():
            parts[unit[0], len({review.label for review in reviews}) == 2].append(unit)
        if any(len(part) < len(FRACTIONS) for part in parts.values()):
            parts = {(True, True): list(units)}
        # products with both polarities first: of copies of a text, the first is kept
        for _, part in sorted(parts.items(), reverse=True):
            splits = split_or_train(part, self.config.seed)
            for unit in sorted(part):
                yield from ((splits[unit], review) for review in sorted(units[unit]))

    def _read(self, files: list[Path]) -> Iterator[Sentence]:
        """Every usable review of the files. One with a polarity for stars may be without a product."""
        for member in members(files, lambda name: self.is_raw(Path(name).name)):
            for line, record in tqdm(member.records(self.dropped), desc=f"Reading {member.place()}", unit=" reviews"):
                text, product = first_value(record, self.TEXT), first_value(record, self.PRODUCT)
                if rated := any(name in record for name in self.STARS):
                    stars = parse_score(str(first_value(record, self.STARS)), 1, 5)
                    # section 5 of the paper
                    label = None if stars is None or 2 < stars < 4 else POSITIVE if stars >= 4 else NEGATIVE
                else:
                    stars, label = None, parse_label(record.get("label"))
                told = any(name in record for name in self.TEXT) and (rated or "label" in record)
                faults = {
                    "review: no column of text, or none of stars": not told,
                    "review: empty text": not isinstance(text, str) or not text.strip(),
                    "review: stars are no number from 1 to 5": rated and stars is None,
                    "review: 3 stars, neither positive nor negative": rated and label is None,
                    "review: no id of a product": rated and product is None,
                    "review: label is neither 1 nor 0": label is None,
                }
                if not self.dropped.refuse(member.place(line), faults):
                    review = Sentence(text, label, normalise(str(product or "")))
                    # a hash in [0, 1): seeding a generator for every review of millions would take minutes
                    unit = f"{self.config.seed}:{review.group or review.text}".encode()
                    drawn = int.from_bytes(hashlib.blake2b(unit, digest_size=8).digest(), "big") / 2**64
                    if self.config.share == 1 or drawn < self.config.share:
                        yield review
                    else:
                        self.dropped["review: of a product outside the share"] += 1


def first_value(record: dict[str, Any], names: tuple[str, ...]) -> Any:
    """The first value under one of the names that is neither missing nor empty; None if there is none."""
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)


class Yelp(StarsCorpus):
    """Reviews of restaurants and other businesses; see `StarsCorpus`."""

    METADATA = load_metadata("yelp")
    TEXT, STARS, PRODUCT = ("text",), ("stars",), ("business_id",)
    RAW = re.compile(rf"(?!(.*dataset_)?(business|user|checkin|tip|photo)){REVIEWS}", re.I)  # not others of the release


class Amazon(StarsCorpus):
    """Product reviews; see `StarsCorpus` and, for the forms of file, `dataset_scripts/metadata/amazon.yaml`.

    A product is a parent_asin where reviews have one (it unites the colours and sizes of an item), otherwise an asin.
    The polarity sample has no products: it adds to `sentences`, `quadruples` and `sgts` alone.
    """

    METADATA = load_metadata("amazon")
    TEXT = ("text", "reviewText", "review_body", "content")
    STARS = ("rating", "overall", "star_rating")
    PRODUCT = ("parent_asin", "asin", "product_id")
    RAW = re.compile(rf"(?!meta){REVIEWS}", re.I)  # meta_Electronics.json describes products
