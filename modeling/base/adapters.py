"""Saved models: LoRA adapters and whole encoders, each proved to be what was trained.

A wrong key prefix, NaN weights or a foreign base load without any error in peft and give the base's vectors (or NaN).
So every folder carries `fingerprint.json`: what the model, loaded from these files, makes of fixed probe sentences. The
vectors are not normalised, so that a lost Normalize module shows. Nothing is trusted before it reproduces them.
"""

from __future__ import annotations

import copy
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peft import LoraConfig, PeftConfig, PeftModel, get_peft_model_state_dict, set_peft_model_state_dict
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer

from dataset_scripts.base.files import atomic_folder, read_json, write_json
from modeling.base.rooms import get_system

logger = logging.getLogger(__name__)

PROBES = (
    "The committee should approve the new bicycle lanes this spring.",
    "Nobody on our street wants the night market to come back!",
    "A short text.",
)
WEIGHTS, CONFIG, FINGERPRINT = "adapter_model.safetensors", "adapter_config.json", "fingerprint.json"
# Of the length of the vectors: merging adds two float32 products in another order, processors differ in the sixth
# digit, half precision in the third. A model nearer to its base than this has to be nearer to itself still.
TOLERANCE, LEAST_TOLERANCE = 1e-2, 1e-3
CURE = "copy or download the model again, all files of one version"
_PREFIX = "base_model.model."  # what peft writes has it, the names within transformers' models do not

# the projections of self-attention, as the paper adapts them; MPNet has no default in peft
_BERT = ["query", "key", "value", "attention.output.dense"]
ATTENTION = {
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "electra"), _BERT),
    "mpnet": ["attn.q", "attn.k", "attn.v", "attn.o"],
    "distilbert": ["q_lin", "k_lin", "v_lin", "out_lin"],
    "modernbert": ["attn.Wqkv", "attn.Wo"],
}


class AdapterError(ValueError):
    """A saved model is not what it claims to be; the message says in which way."""


def add_lora(
    model: SentenceTransformer,
    rank: int = 32,
    alpha: int = 32,
    dropout: float = 0.05,
    targets: Sequence[str] | None = None,
) -> None:
    """Adds a LoRA adapter (Hu et al., 2021) in place and freezes everything else.

    `targets` are modules to adapt, by default the projections of the encoder's attention. A ValueError if the
    architecture is unknown and none were named, or a name matches no module.
    """
    architecture = model[0].model.config.model_type
    names = list(targets or ATTENTION.get(architecture, ()))
    if not names:
        raise ValueError(f"no attention projections are known for {architecture!r}; name them with --lora-targets")
    modules = [f".{name}" for name, _ in model[0].model.named_modules()]
    for name in names:
        if not any(module.endswith(f".{name}") for module in modules):
            raise ValueError(f"--lora-targets {name!r} matches no module of {architecture!r}")
    config = LoraConfig("FEATURE_EXTRACTION", r=rank, lora_alpha=alpha, lora_dropout=dropout, target_modules=names)
    model.add_adapter(config)


def scale_adapter(model: SentenceTransformer, factor: float) -> None:
    """Multiplies what a LoRA adapter adds to its base, in place.

    Between base (0) and trained encoder (1) lies a line of encoders that keep more of the base than they lose of the
    task (Wortsman et al., 2022, section 4, for full fine-tuning).
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:  # the update is B A: scaling one of them scales it
                parameter.mul_(factor)


def copy_adapter(folder: Path, model: SentenceTransformer) -> None:
    """Gives an encoder's adapter the weights of a saved one; an AdapterError if these are damaged or do not fit."""
    encoder = model[0].model
    with _damage(folder):
        read_json_file(folder / CONFIG, "peft_type", "r", "target_modules")
        theirs, weights = PeftConfig.from_pretrained(folder), load_file(folder / WEIGHTS)
        configs = (theirs, next(iter(encoder.peft_config.values())))
        shape, own = [(each.r, each.lora_alpha, ",".join(sorted(each.target_modules))) for each in configs]
        if shape != own:
            options = "--lora-rank {} --lora-alpha {} --lora-targets {}".format(*shape)
            raise AdapterError(f"{folder}: an adapter of another shape: start from it with {options}")
        weights = {name.removeprefix(_PREFIX): tensor for name, tensor in weights.items()}
        if different := {name.removeprefix(_PREFIX) for name in get_peft_model_state_dict(encoder)} ^ set(weights):
            raise AdapterError(f"{folder}: weights of other layers, such as {min(different)}; {CURE}")
        set_peft_model_state_dict(encoder, weights)
    _check_finite(folder, model)


