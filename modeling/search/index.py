"""A collection of texts embedded once, on disk, and asked any number of statements."""

from __future__ import annotations

import copy
import shutil
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from filelock import FileLock

from dataset_scripts.base.cli import suggest
from dataset_scripts.base.files import read_json, space, write_json
from modeling.search.texts import MAX_CHARACTERS, Collection, clean, read_texts

if TYPE_CHECKING:
    from modeling.search.coded import Coded
    from modeling.search.lenses import Lens
    from modeling.search.questions import Axis

MODEL = "stance-minilm"
FACTS, ROWS, VECTORS, PROBES = "index.json", "rows.arrow", "vectors.npy", "probes.npy"
EMBEDDED, LOCK = ".embedded", ".lock"  # what an interrupted build has embedded; held by whoever builds
PROBED = (
    "The council decided to build more cycle lanes.",
    "I am strongly against a higher tax on sugar!",
    "Why does nobody ask the children?",
)
TOLERANCE = 5e-3  # between vectors of the same text on two machines; other models are ten times as far apart
BLOCK = 65_536  # vectors of which the best are chosen, or that are added, at once: 100 MB of MiniLM's
ROWS_AT_ONCE = 2_048  # that are multiplied: in single precision they stay in the processor's cache


class Index:
    """Texts, their groups, and the vectors of every distinct text. Made by `Index.build` or `Index.open`.

    Of an adapted model, texts are seen through two lenses (`modeling.search.lenses`), topic and side; any other model
    is a lens of its own. The folder holds `index.json` (facts, and which subfolder is the index) and that subfolder
    with `vectors.npy` (a row per distinct text; of two lenses the side's vector, the topic's and the crowding; float32,
    or float16 where an engine embedded) and `rows.arrow` (`row` of the source, `id`, `group`, and `text`, a dictionary
    whose codes are the numbers of the vectors). Both are memory-mapped. A build makes a new subfolder and then replaces
    `index.json`: whoever has the old one open goes on reading it as a whole.
    """

    side: float | None = None  # weight of the side's cosine beside the topic's; None: that of `ask`

    def __init__(self, folder: Path, facts: dict[str, Any], model: Any = None, lens: Lens | None = None) -> None:
        self.folder, self.facts, self._model = folder, facts, model
        self.lenses: int = facts["lenses"]
        self.lens: Lens = lens or ("both" if self.lenses == 2 else "side")
        self._part, d = folder / facts["generation"], facts["dimension"]
        self._stored = np.load(self._part / VECTORS, mmap_mode="c")  # nothing is written; torch takes no "r"
        self.vectors = self._stored[:, :d]  # unit vectors of the distinct texts by the model, (m, d)
        self.table = pa.ipc.open_file(pa.memory_map(str(self._part / ROWS))).read_all()
        self._probes = np.load(self._part / PROBES)
        width = d if self.lenses == 1 else 2 * d + 1
        if not len(self) == len(self.texts) == facts["counts"]["distinct"] or self._stored.shape[1] != width:
            raise ValueError(f"{VECTORS} and {ROWS} do not fit {FACTS}")

    @classmethod
    def open(cls, folder: str | Path, model: Any = None, lens: Lens | None = None) -> Self:
        """Opens a finished index; a ValueError if there is none, it is unfinished or damaged, or has not this lens.

        Args:
            folder: Written by `build`.
            model: Where its model is now, if no longer under the name that the index records; or the model itself.
            lens: What questions go by: `topic`, `side`, or `both`, the default where the index has two.
        """
        folder = Path(folder).expanduser()
        facts = _facts(folder)
        if facts is None and (folder / EMBEDDED).is_dir():
            raise ValueError(f"{folder} is not finished: give the command that makes it again, it continues")
        if facts is None:
            raise ValueError(f"{folder} is no index: make one with opinion embed SOURCE -o {folder}")
        if lens in ("both", "topic") and facts["lenses"] == 1:
            cure = "embed it with an adapted model, such as stance-minilm, and --lens both"
            raise ValueError(f"--lens {lens}: {folder} has one lens alone, that of its model; {cure}")
        try:
            return cls(folder, facts, model, lens)
        except (OSError, ValueError, EOFError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
            cure = "give the command that made it again, it replaces what is damaged"
            raise ValueError(f"{folder} is damaged ({reason}): {cure}") from error

    @classmethod
    def build(
        cls,
        source: str | Path | pd.DataFrame,
        out: str | Path,
        model: Any = MODEL,
        batch_size: int = 128,
        overwrite: bool = False,
        max_characters: int = MAX_CHARACTERS,
        lens: Lens = "both",
        engine: bool = False,
        workers: int | None = None,
        backend: str = "torch",
        precision: str = "fp32",
        **reading: Any,
    ) -> Self:
        """Embeds a source of texts; continues what was interrupted, replaces what is damaged, repeats nothing else.

        Args:
            source: A file, a folder, a data set or a table; `max_characters` and `reading` (`text`, `group`, `id`,
                `config`, `split`, `encoding`) as for `modeling.search.texts.read_texts`.
            out: Folder of the index.
            model: See `modeling.base.models.load_model`; or a model, with `encode_query` and `encode_document`. One
                that ranks by more than its embeddings has an `index_encoder`, whose vectors are kept instead.
            batch_size: Texts per forward pass.
            overwrite: Discard an index of other texts or another model.
            lens: `side` for the model alone, in half the time and space; `both` for its base beside it, if it has one.
            engine: Embed a model that is given by its name with the engine of this process (`modeling.search.scale`),
                to vectors of half precision, by so many `workers`.
            backend: With `precision`, what computes a model that is given by name; see `load_model`.
        """
        folder = Path(out).expanduser()
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"-o {folder} is a file: name a folder")
        entries = {entry.name for entry in folder.iterdir()} - {LOCK} if folder.is_dir() else set()
        if entries and not entries & {FACTS, EMBEDDED}:
            raise ValueError(f"-o {folder} is not empty and no index: choose another folder")
        collection = read_texts(source, max_characters=max_characters, **reading)
        name, model = _place(model), _load(model, 2 if lens == "both" else 1, backend, precision)
        facts = {"model": name, "lenses": _lenses(model), "max_seq_length": getattr(model, "max_seq_length", None)}
        facts |= {"max_characters": max_characters, "columns": collection.columns, "parts": [_part(collection)]}
        facts |= {"backend": backend, "precision": precision}
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / LOCK):
            stored, old = _facts(folder), None
            with suppress(OSError, ValueError, EOFError):
                old = cls(folder, stored, model) if stored else None
            changes = _differences(stored, facts, old and old._unlike(model)) if stored else []
            if changes and not overwrite:
                cure = "Choose another -o, or discard it with --overwrite"
                raise ValueError(f"{folder} was made from something else: {'; '.join(changes)}. {cure}")
            if old is not None and not changes:
                return old  # also one that was added to
            by_engine = None
            if engine:
                from modeling.base.models import identity
                from modeling.search.scale import embed

                parts = folder / EMBEDDED / f"parts-{identity(model)}-{collection.digest[:16]}-{batch_size}"
                load = partial(_load, name, _lenses(model), backend, precision)
                by_engine = partial(embed, load=load, folder=parts, batch_size=batch_size, workers=workers)
            return cls._write(folder, collection.rows, facts, model, old, batch_size, by_engine)

    def add(self, source: str | Path | pd.DataFrame, batch_size: int = 128, **reading: Any) -> Self:
        """The index with the rows of another source, whose `row` counts on; a source that it has is not added twice.

        The arguments are those of `build`; columns that are not named are those of the first source, where it has such.
        """
        new = read_texts(source, max_characters=self.facts["max_characters"], usual=self.facts["columns"], **reading)
        with FileLock(self.folder / LOCK):
            old = self.open(self.folder, self.model)  # another process may have added to it
            parts = old.facts["parts"]
            if any(part["digest"] == new.digest for part in parts):
                return old
            first = sum(part["counts"]["read"] for part in parts)
            rows = new.rows.set_column(0, "row", pc.add(new.rows["row"], first))
            rows = pa.concat_tables([old.table, rows]).unify_dictionaries().combine_chunks()
            known = len(old) + new.counts.distinct - len(rows["text"].chunk(0).dictionary)
            facts = old.facts | {"parts": [*parts, _part(new) | {"first_row": first, "known": known}]}
            return self._write(self.folder, rows, facts, self.model, old, batch_size)

    @classmethod
    def _write(
        cls,
        folder: Path,
        rows: pa.Table,
        facts: dict[str, Any],
        model: Any,
        old: Self | None,
        batch_size: int,
        by_engine: Callable[[pa.Array], np.ndarray] | None = None,
    ) -> Self:
        """Writes a subfolder of its own and makes it the index; the caller has the lock."""
        from modeling.base.vectors import Vectors  # imports torch

        part, texts = folder / uuid.uuid4().hex[:12], rows["text"].chunk(0).dictionary
        vectors = Vectors(getattr(model, "index_encoder", model), folder / EMBEDDED, "document")
        same = old is not None and _runtime(old.facts) == _runtime(facts) and not old._unlike(model)
        if same and not by_engine:
            known = pc.index_in(texts, value_set=old.texts).drop_null().to_numpy()
            width = old.lenses * old.facts["dimension"]  # without the crowding, which is of a whole collection
            for block in np.split(known, range(BLOCK, len(known), BLOCK)):
                vectors.put(old.texts.take(pa.array(block)).to_pylist(), old._stored[block, :width].astype(np.float32))
        embedded = by_engine(texts) if by_engine else vectors(texts.to_pylist(), batch_size)
        with space(folder):
            part.mkdir()
            np.save(part / PROBES, probe(model))
            # by Arrow's files: numpy does not say of its own that a disk is full
            with pa.OSFile(str(part / VECTORS), "wb") as file:
                _save(file, embedded, _lenses(model))
            with pa.OSFile(str(part / ROWS), "wb") as file, pa.ipc.new_file(file, rows.schema) as writer:
                writer.write_table(rows)
        facts |= {"dimension": embedded.shape[1] // _lenses(model), "counts": {"distinct": len(texts)}}
        write_json(folder / FACTS, {**facts, "generation": part.name})
        for entry in folder.iterdir():  # who has the old one open keeps its files
            if entry.name == EMBEDDED or ((entry / PROBES).is_file() and entry != part):
                shutil.rmtree(entry, ignore_errors=True)
        return cls.open(folder, model)

    def __len__(self) -> int:
        return len(self.vectors)

    @cached_property
    def texts(self) -> pa.LargeStringArray:
        """The distinct texts, in the order of the vectors; m strings."""
        return self.table["text"].chunk(0).dictionary

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows without their texts: `row`, `id`, `group` (a category; missing where unknown), `vector`."""
        frame = self.table.select(["row", "id", "group"]).to_pandas()
        return frame.assign(vector=self.table["text"].chunk(0).indices.to_numpy())

    @cached_property
    def groups(self) -> dict[str, int]:
        """Group -> rows, the largest first, groups of one size by name."""
        sizes = self.rows["group"].value_counts().to_dict()
        return dict(sorted(sizes.items(), key=lambda item: (-item[1], item[0])))

    @cached_property
    def model(self) -> Any:
        """What made the vectors, loaded when first needed; raises a ValueError if it is another model now."""
        name = self.facts["model"] if self._model is None else self._model
        model = _load(name, self.lenses, *_runtime(self.facts))
        if reason := self._unlike(model):
            raise ValueError(
                f"{self.folder} was made with {self.facts['model']!r}, and {_place(name)!r} is another model "
                f"({reason}). Ask with that one, or embed the texts again into another folder"
            )
        return model

    def _unlike(self, model: Any) -> str | None:
        """Why a model is not the one of this index, or None."""
        if (lenses := _lenses(model)) != self.lenses:
            return "two lenses instead of one, which --lens side keeps" if lenses == 2 else "one lens instead of two"
        probes, tokens = probe(model), getattr(model, "max_seq_length", None)
        if probes.shape != self._probes.shape:
            return f"{probes.shape[-1]} dimensions instead of {self._probes.shape[-1]}"
        if np.abs(probes - self._probes).max() > TOLERANCE:
            return "fixed sentences get other vectors"
        if tokens != self.facts["max_seq_length"]:
            return f"it reads {tokens} tokens instead of {self.facts['max_seq_length']}"
        return None

    def clean(self, statements: str | Sequence[str]) -> list[str]:
        """Statements, cleaned like the texts; raises a ValueError if there is none, or an empty one."""
        statements = as_list(statements)
        cleaned = [clean(text, self.facts["max_characters"])[0] if isinstance(text, str) else "" for text in statements]
        if not cleaned or not all(cleaned):
            raise ValueError("a statement is empty: give each as a sentence in quotes")
        return cleaned

    def through(self, lens: Lens) -> Self:
        """The same index, seen through another lens; with one lens there is no other."""
        other = copy.copy(self)
        if self.lenses == 2:
            other.lens = lens
        return other

    def encode(self, statements: str | Sequence[str]) -> np.ndarray:
        """Vectors of statements, to be compared with `embeddings`; shape (n, d), float32. Raises as `clean`.

        Through both lenses they have 2 d + 1 numbers, see `modeling.search.lenses.weigh`.
        """
        return self._seen(self._by_model(statements, "query"))

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of texts that the index may lack, through one lens; shape (n, d), float32. Raises as `clean`."""
        return self._by_model(texts, "document")[:, self._columns]

    def _by_model(self, texts: str | Sequence[str], task: Literal["query", "document"]) -> np.ndarray:
        """Vectors as the model gives them, of as many lenses as the index has."""
        cleaned = self.clean(texts)  # before the model is loaded
        encode = getattr(getattr(self.model, "index_encoder", self.model), f"encode_{task}")
        return encode(cleaned, normalize_embeddings=True, show_progress_bar=False)

    def _seen(self, vectors: np.ndarray) -> np.ndarray:
        """What the lens of the index makes of statements' vectors by the model."""
        if self.lens != "both":
            return vectors[:, self._columns]
        from modeling.search.lenses import SIDE, weigh  # imports torch

        return weigh(vectors, SIDE if self.side is None else self.side)

    @property
    def _columns(self) -> slice:
        """Those that the lens reads of the stored vectors."""
        d = self.facts["dimension"]
        return {"both": slice(None), "side": slice(d), "topic": slice(d, 2 * d)}[self.lens]

    def embeddings(self, numbers: slice | np.ndarray) -> np.ndarray:
        """Vectors that statements are compared with, of k texts by their numbers; shape (k, d or 2 d + 1), float32."""
        import torch  # which turns half precision into single nine times as fast as numpy

        return torch.from_numpy(self._stored[numbers, self._columns]).float().numpy()

    def dots(self, queries: np.ndarray) -> np.ndarray:
        """Dot products of query vectors with all texts', by blocks of the memory map; shape (queries, m)."""
        dots = self._dots(queries, 0, len(self))
        return np.clip(dots, -1.0, 1.0, out=dots)

    def _dots(self, queries: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Dot products of queries with the texts between two numbers, shape (queries, stop - start), float32."""
        dots = np.empty((len(queries), stop - start), np.float32)
        for first in range(start, stop, ROWS_AT_ONCE):
            last = min(first + ROWS_AT_ONCE, stop)
            np.matmul(queries, self.embeddings(slice(first, last)).T, out=dots[:, first - start : last - start])
        return dots

    def nearest(self, queries: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and dot products of the `top` texts for each query, best first; shapes (queries, top)."""
        numbers, dots = np.empty((len(queries), 0), np.int64), np.empty((len(queries), 0), np.float32)
        for start in range(0, len(self), BLOCK):
            block = self._dots(queries, start, min(start + BLOCK, len(self)))
            best = np.argpartition(-block, min(top, block.shape[1]) - 1, axis=1)[:, :top]
            numbers = np.hstack([numbers, start + best])
            dots = np.hstack([dots, np.take_along_axis(block, best, 1)])
            best = np.lexsort([numbers, -dots])[:, :top]
            numbers, dots = np.take_along_axis(numbers, best, 1), np.take_along_axis(dots, best, 1)
        return numbers, dots

    def ask(self, statements: str | Sequence[str], top: int = 10, threshold: float | None = None) -> pd.DataFrame:
        """The texts most similar to each statement, by exact search through the lens of the index.

        `top` texts per statement at most, with a similarity of at least `threshold`, in [-1, 1]. An empty statement is
        a ValueError.

        Returns:
            `statement`, `rank` (from 1), `similarity`, of both lenses `topic` and `side` (the cosines that it weighs),
            and what `with_carriers` says of the text.
        """
        statements = as_list(statements)
        vectors = self._by_model(statements, "query")
        numbers, similarities = self.nearest(self._seen(vectors), top)
        alone = [self.through(lens) for lens in ("topic", "side") if self.lens == "both"]
        parts = {each.lens: np.einsum("nkd,nd->nk", each.embeddings(numbers), each._seen(vectors)) for each in alone}
        hits = pd.DataFrame(
            {
                "statement": np.repeat(np.array(statements, object), numbers.shape[1]),
                "rank": np.tile(np.arange(1, numbers.shape[1] + 1), len(statements)),
                "similarity": np.minimum(similarities.ravel().astype(float), 1.0),
                **{lens: cosines.ravel().astype(float) for lens, cosines in parts.items()},
                "vector": numbers.ravel(),
            }
        )
        hits = hits if threshold is None else hits[hits["similarity"] >= threshold]
        return self.with_carriers(hits)

    def with_carriers(self, hits: pd.DataFrame) -> pd.DataFrame:
        """Hits with their texts, and the rows that carry these, in the place of the column `vector`, their numbers.

        `text`, `rows` (how many), `rows_GROUP` for each group (of rows with a group), and `id` and `row` of the first.
        """
        numbers = hits["vector"].to_numpy(np.int64)
        rows = self.rows[self.rows["vector"].isin(numbers)]
        counts = pd.crosstab(rows["vector"], rows["group"]).reindex(numbers, fill_value=0)
        first = rows.drop_duplicates("vector").set_index("vector").loc[numbers]
        carriers = {
            "text": self.texts.take(pa.array(numbers)).to_pylist(),
            "rows": rows.groupby("vector").size().loc[numbers].to_numpy(),
            **{f"rows_{name}": counts[name].to_numpy() if name in counts else 0 for name in self.groups},
            "id": first["id"].astype(object).where(first["id"].notna(), None).to_numpy(),
            "row": first["row"].to_numpy(),
        }
        return hits.drop(columns="vector").assign(**carriers).reset_index(drop=True)

    def align(
        self, queries: Iterable[tuple[str, str]], thresholds: Iterable[float] = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    ) -> pd.DataFrame:
        """Whose texts statements find, or a ValueError that lists the groups; see `modeling.search.questions.align`."""
        queries = list(queries)
        if not self.groups:
            raise ValueError(f"{self.folder} has no groups: embed the source again with --group COLUMN")
        if strange := next((target for _, target in queries if target not in self.groups), None):
            listed = ", ".join(list(self.groups)[:10]) + suggest(strange, self.groups)
            raise ValueError(f"{strange!r} is no group of {self.folder}; it has {listed}")
        from modeling.search import questions  # imports what evaluates, torch with it

        return questions.align(self, queries, list(thresholds))

    def axis(
        self,
        positive: str | Sequence[str],
        negative: str | Sequence[str],
        min_similarity: float | None = None,
        coded: Coded | None = None,
        learn: bool = False,
    ) -> Axis:
        """Where texts lie between two opposite statements; see `modeling.search.questions.axis`."""
        from modeling.search import questions

        index = self.through("side") if self.lens == "both" else self
        return questions.axis(index, as_list(positive), as_list(negative), min_similarity, coded, learn)


def as_list(statements: str | Sequence[str]) -> list[str]:
    """One statement or several as a list."""
    return [statements] if isinstance(statements, str) else list(statements)


def probe(model: Any) -> np.ndarray:
    """Vectors of fixed sentences as questions and as texts, which tell a model from others; shape (2 or 4, n, d)."""
    models = [model, *([model.index_encoder] if hasattr(model, "index_encoder") else [])]
    options = {"normalize_embeddings": True, "show_progress_bar": False, "batch_size": len(PROBED)}
    return np.stack([f(list(PROBED), **options) for each in models for f in (each.encode_query, each.encode_document)])


def _runtime(facts: dict[str, Any]) -> tuple[str, str]:
    """Backend and precision of an index."""
    return facts["backend"], facts["precision"]


def _load(model: Any, lenses: int, backend: str, precision: str) -> Any:
    """A model, and beside it its base where two lenses are wanted and it has one; or the model that was given."""
    if not isinstance(model, str | Path):
        return model
    from modeling.base.models import load_model  # imports torch; what is cheap to check was checked before
    from modeling.search.lenses import load_lenses

    return (load_lenses if lenses == 2 else load_model)(model, backend, precision)


def _lenses(model: Any) -> int:
    """Vectors that an encoder gives a text."""
    return getattr(model, "lenses", 1)


def _save(file: Any, vectors: np.ndarray, lenses: int) -> None:
    """Writes vectors in numpy's format, those of two lenses with the crowding behind them, by blocks."""
    if lenses == 1:
        return np.save(file, vectors)
    from modeling.search.lenses import with_crowding

    shape = (len(vectors), vectors.shape[1] + 1)
    header = {"descr": vectors.dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    for block in with_crowding(vectors, BLOCK):
        file.write(block.astype(vectors.dtype).tobytes())


def _place(model: Any) -> str | None:
    """The name to find a model by; a relative path would mean another folder when asked from elsewhere."""
    if not isinstance(model, str | Path):
        return None
    place = Path(model).expanduser()
    return str(place.resolve()) if place.is_dir() else str(model)


def _differences(stored: dict[str, Any], facts: dict[str, Any], unlike: str | None) -> list[str]:
    """In what an index differs from what it would be now; each entry says what was and what is."""
    changes = [f"the model was {stored['model']!r} and is {facts['model']!r} now ({unlike})"] if unlike else []
    ran, runs = _runtime(stored), _runtime(facts)
    if ran != runs and (unlike or "int8" in (*ran, *runs)):
        changes.append(f"it was computed by {' in '.join(ran)} and is by {' in '.join(runs)} now")
    for name, column in stored["columns"].items():
        if column != (now := facts["columns"][name]):
            changes.append(f"the column of the {name} was {column!r} and is {now!r} now")
    if stored["max_characters"] != facts["max_characters"]:
        changes.append(f"texts were cut at {stored['max_characters']:,} characters, now at {facts['max_characters']:,}")
    was, now = stored["parts"][0], facts["parts"][0]
    if not changes and was["digest"] != now["digest"]:
        size = "{source} has {counts[kept]:,} with {counts[distinct]:,} distinct texts"
        changes.append(f"the rows differ: {size.format(**was)}, {size.format(**now)} now")
    return changes


def _facts(folder: Path) -> dict[str, Any] | None:
    facts = read_json(folder / FACTS)
    if facts is not None and "precision" not in facts:
        raise ValueError(f"{folder} is an index of an older version: embed the texts again into another folder")
    return facts


def _part(collection: Collection) -> dict[str, Any]:
    """What `index.json` says of one of its sources."""
    facts = {name: getattr(collection, name) for name in ("source", "columns", "digest")}
    return facts | {"first_row": 0, "counts": asdict(collection.counts)}
