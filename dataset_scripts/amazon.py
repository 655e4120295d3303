"""Amazon: product reviews with stars, in any of the forms in which they have been released."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.review_files import Columns, Review, first_value
from dataset_scripts.review_corpus import ReviewCorpus, StarsConfig

# reviews_Electronics_5.json.gz, amazon_reviews_us_PC_v1_00.tsv.gz, Electronics.jsonl -> electronics, pc, electronics
_FILE_NAME = re.compile(r"(?:amazon_)?(?:reviews_)?(?:us_)?(.+?)(?:_\d+|_v\d\w*)?\.")


@dataclass
class AmazonConfig(StarsConfig):
    """Options of Amazon.

    Attributes:
        domain: Kinds of product to keep, e.g. `("electronics",)`; all if empty. The kind is in the column domain,
            category or product_category of a review; where it has none, the name of the file tells.
    """

    domain: tuple[str, ...] = ()


class Amazon(ReviewCorpus):
    """Product reviews; see `ReviewCorpus` and, for the forms of file, `dataset_scripts/metadata/amazon.yaml`.

    A product is a parent_asin where reviews have one (it unites the colours and sizes of an item), otherwise an asin.
    The polarity sample has no products: it adds to `sentences`, `quadruples` and `sgts` alone.

    Example:
        >>> builder = Amazon.open("~/blitzer.jsonl", "triplets", domain=("electronics",))   # doctest: +SKIP
    """

    METADATA = load_metadata("amazon")
    BUILDER_CONFIG_CLASS = AmazonConfig
    FEATURES = ReviewCorpus.FEATURES
    COLUMNS = Columns(
        text=("text", "reviewText", "review_body", "content"),
        stars=("rating", "overall", "star_rating"),
        product=("parent_asin", "asin", "product_id"),
        domain=("domain", "category", "product_category"),
    )

    @classmethod
    def is_release(cls, name: str) -> bool:
        """All but descriptions of products (meta_Electronics.json.gz); see `ReviewCorpus.is_release`."""
        return not name.startswith("meta")

    def domain(self, record: dict[str, Any], where: str) -> str:
        """The kind of product, in small letters with underscores; see `AmazonConfig`."""
        found = _FILE_NAME.match(Path(where.rpartition(":")[2]).name.lower())
        return _spelled(first_value(record, self.COLUMNS.domain) or (found[1] if found else ""))

    def wants(self, review: Review) -> bool:
        """Whether a review is in one of the domains; see `ReviewCorpus.wants`."""
        chosen = self.config.domain
        wanted = {_spelled(name) for name in ([chosen] if isinstance(chosen, str) else chosen)}
        if wanted and review.domain not in wanted:
            self.dropped[f"review: domain {review.domain}"] += 1
            return False
        return True


def _spelled(domain: Any) -> str:
    return re.sub(r"[\W_]+", "_", str(domain).lower()).strip("_")
