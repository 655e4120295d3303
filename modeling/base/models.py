"""Which model: any encoder by one name, and the base encoders that are trained."""

from __future__ import annotations

import hashlib
import json
import math
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import torch
from huggingface_hub import ModelCard, constants, hf_hub_download, snapshot_download
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize
from transformers.utils import logging

from dataset_scripts.base.cli import suggest
from dataset_scripts.base.files import read_json
from modeling.base import names, runtimes
from modeling.base.adapters import CONFIG, FINGERPRINT, load_adapter, load_merged, read_json_file
from modeling.base.names import BUNDLED, BUNDLED_ID, bundled_folder, check_model, released_models

_HUB_ID = r"[\w.-]+(/[\w.-]+)?"
# these count positions from the padding's index + 1, so that two of them are never used
_TWO_FEWER = {"mpnet", "roberta", "xlm-roberta", "xlm-roberta-xl", "camembert"}


class Backbone(NamedTuple):
    """A base encoder."""

    path: str  # what the libraries load: a local folder or a Hub id
    hub_id: str  # what is written into published files; never a local path


def resolve(base: str, base_id: str | None = None) -> Backbone:
    """Finds a base encoder: `bundled`, a local folder with the Hub id to publish for it, or a Hub id.

    Raises ValueError for a folder without a known Hub id, or a bundled encoder that is not installed.
    """
    if base_id is not None and not re.fullmatch(_HUB_ID, base_id):
        raise ValueError(f"--base-id {base_id!r} must look like organisation/name")
    if base == BUNDLED:
        return Backbone(str(bundled_folder()), BUNDLED_ID)
    folder = Path(base).expanduser()
    if not folder.is_dir():
        if re.fullmatch(_HUB_ID, base) and not base.startswith("."):
            return Backbone(base, base_id or base)
        raise ValueError(f"base {base!r} is neither a folder nor a Hub id (organisation/name)")
    # a snapshot in the Hub's cache carries its id in the path
    snapshot = re.search(r"models--([^/]+)--([^/]+)/snapshots/", f"{folder.resolve()}/")
    if not (base_id or snapshot):
        raise ValueError(f"base {base!r} is a local folder: name its Hub id with --base-id organisation/name")
    return Backbone(str(folder), base_id or "/".join(snapshot.groups()))


def load_backbone(backbone: Backbone, max_length: int | None = None) -> SentenceTransformer:
    """Loads a base encoder, from `resolve`, that returns unit vectors and knows the Hub id of its base.

    It reads `max_length` tokens of a text, or as many as it can if that is None. A Normalize module is added where it
    has none, because the stance losses are defined on unit vectors. An encoder that cannot be loaded, or has fewer
    positions than that, is a ValueError.
    """
    try:
        model = SentenceTransformer(backbone.path, local_files_only=constants.HF_HUB_OFFLINE)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"the encoder {backbone.path!r} could not be loaded ({_reason(error)}). "
            "Check the name and the network; without a network use --base bundled or a local folder."
        ) from error
    if not any(isinstance(module, Normalize) for module in model):
        model.append(Normalize())
    if (pooler := getattr(model[0].model, "pooler", None)) is not None:
        # its output is not used: it would get no gradient, which many processes wait for
        pooler.requires_grad_(False)
    limit = _positions(model) or math.inf
    if max_length and max_length > limit:
        raise ValueError(f"--max-length {max_length} is more than the {limit} tokens that {backbone.hub_id} can read")
    if max_length or (model.max_seq_length or 0) > limit:  # a plain RoBERTa counts the two positions it cannot use
        model.max_seq_length = max_length or limit
    model.model_card_data.base_model = backbone.hub_id
    return model


@contextmanager
def without_normalize(model: SentenceTransformer, active: bool = True) -> Iterator[None]:
    """Takes the last module, which makes unit vectors, off an encoder for a while; ValueError if it ends otherwise."""
    if active and not isinstance(model[-1], Normalize):
        raise ValueError("--normalised false needs an encoder that ends with its Normalize module")
    normalize = model.pop(-1) if active else None
    try:
        yield
    finally:
        if active:
            model.append(normalize)


