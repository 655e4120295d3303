"""Yelp: reviews of businesses with stars, from the Yelp Open Dataset."""

from __future__ import annotations

import re

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.reviews import StarsCorpus


class Yelp(StarsCorpus):
    """Reviews of restaurants and other businesses; see `StarsCorpus`."""

    METADATA = load_metadata("yelp")
    TEXT, STARS, PRODUCT = ("text",), ("stars",), ("business_id",)
    OTHER_FILES = re.compile("(.*dataset_)?(business|user|checkin|tip|photo)")  # of the same release
