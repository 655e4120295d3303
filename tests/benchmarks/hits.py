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

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
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


def ways(
    hits: Hits, model: SentenceTransformer, cache: Path, everything: bool, chosen: float = SIDE
) -> Iterator[tuple[str, np.ndarray]]:
    """Names and scores, shape (statements, texts); of everything or only of what was chosen, and its parts.

    The side counts against a text where the weight that was chosen is below 0.
    """
    embed = Vectors(model, cache)
    model.disable_adapters()
    texts = embed(hits.texts)
    topic, crowd = embed(hits.statements) @ texts.T, crowding(texts)
    spread = {crowded: topic - crowded * crowd for crowded in (CROWDINGS if everything else (0, CROWDED))}
    for crowded, scores in spread.items():
        yield f"topic - {crowded:g} crowding", scores
    model.enable_adapters()
    embed = Vectors(model, cache)
    side = embed(hits.statements) @ embed(hits.texts).T
    yield "side", side
    for crowded, weight in product(spread, np.copysign(WEIGHTS, chosen) if everything else (chosen,)):
        yield f"topic - {crowded:g} crowding {weight:+g} side", spread[crowded] + weight * side
    for count in CANDIDATES if everything and chosen > 0 else ():
        for name, scores in (("topic", topic), (f"topic - {CROWDED:g} crowding", spread[CROWDED])):
            last = np.sort(np.where(hits.own, -3, scores), axis=1)[:, [-count]]
            yield f"{count} first of {name}, by side", np.where(scores >= last, side, -3)


def main(
    data: Annotated[str, typer.Option(help="Folders of corpora with families, A,B,C.")],
    model: Annotated[str, typer.Argument(help="A released adapter, a run, or its folder.")] = "stance-minilm",
    split: str = "validation",
    statements: Annotated[int | None, typer.Option(help="A seeded sample (default: all).")] = None,
    chosen: Annotated[bool, typer.Option("--chosen", help="Only what was chosen, and its parts.")] = False,
    counter: Annotated[bool, typer.Option("--counter", help="Of the texts against the statement, as counter.")] = False,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Table to write (.csv, .parquet).")] = None,
    cache_dir: Path = Path(".cache/hits"),
) -> None:
    """Prints and writes the table, the best way first."""
    folder, table = adapter_folder(model), []
    encoder = load_backbone(base_of(folder))
    encoder.load_adapter(str(folder))
    for source in data.split(","):
        rows, name = load_split(source, "families", split, cache_dir), source_name(source)
        rows = {column: np.asarray(rows[column]) for column in rows.column_names}
        if counter:
            rows["side"] = 1 - rows["side"]
        hits = Hits(rows, statements)
        alone = None
        for way, scores in ways(hits, encoder, cache_dir, not chosen, -AGAINST if counter else SIDE):
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
    if out:
        write_table(frame, out)


if __name__ == "__main__":
    typer.run(main)
