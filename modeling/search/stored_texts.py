"""Texts and one vector for each of them in a folder: what every index is made of."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from dataset_scripts.base.files import read_json

FACTS, ROWS, VECTORS = "index.json", "rows.parquet", "vectors.npy"
REPAIR = "run the command that made it again, it replaces what is damaged"


class StoredTexts:
    """The folder of an index; a subclass says what can be asked of it.

    It holds `vectors.npy` (unit vectors, float32, one per distinct text), `rows.parquet` (the kept rows: `row` of the
    source, `id`, `text`, `group`, and `vector`, the number of the text's vector) and `index.json` (facts).

    Attributes:
        folder: Where it lies.
        facts: Content of `index.json`: model, source, columns, counts.
        KIND: What `index.json` calls an index of this class.
        COMMAND: The command that makes one.
    """

    KIND: ClassVar[str] = "texts"
    COMMAND: ClassVar[str] = "embed"

    def __init__(self, folder: str | Path, facts: dict[str, Any], model: str | None = None) -> None:
        self.folder, self.facts, self._model_name = Path(folder), facts, model

    @classmethod
    def open(cls, folder: str | Path, model: str | None = None) -> Self:
        """Opens a finished index. Nothing large is read before it is asked for.

        Args:
            folder: Written by `build`.
            model: Where its model is now, if no longer under the name that the index records.

        Raises:
            ValueError: If there is no such index, or an unfinished or damaged one.
        """
        folder = Path(folder).expanduser()
        facts = read_json(folder / FACTS)
        command = f"python -m modeling.search {cls.COMMAND} SOURCE --out"
        if facts is None:
            raise ValueError(f"{folder} is no index: make one with {command} {folder}")
        if (kind := facts.get("kind", StoredTexts.KIND)) != cls.KIND:
            raise ValueError(f"{folder} is an index of {kind}, not of {cls.KIND}: make one with {command} ANOTHER")
        if not facts["complete"]:
            raise ValueError(f"{folder} is not finished: run the command that makes it again, it continues")
        index = cls(folder, facts, model)
        for name in (ROWS, VECTORS):
            if not (folder / name).is_file():
                raise ValueError(f"{folder} is damaged, {name} is missing: {REPAIR}")
        if index.vectors.shape != index.shape:
            raise ValueError(f"{folder} is damaged, {VECTORS} has another shape: {REPAIR}")
        return index

    @property
    def shape(self) -> tuple[int, int]:
        """Distinct texts and dimensions, as the facts have them."""
        return self.facts["counts"]["distinct"], self.facts["dimension"]

    @cached_property
    def vectors(self) -> np.ndarray:
        """Unit vectors of the distinct texts: read-only memory map of shape (m, dimension), float32."""
        try:
            # there are more in the file if an extension was interrupted
            return np.load(self.folder / VECTORS, mmap_mode="r")[: self.shape[0]]
        except (ValueError, EOFError) as error:  # EOFError: the file is empty
            raise ValueError(f"{self.folder / VECTORS} is damaged ({error}): {REPAIR}") from error

    @cached_property
    def model(self) -> Any:
        """What made the vectors, loaded when first needed.

        Raises:
            ValueError: If it cannot be loaded, or is not the one that made the index.
        """
        from modeling.base.vectors import differs

        name = self._model_name or self.facts["model"]
        model = self.load_model(name)
        if reason := differs(self.facts, self.behaviour(model)):
            raise ValueError(
                f"{self.folder} was made with {self.facts['model']!r}, and {name!r} is another model ({reason}). Ask "
                "with that one, or embed the texts again into another folder"
            )
        return model

    @staticmethod
    def load_model(name: str) -> Any:
        """Loads a model by its name."""
        from modeling.base.models import load_model

        return load_model(name)

    @staticmethod
    def behaviour(model: Any) -> dict[str, Any]:
        """What tells the model from others; see `modeling.base.vectors.behaviour`."""
        from modeling.base.vectors import behaviour

        return behaviour(model)
