"""Encoders that answer many visitors at once: what they have in common is in memory once, and none is ever switched."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable
from typing import Any

from sentence_transformers import SentenceTransformer
from torch import Tensor

from modeling.base.models import choose_base
from modeling.search.lenses import load_lenses


def load_models(names: Iterable[str]) -> dict[str, SentenceTransformer]:
    """Loads encoders by their names, as `load_lenses` does, and before them those that they are compared with.

    Every adapter is merged into weights of its own, so that visitors who ask different encoders at the same time get
    the figures of each; all weights that it leaves as they are, it shares with its base.
    """
    names = list(names)
    models, kept = {}, {}
    for name in dict.fromkeys([*(choose_base(None, name)[0] for name in names), *names]):
        models[name] = load_lenses(name)
        for encoder in (models[name], getattr(models[name], "topic", models[name])):
            _share(encoder, kept)
        # truncation and padding are settings of the tokenizer, which no other thread may read meanwhile
        models[name][0].preprocess = _one_at_a_time(models[name][0].preprocess)
    return models


def _share(model: SentenceTransformer, kept: dict[tuple, Tensor]) -> None:
    """Lets a model use the tensors that are kept already, and keeps its others."""
    for parameter in model.parameters():
        digest = hashlib.sha256(parameter.detach().cpu().contiguous().numpy()).digest()
        parameter.data = kept.setdefault((digest, parameter.shape), parameter.data)


def _one_at_a_time(function: Callable[..., Any]) -> Callable[..., Any]:
    lock = threading.Lock()

    def locked(*arguments: Any, **options: Any) -> Any:
        with lock:
            return function(*arguments, **options)

    return locked
