"""The heads of the Bipolar-encoder, retrieval embeddings and a classifier of (point, counter) pairs, and their files.

A merged model is a plain SentenceTransformer whose last modules are the retrieval head (Dense, or a Router of two) and
Normalize. In the folder of either kind, adapter or merged, `heads.safetensors` has all weights of both heads, and
`bipolar.json` their shape and what encoder and heads made of the probe sentences when they were saved.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Router
from sentence_transformers.sentence_transformer.modules import Normalize
from torch import nn
from torch.nn.functional import normalize

from dataset_scripts.base.files import read_json, write_json
from modeling.base.adapters import CONFIG, CURE, PROBES, TOLERANCE, AdapterError, distance

SHAPE = ("dimension", "shared", "difference", "normalised")  # the arguments that build heads again
DESCRIPTION, WEIGHTS = "bipolar.json", "heads.safetensors"
_PAIRS = ([0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1])  # of probe sentences, either way round


class BipolarHeads(nn.Module):
    """Retrieval and classification heads on one text embedding u (Shi et al., section 4.2).

    `dimension` is the length d of u, the other arguments are as in `bipolar.Options`. `fusion_weight` is what the
    classifier's log-odds weigh beside the similarity by default: a number from 0; None for the classifier alone, as in
    the paper; "learned" in training, until validation data chose one.
    """

    def __init__(self, dimension: int, shared: bool = True, difference: bool = True, normalised: bool = True) -> None:
        super().__init__()
        self.dimension, self.shared, self.difference, self.normalised = dimension, shared, difference, normalised
        self.fusion_weight: float | str | None = None
        self.query = _identity(dimension)
        if not shared:
            self.document = _identity(dimension)
        width = (3 if difference else 2) * dimension
        self.norm = nn.LayerNorm(width)
        self.classifier = nn.Linear(width, 2)

    def queries(self, u: torch.Tensor) -> torch.Tensor:
        """Retrieval embeddings of points: (n, d) -> (n, d)."""
        return self._retrieval(self.query, u)

    def documents(self, u: torch.Tensor) -> torch.Tensor:
        """Retrieval embeddings of candidates: (n, d) -> (n, d)."""
        return self._retrieval(self.query if self.shared else self.document, u)

    def classify(self, u: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """Logits of (no counter, counter) for pairs of a point u and a candidate v: twice (n, d) -> (n, 2)."""
        parts = (u, v, (u - v).abs()) if self.difference else (u, v)
        return self.classifier(self.norm(torch.cat(parts, dim=-1)))

    def _retrieval(self, head: nn.Linear, u: torch.Tensor) -> torch.Tensor:
        return normalize(head(u), dim=-1) if self.normalised else head(u)


def _identity(dimension: int) -> nn.Linear:
    """A linear layer that changes nothing, so that training starts at the base's similarities."""
    layer = nn.Linear(dimension, dimension)
    nn.init.eye_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def attach_heads(encoder: SentenceTransformer, heads: BipolarHeads) -> None:
    """Lets an encoder of u carry heads that are not part of its forward pass, as in training."""
    encoder.bipolar_heads = (heads,)  # in a tuple: a module would become a step of the model's own forward pass


def heads_of(model: SentenceTransformer) -> BipolarHeads | None:
    """The heads that a model carries, on its device; None for a model without."""
    heads = getattr(model, "bipolar_heads", None)
    return heads[0].to(model.device) if heads else None


def encoder_of(model: SentenceTransformer) -> SentenceTransformer:
    """The encoder of u below the retrieval head, sharing its weights; a model without such a module as it is."""
    heads, modules = heads_of(model), list(model)
    for number, module in enumerate(modules):
        if heads is not None and any(part is heads.query for part in module.modules()):
            return _of_modules(model, modules[:number])
    return model


def with_heads(encoder: SentenceTransformer, heads: BipolarHeads) -> SentenceTransformer:
    """A SentenceTransformer of the retrieval embeddings E, sharing weights; `encode` takes the head of documents."""
    return _append(_of_modules(encoder, list(encoder)), heads)


