"""The base class of all builders: files in, cleaned and split rows out, every dropped row counted."""

import dataclasses
import re
from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import datasets
from datasets.data_files import DataFilesDict, DataFilesList

from dataset_scripts.base.cli import validate
from dataset_scripts.base.metadata import Metadata
from dataset_scripts.base.quality import Cleaner, LeakGuard, TestSetGuard
from dataset_scripts.base.reading import Dropped, find_release, members
from dataset_scripts.base.schema import Rows
from dataset_scripts.base.splits import SPLITS

Unit = TypeVar("Unit")  # what is never divided between splits: a discussion, claim or motion
Rule = Cleaner | LeakGuard | TestSetGuard


@dataclasses.dataclass
class BuiltConfig:
    """One configuration as it was built."""

    info: datasets.DatasetInfo  # its columns and splits, with their rows and bytes
    files: dict[str, list[str]]  # split -> its Parquet files in the order of the rows, relative to the card
    dropped: dict[str, int]  # reason -> number of raw items or rows not used
    facts: dict[str, int]  # what else the builder counted
    classes: dict[str, int]  # class -> rows, where the rows have classes
    first: dict[str, str] = dataclasses.field(default_factory=dict)  # reason -> where the first such item is

    @property
    def counts(self) -> dict[str, int]:
        """Split -> rows."""
        return {name: split.num_examples for name, split in self.info.splits.items()}


