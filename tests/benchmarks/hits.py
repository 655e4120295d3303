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
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import bootstrap
from sentence_transformers import SentenceTransformer
from sklearn.metrics import roc_auc_score

from dataset_scripts.base.schema import PRO
from dataset_scripts.base.sources import load_split, source_name
from dataset_scripts.base.tables import markdown, write_table
from modeling.base.models import adapter_folder, base_of, load_backbone
from modeling.base.vectors import Vectors
from modeling.bipolar.search import AGAINST
from modeling.search.lenses import CROWDED, SIDE, crowding

FIRST = 5  # texts that a person reads
LEAST = 3  # texts that a statement needs on either side
WEIGHTS = (0.2, 0.3, 0.5, 0.7, 1.0)
CROWDINGS = (0.0, 0.5, 0.75, 1.0)
CANDIDATES = (8, 12, 20)
NEGATIONS = {"it is not true that": "It is not true that {}", "it is wrong to say that": "It is wrong to say that {}"}


class Hits:
    """Statements of families asked among the texts of all of them: are the first texts on a statement, and for it?

    A text of another statement is a miss, on the same debate, too. A text that is the statement itself is no answer.

    Args:
        rows: Columns of `dataset_scripts.base.schema.FAMILIES`; rows without a statement are left out.
        statements: Size of the seeded sample of statements with three texts on either side; None takes all.
        side: Texts of either side of a statement at most, a seeded sample.
    """

    def __init__(self, rows: Mapping[str, Sequence], statements: int | None = 90, side: int = 6, seed: int = 0) -> None:
        frame = pd.DataFrame({name: rows[name] for name in ("text", "statement", "group")})
        frame = frame.assign(pro=np.asarray(rows["side"]) == PRO)
        frame = frame[frame["statement"] != ""].drop_duplicates(["text", "statement", "group"])
        counts = frame.groupby(["group", "statement"])["pro"].agg(["sum", "size"])
        usable = counts[(counts["sum"] >= LEAST) & (counts["size"] - counts["sum"] >= LEAST)]
        if usable.empty:
            raise ValueError(f"no statement has {LEAST} texts for and {LEAST} against it")
        usable = usable.sample(min(statements or len(usable), len(usable)), random_state=seed)
        families = frame.set_index(["group", "statement"]).loc[usable.index].sample(frac=1, random_state=seed)
        families = families.groupby(["group", "statement", "pro"], sort=True).head(side).reset_index()
        asked = families.drop_duplicates(["group", "statement"])
        self.statements, self.texts = asked["statement"].tolist(), families["text"].tolist()
        number = families.groupby(["group", "statement"], sort=False).ngroup().to_numpy()
        self.on = number == np.arange(len(asked))[:, None]  # (statements, texts)
        self.pro = self.on & families["pro"].to_numpy()
        self.own = np.array([[text == statement for text in self.texts] for statement in self.statements])

    def first(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of each statement, shape (statements,): how many of its first five texts are for it, and on it."""
        places = np.argsort(-np.where(self.own, -np.inf, scores), axis=1, kind="stable")[:, :FIRST]
        return tuple(np.take_along_axis(each, places, axis=1).sum(axis=1) for each in (self.pro, self.on))

    def metrics(self, scores: np.ndarray) -> dict[str, float | int | None]:
        """Shares of the first five texts, one with its interval over statements; mean AUROC of topic and of side."""
        first_pro, first_on = self.first(scores)
        families = list(zip(self.on, self.pro, ~self.own, scores, strict=True))
        of_topic = [roc_auc_score(on[other], values[other]) for on, _, other, values in families]
        of_side = [roc_auc_score(pro[on], values[on]) for on, pro, _, values in families]
        drawn = np.random.default_rng(0).integers(len(first_pro), size=(2_000, len(first_pro)))
        low, high = np.percentile(first_pro[drawn].mean(axis=1) / FIRST, [2.5, 97.5])
        return {
            "for_at_5": float(first_pro.mean()) / FIRST,
            "low": float(low),
            "high": float(high),
            "on_at_5": float(first_on.mean()) / FIRST,
            "side_at_5": float(first_pro.sum() / first_on.sum()) if first_on.any() else None,
            "topic_auroc": float(np.mean(of_topic)),
            "side_auroc": float(np.mean(of_side)),
            "statements": len(self.statements),
            "texts": len(self.texts),
        }


def cosines(
    hits: Hits, model: SentenceTransformer, cache: Path, negated: bool
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """By one lens: cosines of statements and of their negations with texts, and the vectors of statements and texts."""
    embed, asked = Vectors(model, cache), {"": hits.statements}
    for name, frame in NEGATIONS.items() if negated else ():
        asked[name] = [frame.format(text[0].lower() + text[1:]) for text in hits.statements]
    texts = embed(hits.texts)
    vectors = {name: embed(statements) for name, statements in asked.items()}
    return {name: each @ texts.T for name, each in vectors.items()}, vectors[""], texts


def among(topic: np.ndarray, side: np.ndarray, count: int) -> np.ndarray:
    """The side's scores for the `count` first texts of the topic, and less than any for the others."""
    places = np.argsort(-topic, axis=1)[:, :count]
    scores = np.full(topic.shape, -3.0)
    np.put_along_axis(scores, places, np.take_along_axis(side, places, axis=1), axis=1)
    return scores


def ways(
    hits: Hits, model: SentenceTransformer, cache: Path, scales: list[float], chosen: float = SIDE
) -> Iterator[tuple[str, np.ndarray]]:
    """Names and scores, shape (statements, texts); without scales only what was chosen, and its parts.

    The side counts against a text where the weight that was chosen is below 0.
    """
    everything = bool(scales)
    model.disable_adapters()
    by_topic, _, texts = cosines(hits, model, cache, everything)
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
        by_side, asked, texts = cosines(hits, model, cache, everything)
        side, of = by_side[""], "side" if scale == 1 else f"side at {scale:g}"
        yield of, side
        for crowded, weight in product(spread, np.copysign(WEIGHTS, chosen) if everything else (chosen,)):
            yield f"topic - {crowded:g} crowding {weight:+g} {of}", spread[crowded] + weight * side
        if not everything or chosen < 0:
            return
        chosen, name = spread[CROWDED], f"topic - {CROWDED:g} crowding"
        for count in CANDIDATES:
            hidden = np.where(hits.own, -3, topic)
            yield f"{count} first of topic, by {of}", among(hidden, side, count)
            yield f"{count} first of topic, by {of} - topic", among(hidden, side - topic, count)
            yield f"{count} first of {name}, by {of}", among(np.where(hits.own, -3, chosen), side, count)
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
    folder, table = adapter_folder(options.model), []
    model = load_backbone(base_of(folder))
    model.load_adapter(str(folder))
    weight = -AGAINST if options.counter else SIDE
    scales = [] if options.chosen else [float(scale) for scale in options.scales.split(",")]
    for data in options.data.split(","):
        rows, name = load_split(data, "families", options.split, options.cache_dir), source_name(data)
        rows = {column: np.asarray(rows[column]) for column in rows.column_names}
        if options.counter:
            rows["side"] = 1 - rows["side"]
        hits = Hits(rows, options.statements)
        alone = None
        for way, scores in ways(hits, model, options.cache_dir, scales, weight):
            found = hits.first(scores)[0] / FIRST
            alone = found if alone is None else alone  # the first way is the base alone
            row = {"way": way, "data": name} | hits.metrics(scores)
            gain = bootstrap([found - alone], np.mean, method="percentile", rng=0).confidence_interval
            row |= {"gain": (found - alone).mean(), "gain_low": gain.low, "gain_high": gain.high}
            table.append(row)
    frame = pd.DataFrame(table)
    means = frame.groupby("way")["for_at_5"].transform("mean")
    frame = frame.assign(mean=means).sort_values(["mean", "way"], ascending=[False, True], kind="stable")
    print(markdown(frame))
    if options.out:
        write_table(frame, options.out)


if __name__ == "__main__":
    main()
