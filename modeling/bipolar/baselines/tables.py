"""Who finds counter-arguments: word counts and any models, beside tables 2 and 3 of Shi et al. (2023)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import yaml
from sentence_transformers import SentenceTransformer
from tqdm.auto import tqdm

from dataset_scripts.base.schema import COUNTERS
from dataset_scripts.base.sources import has_config, load_split
from metrics.counterargument_accuracy.counterargument_accuracy import accuracy_interval, group_numbers
from modeling.base.evaluation import texts
from modeling.base.models import labels, load_model
from modeling.base.plots import dots
from modeling.base.results import by_model, memory
from modeling.bipolar.baselines.words import SimpleSD
from modeling.bipolar.candidates import SETTINGS, Candidates
from modeling.bipolar.evaluation import CLASSIFICATION, SHORTLISTS, Ranked, rank_all, retrieval
from modeling.bipolar.heads import heads_of

VERSION = 3  # of what is kept: one more where the same models and texts give other figures
BLOCK = 64  # points between two that are kept
CONFIGS = {"official": "counters_official", "clean": "counters"}
CORPUS = "counterargs"  # the printed figures stand beside test data with this in their name
UNSEEN = "official, unseen"
WORDS = "bm25"
RECALL = {f"recall_{k}": k for k in SHORTLISTS}
SETUP = "bert-base-uncased, trained for 200 epochs on the published split of counterargs-18"
TITLES = {
    "Accuracy@1 by candidates, % (table 2)": list(SETTINGS),
    "Accuracy@1 after the classifier alone re-ranks K, among all arguments (epa), % (table 3)": list(CLASSIFICATION),
    "Shortlists: share of points with an answer, %": list(RECALL),
}


def read_splits(source: str, cache: Path) -> dict[str, Candidates]:
    """Split, `official` or `clean`, -> who competes in the test data of a source; of both, if it has both.

    A ValueError if a column is missing, or a value no text.
    """
    splits = {}
    for name in [name for name in CONFIGS if has_config(source, CONFIGS[name])] or CONFIGS:
        rows, where = load_split(source, CONFIGS[name], "test", cache), f"{source} ({CONFIGS[name]}, test)"
        if "seen_in" in rows.column_names:
            seen = [value or "" for value in rows["seen_in"]]
            rows = rows.remove_columns("seen_in").add_column("seen_in", seen)
        splits[name] = Candidates({column: texts(rows, column, where) for column in COUNTERS})
    return splits


def load_models(names: Sequence[str]) -> dict[str, SentenceTransformer]:
    """Name -> model of those that names, "A" or "A+B", are made of; a ValueError if B has no heads to re-rank by."""
    models = {part: load_model(part) for part in dict.fromkeys("+".join(names).split("+")) if part not in ("", WORDS)}
    for name in names:
        reranker = name.partition("+")[2]
        if reranker and (reranker not in models or heads_of(models[reranker]) is None):  # bm25 is none of the models
            raise ValueError(f"--model {name}: {reranker} re-ranks nothing: it has no heads")
    return models


def measure(
    splits: Mapping[str, Candidates], names: Sequence[str], models: Mapping[str, SentenceTransformer], cache: Path
) -> pd.DataFrame:
    """The figures of Simple-SD, BM25 and models; what was computed before comes from disk.

    Args:
        names: Of models, "A" or "A+B": A retrieves, and B re-ranks; a model with heads does both. A is also `bm25`.
        models: From `load_models`.

    Returns:
        One row a figure: `who`, `model` (what tables call it), `data` (a split, or "official, unseen": the points that
        no earlier split has), `metric` (a setting, or "classification_K": accuracy@1; "recall_K"), `value`, `low` and
        `high` (95 % interval over groups of debates), `rows` (points).
    """
    records = []
    for split, candidates in splits.items():
        parts = {split: np.ones_like(candidates.seen)}
        if 0 < candidates.seen.sum() < len(candidates):
            parts[f"{split}, unseen"] = ~candidates.seen
        for label, ranked in tqdm(_ranked(candidates, names, models, cache), unit="row"):
            for data, part in parts.items():
                kept = [group for group, there in zip(candidates.groups, part, strict=True) if there]
                numbers = group_numbers(kept, len(kept))
                for metric in [metric for metric in ranked.hits if metric != "retrieval"]:
                    hits = ranked.hits[metric][part]
                    interval = accuracy_interval(hits, numbers, 1000, 0)
                    records.append(("ours", label, data, metric, hits.mean(), *interval, len(hits)))
            for k, share in ranked.recall.items():
                records.append(("ours", label, split, f"recall_{k}", share, None, None, len(candidates)))
    columns = ["who", "model", "data", "metric", "value", "low", "high", "rows"]
    return pd.DataFrame(records, columns=columns).astype({name: float for name in ("value", "low", "high")})


def _ranked(
    candidates: Candidates, names: Sequence[str], models: Mapping[str, SentenceTransformer], cache: Path
) -> Iterator[tuple[str, Ranked]]:
    """What tables call a row, and what it ranks."""
    heads, vectors = labels(list(models)), cache / "embeddings"
    yield "Simple-SD", _simple_sd(candidates, cache)
    by_words = bm25(candidates)
    yield "BM25", rank_all(candidates, by_words)
    for name in names:
        retriever, _, reranker = name.partition("+")
        similarities, log_odds = by_words, None
        if retriever != WORDS:
            queries, documents, log_odds = retrieval(models[retriever], candidates, vectors)
            similarities = queries @ documents.T
        label = heads.get(retriever, "BM25")
        if reranker:
            log_odds = retrieval(models[reranker], candidates, vectors)[2]
            ranked = rank_all(candidates, similarities, log_odds, settings=("epa",))
            ranked.hits = {name: hits for name, hits in ranked.hits.items() if name in CLASSIFICATION}
            yield f"{label} + {heads[reranker]}", ranked
            continue
        yield label, rank_all(candidates, similarities)
        if log_odds is not None:
            weight = heads_of(models[retriever]).fusion_weight
            ranked = rank_all(candidates, similarities, log_odds, weight)
            ranked.recall = {}  # that of retrieval
            yield f"{label}, {'classifier' if weight is None else f'similarity + {weight:g} x log-odds'}", ranked


def _simple_sd(candidates: Candidates, cache: Path) -> Ranked:
    kept, ranker = memory(cache).cache(_best_by_words, ignore=["ranker"]), SimpleSD(candidates)
    facts = candidates.texts, candidates.conclusions, candidates.premises, [candidates.of(name) for name in SETTINGS]
    digest, rows = joblib.hash(facts), range(len(candidates))
    blocks = [rows[start : start + BLOCK] for start in rows[::BLOCK]]
    bar = tqdm(blocks, "Simple-SD", unit_scale=BLOCK, unit="point", leave=False)
    best = np.concatenate([kept(digest, block, VERSION, ranker) for block in bar])
    return Ranked({setting: candidates.hits(best[:, number]) for number, setting in enumerate(SETTINGS)}, {})


def _best_by_words(digest: str, rows: range, version: int, ranker: SimpleSD) -> np.ndarray:
    return np.array([ranker.best(row) for row in rows])


def bm25(candidates: Candidates) -> np.ndarray:
    """BM25 of all texts for all points, shape (n, m): Lucene's idf, k1 1.5, b 0.75, without English stop words."""
    import bm25s  # an optional library

    words = bm25s.tokenize(candidates.texts, return_ids=False, show_progress=False)
    index = bm25s.BM25()
    index.index(words, show_progress=False)
    nothing = np.zeros(len(words), np.float32)
    return np.stack([index.get_scores(words[point]) if words[point] else nothing for point in candidates.points])


