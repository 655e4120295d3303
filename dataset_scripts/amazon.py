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
    """

    METADATA = load_metadata("amazon")
    TEXT = ("text", "reviewText", "review_body", "content")
    STARS = ("rating", "overall", "star_rating")
    PRODUCT = ("parent_asin", "asin", "product_id")
    DOMAIN = ("domain", "category", "product_category")
    OTHER_FILES = re.compile("meta")  # meta_Electronics.json describes products

    def domain(self, record: dict[str, Any], name: str) -> str:
        of_file = _FILE_NAME.match(Path(name).name.lower())
        return _spelled(first_value(record, self.DOMAIN) or (of_file[1] if of_file else ""))

    def wants(self, review: Review) -> bool:
        wanted = set(map(_spelled, self.config.domain))
        if wanted and review.domain not in wanted:
            self.dropped[f"review: domain {review.domain}"] += 1
            return False
        return True


def _spelled(domain: Any) -> str:
    """Small letters with underscores."""
    return re.sub(r"[\W_]+", "_", str(domain).lower()).strip("_")
