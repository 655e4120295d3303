"""Written debates: the trees of arguments that come with this project, in the layout of Kialo's."""

from __future__ import annotations

from dataset_scripts.kialo import Kialo
from dataset_scripts.metadata import load_metadata


class WrittenDebates(Kialo):
    """The discussions in `dataset_scripts/demo`, under terms that let them be trained on and passed on.

    Example:
        >>> builder = WrittenDebates.open("dataset_scripts/demo/discussions.jsonl", "triplets")   # doctest: +SKIP
    """

    METADATA = load_metadata("written_debates")
    FEATURES = Kialo.FEATURES
