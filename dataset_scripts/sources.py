"""Where training and evaluation data come from: this project's demonstration, a built folder, or the Hub."""

from __future__ import annotations

from pathlib import Path

from datasets import DatasetDict, load_dataset

from dataset_scripts import get_corpus

DEMO = "demo"
DEMO_FOLDER = Path(__file__).parent / "demo"
# configuration -> (builder that reads it, raw data)
_DEMO_CONFIGS = {
    "pairs": ("kialo", "debates"),
    "triplets": ("kialo", "debates"),
    "arguments": ("kialo", "debates"),
    "similarity": ("stsb", "similarity.tsv"),
}


def load_source(source: str, config: str, cache_dir: str | Path) -> DatasetDict:
    """Loads one configuration of a data set.

    Args:
        source: `demo`, a folder written by `python -m dataset_scripts`, or a data set's id on the Hub.
        config: Configuration, e.g. `pairs`.
        cache_dir: Where prepared Arrow files are kept.

    Returns:
        The splits.

    Raises:
        ValueError: If the source has no such configuration, or cannot be reached.
    """
    cache = Path(cache_dir).expanduser() / "datasets"
    if source == DEMO:
        if config not in _DEMO_CONFIGS:
            raise ValueError(f"the demonstration data have no {config!r}; they have {', '.join(_DEMO_CONFIGS)}")
        corpus, name = _DEMO_CONFIGS[config]
        builder = get_corpus(corpus).open(DEMO_FOLDER / name, config, cache_dir=cache)
        builder.download_and_prepare()
        return builder.as_dataset()
    path = Path(source).expanduser()
    if path.is_dir() and not (path / "README.md").is_file():
        raise ValueError(
            f"{path} has no README.md: build it with python -m dataset_scripts CORPUS --data RAW --out {path}"
        )
    try:
        return load_dataset(str(path) if path.is_dir() else source, config, cache_dir=str(cache))
    except (ValueError, OSError) as error:
        raise ValueError(
            f"--data {source!r} ({config}) could not be loaded: {str(error)[:300]}. Name 'demo', a folder written by "
            "python -m dataset_scripts, or a data set on the Hub."
        ) from error


def source_name(source: str) -> str:
    """A name that may be published: never a local path."""
    if source == DEMO:
        return "demonstration"
    path = Path(source).expanduser()
    return path.name if path.is_dir() else source