def save_heads(model: SentenceTransformer, folder: Path) -> None:
    """Writes the heads that a model carries into a folder; raises AdapterError if they return NaN."""
    heads, encoder = heads_of(model), encoder_of(model)
    outputs = _outputs(encoder, heads)
    if bad := [name for name, values in outputs.items() if not np.isfinite(values).all()]:
        raise AdapterError(f"the heads return NaN ({bad[0]}); training diverged: lower --learning_rate")
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in heads.state_dict().items()}
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    facts = {"fusion_weight": heads.fusion_weight, "max_length": encoder.max_seq_length}
    probes = {name: np.round(values.astype(float), 5).tolist() for name, values in outputs.items()}
    write_json(folder / DESCRIPTION, {name: getattr(heads, name) for name in SHAPE} | facts | {"probes": probes})


def load_heads(model: SentenceTransformer, folder: Path) -> None:
    """Puts the heads in a folder on the model that was just loaded from there, which may have them, and proves them.

    An AdapterError if a file is missing, damaged or another model's.
    """
    try:
        description = read_json(folder / DESCRIPTION)
        if description is None:
            raise FileNotFoundError(f"{DESCRIPTION} is missing")
        heads = BipolarHeads(**{name: description[name] for name in SHAPE})
        heads.load_state_dict(load_file(folder / WEIGHTS))
        heads.fusion_weight = description["fusion_weight"]
        if (folder / CONFIG).is_file():
            model.max_seq_length = description["max_length"] or model.max_seq_length
            _append(model, heads)
        else:
            _replace(model, heads)
        outputs = _outputs(encoder_of(model), heads)
        for name, values in description["probes"].items():
            if distance(outputs[name].reshape(1, -1), np.reshape(values, (1, -1))) > TOLERANCE:
                raise ValueError(f"{name} of the probe sentences differ from those of the trained model")
    except KeyError as error:
        raise AdapterError(f"{folder}: {DESCRIPTION} has no {error}; {CURE}") from error
    except (OSError, SafetensorError, RuntimeError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split())[:300]
        raise AdapterError(f"{folder}: the heads are missing, damaged or another model's: {reason}; {CURE}") from error


def _of_modules(model: SentenceTransformer, modules: list[nn.Module]) -> SentenceTransformer:
    copied = SentenceTransformer(modules=modules, device=model.device, prompts=model.prompts)
    copied.model_card_data.base_model = model.model_card_data.base_model
    return copied


def _append(model: SentenceTransformer, heads: BipolarHeads) -> SentenceTransformer:
    query = _dense(heads.query)
    head = query if heads.shared else Router.for_query_document([query], [_dense(heads.document)])
    model.append(head.to(model.device))
    if heads.normalised:
        model.append(Normalize())
    model.similarity_fn_name = "cosine" if heads.normalised else "dot"
    attach_heads(model, heads)
    # an index keeps u, from which both heads compute; past Module's own method, which would make it a step as well
    object.__setattr__(model, "index_encoder", encoder_of(model))
    return model


def _replace(model: SentenceTransformer, heads: BipolarHeads) -> None:
    """Puts the heads in the place of the same retrieval head among a merged model's modules."""
    own = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    del model[-2 if heads.normalised else -1 :]
    _append(model, heads)
    new = model.state_dict()
    if own.keys() != new.keys() or not all(torch.equal(tensor, new[name]) for name, tensor in own.items()):
        raise ValueError(f"the retrieval head of modules.json is another one than that of {WEIGHTS}")


def _dense(linear: nn.Linear) -> Dense:
    dense = Dense(linear.in_features, linear.out_features, activation_function=nn.Identity())
    dense.linear = linear
    return dense


@torch.inference_mode()
def _outputs(encoder: SentenceTransformer, heads: BipolarHeads) -> dict[str, np.ndarray]:
    """What encoder and heads make of the probe sentences: u and E (3, d), logits of their six pairs (6, 2)."""
    u = encoder.encode(list(PROBES), batch_size=len(PROBES), convert_to_tensor=True, show_progress_bar=False)
    heads = heads.to(u.device)
    u = u.to(heads.query.weight.dtype).clone()
    first, second = _PAIRS
    logits = heads.classify(u[first], u[second])
    outputs = {"u": u, "queries": heads.queries(u), "documents": heads.documents(u), "logits": logits}
    return {name: values.float().cpu().numpy() for name, values in outputs.items()}
