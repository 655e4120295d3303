"""The two encoders that the paper trains beside its own: a bi-encoder, and a cross-encoder that re-ranks."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset
from huggingface_hub import constants
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.base.modules import Router
from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments
from sentence_transformers.sentence_transformer.modules import Normalize
from sentence_transformers.util import disable_logging
from torch import nn

from dataset_scripts.base.files import atomic_folder, read_json, write_json
from modeling.base.adapters import PROBES, TOLERANCE, AdapterError, distance
from modeling.base.models import Backbone, load_backbone
from modeling.base.trainer import Repairs
from modeling.bipolar.candidates import reranked, shortlist
from modeling.bipolar.evaluation import PointsEvaluator, retrieval, shortlist_odds

ROUTES = {"point": "query", "counter": "document", "negative": "document"}
CROSS_ENCODER_USAGE = """```python
from sentence_transformers import CrossEncoder

model = CrossEncoder("path/of/this/folder")
point = "Trams should be free. Whoever pays nothing leaves the car at home, and the streets get quieter."
candidates = ["Free trams are crowded with people who used to walk.", "Libraries should open on Sundays."]
print(model.rank(point, candidates, return_documents=True))
```"""
RERANKED = 10  # of the retrieved candidates, while a cross-encoder is trained


def build_bi_encoder(backbone: Backbone, max_length: int) -> SentenceTransformer:
    """Two copies of the base, `encode_query` and `encode_document`, that give unit vectors (Shi et al., section 4.1).

    The paper takes BERT's [CLS] as it is; here the base's own pooling stays, and vectors have length 1, so that the
    triplet loss's Euclidean distance and the ranking's dot product have one order.
    """
    bases = [load_backbone(backbone, max_length) for _ in range(2)]
    routes = [[module for module in base if not isinstance(module, Normalize)] for base in bases]
    model = SentenceTransformer(modules=[Router.for_query_document(*routes), Normalize()])
    model.model_card_data.base_model = backbone.hub_id
    return model


class PairTrainer(Repairs, CrossEncoderTrainer):
    """The library's trainer of cross-encoders, exact after interruptions."""

    ARGUMENTS = CrossEncoderTrainingArguments


def build_cross_encoder(backbone: Backbone, max_length: int) -> CrossEncoder:
    """The base with a new layer for one logit on its [CLS] token, that a text counters a point (section 4.2).

    The paper has two logits, of which only the difference counts. Of a pair longer than `max_length` the longer text is
    cut first. Of the pairs in counterargs-18's clean training split 25 % fit into 256 tokens; 512 hold 95 % of tokens.

    Raises:
        ValueError: If the base cannot be loaded, or has not so many positions.
    """
    load_backbone(backbone, max_length)  # which refuses it in words
    with disable_logging(logging.WARNING):  # they report the new layer as missing, and the base as one of single texts
        local = constants.HF_HUB_OFFLINE
        return CrossEncoder(backbone.path, num_labels=1, max_length=max_length, local_files_only=local)


def labelled_pairs(triplets: Dataset) -> Dataset:
    """Each point with its counter (label 1) and with its negative (0)."""
    points, texts = triplets["point"], [*triplets["counter"], *triplets["negative"]]
    labels = [1.0] * len(points) + [0.0] * len(points)
    return Dataset.from_dict({"point": [*points, *points], "text": texts, "label": labels})


def save_cross_encoder(model: CrossEncoder, folder: Path) -> CrossEncoder:
    """Writes a cross-encoder, and returns what is loaded again; raises AdapterError if its scores are others."""
    pairs = list(product(PROBES, repeat=2))
    with atomic_folder(folder) as temporary:
        model.save_pretrained(str(temporary), create_model_card=False)
        config = read_json(temporary / "config.json")
        config.pop("_name_or_path", None)  # a local path
        write_json(temporary / "config.json", config)
        loaded = load_cross_encoder(str(temporary))
        live, read = (each.predict(pairs, show_progress_bar=False) for each in (model, loaded))
        if distance(read[None], live[None]) > TOLERANCE:
            raise AdapterError(f"{folder}: the written cross-encoder does not reproduce the trained one")
    return loaded


def load_cross_encoder(source: str) -> CrossEncoder:
    """A CrossEncoder that gives one score, or one for either class, of which the second is "counters it".

    Raises ValueError if the model at `source` is of another kind: the library would give it a new layer.
    """
    merged = Path(source).expanduser() / "merged"
    model = CrossEncoder(str(merged if merged.is_dir() else source), local_files_only=constants.HF_HUB_OFFLINE)
    if not any("SequenceClassification" in name for name in model.config.architectures or []):
        raise ValueError("config.json names no model for sequence classification: this is no CrossEncoder")
    if model.num_labels not in (1, 2):
        raise ValueError(f"the CrossEncoder tells {model.num_labels} classes apart; 1 or 2 are needed")
    return model


def predict_pairs(model: CrossEncoder, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    """Log-odds that the second text of each pair counters the first, shape (pairs,)."""
    scores = model.predict(list(pairs), batch_size=32, show_progress_bar=False, activation_fn=nn.Identity())
    scores = scores if scores.ndim == 1 else scores[:, 1] - scores[:, 0]
    if not np.isfinite(scores).all():
        raise ValueError("the cross-encoder's scores are no numbers (NaN): its weights are damaged")
    return scores


class RerankingEvaluator(PointsEvaluator):
    """Accuracy@1 among all arguments after re-ranking what an untrained encoder, the `retriever`, retrieves.

    A model that is no CrossEncoder ranks nothing again: its figure is that of retrieval.
    """

    headline = ("accuracy_epa", "retrieval", f"recall_{RERANKED}")
    measures = {
        "accuracy_epa": f"share of points whose counter-argument comes first after re-ranking the {RERANKED} retrieved",
        "retrieval": "the same by the untrained encoder that retrieves",
        f"recall_{RERANKED}": "share of points with a counter-argument among those, the upper limit",
    }

    def __init__(self, rows: Mapping[str, Sequence[str]], retriever: SentenceTransformer, **facts: Any) -> None:
        super().__init__(rows, **facts)
        self.retriever = retriever
        self._retrieved: np.ndarray | None = None

    def scores(self, model: SentenceTransformer | CrossEncoder, cache: Path | None = None) -> dict[str, np.ndarray]:
        candidates = self.candidates
        if self._retrieved is None:
            queries, documents, _ = retrieval(self.retriever, candidates, cache)
            self._retrieved, _ = shortlist(queries @ documents.T, candidates.of("epa"), RERANKED)
        retrieved, best = self._retrieved, self._retrieved[:, 0]
        if isinstance(model, CrossEncoder):

            def log_odds(point: int, others: np.ndarray) -> np.ndarray:
                return predict_pairs(model, [(candidates.texts[point], candidates.texts[other]) for other in others])

            best = reranked(retrieved, shortlist_odds(candidates, retrieved, log_odds))
        right = candidates.hits(retrieved)
        return dict(zip(self.headline, (candidates.hits(best), right[:, 0], right.any(axis=1)), strict=True))

    def metrics(self, scores: dict[str, np.ndarray]) -> dict[str, float]:
        return {name: float(hits.mean()) for name, hits in scores.items()}
