"""What corpora of reviews with stars and products share: pairs and triplets from one product (Tay et al., 2021)."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dataset_scripts.base.sampling import across, within
from dataset_scripts.base.schema import Rows, pair_row, triplet_row
from dataset_scripts.base.splits import SEED
from dataset_scripts.granularity import GRANULARITIES
from dataset_scripts.sentiment import NEGATIVE, POSITIVE, Sentence
from dataset_scripts.sentiment_corpus import SentimentConfig

RELATION = "same-product"


@dataclass
class ReviewConfig(SentimentConfig):
    """Options of a corpus of reviews.

    Attributes:
        granularity: What of a review goes into pairs and triplets: all of it ("review"), its first sentence ("first")
            or a random one ("random"); see `dataset_scripts.granularity`.
        per_product: Most pairs, and most triplets, of one product, so that a popular one does not dominate.
    """

    granularity: str = GRANULARITIES[0]
    per_product: int = 20

    def check(self) -> None:
        """Raises ValueError, naming the option, if a value is none that an option takes."""
        if self.granularity not in GRANULARITIES:
            raise ValueError(f"granularity={self.granularity!r}: choose one of {', '.join(GRANULARITIES)}")
        if not isinstance(self.per_product, int) or self.per_product < 2:
            raise ValueError(f"per_product={self.per_product!r}: give a whole number of at least 2")


def polarity_of_stars(stars: float) -> int | None:
    """`POSITIVE` for 4 and 5 stars, `NEGATIVE` for 1 and 2, None for what lies between (section 5 of the paper)."""
    return POSITIVE if stars >= 4 else NEGATIVE if stars <= 2 else None


def by_product(reviews: Iterable[Sentence], seed: int) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yields (product, positive texts, negative texts), in the order of the products, the texts shuffled.

    The shuffle depends on the seed, the product and its texts alone. Reviews without a product are passed over.
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


def ordered_pairs(items: list[str], limit: int) -> Iterator[tuple[str, str]]:
    """Up to `limit` different (one, other) of one list, every item about equally often at either place."""
    size = len(items)
    for n in range(min(limit, size * (size - 1))):
        yield items[n % size], items[(n + 1 + n // size) % size]


def review_triplets(reviews: Iterable[Sentence], limit: int = ReviewConfig.per_product, seed: int = SEED) -> Rows:
    """Rows of `TRIPLETS`: a review, one of the same polarity and one of the other, all of one product.

    Half of a product's triplets have a positive anchor, half a negative one, where it has the reviews for both.

    Args:
        reviews: Reviews of one split, none of them twice; `group` is the product.
        limit: Most triplets of one product.
        seed: Seed of the draw.
    """
    for product, positives, negatives in by_product(reviews, seed):
        anchors = (positives, negatives, limit - limit // 2), (negatives, positives, limit // 2)
        for same, other, share in anchors:
            for n, (anchor, positive) in enumerate(ordered_pairs(same, share if other else 0)):
                yield triplet_row(anchor, positive, other[n % len(other)], product)


def review_pairs(reviews: Iterable[Sentence], limit: int = ReviewConfig.per_product, seed: int = SEED) -> Rows:
    """Rows of `PAIRS`: two reviews of one product, which agree if their polarity is the same; as many agree as oppose.

    Every pair that opposes holds a negative review. So that this alone gives no pair away, half of those that agree
    are of negative reviews, as far as there are enough.

    Args:
        reviews: Reviews of one split, none of them twice; `group` is the product.
        limit: Most pairs of one product, half of them of either label.
        seed: Seed of the draw.
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
        yield pair_row(*texts, same, RELATION, product)
