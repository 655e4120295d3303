"""The base class of all builders: files in, cleaned and split rows out, every dropped row counted."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import datasets
from datasets.data_files import DataFilesDict, DataFilesList

from dataset_scripts.base.built import BuiltConfig, read_built, shard
from dataset_scripts.base.metadata import Metadata
from dataset_scripts.base.quality import Cleaner, LeakGuard
from dataset_scripts.base.reading import Dropped
from dataset_scripts.base.schema import Rows
from dataset_scripts.base.splits import SEED

SPLITS = ("train", "validation", "test")
Unit = TypeVar("Unit")  # what is never divided between splits: a discussion, claim or motion


@dataclass
class CorpusConfig(datasets.BuilderConfig):
    """What a user may choose when a corpus is built; a corpus with more options derives its own from this.

    Attributes:
        seed: Seed of whatever is random, above all of the split. A corpus with an official split has no use for it.
    """

    seed: int = SEED


@dataclass
class ResumableConfig(CorpusConfig):
    """Options of a corpus with RESUMABLE.

    Attributes:
        keep_work: Keep the work folder beside the output, so that a build with other options starts from it.
    """

    keep_work: bool = False


class Corpus(datasets.GeneratorBasedBuilder):
    """A raw corpus as a Hugging Face data set.

    A subclass states METADATA and FEATURES and writes `rows`; it may override `find_files`. Rows are generated
    in this process, so that the reasons counted in `dropped` are complete when a build ends.

    Attributes:
        METADATA: The declarative record.
        FEATURES: Configuration name -> column layout from `dataset_scripts.base.schema`.
        RESUMABLE: Whether a build goes on in the work folder of one that was interrupted. Such a corpus overrides
            `write` and has a BUILDER_CONFIG_CLASS that derives from `ResumableConfig`; its configurations may be empty.
        UNPUBLISHED: Options that say where and how a build runs, and change no row; card and summary leave them out.
        dropped: Reason -> number of raw items or rows not used, filled while rows are generated.
        facts: What else a build counts, such as how much of a published split leaks; printed, and put into the card.

    Example:
        >>> builder = Kialo.open("~/kialo-exports", "pairs", cache_dir="cache")   # doctest: +SKIP
        >>> builder.download_and_prepare()                                        # doctest: +SKIP
        >>> builder.as_dataset()["train"]                                         # doctest: +SKIP
    """

    METADATA: ClassVar[Metadata]
    FEATURES: ClassVar[dict[str, datasets.Features]]
    RESUMABLE: ClassVar[bool] = False
    UNPUBLISHED: ClassVar[tuple[str, ...]] = ("keep_work",)
    VERSION = datasets.Version("1.0.0")
    BUILDER_CONFIG_CLASS = CorpusConfig

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "METADATA" in cls.__dict__:
            cls.BUILDER_CONFIGS = [
                cls.BUILDER_CONFIG_CLASS(name=name, version=cls.VERSION, description=cls.METADATA.configs[name])
                for name in cls.FEATURES
            ]
            cls.DEFAULT_CONFIG_NAME = next(iter(cls.FEATURES))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.dropped = Dropped()
        self.facts: Counter[str] = Counter()
        super().__init__(*args, **kwargs)

    @classmethod
    def open(cls, data: str | Path, config: str | None = None, cache_dir: str | Path | None = None, **kwargs: Any):
        """Makes the builder for raw data.

        Args:
            data: File, folder or archive as METADATA.raw describes it.
            config: Configuration; the default one if None.
            cache_dir: Where prepared Arrow files are kept; the `datasets` cache if None.
            **kwargs: Fields of BUILDER_CONFIG_CLASS, such as `seed`.

        Raises:
            FileNotFoundError: If nothing at `data` belongs to this corpus.
            ValueError: If the configuration does not exist.
        """
        path = Path(data).expanduser()
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist; {cls.METADATA.name} needs {cls.METADATA.raw}")
        files = cls.find_files(path)
        if not files:
            raise FileNotFoundError(f"nothing at {path} belongs to {cls.METADATA.name}; it needs {cls.METADATA.raw}")
        # given ready-made, since `datasets` would take a path with brackets or stars for a pattern; the stamps make
        # the cache notice a file that has changed
        stamps = [(str(file), str(file.stat().st_size), str(file.stat().st_mtime_ns)) for file in files]
        data_files = DataFilesDict({"raw": DataFilesList([str(file) for file in files], stamps)})
        cache = str(cache_dir) if cache_dir is not None else None
        return cls(config_name=config, data_files=data_files, cache_dir=cache, **kwargs)

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """The raw files at a path, in a stable order. By default the file itself, or every file under a folder."""
        return [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())

    @classmethod
    def write(
        cls, data: Path, folder: Path, options: dict[str, Any], configs: Collection[str], work: Path
    ) -> dict[str, BuiltConfig]:
        """Writes the Parquet files of configurations; a corpus that makes its own, of many rows, overrides this.

        Args:
            data: The raw corpus.
            folder: The new output folder, empty; files are named by `built.shard`.
            options: Fields of BUILDER_CONFIG_CLASS that the user chose, and always the seed.
            configs: Configurations to write, in the order of METADATA.
            work: A folder for passing data. With RESUMABLE it is that of an interrupted build if there was one, maybe
                of other options or raw data; otherwise it is empty.

        Returns:
            Configuration -> what was written, see `built.read_built`.
        """
        written = {}
        for name in configs:
            builder = cls.open(data, name, cache_dir=work, **options)
            builder.download_and_prepare()
            (folder / name).mkdir(parents=True)
            for split, rows in builder.as_dataset().items():
                rows.to_parquet(folder / shard(name, split))
            written[name] = read_built(folder, name, builder.info, builder.dropped, builder.facts)
        return written

    @abstractmethod
    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (split, row) in one pass over the raw files.

        Whatever is not used is counted: `self.dropped[reason] += 1`. A file that cannot be understood at all
        raises ValueError naming the file, the line and the cure.
        """

    def clean(
        self,
        units: Iterable[tuple[str, Unit]],
        make_rows: Callable[[Unit], Rows],
        texts_of: Callable[[Unit], Iterable[str]],
        rules: tuple[Cleaner | LeakGuard, ...],
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (split, row) for what the rules keep: the test split first, so that it keeps what others copied.

        Args:
            units: (split, unit) in the order of the rows.
            make_rows: Unit -> its rows, each with the texts that the rules judge.
            texts_of: Unit -> all its texts, which no split that comes later may hold.
            rules: Asked in this order; the first that does not keep a row counts it.
        """
        by_split: dict[str, list[Unit]] = defaultdict(list)
        for split, unit in units:
            by_split[split].append(unit)
        for split in reversed(SPLITS):
            for texts, row in (item for unit in by_split[split] for item in make_rows(unit)):
                if all(rule.keep(*texts) for rule in rules):
                    yield split, row
            for guard in (rule for rule in rules if isinstance(rule, LeakGuard)):
                guard.hold_out(split, (text for unit in by_split[split] for text in texts_of(unit)))
        for rule in rules:
            self.dropped.update({f"row: {reason}": count for reason, count in rule.dropped.items()})

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=self.METADATA.description,
            features=self.FEATURES[self.config.name],
            homepage=self.METADATA.source,
            license=self.METADATA.licence,
            citation=self.METADATA.citation,
        )

    def _split_generators(self, dl_manager: datasets.DownloadManager) -> list[datasets.SplitGenerator]:
        self.dropped.clear()
        self.facts.clear()
        files = [Path(file) for file in self.config.data_files["raw"]]
        # one pass for all splits: duplicates and leaks can only be seen across them; tuples take a third of a dict
        by_split: dict[str, list[tuple[Any, ...]]] = {}
        for split, row in self.rows(files, self.config.name):
            by_split.setdefault(split, []).append(tuple(row[column] for column in self.info.features))
        if not by_split:
            raise ValueError(
                f"{self.METADATA.name}: no usable row in {len(files)} file(s); it needs {self.METADATA.raw}. "
                f"Dropped: {dict(self.dropped) or 'nothing'}"
            )
        order = sorted(by_split, key=lambda split: SPLITS.index(split) if split in SPLITS else len(SPLITS))
        return [datasets.SplitGenerator(name=split, gen_kwargs={"rows": by_split[split]}) for split in order]

    def _generate_examples(self, rows: list[tuple[Any, ...]]) -> Iterator[tuple[int, dict[str, Any]]]:
        columns = list(self.info.features)
        for index, row in enumerate(rows):
            yield index, dict(zip(columns, row, strict=True))
