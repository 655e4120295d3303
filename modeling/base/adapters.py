"""LoRA adapters: add, save, merge, and prove that what was saved is what was trained.

A wrong key prefix, NaN weights or a foreign base load without any error in peft and give the base's vectors (or
NaN). So every folder carries `fingerprint.json`, the vectors of fixed probe sentences, and nothing is trusted
before it reproduces them.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peft import (
    LoraConfig,
    PeftConfig,
    PeftModel,
    get_peft_model,
    get_peft_model_state_dict,
    set_peft_model_state_dict,
)
from safetensors import SafetensorError
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from transformers.utils import logging as transformers_logging

from dataset_scripts.base.files import atomic_folder, read_json, write_json
from modeling.base.models import Backbone, load_backbone, lora_targets

PROBES = (
    "The committee should approve the new bicycle lanes this spring.",
    "Nobody on our street wants the night market to come back!",
    "A short text.",
)
WEIGHTS, CONFIG, FINGERPRINT = "adapter_model.safetensors", "adapter_config.json", "fingerprint.json"
# merging adds two float32 products in another order; half precision elsewhere loses about three digits
TOLERANCE = 5e-3
# A model may have modules beside its adapter: the file that describes them -> where `complete` puts them on the loaded
# encoder and verifies them. What they made of the probes stands in the fingerprint under the file's name.
FURTHER_MODULES = {"bipolar.json": "modeling.bipolar.files"}


class AdapterError(ValueError):
    """A saved model is not what it claims to be; the message says in which way."""


def add_lora(
    model: SentenceTransformer,
    rank: int = 32,
    alpha: int = 32,
    dropout: float = 0.05,
    targets: Sequence[str] | None = None,
) -> tuple[int, int]:
    """Adds a LoRA adapter to the encoder and freezes everything else.

    Args:
        model: The encoder; changed in place.
        rank: Rank r of the update B A (Hu et al., 2021).
        alpha: The update is scaled by alpha / r.
        dropout: Dropout before A, in [0, 1).
        targets: Module names; the attention projections if None.

    Returns:
        Number of trainable and of all parameters.
    """
    names = lora_targets(model, list(targets) if targets else None)
    model.add_adapter(
        LoraConfig(r=rank, lora_alpha=alpha, lora_dropout=dropout, target_modules=names, task_type="FEATURE_EXTRACTION")
    )
    return count_parameters(model)


def copy_adapter(folder: Path, model: SentenceTransformer) -> None:
    """Gives the adapter of an encoder the weights of a saved one, for training to start from.

    Args:
        folder: As for `load_adapter`.
        model: Encoder with an adapter of the same rank, scale and targets; changed in place.

    Raises:
        AdapterError: If the saved adapter is missing, damaged or of another shape or scale.
    """
    for name in (CONFIG, WEIGHTS):
        if not (folder / name).is_file():
            raise AdapterError(f"{folder}: {name} is missing; not an adapter saved by this project")
    weights, encoder = read_weights(folder / WEIGHTS), model[0].model
    theirs, own = PeftConfig.from_pretrained(folder), next(iter(encoder.peft_config.values()))
    shapes = [(config.r, config.lora_alpha, sorted(config.target_modules)) for config in (theirs, own)]
    if shapes[0] != shapes[1]:
        rank, alpha, targets = shapes[0]
        raise AdapterError(
            f"{folder}: an adapter of another shape: start from it with --lora_rank {rank} --lora_alpha {alpha} "
            f"--lora_targets {','.join(targets)}"
        )
    prefix = "base_model.model."  # what peft writes has it, the names within transformers' models do not
    bare = {name.removeprefix(prefix): tensor for name, tensor in weights.items()}
    expected = {name.removeprefix(prefix): t.shape for name, t in get_peft_model_state_dict(encoder).items()}
    _check_weights(folder, bare, expected)
    set_peft_model_state_dict(encoder, bare)


def scale_adapter(model: SentenceTransformer, factor: float) -> None:
    """Multiplies what a LoRA adapter adds to its base, in place.

    Between base (0) and trained encoder (1) lies a line of encoders that keep more of the base than they lose of the
    task (Wortsman et al., 2022, section 4, for full fine-tuning).

    Args:
        model: Encoder with an adapter.
        factor: 1 leaves it as it is.
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:  # the update is B A: scaling one of them scales it
                parameter.mul_(factor)


