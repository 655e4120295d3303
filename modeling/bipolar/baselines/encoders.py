"""The paper's other encoders: a bi-encoder, which is trained, and any cross-encoder that re-ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from huggingface_hub import constants
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.base.modules import Router
from sentence_transformers.sentence_transformer.modules import Normalize
from torch import nn

from modeling.base.models import Backbone, load_backbone

ROUTES = {"point": "query", "counter": "document", "negative": "document"}


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