def _positions(model: SentenceTransformer) -> int | None:
    """Tokens for which the encoder has positions; None where their number is not limited."""
    config = model[0].model.config
    positions = getattr(config, "max_position_embeddings", None)
    return positions - 2 if positions and config.model_type in _TWO_FEWER else positions


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the bar of every file, and without what the libraries say to each other."""
    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
            yield
    finally:
        if bars:
            logging.enable_progress_bar()


@_quietly()
def load_model(source: str | Path, backend: str = "torch", precision: str = "fp32") -> SentenceTransformer:
    """Loads an encoder in one line, without a network where its files are here.

    Args:
        source: A released model (`stance-minilm`), `bundled`, a folder (a run, its `merged/` or `adapter/`, any
            SentenceTransformer), or a Hub id of a SentenceTransformer.
        backend: What computes the transformer: `torch`, `onnx` or `openvino`. The last two need the extra `runtimes`;
            without published files a model is exported once, into `~/.cache/opinion-transformers/runtimes`.
        precision: `fp32`, of onnx also `int8`, of openvino `bf16`.

    Returns:
        A plain encoder; an adapter is merged into its base. Of a Bipolar-encoder it gives the retrieval embeddings.

    Raises:
        AdapterError: If a folder of this project is damaged, or its base is another one.
        ValueError: If there is no such model, or it cannot be reached; the message names the released ones. Also of a
            runtime that is not installed, or does not agree with torch.

    Examples:
        >>> model = load_model("bundled")
        >>> model.encode("Trams should be free.").shape
        (384,)
    """
    names.check_runtime(backend, precision)
    return in_runtime(_load(source), backend, precision, source)


def in_runtime(
    model: SentenceTransformer, backend: str, precision: str, source: str | Path | None = None
) -> SentenceTransformer:
    """An encoder with its transformer in a runtime, in place; its files are taken from where it was loaded, if there.

    Raises as `load_model`.
    """
    if backend == "torch":
        return model
    files = local_folder(source) if source else None
    if files and not files.is_dir() and "/" in str(source):
        with suppress(OSError, ValueError):  # it has none, or there is no network
            stem = runtimes.FILES[backend, precision].rpartition(".")[0]
            offline = constants.HF_HUB_OFFLINE
            files = Path(snapshot_download(str(source), allow_patterns=f"{stem}.*", local_files_only=offline))
    elif files and (files / "merged").is_dir():
        files = files / "merged"
    return runtimes.load(model, backend, precision, runtimes.CACHE / "runtimes" / identity(model), files)


def _load(source: str | Path) -> SentenceTransformer:
    """An encoder as torch computes it."""
    if str(source) == BUNDLED:
        return load_backbone(resolve(BUNDLED))
    folder = local_folder(source)
    if (folder / CONFIG).is_file():
        return load_adapter(folder, load_backbone(base_of(folder)))
    if (folder / "merged").is_dir():
        folder = folder / "merged"
    if (folder / FINGERPRINT).is_file():
        return load_merged(folder)
    path = str(folder) if folder.is_dir() else check_model(str(source))
    try:
        return SentenceTransformer(path, local_files_only=constants.HF_HUB_OFFLINE)
    except (OSError, ValueError) as error:
        raise ValueError(unreachable(source, error)) from error


def unreachable(source: str | Path, error: Exception) -> str:
    """What to say of a model that could not be loaded: why, the nearest released name, and what there is."""
    hint = suggest(str(source), released_models()) or "."
    return f"the model {str(source)!r} could not be loaded ({_reason(error)}){hint} {names.choices()}"


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def local_folder(source: str | Path) -> Path:
    """The folder that a source names; that of a released model, unless there is another of its name."""
    folder = Path(source).expanduser()
    return names.RELEASED / str(source) if not folder.is_dir() and str(source) in released_models() else folder


def adapter_folder(source: str | Path) -> Path:
    """The folder of a released model's adapter, of a run's, or the source itself; ValueError if there is none."""
    folder = local_folder(source)
    folder = folder if (folder / CONFIG).is_file() else folder / "adapter"
    if not (folder / CONFIG).is_file():
        raise ValueError(f"there is no adapter at {str(source)!r}; released are {', '.join(released_models())}")
    return folder


def base_of(folder: Path) -> Backbone:
    """The base of an adapter folder: where its run's recipe says, or the bundled one, which needs no network."""
    base_id = read_json_file(folder / CONFIG, "base_model_name_or_path")["base_model_name_or_path"]
    recipe = read_json(folder.parent / "recipe.json") or {}
    try:
        if base := BUNDLED if base_id == BUNDLED_ID else recipe.get("base"):
            return Backbone(resolve(base, base_id).path, base_id)
    except ValueError:  # not installed, or moved: the Hub's copy has the same weights, as the fingerprint proves
        pass
    return resolve(base_id)


def labels(models: list[str]) -> dict[str, str]:
    """Model -> head of its column: of a folder its name, a run's for its merged/ and adapter/, if no other has it."""
    heads = []
    for model in models:
        path = Path(model).expanduser().resolve()
        run = path.parent if path.name in ("merged", "adapter") else path
        heads.append(run.name if path.is_dir() else model)
    return {model: model if heads.count(head) > 1 else head for model, head in zip(models, heads, strict=True)}


def choose_base(asked: str | None, model: str) -> tuple[str, str]:
    """The encoder to compare with, and a note where it is not the one that the model was trained from."""
    if asked is not None and asked != "none":
        return asked, ""
    own = recorded_base(model)
    if own in (None, BUNDLED_ID):
        return BUNDLED, ""
    try:
        hf_hub_download(own, "config.json", local_files_only=constants.HF_HUB_OFFLINE)
    except (OSError, ValueError):
        return BUNDLED, f"{own}, which {model} was trained from, cannot be loaded: {BUNDLED!r} takes its place."
    return own, ""


def recorded_base(model: str) -> str | None:
    """Hub id of the encoder that a model was trained from, as its files or its card say; None if they do not."""
    if model == BUNDLED:  # which is no name on the Hub
        return None
    path = Path(model).expanduser()
    for folder in (path, path / "merged", names.RELEASED / model):
        for file, key in ((CONFIG, "base_model_name_or_path"), (FINGERPRINT, "base_model")):
            if base := (read_json(folder / file) or {}).get(key):
                return base
    try:
        base = ModelCard.load(path / "README.md" if path.is_dir() else model).data.get("base_model")
    except (OSError, ValueError):  # none, or out of reach
        return None
    return base[0] if isinstance(base, list) else base


def identity(model: SentenceTransformer) -> str:
    """16 hex digits, the same for models with the same weights that read a text alike, whatever they are called."""
    lora = [str((m.scaling, m.active_adapters, m.disable_adapters)) for m in model.modules() if hasattr(m, "lora_A")]
    parts = [[type(part).__name__, str(getattr(part, "pooling_mode", ""))] for part in model]
    settings = [model.max_seq_length, model.prompts, model.default_prompt_name, parts, lora]
    digest = hashlib.sha256(json.dumps(settings).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()[:16]
