"""Amazon: product reviews with stars, in any of the forms in which they have been released."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.reviews import Review, StarsCorpus, first_value

# reviews_Electronics_5.json, amazon_reviews_us_PC_v1_00.tsv, Electronics.jsonl -> electronics, pc, electronics
_FILE_NAME = re.compile(r"(?:amazon_)?(?:reviews_)?(?:us_)?(.+?)(?:_\d+|_v\d\w*)?\.")


class Amazon(StarsCorpus):
    """Product reviews; see `StarsCorpus` and, for the forms of file, `dataset_scripts/metadata/amazon.yaml`.

    A product is a parent_asin where reviews have one (it unites the colours and sizes of an item), otherwise an asin.
    The polarity sample has no products: it adds to `sentences`, `quadruples` and `sgts` alone.

    Example:
        >>> builder = Amazon.open("~/blitzer.jsonl", "triplets", domain=("electronics",))   # doctest: +SKIP
    """

    METADATA = load_metadata("amazon")
    TEXT = ("text", "reviewText", "review_body", "content")
    STARS = ("rating", "overall", "star_rating")
    PRODUCT = ("parent_asin", "asin", "product_id")
    DOMAIN = ("domain", "category", "product_category")

    @classmethod
    def is_release(cls, name: str) -> bool:
        """All but descriptions of products (meta_Electronics.json); see `StarsCorpus.is_release`."""
        return not name.startswith("meta")

    def domain(self, record: dict[str, Any], name: str) -> str:
        """What the columns of the kind of product say, else the name of the file; small letters with underscores."""
        of_file = _FILE_NAME.match(Path(name).name.lower())
        return _spelled(first_value(record, self.DOMAIN) or (of_file[1] if of_file else ""))

    def wants(self, review: Review) -> bool:
        """Whether a review is in one of the domains; see `StarsCorpus.wants`."""
        wanted = set(map(_spelled, self.config.domain))
        if wanted and review.domain not in wanted:
            self.dropped[f"review: domain {review.domain}"] += 1
            return False
        return True


def _spelled(domain: Any) -> str:
    return re.sub(r"[\W_]+", "_", str(domain).lower()).strip("_")
