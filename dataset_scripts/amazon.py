"""Amazon: product reviews with stars, in any of the forms in which they have been released."""

from __future__ import annotations

import re

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.reviews import StarsCorpus


class Amazon(StarsCorpus):
    """Product reviews; see `StarsCorpus` and, for the forms of file, `dataset_scripts/metadata/amazon.yaml`.

    A product is a parent_asin where reviews have one (it unites the colours and sizes of an item), otherwise an asin.
    The polarity sample has no products: it adds to `sentences`, `quadruples` and `sgts` alone.
    """

    METADATA = load_metadata("amazon")
    TEXT = ("text", "reviewText", "review_body", "content")
    STARS = ("rating", "overall", "star_rating")
    PRODUCT = ("parent_asin", "asin", "product_id")
    OTHER_FILES = re.compile("meta")  # meta_Electronics.json describes products
