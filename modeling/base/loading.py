"""Which model: a released one by its name, a run, a merged or an adapter folder, a Hub id, or the bundled encoder."""

from __future__ import annotations

import difflib
from pathlib import Path

from huggingface_hub import constants
from sentence_transformers import SentenceTransformer

from dataset_scripts.base.files import read_json
from modeling.base.adapters import CONFIG, FINGERPRINT, attach_adapter, load_adapter, load_merged
from modeling.base.backbone import BUNDLED, BUNDLED_ID, Backbone, load_backbone, resolve

RELEASED = Path(__file__).parents[2] / "model_cards"


def released_models() -> list[str]:
    """Names of the models whose adapters come with this project."""
    return sorted(path.parent.name for path in RELEASED.glob(f"*/{CONFIG}"))


def load_model(source: str | Path) -> SentenceTransformer:
    """Loads an encoder in one line, without a network where its files are here.

    Args:
        source: A released model (`stance-minilm`), `bundled`, a folder (a run, its `merged/` or `adapter/`, any
            SentenceTransformer), or a Hub id of a SentenceTransformer.

    Returns:
        A plain encoder; an adapter is merged into its base. Of a Bipolar-encoder it gives the retrieval embeddings.

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
    folder = local_folder(source)
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
        raise ValueError(unreachable(source, error)) from error


def unreachable(source: str | Path, error: Exception) -> str:
    """What to say of a model that could not be loaded: the nearest released name, why, and what there is."""
    near = difflib.get_close_matches(str(source), released_models(), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    reason = f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"
    return (
        f"the model {str(source)!r} could not be loaded ({reason}){hint} Name a folder, a Hub id, {BUNDLED!r}, or a "
        f"released model: {', '.join(released_models()) or 'none yet'}."
    )


def load_adapters(*sources: str | Path) -> SentenceTransformer:
    """Loads several adapters of one base into one encoder, which is switched between them by name.

    The weights of the base are in memory once; an adapter adds some two percent.

    Args:
        *sources: Released models, runs, or adapter folders, at least one. The name of each is its own, a run's for its
            `adapter/`.

    Returns:
        The encoder, with the first adapter switched on: `set_adapter(NAME)` switches to another,
        `disable_adapters()` to the base, `enable_adapters()` back.

    Raises:
        AdapterError: If a folder is damaged, does not reproduce its model, or has heads beside its adapter: these
            would not be switched with it.
        ValueError: If there is no adapter at a source, two have the same name, or their bases differ.

    Examples:
        >>> model = load_adapters("stance-minilm", "senticse-minilm")   # doctest: +SKIP
        >>> by_stance = model.encode("Trams should be free.")           # doctest: +SKIP
        >>> model.set_adapter("senticse-minilm")                        # doctest: +SKIP
        >>> by_sentiment = model.encode("Trams should be free.")        # doctest: +SKIP
    """
    folders: dict[str, Path] = {}
    for source in sources:
        folder = adapter_folder(source)
        place = folder.resolve()
        # peft makes modules of the names, which must not have dots
        name = (place.parent if place.name == "adapter" else place).name.replace(".", "-")
        if name in folders:
            raise ValueError(f"two adapters are called {name!r}: rename one of the folders")
        folders[name] = folder
    if not folders:
        raise ValueError("name at least one adapter")
    bases = {name: _base_of(folder) for name, folder in folders.items()}
    if len({base.hub_id for base in bases.values()}) > 1:
        raise ValueError(f"the adapters have different bases: { {n: base.hub_id for n, base in bases.items()} }")
    base = next(iter(bases.values()))
    model = load_backbone(base)
    for name, folder in folders.items():
        attach_adapter(model, folder, base, name)
    model.set_adapter(next(iter(folders)))
    return model


def local_folder(source: str | Path) -> Path:
    """The folder that a source names; that of a released model, unless there is another of its name."""
    folder = Path(source).expanduser()
    return RELEASED / str(source) if not folder.is_dir() and str(source) in released_models() else folder


def adapter_folder(source: str | Path) -> Path:
    """The folder of a released model's adapter, of a run's, or the source itself if it is one.

    Raises:
        ValueError: If there is no adapter.
    """
    folder = local_folder(source)
    folder = folder if (folder / CONFIG).is_file() else folder / "adapter"
    if not (folder / CONFIG).is_file():
        raise ValueError(f"there is no adapter at {str(source)!r}; released are {', '.join(released_models())}")
    return folder


def _base_of(folder: Path) -> Backbone:
    """The base that an adapter records; the bundled copy where it is that one, so that no network is needed."""
    base = read_json(folder / CONFIG)["base_model_name_or_path"]
    if base == BUNDLED_ID:
        try:
            return resolve(BUNDLED)
        except ValueError:
            pass  # not installed: the Hub's copy has the same weights, which the fingerprint proves
    return resolve(base)