def count_parameters(model: torch.nn.Module) -> tuple[int, int]:
    """Number of trainable and of all parameters."""
    return (
        sum(p.numel() for p in model.parameters() if p.requires_grad),
        sum(p.numel() for p in model.parameters()),
    )


def probe_vectors(model: SentenceTransformer) -> np.ndarray:
    """Unit vectors of the probe sentences, shape (3, dimension)."""
    return model.encode(list(PROBES), normalize_embeddings=True, show_progress_bar=False, batch_size=len(PROBES))


def save_adapter(
    model: SentenceTransformer, folder: Path, backbone: Backbone, further: Callable[[Path], None] | None = None
) -> None:
    """Writes the adapter of a trained model, and proves that it reproduces the model when loaded again.

    Args:
        model: Encoder with an adapter.
        folder: Replaced as a whole.
        backbone: The base; its Hub id is recorded instead of any local path.
        further: Writes the model's further modules into the folder, before the proof.

    Raises:
        AdapterError: If the reloaded adapter differs from the live model or equals the base.
    """
    base = load_backbone(backbone, model.max_seq_length)
    vectors, base_vectors = probe_vectors(model), probe_vectors(base)
    with atomic_folder(folder) as temporary:
        model[0].model.save_pretrained(temporary)
        config = read_json(temporary / CONFIG)
        # sets have no order: sorted, equal runs write equal files
        config |= {
            "base_model_name_or_path": backbone.hub_id,
            "inference_mode": True,
            "target_modules": sorted(config["target_modules"]),
        }
        write_json(temporary / CONFIG, config)
        _write_fingerprint(temporary, vectors, base_vectors, backbone)
        if further is not None:
            further(temporary)
        load_adapter(temporary, backbone, base=base)


def load_adapter(folder: Path, backbone: Backbone, base: SentenceTransformer | None = None) -> SentenceTransformer:
    """Loads an adapter folder, merged into its base, after every check that can tell a broken one.

    Args:
        folder: With adapter_config.json, adapter_model.safetensors and fingerprint.json.
        backbone: The base to put it on.
        base: The loaded base, if there is one already; it is consumed.

    Returns:
        A plain encoder without peft modules, with its further modules if the folder has any.

    Raises:
        AdapterError: If a file is missing or truncated, weights are NaN, keys or shapes do not fit, the base is
            another one, or the probe sentences get other vectors than when the adapter was saved.
    """
    model = base if base is not None else load_backbone(backbone)
    stored = _check_adapter(folder, backbone, model)
    model[0].model = PeftModel.from_pretrained(model[0].model, str(folder)).merge_and_unload()
    _compare(folder, probe_vectors(model), stored["vectors"], "the loaded adapter does not reproduce the trained model")
    _complete(model, folder, stored)
    return model


def attach_adapter(model: SentenceTransformer, folder: Path, backbone: Backbone, name: str) -> None:
    """Adds an adapter folder to an encoder, beside others that it may have, and switches it on.

    Args:
        model: The base, with adapters or without; changed in place.
        folder: As for `load_adapter`.
        backbone: The base.
        name: Name under which `model.set_adapter` finds it.

    Raises:
        AdapterError: As `load_adapter`; or if the model has further modules, which would not be switched with it.
    """
    stored = _check_adapter(folder, backbone, load_backbone(backbone))
    if files := [file for file in FURTHER_MODULES if file in stored or (folder / file).is_file()]:
        raise AdapterError(
            f"{folder}: the model has modules beside its adapter ({files[0]}), which cannot be switched on and off "
            "with it: load it alone, with load_model"
        )
    level = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()  # it reports the weights of the other adapters as missing
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Already found a `peft_config`")  # several are wanted here
            warnings.filterwarnings("ignore", category=FutureWarning)
            model.load_adapter(str(folder), adapter_name=name)
    finally:
        transformers_logging.set_verbosity(level)
    model.set_adapter(name)
    _compare(
        folder, probe_vectors(model), stored["vectors"], "the attached adapter does not reproduce the trained model"
    )