def count_parameters(model: torch.nn.Module) -> tuple[int, int]:
    """Number of trainable and of all parameters."""
    parameters = list(model.parameters())
    return sum(p.numel() for p in parameters if p.requires_grad), sum(p.numel() for p in parameters)


def probe_vectors(model: SentenceTransformer) -> np.ndarray:
    """Vectors of the probe sentences as the model gives them, shape (3, dimension), float32."""
    return model.encode(list(PROBES), show_progress_bar=False, batch_size=len(PROBES)).astype(np.float32)


def distance(vectors: np.ndarray, reference: Any) -> float:
    """How far vectors are from a reference, as a share of its length, row by row; infinite for another shape or NaN."""
    reference = np.asarray(reference, dtype=np.float64)
    if vectors.shape != reference.shape or not np.isfinite(vectors).all():
        return np.inf
    lengths = np.linalg.norm(reference, axis=-1).clip(min=np.finfo(np.float32).tiny)
    return float((np.linalg.norm(vectors - reference, axis=-1) / lengths).max(initial=0))


def save_adapter(
    model: SentenceTransformer,
    folder: Path,
    base: SentenceTransformer,
    system: Any = None,
    allow_unchanged: bool = False,
) -> SentenceTransformer:
    """Writes the adapter of a trained model in half precision; returns the model from its files, merged into the base.

    The model's own adapter is rounded, too: half of the size for a change in the fourth digit of a cosine, or in the
    second after a high learning rate. `base` is the untrained encoder, from `load_backbone`; `system` saves what the
    model has beside its adapter. An AdapterError where the files do not give what the live model gave, or that equals
    the base, of which `allow_unchanged`, as after a trial of few steps, only warns.
    """
    with atomic_folder(folder) as temporary:
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if "lora_" in name:
                    parameter.copy_(parameter.half())
        model[0].model.save_pretrained(temporary)
        weights = {name: tensor.half() for name, tensor in load_file(temporary / WEIGHTS).items()}
        save_file(weights, temporary / WEIGHTS, {"format": "pt"})
        config = read_json(temporary / CONFIG)
        # sets have no order: sorted, equal runs write equal files
        config |= {"target_modules": sorted(config["target_modules"]), "inference_mode": True}
        write_json(temporary / CONFIG, config | {"base_model_name_or_path": base.model_card_data.base_model})
        limit, model.max_seq_length = model.max_seq_length, base.max_seq_length  # as the encoder will be loaded
        vectors, model.max_seq_length = probe_vectors(model), limit
        _write_fingerprint(temporary, model, vectors, base, system, allow_unchanged)
        return load_adapter(temporary, copy.deepcopy(base))


def load_adapter(folder: Path, base: SentenceTransformer) -> SentenceTransformer:
    """Loads an adapter folder, merged into its base (from `load_backbone`; consumed), with what it has beside it.

    An AdapterError if a file is missing or damaged, the base is another one, or the probe sentences get other vectors
    than when the adapter was saved.
    """
    with _damage(folder), warnings.catch_warnings():
        trained_on = read_json_file(folder / CONFIG, "base_model_name_or_path", "peft_type")["base_model_name_or_path"]
        fingerprint, name = read_fingerprint(folder), base.model_card_data.base_model
        if not (folder / WEIGHTS).is_file():
            raise AdapterError(f"{folder}: {WEIGHTS} is missing; {CURE}")
        if trained_on != name:
            raise AdapterError(f"{folder}: foreign base: trained on {trained_on!r}, loaded onto {name!r}")
        if not distance(probe_vectors(base), fingerprint.get("base_vectors", [])) < TOLERANCE:
            raise AdapterError(f"{folder}: foreign base: its vectors differ from those of the {name} it was trained on")
        warnings.filterwarnings("error", message="Found missing adapter keys")  # peft would go on without them
        trained = [parameter for parameter in base[0].model.parameters() if parameter.requires_grad]
        base[0].model = PeftModel.from_pretrained(base[0].model, str(folder)).merge_and_unload()
        for parameter in trained:  # which peft has frozen: whoever trains the model further would get no gradient
            parameter.requires_grad_(True)
        _prove(folder, base, fingerprint)
        _load_modules(folder, base, fingerprint)
    return base


def save_merged(
    model: SentenceTransformer,
    folder: Path,
    base: SentenceTransformer,
    system: Any = None,
    max_length: int | None = None,
    allow_unchanged: bool = False,
) -> SentenceTransformer:
    """Writes a plain SentenceTransformer (safetensors, no peft, no remote code) and proves it, as `save_adapter` does.

    `max_length` are the tokens that it reads of a text; the base's own limit is restored if it is None.
    """
    model.max_seq_length = max_length or base.max_seq_length
    with atomic_folder(folder) as temporary:
        model.save_pretrained(str(temporary), create_model_card=False)
        _write_fingerprint(temporary, model, probe_vectors(model), base, system, allow_unchanged)
        return load_merged(temporary)