class Corpus(datasets.GeneratorBasedBuilder):
    """A raw corpus as a Hugging Face data set.

    A subclass states METADATA and FEATURES and writes `rows`; it says which files it reads by RELEASES, RAW or
    `find_files`. The options of METADATA are fields of `self.config`. `dropped` (reason -> raw items or rows not used)
    and `facts` (what else a build counts) are filled while rows are generated, printed, and put into the card.
    """

    METADATA: ClassVar[Metadata]
    FEATURES: ClassVar[dict[str, datasets.Features]]  # configuration -> column layout from `base.schema`
    RELEASES: ClassVar[Sequence[Sequence[str]]] = ()  # names of the files of each, see `reading.find_release`
    RAW: ClassVar[re.Pattern[str]] = re.compile(".*")  # names of raw files, where there are no RELEASES
    # whether a build goes on in the work folder of one that was interrupted: such a corpus overrides `write`, has an
    # option `keep_work`, and its configurations may be empty
    RESUMABLE: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "METADATA" in cls.__dict__:
            fields = cls.METADATA.options_model.model_fields.items()
            options = [(name, field.annotation, dataclasses.field(default=field.default)) for name, field in fields]
            cls.BUILDER_CONFIG_CLASS = dataclasses.make_dataclass("Config", options, bases=(datasets.BuilderConfig,))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.dropped, self.facts = Dropped(), Counter()
        super().__init__(*args, **kwargs)

    @classmethod
    def open(
        cls,
        data: str | Path | Sequence[str | Path],
        config: str | None = None,
        cache_dir: str | Path | None = None,
        **options: Any,
    ) -> Self:
        """Makes the builder of a configuration, by default the first, for what METADATA.raw describes, at paths.

        A value that an option (`seed`, those of METADATA) does not take raises ValueError, a path with nothing of this
        corpus FileNotFoundError.
        """
        options = validate(cls.METADATA.options_model, options).model_dump(include=set(options))
        files = cls.raw_files(data if isinstance(data, list | tuple) else [data])
        # given ready-made, since `datasets` would take a path with brackets or stars for a pattern; the stamps make
        # the cache notice a file that has changed
        stamps = [(str(file), str(file.stat().st_size), str(file.stat().st_mtime_ns)) for file in files]
        data_files = DataFilesDict({"raw": DataFilesList(list(map(str, files)), stamps)})
        name, cache = config or next(iter(cls.FEATURES)), cache_dir and str(cache_dir)
        return cls(config_name=name, data_files=data_files, cache_dir=cache, **options)

    @classmethod
    def raw_files(cls, data: Iterable[str | Path]) -> list[Path]:
        """The files of this corpus at some paths, each once; FileNotFoundError if there are none at one of them."""
        files: dict[Path, None] = {}
        for path in (Path(path).expanduser() for path in data):
            name, needs = cls.METADATA.name, cls.METADATA.raw
            if not path.exists():
                raise FileNotFoundError(f"{path} does not exist; {name} needs {needs}")
            if not (raw := cls.find_files(path)):
                raise FileNotFoundError(f"nothing at {path} belongs to {name}; it needs {needs}")
            files |= dict.fromkeys(raw)
        return list(files)

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """The raw files at a path, in a stable order: by default those of the first complete release of RELEASES.

        Without RELEASES it is the file, or every file below a folder, if its name is RAW; hidden ones are left out.
        """
        if cls.RELEASES:
            return find_release(path, cls.RELEASES, cls.METADATA.raw)
        files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
        return [file for file in files if not file.name.startswith(".") and cls.is_raw(file.name)]

    @classmethod
    def is_raw(cls, name: str) -> bool:
        """Whether a file may hold raw data, by its name."""
        return cls.RAW.fullmatch(name) is not None

    @classmethod
    def languages(cls, options: Mapping[str, Any]) -> list[str]:
        """Codes of the languages of a build with some options; by default those of METADATA."""
        return cls.METADATA.languages

    @classmethod
    def write(
        cls, files: list[Path], folder: Path, options: Mapping[str, Any], configs: Collection[str], work: Path
    ) -> dict[str, BuiltConfig]:
        """Writes configurations of a RESUMABLE corpus into an empty folder, by `build.shard` and `build.read_built`.

        `work` is the folder of an interrupted build if there was one, maybe of other options or raw data.
        """
        raise NotImplementedError

    @abstractmethod
    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (split, row) in one pass; what is not used is counted: `self.dropped.skip(reason, place)`.

        A file that cannot be understood at all raises ValueError naming the file, the line and the cure.
        """

    def table(
        self,
        files: Iterable[Path],
        columns: Collection[str] = (),
        wanted: Callable[[str], bool] = lambda name: True,
        **options: Any,
    ) -> Iterator[tuple[str, dict[str, str]]]:
        """Yields (place, row by column) of the tables in files, see `reading.members` and `Member.table`."""
        for member in members(files, wanted):
            for line, row in member.table(self.dropped, columns, **options):
                yield member.place(line), row

    def clean(
        self,
        units: Iterable[tuple[str, Unit]],
        make_rows: Callable[[Unit], Rows],
        texts_of: Callable[[Unit], Iterable[str]],
        rules: Sequence[Rule],
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (split, row) for what the rules keep: the test split first, so that it keeps what others copied.

        Args:
            units: (split, unit) in the order of the rows.
            make_rows: Unit -> its rows, each with the texts that the rules judge.
            texts_of: Unit -> all its texts, which no split that comes later may hold.
            rules: Asked in this order.
        """
        by_split: dict[str, list[Unit]] = defaultdict(list)
        for split, unit in units:
            by_split[split].append(unit)
        for split in reversed(SPLITS):
            for texts, row in (item for unit in by_split[split] for item in make_rows(unit)):
                if self.keeps(rules, *texts):
                    yield split, row
            for rule in rules:
                if isinstance(rule, LeakGuard):
                    rule.hold_out(split, (text for unit in by_split[split] for text in texts_of(unit)))

    def keeps(self, rules: Iterable[Rule], *texts: str) -> bool:
        """Whether all rules let a row of these texts stay; the first that does not counts it."""
        reason = next(filter(None, (rule.fault(*texts) for rule in rules)), None)
        if reason:
            self.dropped[f"row: {reason}"] += 1
        return reason is None

    def read_splits(self) -> dict[str, list[tuple[Any, ...]]]:
        """Split -> rows, as tuples in the order of the columns; fills `dropped` and `facts`."""
        self.dropped, self.facts = Dropped(), Counter()
        files = [Path(file) for file in self.config.data_files["raw"]]
        # one pass for all splits: duplicates and leaks can only be seen across them; tuples take a third of a dict
        by_split: dict[str, list[tuple[Any, ...]]] = {}
        for split, row in self.rows(files, self.config.name):
            by_split.setdefault(split, []).append(tuple(row[column] for column in self.info.features))
        if not by_split:
            raise self.no_rows(self.config.name, files, self.dropped)
        return {split: by_split[split] for split in dict.fromkeys([*SPLITS, *by_split]) if split in by_split}

    @classmethod
    def no_rows(cls, configs: str, files: Collection[Path], dropped: Mapping[str, int]) -> ValueError:
        """The error of a build without a row."""
        return ValueError(
            f"{cls.METADATA.name} ({configs}): no usable row in {len(files)} file(s); it needs {cls.METADATA.raw}. "
            f"Dropped: {dict(dropped) or 'nothing'}"
        )

    def _info(self) -> datasets.DatasetInfo:
        record, features = self.METADATA, self.FEATURES[self.config.name]
        about = {"homepage": record.source, "license": record.licence, "citation": record.citation}
        return datasets.DatasetInfo(description=record.description, features=features, **about)

    def _split_generators(self, dl_manager: datasets.DownloadManager) -> list[datasets.SplitGenerator]:
        return [datasets.SplitGenerator(name, gen_kwargs={"rows": rows}) for name, rows in self.read_splits().items()]

    def _generate_examples(self, rows: list[tuple[Any, ...]]) -> Iterator[tuple[int, dict[str, Any]]]:
        for index, row in enumerate(rows):
            yield index, dict(zip(self.info.features, row, strict=True))