def _check_adapter(folder: Path, backbone: Backbone, base: SentenceTransformer) -> dict[str, Any]:
    """Makes every check that needs no loaded adapter; returns the fingerprint of the trained model."""
    for name in (CONFIG, WEIGHTS, FINGERPRINT):
        if not (folder / name).is_file():
            raise AdapterError(f"{folder}: {name} is missing; not an adapter saved by this project")
    config = PeftConfig.from_pretrained(folder)
    stored = read_json(folder / FINGERPRINT)
    if config.base_model_name_or_path != backbone.hub_id:
        raise AdapterError(
            f"{folder}: foreign base: trained on {config.base_model_name_or_path!r}, loaded onto {backbone.hub_id!r}"
        )
    weights = read_weights(folder / WEIGHTS)
    _check_weights(folder, weights, _expected_shapes(config, base))
    _compare(folder, probe_vectors(base), stored["base_vectors"], "foreign base: the base's vectors differ from those "
             f"of the {backbone.hub_id} it was trained on")  # fmt: skip
    return stored


def save_merged(
    model: SentenceTransformer,
    folder: Path,
    backbone: Backbone,
    further: Callable[[Path], None] | None = None,
    max_length: int | None = None,
) -> None:
    """Writes a plain SentenceTransformer (safetensors, no peft, no remote code) and proves it by loading it again.

    Args:
        model: Merged or fully fine-tuned encoder.
        folder: Replaced as a whole.
        backbone: The base, to tell that something was learned.
        further: Writes what belongs to the model's further modules into the folder, before the proof.
        max_length: Tokens per text; the base's own limit is restored if None.

    Raises:
        AdapterError: If the reloaded model differs from the live one, or equals the base.
    """
    base = load_backbone(backbone)
    model.max_seq_length = max_length or base.max_seq_length
    vectors, base_vectors = probe_vectors(model), probe_vectors(base)
    with atomic_folder(folder) as temporary:
        write_plain(model, temporary)
        _write_fingerprint(temporary, vectors, base_vectors, backbone)
        if further is not None:
            further(temporary)
        load_merged(temporary)


def write_plain(model: SentenceTransformer, folder: Path) -> None:
    """Writes an encoder as its library does, without the path that it was loaded from."""
    model.save_pretrained(str(folder), create_model_card=False)
    config = read_json(folder / "config.json")
    config.pop("_name_or_path", None)
    write_json(folder / "config.json", config)


def load_merged(folder: Path) -> SentenceTransformer:
    """Loads a merged model and checks it against its fingerprint.

    Raises:
        AdapterError: If a file is missing or damaged, or the vectors, or what further modules make of them, differ from
            those at saving.
    """
    stored = read_json(folder / FINGERPRINT)
    if stored is None:
        raise AdapterError(f"{folder}: {FINGERPRINT} is missing; not a model saved by this project")
    check_files(folder)
    try:
        model = SentenceTransformer(str(folder), local_files_only=True)
    except (OSError, ValueError, RuntimeError, TypeError, LookupError) as error:  # depends on what the file is of
        named = [module["path"] for module in read_json(folder / "modules.json") or []]
        missing = [path for path in named if not (folder / path).is_dir()]
        reason = f"{missing[0]} is missing" if missing else f"{type(error).__name__}: {str(error)[:200]}"
        raise AdapterError(f"{folder}: incomplete or damaged: {reason}; copy or download it again, whole") from error
    _complete(model, folder, stored)
    _compare(folder, probe_vectors(model), stored["vectors"], "the loaded model does not reproduce the trained one")
    return model


