"""Which model: a released one by its name, a run, a merged or an adapter folder, a Hub id, or the bundled encoder."""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import constants
from sentence_transformers import SentenceTransformer

from modeling.adapters import CONFIG, FINGERPRINT, load_adapter, load_merged
from modeling.backbone import BUNDLED, BUNDLED_ID, Backbone, load_backbone, resolve
from modeling.files import read_json

RELEASED = Path(__file__).parent.parent / "model_cards"


def released_models() -> list[str]:
    """Names of the models whose adapters come with this project."""
    return sorted(path.parent.name for path in RELEASED.glob(f"*/{CONFIG}"))


def load_model(source: str | Path) -> SentenceTransformer:
    """Loads an encoder in one line, without a network where its files are here.

    Args:
        source: A released model (`stance-minilm`), `bundled`, a folder (a run, its `merged/` or `adapter/`, any
            SentenceTransformer), or a Hub id of a SentenceTransformer.

    Returns:
        A plain encoder; an adapter is merged into its base.

    Raises:
        AdapterError: If a folder of this project is damaged, or its base is another one.
        ValueError: If there is no such model, or it cannot be reached; the message names the released ones.

    Examples:
        >>> model = load_model("bundled")
        >>> model.encode("Trams should be free.").shape
        (384,)
    """
    if str(source) == BUNDLED:
        return load_backbone(resolve(BUNDLED))
    folder = Path(source).expanduser()
    if not folder.is_dir() and str(source) in released_models():
        folder = RELEASED / str(source)
    if (folder / CONFIG).is_file():
        return load_adapter(folder, _base_of(folder))
    if (folder / "merged").is_dir():
        folder = folder / "merged"
    if (folder / FINGERPRINT).is_file():
        return load_merged(folder)
    path = str(folder if folder.is_dir() else source)
    try:
        return SentenceTransformer(path, local_files_only=constants.HF_HUB_OFFLINE)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"the model {str(source)!r} could not be loaded ({type(error).__name__}: {str(error)[:200]}). Name a "
            f"folder, a Hub id, {BUNDLED!r}, or a released model: {', '.join(released_models()) or 'none yet'}."
        ) from error


def _base_of(folder: Path) -> Backbone:
    """The base that an adapter records; the bundled copy where it is that one, so that no network is needed."""
    base = read_json(folder / CONFIG)["base_model_name_or_path"]
    if base == BUNDLED_ID:
        try:
            return resolve(BUNDLED)
        except ValueError:
            pass  # not installed: the Hub's copy has the same weights, which the fingerprint proves
    return resolve(base)
