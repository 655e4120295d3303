"""Ways to choose texts by topic and order them by side with an encoder's base and its adapter, on families of a corpus.

    python -m tests.benchmarks.hits stance-minilm --data data/kialo,data/perspectrum -o ways.csv    # to choose by
    python -m tests.benchmarks.hits stance-minilm --data data/kialo --split test --statements 90 --chosen
    python -m tests.benchmarks.hits stance-minilm --data data/kialo --counter

The first measures every way on validation data; the second what was chosen, on others; the third what is against.

A score is `topic + w side`, cosines of the base and of the adapter, less a share of how crowded a text's topic is
(`modeling.search.lenses`), unless its way says otherwise. The weights of `modeling.search.lenses` are to be chosen on
validation data. `gain` is what a way finds more than the base alone, with its interval by bootstrap over statements.
Vectors are kept in `--cache-dir`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import bootstrap
from sentence_transformers import SentenceTransformer

from dataset_scripts.base.sources import load_split, source_name
from dataset_scripts.base.tables import markdown, write_table
from modeling.base.models import load_adapters
from modeling.base.vectors import Vectors
from modeling.search.lenses import CROWDED, SIDE, crowding
from modeling.stance.hits import FIRST, HitsEvaluator

WEIGHTS = (0.2, 0.3, 0.5, 0.7, 1.0)
CROWDINGS = (0.0, 0.5, 0.75, 1.0)
CANDIDATES = (8, 12, 20)
NEGATIONS = {"it is not true that": "It is not true that {}", "it is wrong to say that": "It is wrong to say that {}"}


def cosines(
    evaluator: HitsEvaluator, model: SentenceTransformer, cache: Path, negated: bool
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """By one lens: cosines of statements and of their negations with texts, and the vectors of statements and texts."""
    embed, asked = Vectors(model, cache), {"": evaluator.statements}
    for name, frame in NEGATIONS.items() if negated else ():
        asked[name] = [frame.format(text[0].lower() + text[1:]) for text in evaluator.statements]
    texts = embed(evaluator.texts)
    vectors = {name: embed(statements) for name, statements in asked.items()}
    return {name: each @ texts.T for name, each in vectors.items()}, vectors[""], texts


def among(topic: np.ndarray, side: np.ndarray, count: int) -> np.ndarray:
    """The side's scores for the `count` first texts of the topic, and less than any for the others."""
    places = np.argsort(-topic, axis=1)[:, :count]
    scores = np.full(topic.shape, -3.0)
    np.put_along_axis(scores, places, np.take_along_axis(side, places, axis=1), axis=1)
    return scores


def ways(
    evaluator: HitsEvaluator, model: SentenceTransformer, cache: Path, scales: list[float], towards: int = 1
) -> Iterator[tuple[str, np.ndarray]]:
    """Names and scores, shape (statements, texts); without scales only what was chosen, and its parts.

    The side beside the topic counts for a text, or against it where `towards` is -1.
    """
    everything = bool(scales)
    model.disable_adapters()
    by_topic, _, texts = cosines(evaluator, model, cache, everything)
    topic, crowd = by_topic[""], crowding(texts)
    spread = {crowded: topic - crowded * crowd for crowded in (CROWDINGS if everything else (0, CROWDED))}
    for crowded, scores in spread.items():
        yield f"topic - {crowded:g} crowding", scores
    for name, negation in list(by_topic.items())[1:]:
        yield f"2 topic - topic of '{name}'", 2 * topic - negation
    model.enable_adapters()
    layers = [layer for layer in model.modules() if hasattr(layer, "lora_A")]
    trained = [dict(layer.scaling) for layer in layers]
    for scale in scales or [1.0]:
        for layer, scaling in zip(layers, trained, strict=True):
            layer.scaling = {name: scale * value for name, value in scaling.items()}
        by_side, asked, texts = cosines(evaluator, model, cache, everything)
        side, of = towards * by_side[""], "side" if scale == 1 else f"side at {scale:g}"
        yield of, by_side[""]
        for crowded, weight in product(spread, WEIGHTS if everything else (SIDE,)):
            yield f"topic - {crowded:g} crowding + {weight:g} {of}", spread[crowded] + weight * side
        if not everything:
            return
        chosen, name = spread[CROWDED], f"topic - {CROWDED:g} crowding"
        for count in CANDIDATES:
            hidden = np.where(evaluator.own, -3, topic)
            yield f"{count} first of topic, by {of}", among(hidden, side, count)
            yield f"{count} first of topic, by {of} - topic", among(hidden, side - topic, count)
            yield f"{count} first of {name}, by {of}", among(np.where(evaluator.own, -3, chosen), side, count)
        for negation, weight in product(NEGATIONS, WEIGHTS):
            contrast = chosen + weight * (side - 0.5 * by_side[negation])
            yield f"{name} + {weight:g} ({of} - 0.5 {of} of '{negation}')", contrast
        mean = texts.mean(axis=0)
        centred = [(each - mean) / np.linalg.norm(each - mean, axis=1, keepdims=True) for each in (asked, texts)]
        for weight in WEIGHTS:
            yield f"{name} + {weight:g} {of}, centred on its mean", chosen + weight * (centred[0] @ centred[1].T)


def main() -> None:
    """Prints and writes the table, the best way first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="stance-minilm", help="a released adapter, a run, or its folder")
    parser.add_argument("--data", required=True, help="folders of corpora with families, A,B,C")
    parser.add_argument("--split", default="validation", help="(default: %(default)s)")
    parser.add_argument("--statements", type=int, help="a seeded sample (default: all)")
    parser.add_argument("--scales", default="1", help="of the adapter, e.g. 1,1.5,2 (default: %(default)s)")
    parser.add_argument("--chosen", action="store_true", help="only what was chosen, and its parts")
    parser.add_argument("--counter", action="store_true", help="of the texts against the statement, as counter scores")
    parser.add_argument("-o", "--out", type=Path, help="table to write (.csv, .parquet)")
    parser.add_argument("--cache-dir", type=Path, default=Path(".cache/hits"))
    options = parser.parse_args()
    model, table = load_adapters(options.model), []
    towards = -1 if options.counter else 1
    scales = [] if options.chosen or options.counter else [float(scale) for scale in options.scales.split(",")]
    for data in options.data.split(","):
        rows, name = load_split(data, "families", options.split, options.cache_dir), source_name(data)
        rows = {column: np.asarray(rows[column]) for column in rows.column_names}
        if options.counter:
            rows["side"] = 1 - rows["side"]
        evaluator = HitsEvaluator(rows, options.statements, title="", dataset=name, dataset_id=name)
        alone = None
        for way, scores in ways(evaluator, model, options.cache_dir, scales, towards):
            found = evaluator.first(scores)[0] / FIRST
            alone = found if alone is None else alone  # the first way is the base alone
            low, high = evaluator.intervals(scores)["for_at_5"]
            row = {"way": way, "data": name, "for_at_5": found.mean(), "low": low, "high": high}
            gain = bootstrap([found - alone], np.mean, method="percentile", rng=0).confidence_interval
            row |= {"gain": (found - alone).mean(), "gain_low": gain.low, "gain_high": gain.high}
            table.append(row | evaluator.metrics(scores))
    frame = pd.DataFrame(table)
    means = frame.groupby("way")["for_at_5"].transform("mean")
    frame = frame.assign(mean=means).sort_values(["mean", "way"], ascending=[False, True], kind="stable")
    print(markdown(frame))
    if options.out:
        write_table(frame, options.out)


if __name__ == "__main__":
    main()
