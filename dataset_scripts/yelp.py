"""Yelp: reviews of businesses with stars, from the Yelp Open Dataset."""

from __future__ import annotations

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.reviews import StarsCorpus

OTHER_FILES = ("business", "user", "checkin", "tip", "photo")  # of the same release


class Yelp(StarsCorpus):
    """Reviews of restaurants and other businesses; see `StarsCorpus`.

    Example:
        >>> builder = Yelp.open("~/yelp_dataset.tar", "triplets", share=0.1)   # doctest: +SKIP
    """

    METADATA = load_metadata("yelp")
    TEXT, STARS, PRODUCT = ("text",), ("stars",), ("business_id",)

    @classmethod
    def is_release(cls, name: str) -> bool:
        """All but the other files of the release; see `StarsCorpus.is_release`."""
        return not any(f"dataset_{other}" in name or name.startswith(other) for other in OTHER_FILES)