def load_merged(folder: Path) -> SentenceTransformer:
    """Loads a merged model, with what the folder has beside it; an AdapterError as `load_adapter`."""
    with _damage(folder):
        fingerprint = read_fingerprint(folder)
        model = SentenceTransformer(str(folder), local_files_only=True)
        model.model_card_data.base_model = fingerprint.get("base_model")
        _load_modules(folder, model, fingerprint)
        _prove(folder, model, fingerprint)
    return model


def read_json_file(path: Path, *keys: str) -> Any:
    """A JSON file of a model, which has to be there and to hold these keys."""
    with _damage(path.parent):
        value = read_json(path)
    if value is None:
        raise AdapterError(f"{path.parent}: {path.name} is missing; not a model saved by this project; {CURE}")
    if absent := [key for key in keys if not isinstance(value, dict) or key not in value]:
        raise AdapterError(f"{path}: damaged, it has no {absent[0]!r}; {CURE}")
    return value


def read_fingerprint(folder: Path) -> dict[str, Any]:
    """What a model made of the probe sentences when it was saved, and what it has beside its encoder."""
    return read_json_file(folder / FINGERPRINT, "vectors")


def _write_fingerprint(
    folder: Path,
    model: SentenceTransformer,
    vectors: np.ndarray,
    base: SentenceTransformer,
    system: Any,
    allow_unchanged: bool,
) -> None:
    """Records the proof, where the model is worth saving, and lets its system save what it has beside its encoder."""
    base_vectors = probe_vectors(base)
    if not np.isfinite(vectors).all():
        raise AdapterError("the trained model returns NaN; training diverged: lower --learning-rate")
    if distance(vectors, base_vectors) < 1e-5:
        message = "the trained model equals its base: no step was taken, or none was better than before learning began"
        if not allow_unchanged:
            cure = "train on more rows, change --learning-rate, or keep the last step with --no-keep-best"
            raise AdapterError(f"{message}: {cure}")
        logger.warning(message)
    fingerprint = {"base_model": base.model_card_data.base_model, "probes": list(PROBES)}
    for key, value in (("vectors", vectors), ("base_vectors", base_vectors)):
        fingerprint[key] = np.round(value.astype(float), 5).tolist()
    if system is not None:
        files = set(folder.iterdir())
        system.save_modules(model, folder)
        if further := sorted(path.name for path in set(folder.iterdir()) - files):
            fingerprint |= {"system": system.recipe.system, "modules": further}
    write_json(folder / FINGERPRINT, fingerprint)


def _prove(folder: Path, model: SentenceTransformer, fingerprint: dict[str, Any]) -> None:
    """The one proof: weights are numbers, and vectors are the recorded ones and not the base's."""
    _check_finite(folder, model)
    reference = np.asarray(fingerprint["vectors"])
    base = np.asarray(fingerprint.get("base_vectors", []), dtype=np.float32)
    tolerance = np.clip(distance(base, reference) / 2, LEAST_TOLERANCE, TOLERANCE)
    if not (away := distance(probe_vectors(model), reference)) < tolerance:
        raise AdapterError(
            f"{folder}: the loaded model does not reproduce the trained model: the vectors of the probe sentences are "
            f"{away:.2g} of their length away from those in {FINGERPRINT}; {CURE}"
        )


def _check_finite(folder: Path, model: SentenceTransformer) -> None:
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise AdapterError(f"{folder}: NaN or infinite weights in {name}; the training diverged or the file is bad")


def _load_modules(folder: Path, model: SentenceTransformer, fingerprint: dict[str, Any]) -> None:
    """Lets the system that a model belongs to load and prove what it has beside its encoder."""
    if absent := [name for name in fingerprint.get("modules", ()) if not (folder / name).is_file()]:
        raise AdapterError(f"{folder}: {absent[0]} is missing; {CURE}")
    if "modules" in fingerprint:
        get_system(fingerprint.get("system")).load_modules(model, folder)


@contextmanager
def _damage(folder: Path) -> Iterator[None]:
    """Whatever the libraries raise over a folder, by what is wrong with which file, in a line."""
    try:
        yield
    except AdapterError:
        raise
    except Exception as error:
        kind = "wrong key prefix or other layers" if isinstance(error, UserWarning) else "incomplete or damaged"
        reason = " ".join(str(error).split())[:200]
        raise AdapterError(f"{folder}: {kind} ({type(error).__name__}: {reason}); {CURE}") from error
