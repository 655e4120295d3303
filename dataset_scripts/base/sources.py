"""Where training and evaluation data come from: this project's demonstration, a built folder, or the Hub."""

from pathlib import Path

from datasets import ClassLabel, Dataset, DatasetDict, Value, get_dataset_config_names, load_dataset

from dataset_scripts.base.cli import suggest
from dataset_scripts.base.metadata import Metadata, check_folder, get_corpus, list_corpora, load_metadata
from dataset_scripts.base.schema import PAIRS

DEMO = "demo"
DEMO_FOLDER = Path(__file__).parents[1] / "demo"


def load_source(source: str, config: str, cache_dir: str | Path) -> DatasetDict:
    """The splits of a configuration; `pairs` have their label as in `schema.PAIRS`, whatever the source calls it.

    The source is `demo`, one of its corpora (`demo:reviews`), a folder written by `opinion corpus build`, or a data
    set's id on the Hub; ValueError if it has no such configuration, cannot be reached, or labels pairs in another way.
    Prepared Arrow files are kept in `cache_dir`.
    """
    cache = str(Path(cache_dir).expanduser() / "datasets")
    splits = _load_demo(source, config, cache) if _is_demo(source) else _load(source, config, cache)
    if config == "pairs":
        return DatasetDict({name: _with_label(rows, f"{source!r} ({config}, {name})") for name, rows in splits.items()})
    return splits


def load_split(source: str, config: str, split: str, cache_dir: str | Path) -> Dataset:
    """Loads one split, see `load_source`; ValueError if there is no such split, too."""
    splits = load_source(source, config, cache_dir)
    if split not in splits:
        raise ValueError(f"{source!r} ({config}) has no {split} split; it has {', '.join(splits)}")
    return splits[split]


def parts(source: str) -> list[str]:
    """The sources that one stands for: `demo` for corpora of the demonstration, any other for itself."""
    return [f"{DEMO}:{record.demo.name}" for record in _demo_corpora(source)] if _is_demo(source) else [source]


def list_configs(source: str) -> list[str]:
    """The configurations of a data set (see `load_source`); ValueError if it cannot be reached."""
    if _is_demo(source):
        return list(dict.fromkeys(config for record in _demo_corpora(source) for config in record.configs))
    path = _folder(source)
    try:
        return get_dataset_config_names(str(path or source))
    except (ValueError, OSError) as error:
        raise _unreachable(repr(source), error) from error


def has_config(source: str, config: str) -> bool:
    """Whether a data set has a configuration of this name; a source out of reach has none."""
    try:
        return config in list_configs(source)
    except ValueError:
        return False


def source_name(source: str) -> str:
    """A name that may be published: never a local path."""
    if _is_demo(source):
        return "-".join(["demonstration", *source.split(":")[1:]])
    path = Path(source).expanduser()
    return path.name if path.is_dir() else source


def _is_demo(source: str) -> bool:
    return source.partition(":")[0] == DEMO


def _demo_corpora(source: str) -> list[Metadata]:
    """The corpora of the demonstration that a source means."""
    name = source.partition(":")[2]
    records = {record.demo.name: record for record in map(load_metadata, list_corpora()) if record.demo}
    if name and name not in records:
        hint = suggest(name, records) or f"; it has {', '.join(records)}"
        raise ValueError(f"the demonstration has no {name!r}{hint}")
    return [records[name]] if name else [record for record in records.values() if record.demo.default]


def _load_demo(source: str, config: str, cache: str) -> DatasetDict:
    if not (record := next((each for each in _demo_corpora(source) if config in each.configs), None)):
        raise ValueError(f"the demonstration data ({source}) have no {config!r}")
    demo = record.demo
    builder = get_corpus(record.name).open(DEMO_FOLDER / demo.raw, config, cache_dir=cache, **demo.options)
    builder.download_and_prepare()
    return builder.as_dataset()


def _folder(source: str) -> Path | None:
    """The folder that a source means; None if it means a data set on the Hub."""
    check_folder(source)
    path = Path(source).expanduser()
    if path.is_dir() and not (path / "README.md").is_file():
        raise ValueError(f"{path} has no README.md: build it with opinion corpus build CORPUS RAW -o {path}")
    return path if path.is_dir() else None


def _load(source: str, config: str, cache: str) -> DatasetDict:
    path = _folder(source)
    try:
        if path is None:
            return load_dataset(source, config, cache_dir=cache)
        if config not in (configs := get_dataset_config_names(str(path))):
            corpora = ", ".join(name for name in list_corpora() if config in load_metadata(name).configs)
            raise ValueError(f"it has {', '.join(configs)}, not {config!r}, which {corpora or 'no corpus'} has")
        return load_dataset(str(path), config, cache_dir=cache)
    except (ValueError, OSError) as error:
        raise _unreachable(f"{source!r} ({config})", error) from error


def _unreachable(source: str, error: Exception) -> ValueError:
    return ValueError(
        f"{source} could not be loaded: {str(error)[:300]}. Name 'demo', a folder written by opinion corpus build, or "
        "a data set on the Hub"
    )


def _with_label(rows: Dataset, where: str) -> Dataset:
    """The rows with `label` as in `schema.PAIRS`: named classes by their name, plain 0 and 1 as they are."""
    label, feature = PAIRS["label"], rows.features.get("label")
    named = isinstance(feature, ClassLabel) and sorted(feature.names) == sorted(label.names)
    if not named and not (isinstance(feature, Value) and feature.dtype.startswith(("int", "uint", "bool"))):
        has = "no such column" if feature is None else getattr(feature, "names", None) or feature
        raise ValueError(f"{where}: label must be one of {', '.join(label.names)}, or 0 and 1; it has {has}")
    if others := [value for value in rows.unique("label") if value not in (0, 1)]:
        zero, one = feature.names if named else label.names
        raise ValueError(f"{where}: label must be 0 ({zero}) or 1 ({one}); it has {others[0]} too")
    if named and feature != label:
        return rows.align_labels_with_mapping({name: label.str2int(name) for name in label.names}, "label")
    return rows if named else rows.cast_column("label", Value("int64")).cast_column("label", label)
