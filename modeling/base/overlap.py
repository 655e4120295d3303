"""What training and test data share: texts, and debates on motions that say nearly the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from datasets import Dataset
from sentence_transformers.util import semantic_search

from dataset_scripts.base.quality import bare
from dataset_scripts.base.schema import MOTIONS, NAMES, motions
from dataset_scripts.base.sources import list_configs, load_source, parts, source_name
from modeling.base.recipe import Recipe

LISTED = ["corpus", "group", "cosine", "train_corpus", "train_group"]


def recipe_sources(recipe: Recipe) -> tuple[list[str], list[str]]:
    """The sources that a recipe trains on, and those that it is tested on, the test splits of the former among them."""
    evaluated = [recipe[name] for name, source in recipe.options.sources().items() if source.evaluated]
    tested = [name for names in evaluated if names for name in names.split(",")]
    return recipe.training_sources(), list(dict.fromkeys([*tested, *recipe.data]))


class Side:
    """The texts and motions of one split of some sources, of the configurations `configs`, or of all.

    `texts` has the columns `corpus`, `letters` (`quality.bare` of the text), `place` (the first, `kialo/pairs[12]`) and
    `text`; `motions` has `corpus`, `group` and `motion`, the title and theses of a tree, or the statements of texts.
    """

    def __init__(self, sources: Sequence[str], split: str, cache: Path, configs: Sequence[str] | None = None) -> None:
        texts, stated = [], []
        for source in sources:
            corpus, count = source_name(source), len(texts)
            for part in parts(source):
                names = [name for name in list_configs(part) if configs is None or name in configs]
                splits = {name: rows for name in names if (rows := load_source(part, name, cache).get(split))}
                for name, rows in splits.items():
                    texts += [(corpus, *row) for row in _texts(f"{source_name(part)}/{name}", rows)]
                if splits and (config := next((name for name in MOTIONS if name in list_configs(part)), None)):
                    rows = load_source(part, config, cache).get(split)
                    stated += [(corpus, *row) for row in motions(config, rows)] if rows else []
            if len(texts) == count:
                raise ValueError(f"{source!r} has no {split} split of {', '.join(configs or ['any configuration'])}")
        self.texts = pd.DataFrame(texts, columns=["corpus", "letters", "place", "text"])
        self.texts = self.texts.drop_duplicates(["corpus", "letters"], ignore_index=True)
        self.motions = pd.DataFrame(stated, columns=["corpus", "group", "motion"]).drop_duplicates(ignore_index=True)


def _texts(where: str, rows: Dataset) -> Iterator[tuple[str, str, str]]:
    """Normal form, place and words of the rows' texts, each text once."""
    first: dict[str, int] = {}
    for name in rows.column_names:
        for number, value in enumerate(rows[name] if name not in NAMES else ()):
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str) and text:
                    first.setdefault(text, number)
    yield from ((bare(text), f"{where}[{number}]", text) for text, number in first.items())


def shared_texts(train: Side, test: Side) -> pd.DataFrame:
    """Texts that are in both: columns `corpus` (the test's), `test`, `train` (places) and `text`."""
    known = train.texts.drop_duplicates("letters").rename(columns={"place": "train"})[["letters", "train"]]
    both = test.texts.rename(columns={"place": "test"}).merge(known, on="letters")
    return both[["corpus", "test", "train", "text"]]


def near_motions(train: Side, test: Side, vectors: Callable[[list[str]], np.ndarray], least: float) -> pd.DataFrame:
    """The test's groups with a motion whose cosine to one of training is above `least`, the nearest first.

    `vectors` gives unit vectors of texts. Columns `corpus`, `group`, `cosine`, `train_corpus`, `train_group`, and the
    nearest two motions, `motion` and `train_motion`.
    """
    if train.motions.empty or test.motions.empty:
        return pd.DataFrame(columns=[*LISTED, "motion", "train_motion"])
    found = semantic_search(vectors(list(test.motions["motion"])), vectors(list(train.motions["motion"])), top_k=1)
    nearest = pd.DataFrame([hits[0] for hits in found])
    others = train.motions.iloc[nearest["corpus_id"]].reset_index(drop=True).add_prefix("train_")
    frame = test.motions.join(others).assign(cosine=nearest["score"])
    frame = frame[frame["cosine"] > least].sort_values("cosine", ascending=False, kind="stable")
    return frame.drop_duplicates(["corpus", "group"], ignore_index=True)[[*LISTED, "motion", "train_motion"]]


def summary(test: Side, shared: pd.DataFrame, near: pd.DataFrame) -> pd.DataFrame:
    """A row for each corpus that is tested on: its texts and debates, and how many of them training has, too."""
    debates = test.motions.drop_duplicates(["corpus", "group"])
    counts = {
        "texts": test.texts["corpus"].value_counts(sort=False),
        "in training": shared["corpus"].value_counts(),
        "debates": debates["corpus"].value_counts(),
        "near training": near["corpus"].value_counts(),
    }
    frame = pd.DataFrame(counts).reindex(test.texts["corpus"].unique()).fillna(0).astype(int)
    return frame.rename_axis("tested on").reset_index()


class LeftOut:
    """Groups that are not tested on: a CSV with columns `corpus` and `group`, as `opinion overlap -o` writes.

    `rows` are the test rows that were left out so far, by corpus.
    """

    def __init__(self, path: Path) -> None:
        try:
            frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        except (ValueError, OSError) as error:
            raise ValueError(f"{path} cannot be read as CSV ({' '.join(str(error).split())[:200]})") from None
        if missing := [name for name in ("corpus", "group") if name not in frame]:
            raise ValueError(f"{path} has no column {missing[0]!r}: write it with opinion overlap -o {path}")
        self.path, self.rows = path, Counter()
        self.groups = frame.groupby("corpus")["group"].agg(set).to_dict()

    def apply(self, rows: Dataset, source: str) -> Dataset:
        """The rows of a test split without those of the listed groups."""
        groups = self.groups.get(source_name(source))
        if not groups or "group" not in rows.column_names:
            return rows
        kept = np.flatnonzero(~pd.Series(rows["group"]).isin(groups))
        self.rows[source_name(source)] += len(rows) - len(kept)
        if not len(kept):
            raise ValueError(f"{self.path} lists all groups of {source_name(source)}: there is nothing left to test on")
        return rows.select(kept)

    def note(self) -> str:
        """What was left out; ValueError if nothing was."""
        if not +self.rows:
            names = ", ".join(self.groups) or "none"
            raise ValueError(f"{self.path}: no group of the test data is in it; it lists groups of {names}")
        parts = [f"of {name} that {self.path.name} lists ({count:,} rows)" for name, count in (+self.rows).items()]
        return f"Without the groups {', '.join(parts)}."
