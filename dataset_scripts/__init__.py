"""Builders that turn raw opinion corpora into data sets ready for training: one module per corpus.

The registry holds names only, so that listing it imports neither `datasets` nor any builder.
"""

from __future__ import annotations

import importlib

CORPORA = {
    "kialo": "dataset_scripts.kialo:Kialo",
    "written_debates": "dataset_scripts.written_debates:WrittenDebates",
    "perspectrum": "dataset_scripts.perspectrum:Perspectrum",
    "ibm_argkp": "dataset_scripts.ibm_argkp:IbmArgKP",
    "stsb": "dataset_scripts.stsb:STSBenchmark",
    "sick": "dataset_scripts.sick:Sick",
    "pit2015": "dataset_scripts.pit2015:Pit2015",
    "turl": "dataset_scripts.turl:TwitterUrl",
    "twitter_stream": "dataset_scripts.twitter_stream:TwitterStream",
    "congress": "dataset_scripts.congress:Congress",
    "sentiwordnet": "dataset_scripts.sentiwordnet:SentiWordNet",
    "mr": "dataset_scripts.mr:MovieReviews",
    "sst2": "dataset_scripts.sst2:SST2",
    "imdb": "dataset_scripts.imdb:Imdb",
    "yelp": "dataset_scripts.yelp:Yelp",
    "amazon": "dataset_scripts.amazon:Amazon",
    "sos": "dataset_scripts.sos:Sos",
    "counterargs18": "dataset_scripts.counterargs18:CounterArgs18",
}


def get_corpus(name: str) -> type:
    """Returns the builder class of a corpus.

    Args:
        name: A key of `CORPORA`.

    Raises:
        ValueError: If no corpus has that name; the message lists those that exist.
    """
    if name not in CORPORA:
        raise ValueError(f"unknown corpus {name!r}; choose one of {', '.join(sorted(CORPORA))}")
    module, attribute = CORPORA[name].split(":")
    return getattr(importlib.import_module(module), attribute)
