"""The files of a Bipolar-encoder: an encoder and two heads, of which each has to be what was trained.

A merged model is a plain SentenceTransformer whose last modules are the retrieval head (Dense, or a Router of two) and
Normalize; `bipolar.json` describes the heads and `classification_head.safetensors` holds the classifier, which the
library has no module for. Beside an adapter lie both heads. What encoder and heads make of the probe sentences stands
in `fingerprint.json`, so that a head of another model is told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Router
from sentence_transformers.sentence_transformer.modules import Normalize
from torch import nn

from dataset_scripts.base.files import read_json, write_json
from modeling.base.adapters import (
    CONFIG,
    FINGERPRINT,
    PROBES,
    TOLERANCE,
    AdapterError,
    check_finite,
    load_merged,
    probe_vectors,
    read_weights,
    save_adapter,
    save_merged,
    write_fingerprint,
    write_plain,
)
from modeling.base.models import Backbone
from modeling.bipolar.heads import BipolarHeads

DESCRIPTION = "bipolar.json"
RETRIEVAL, CLASSIFICATION = "retrieval_head.safetensors", "classification_head.safetensors"
_CLASSIFIER = ("norm.", "classifier.")  # where the names of its weights begin
_PAIRS = ([0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1])  # of probe sentences, either way round
_CURE = "copy or download the model again, all files of one version"


def heads_of(model: SentenceTransformer) -> BipolarHeads | None:
    """The heads of a loaded Bipolar-encoder, on its device; None for any other model."""
    found = getattr(model, "bipolar_heads", None)
    return found[0].to(model.device) if found else None


def encoder_of(model: SentenceTransformer) -> SentenceTransformer:
    """The encoder of u below the retrieval head, sharing its weights; any other model as it is."""
    if (heads := heads_of(model)) is None:
        return model
    return _copy(model, list(model)[: -2 if heads.normalised else -1])


def with_heads(encoder: SentenceTransformer, heads: BipolarHeads) -> SentenceTransformer:
    """A SentenceTransformer of the retrieval embeddings E, sharing the weights of encoder and heads.

    Where query and document have a head each, `encode_query` and `encode_document` choose; `encode` takes that of
    documents.
    """
    model = _copy(encoder, list(encoder))
    _append(model, heads)
    return model


def save_adapter_with_heads(
    model: SentenceTransformer,
    heads: BipolarHeads,
    folder: Path,
    backbone: Backbone,
    fusion_weight: float | None = None,
) -> None:
    """Writes adapter and heads of a trained model, and proves that they reproduce it.

    Args:
        model: Encoder of u with an adapter. Its `max_seq_length` is recorded, and holds when it is loaded.
        heads: The trained heads.
        folder: Replaced as a whole.
        backbone: The base.
        fusion_weight: What `BipolarEncoder.rank` takes by default; the heads' own if None.

    Raises:
        AdapterError: As `modeling.base.adapters.save_adapter`; or if the heads return NaN.
    """
    further = _writer(model, heads, fusion_weight, (RETRIEVAL, CLASSIFICATION))
    save_adapter(model, folder, backbone, further)


def save_merged_with_heads(
    model: SentenceTransformer,
    heads: BipolarHeads,
    folder: Path,
    backbone: Backbone,
    fusion_weight: float | None = None,
) -> None:
    """Writes a model that is both a plain SentenceTransformer of E and a Bipolar-encoder, and proves both.

    Args:
        model: Merged or fully fine-tuned encoder of u, or what `load_adapter` returned for a model with heads.
        heads, folder, backbone, fusion_weight: As for `save_adapter_with_heads`.

    Raises:
        AdapterError: As `modeling.base.adapters.save_merged`; or if the heads return NaN.
    """
    encoder = encoder_of(model)
    further = _writer(encoder, heads, fusion_weight, (CLASSIFICATION,))
    save_merged(with_heads(encoder, heads), folder, backbone, further, encoder.max_seq_length)


def write_merged(encoder: SentenceTransformer, heads: BipolarHeads, folder: Path, base_model: str | None) -> None:
    """Writes what `save_merged_with_heads` writes where the base is not at hand to compare with."""
    model = with_heads(encoder, heads)
    write_plain(model, folder)
    write_fingerprint(folder, base_model, {"vectors": probe_vectors(model)})
    _writer(encoder, heads, None, (CLASSIFICATION,))(folder)
    load_merged_with_heads(folder)


def load_merged_with_heads(folder: Path) -> SentenceTransformer:
    """Loads a merged model of E, whose heads `heads_of` returns; both are verified.

    Raises:
        AdapterError: If a file is missing, damaged or another model's, or the model has no heads.
    """
    model = load_merged(folder)
    if heads_of(model) is None:
        raise AdapterError(f"{folder}: the model has no heads: {DESCRIPTION} is missing; {_CURE}")
    return model


def complete(model: SentenceTransformer, folder: Path, stored: Mapping[str, Any] | None) -> None:
    """Puts the heads on a model that was just loaded, in place, and compares all with the fingerprint.

    Args:
        model: The encoder of u with its adapter merged; or a merged model, whose retrieval head was loaded with it.
        folder: Where it was loaded from.
        stored: What the fingerprint has of its heads.

    Raises:
        AdapterError: If a file is missing, damaged or another model's; the message says which.
    """
    description, is_adapter = _description(folder, stored), (folder / CONFIG).is_file()
    heads = BipolarHeads.from_config(description)
    heads.fusion_weight = description.get("fusion_weight")
    if heads.dimension != (dimension := model.get_embedding_dimension()):
        raise AdapterError(
            f"{folder}: heads of another dimension: {DESCRIPTION} says {heads.dimension}, the encoder's embeddings "
            f"have {dimension}; {_CURE}"
        )
    if is_adapter:
        _load(heads, folder, RETRIEVAL)
        model.max_seq_length = description.get("max_length") or model.max_seq_length
        _append(model, heads)
    else:
        _adopt(model, heads, folder)
    _load(heads, folder, CLASSIFICATION)
    _compare(folder, _outputs(encoder_of(model), heads_of(model)), stored)


def _copy(model: SentenceTransformer, modules: list[nn.Module]) -> SentenceTransformer:
    """Another SentenceTransformer of these modules of a model."""
    copied = SentenceTransformer(modules=modules, device=model.device, prompts=model.prompts)
    copied.model_card_data.base_model = model.model_card_data.base_model
    return copied


def _append(model: SentenceTransformer, heads: BipolarHeads) -> None:
    head = (
        _dense(heads.query)
        if heads.shared
        else Router.for_query_document([_dense(heads.query)], [_dense(heads.document)])
    )
    model.append(head.to(model.device))
    if heads.normalised:
        model.append(Normalize())
    model.similarity_fn_name = "cosine" if heads.normalised else "dot"
    model.bipolar_heads = (heads,)  # in a tuple: a module would become a step of the model's own forward pass


def _dense(linear: nn.Linear) -> Dense:
    dense = Dense(linear.in_features, linear.out_features, activation_function=nn.Identity())
    dense.linear = linear
    return dense


def _adopt(model: SentenceTransformer, heads: BipolarHeads, folder: Path) -> None:
    """Takes the retrieval head from the modules that were loaded with a merged model."""
    head = list(model)[-2 if heads.normalised else -1]
    routes = {"query": [head]} if heads.shared else {"query": [], "document": []}
    if isinstance(head, Router) and not heads.shared:
        routes = {name: list(head.sub_modules[name]) if name in head.sub_modules else [] for name in routes}
    for name, modules in routes.items():
        if len(modules) != 1 or not isinstance(modules[0], Dense):
            kind = "a Dense module" if heads.shared else "a Router of two Dense modules"
            raise AdapterError(
                f"{folder}: the retrieval head is missing: {DESCRIPTION} describes {kind}, modules.json has "
                f"{type(head).__name__} in its place; {_CURE}"
            )
        setattr(heads, name, modules[0].linear)
    model.bipolar_heads = (heads,)


def _description(folder: Path, stored: Mapping[str, Any] | None) -> dict[str, Any]:
    try:
        description = read_json(folder / DESCRIPTION)
        if description is None:
            raise AdapterError(f"{folder}: {DESCRIPTION}, which describes the heads, is missing; {_CURE}")
        BipolarHeads.from_config(description)
    except (json.JSONDecodeError, TypeError) as error:
        raise AdapterError(f"{folder}: {DESCRIPTION} is damaged ({error}); {_CURE}") from error
    except ValueError as error:
        raise error if isinstance(error, AdapterError) else AdapterError(f"{folder}: {error}; {_CURE}") from error
    if stored is None:
        raise AdapterError(f"{folder}: there are heads that {FINGERPRINT} does not know: another model's; {_CURE}")
    return description


def _part(heads: BipolarHeads, name: str) -> dict[str, torch.Tensor]:
    """The weights that belong into one of the two files."""
    return {
        key: tensor.detach().cpu().contiguous()
        for key, tensor in heads.state_dict().items()
        if key.startswith(_CLASSIFIER) == (name == CLASSIFICATION)
    }


def _load(heads: BipolarHeads, folder: Path, name: str) -> None:
    if not (folder / name).is_file():
        raise AdapterError(f"{folder}: the head {name} is missing; {_CURE}")
    weights = read_weights(folder / name)
    check_finite(folder / name, weights)
    found, expected = (
        {key: tuple(tensor.shape) for key, tensor in part.items()} for part in (weights, _part(heads, name))
    )
    if found != expected:
        raise AdapterError(
            f"{folder}: {name} is a head of another dimension or kind: it has {found}, {DESCRIPTION} describes "
            f"{expected}; {_CURE}"
        )
    heads.load_state_dict(weights, strict=False)


def _writer(encoder: SentenceTransformer, heads: BipolarHeads, fusion_weight: float | None, names: tuple[str, ...]):
    """What writes description, weights and fingerprint of the heads into the folder of their encoder."""
    weight = heads.fusion_weight if fusion_weight is None else fusion_weight
    description = heads.get_config_dict() | {"fusion_weight": weight, "max_length": encoder.max_seq_length}

    def write(folder: Path) -> None:
        outputs = _outputs(encoder, heads)
        if bad := [name for name, values in outputs.items() if not np.isfinite(values).all()]:
            raise AdapterError(f"the heads return NaN ({bad[0]}); training diverged: lower --learning_rate")
        write_json(folder / DESCRIPTION, description)
        for name in names:
            save_file(_part(heads, name), folder / name, metadata={"format": "pt"})
        rounded = {name: np.round(values.astype(float), 5).tolist() for name, values in outputs.items()}
        write_json(folder / FINGERPRINT, read_json(folder / FINGERPRINT) | {DESCRIPTION: rounded})

    return write


@torch.inference_mode()
def _outputs(encoder: SentenceTransformer, heads: BipolarHeads) -> dict[str, np.ndarray]:
    """What encoder and heads make of the probe sentences: u and E (3, d), logits of their six pairs (6, 2)."""
    u = encoder.encode(list(PROBES), batch_size=len(PROBES), convert_to_tensor=True, show_progress_bar=False)
    heads = heads.to(u.device)
    u = u.to(heads.query.weight.dtype).clone()
    first, second = _PAIRS
    outputs = {"u": u, "queries": heads.queries(u), "documents": heads.documents(u)}
    outputs["logits"] = heads.classify(u[first], u[second])
    return {name: values.float().cpu().numpy() for name, values in outputs.items()}


def _compare(folder: Path, outputs: Mapping[str, np.ndarray], stored: Mapping[str, Any]) -> None:
    complaints = {
        "u": "the encoder is another one than the heads were trained with",
        "queries": "the retrieval head is another model's",
        "documents": "the retrieval head is another model's",
        "logits": f"the classification head ({CLASSIFICATION}) is another model's",
    }
    for name, complaint in complaints.items():
        reference = np.asarray(stored.get(name, []))
        tolerance = TOLERANCE * max(1.0, np.abs(reference).max(initial=0))  # of logits relative to their size
        same = reference.shape == outputs[name].shape
        if not same or not np.abs(outputs[name] - reference).max() <= tolerance:  # so that NaN is refused, too
            raise AdapterError(f"{folder}: {complaint}: what it makes of the probe sentences differs; {_CURE}")
