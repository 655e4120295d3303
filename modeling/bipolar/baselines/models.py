"""The models that a command line names, loaded and known by their weights before anything is ranked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from torch import nn

from modeling.bipolar.baselines.rows import OPTIONS

BIPOLAR = ("bipolar", "unipolar_ret", "unipolar_cls", "without_difference")
ENCODERS = ("model", "bi_encoder")


def load_models(named: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], Any]:
    """(option, source) -> model; one that two options name is loaded once.

    Raises:
        ValueError: If there is no such model, or it is of another kind; the message names the option.
    """
    kinds = {option: load_bipolar if option in BIPOLAR else load_encoder for option in OPTIONS}
    kinds["cross_encoder"] = load_cross_encoder
    loaded: dict[tuple[Any, str], Any] = {}
    found = {}
    for option, sources in named.items():
        for source in sources:
            load = kinds[option]
            if (load, source) not in loaded:
                try:
                    loaded[load, source] = load(source)
                except ValueError as error:
                    raise ValueError(f"--{option} {source}: {error}") from error
            found[option, source] = loaded[load, source]
    return found


def load_encoder(source: str) -> SentenceTransformer:
    """Any encoder that `modeling.base.models.load_model` finds."""
    from modeling.base.models import load_model

    return load_model(source)


def load_bipolar(source: str) -> Any:
    """A `modeling.bipolar.encoder.BipolarEncoder`.

    Raises:
        ValueError: If there is none, or it has no heads.
    """
    from modeling.bipolar.encoder import BipolarEncoder

    try:
        return BipolarEncoder.from_pretrained(source)
    except OSError as error:
        raise ValueError(f"no Bipolar-encoder could be loaded ({type(error).__name__}: {str(error)[:200]})") from error


def load_cross_encoder(source: str) -> CrossEncoder:
    """A CrossEncoder that gives one score, or one for either class, of which the second is "counters it".

    Raises:
        ValueError: If there is none, or the model at `source` is of another kind.
    """
    from pathlib import Path

    from huggingface_hub import constants

    from dataset_scripts.base.files import read_json

    folder = Path(source).expanduser()
    if folder.is_dir():
        if (folder / "modules.json").is_file() and "Pooling" in (folder / "modules.json").read_text(encoding="utf-8"):
            raise ValueError("this is an encoder of single texts, not a CrossEncoder")
        config = read_json(folder / "config.json") or {}
        if not any("SequenceClassification" in name for name in config.get("architectures") or []):
            raise ValueError("config.json names no model for sequence classification: this is no CrossEncoder")
    try:
        model = CrossEncoder(str(folder if folder.is_dir() else source), local_files_only=constants.HF_HUB_OFFLINE)
    except (OSError, ValueError) as error:
        raise ValueError(f"no CrossEncoder could be loaded ({type(error).__name__}: {str(error)[:200]})") from error
    if model.num_labels not in (1, 2):
        raise ValueError(f"the CrossEncoder tells {model.num_labels} classes apart; 1 or 2 are needed")
    return model


def identity(model: nn.Module) -> str:
    """A hash of what a model computes: weights, modules, tokens that it reads.

    Exact, unlike the vectors of probe sentences, which another number of threads changes in their last digits.
    """
    encoder = getattr(model, "encoder", model)
    prompts, length = getattr(encoder, "prompts", None), getattr(encoder, "max_seq_length", None)
    heads = getattr(model, "heads", None)  # of a Bipolar-encoder: whether they normalise shows in no weight
    shape = heads.get_config_dict() if heads is not None else None
    digest = hashlib.sha256(repr((repr(model), length, prompts, shape)).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:20]


def check_finite(values: np.ndarray, what: str) -> None:
    """Raises a ValueError if values are no numbers."""
    if broken := int((~np.isfinite(values)).sum()):
        raise ValueError(f"{what}: {broken:,} of {values.size:,} values are no numbers (NaN): its weights are damaged")
