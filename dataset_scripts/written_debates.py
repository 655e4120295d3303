"""Written debates: the trees of arguments that come with this project, in the layout of Kialo's."""

from __future__ import annotations

from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.kialo import Kialo


class WrittenDebates(Kialo):
    """The discussions in `dataset_scripts/demo`, under terms that let them be trained on and passed on."""

    METADATA = load_metadata("written_debates")
    FEATURES = Kialo.FEATURES