def printed() -> pd.DataFrame:
    """The paper's figures on the published split, as rows of `measure`."""
    record = yaml.safe_load((Path(__file__).parents[1] / "paper.yaml").read_text(encoding="utf-8"))["baselines"]
    rows = [(model, metric, value / 100) for model, figures in record.items() for metric, value in figures.items()]
    return pd.DataFrame(rows, columns=["model", "metric", "value"]).assign(who="paper", data="official")


def render(frame: pd.DataFrame, splits: Mapping[str, Candidates], data: str) -> str:
    """The tables as Markdown, with what their reader has to know."""
    parts = [f"{data}."]
    for split, points in splits.items():
        seen = int(points.seen.sum())
        earlier = f", {seen:,} of them in an earlier split" if seen else ""
        groups = f"{len(points):,} points of {len(set(points.groups)):,} groups of debates"
        parts.append(f"{split}: {groups}{earlier}, {len(points.texts):,} texts.")
    parts.append("±: half of the 95 % bootstrap interval over groups of debates (one thesis or text).")
    if (frame["who"] == "paper").any():
        parts.append(f"Rows of the paper: {SETUP}.")
    meanings = "; ".join(f"{name}: {meaning}" for name, meaning in SETTINGS.items())
    tables = {title: _table(frame[frame["data"] != UNSEEN], metrics) for title, metrics in TITLES.items()}
    unseen = _table(frame[frame["data"] == UNSEEN], [*SETTINGS, *CLASSIFICATION])
    tables["Official split, the points that no earlier split has, %"] = unseen
    return "\n\n".join(
        [" ".join(parts), f"{meanings}.", *(f"### {title}\n\n{table}" for title, table in tables.items() if table)]
    )


def _table(frame: pd.DataFrame, metrics: list[str]) -> str:
    """Percent, with half of the interval: a row for each model, a column for each metric and split."""
    frame = frame[frame["metric"].isin(metrics)]
    if frame.empty:
        return ""
    text = (100 * frame["value"]).map("{:.1f}".format)
    text += (50 * (frame["high"] - frame["low"])).map(lambda half: "" if half != half else f" ±{half:.1f}")
    found = set(zip(frame["metric"], frame["data"], strict=True))
    columns = [(metric, data) for metric in metrics for data in (*CONFIGS, UNSEEN) if (metric, data) in found]
    return by_model(frame.assign(text=text), {column: ", ".join(column) for column in columns})


def draw(frame: pd.DataFrame, path: Path, data: str) -> None:
    """Draws the accuracy among all arguments; of what only re-ranks, with the longest shortlist."""
    last = frame["metric"].isin(["epa", list(CLASSIFICATION)[-1]])
    rows = frame[last].drop_duplicates(["who", "model", "data"])
    rows = rows.assign(**{name: 100 * rows[name] for name in ("value", "low", "high")})
    title = f"Accuracy@1 among all arguments (epa), 95 % intervals: {data}"
    dots(rows, path, title, "accuracy@1, %", width=8.0)