def _complete(model: SentenceTransformer, folder: Path, stored: Mapping[str, Any]) -> None:
    """Lets the further modules that the folder or its fingerprint speaks of be loaded and verified."""
    for file, module in FURTHER_MODULES.items():
        if file in stored or (folder / file).is_file():
            import_module(module).complete(model, folder, stored.get(file))


def check_files(folder: Path) -> None:
    """Reads all weights of a folder, as far as they can be judged without loading a model.

    Raises:
        AdapterError: If there are none, or a file is truncated or holds NaN.
    """
    paths = sorted(folder.rglob("*.safetensors"))
    if not paths:
        raise AdapterError(f"{folder}: there are no weights (*.safetensors)")
    for path in paths:
        check_finite(folder, read_weights(path))


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    try:
        return load_file(path)
    except SafetensorError as error:
        raise AdapterError(f"{path}: truncated or damaged ({error}); copy or download it again") from error


def check_finite(folder: Path, weights: dict[str, torch.Tensor]) -> None:
    for name, tensor in weights.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise AdapterError(f"{folder}: NaN or infinite weights in {name}; the training diverged or the file is bad")


def _expected_shapes(config: PeftConfig, model: SentenceTransformer) -> dict[str, torch.Size]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # peft notes that the recorded base is not a local path
        fresh = get_peft_model(copy.deepcopy(model[0].model), config)  # peft changes what it is given
    return {name: tensor.shape for name, tensor in get_peft_model_state_dict(fresh).items()}


def _check_weights(folder: Path, weights: dict[str, torch.Tensor], expected: dict[str, torch.Size]) -> None:
    check_finite(folder, weights)
    if set(weights) != set(expected):
        extra, missing = sorted(set(weights) - set(expected)), sorted(set(expected) - set(weights))
        raise AdapterError(
            f"{folder}: wrong key prefix or other layers: {len(missing)} expected keys missing (first: "
            f"{missing[:1]}), {len(extra)} unknown (first: {extra[:1]}); such weights would be ignored silently"
        )
    for name, tensor in weights.items():
        if tensor.shape != expected[name]:
            raise AdapterError(
                f"{folder}: foreign base: {name} has shape {tuple(tensor.shape)}, "
                f"this base needs {tuple(expected[name])}"
            )


def _write_fingerprint(folder: Path, vectors: np.ndarray, base_vectors: np.ndarray, backbone: Backbone) -> None:
    if not np.isfinite(vectors).all():
        raise AdapterError("the trained model returns NaN; training diverged: lower --learning_rate")
    if vectors.shape == base_vectors.shape and np.abs(vectors - base_vectors).max() < 1e-6:
        raise AdapterError(
            "the trained model equals its base: no step was taken, or no evaluation was "
            "better than the one before learning began: train on more rows, change --learning_rate, or keep the last "
            "step with --keep_best false --overwrite true"
        )
    write_fingerprint(folder, backbone.hub_id, {"vectors": vectors, "base_vectors": base_vectors})


def write_fingerprint(folder: Path, base_model: str | None, arrays: Mapping[str, np.ndarray]) -> None:
    """Writes what a model makes of the probe sentences beside its weights.

    Args:
        folder: The model's.
        base_model: Hub id of its base.
        arrays: At least `vectors`, from `probe_vectors`.
    """
    write_json(
        folder / FINGERPRINT,
        {"base_model": base_model, "probes": list(PROBES)}
        | {key: np.round(value.astype(float), 5).tolist() for key, value in arrays.items()},
    )


def _compare(folder: Path, vectors: np.ndarray, stored: list[list[float]], complaint: str) -> None:
    reference = np.asarray(stored)
    if not np.isfinite(vectors).all():
        raise AdapterError(f"{folder}: the loaded model returns NaN")
    if vectors.shape != reference.shape or np.abs(vectors - reference).max() > TOLERANCE:
        raise AdapterError(f"{folder}: {complaint}")
