"""Yelp: reviews of businesses with stars, from the Yelp Open Dataset."""

from __future__ import annotations

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.review_files import Columns
from dataset_scripts.review_corpus import ReviewCorpus

OTHER_FILES = ("business", "user", "checkin", "tip", "photo")  # of the same release


class Yelp(ReviewCorpus):
    """Reviews of restaurants and other businesses; see `ReviewCorpus`.

    Example:
        >>> builder = Yelp.open("~/yelp_dataset.tar", "triplets", share=0.1)   # doctest: +SKIP
    """

    METADATA = load_metadata("yelp")
    FEATURES = ReviewCorpus.FEATURES
    COLUMNS = Columns(text=("text",), stars=("stars",), product=("business_id",))

    @classmethod
    def is_release(cls, name: str) -> bool:
        """All but the other files of the release; see `ReviewCorpus.is_release`."""
        return not any(f"dataset_{other}" in name or name.startswith(other) for other in OTHER_FILES)
