"""What it costs to ask a collection of texts, beside what else one would do.

    python -m tests.benchmarks.search asking 1000 10000          # embedding, beside reading every pair
    python -m tests.benchmarks.search comparing 1000000          # a statement with vectors in half precision
    python -m tests.benchmarks.search lenses 1000                # embedding by two lenses, beside one
    python -m tests.benchmarks.search ranking                    # cached embeddings, beside reading every pair

Texts are invented, and cross-encoders have the weights of the same encoder under an untrained head: what they answer
means nothing, what it costs is what any trained one of this size costs. Seconds are those of the processor, of all its
threads (OMP_NUM_THREADS=1 for one).
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
import typer

from dataset_scripts.base.tables import markdown

THINGS = ("the tram line", "the night market", "the library", "the city pool", "the ferry", "the mural", "the car park")
FATES = ("stays open on Sundays", "gets more money", "is closed before winter", "is free for children", "costs more")
VIEWS = ("I want that", "I do not want that", "Nobody asked us whether", "I cannot accept that", "It is high time that")
REASONS = ("because families depend on it", "whatever the mayor may say", "since the numbers speak for themselves", "")
app = typer.Typer(help="What it costs to ask a collection of texts.")
OPINIONS = [f"{view} {thing} {fate}." for thing, fate, view in product(THINGS, FATES, VIEWS)]


@app.callback()
def hushed() -> None:
    """Without what the libraries say to each other."""
    from modeling.base.run import quiet

    quiet()


def invent(count: int, words: int = 25) -> list[str]:
    """Distinct texts of about so many words."""
    draw, texts = random.Random(0), {}
    while len(texts) < count:
        text = f"{draw.randint(1, 10**6):,} people have signed."
        while len(text.split()) < words:
            text += f" {draw.choice(OPINIONS)[:-1]}, {draw.choice(REASONS)}."
        texts[text] = None
    return list(texts)


def seconds(function: Callable[[], Any], rounds: int = 1) -> float:
    """Median of some calls."""
    times = []
    for _ in range(rounds):
        begin = process_time()
        function()
        times.append(process_time() - begin)
    return median(times)


def cross_encoder(model: str, length: int) -> Any:
    """A cross-encoder of a model's weights that reads pairs of at most so many tokens."""
    from sentence_transformers import CrossEncoder

    from modeling.base.models import resolve

    encoder = CrossEncoder(resolve(model).path, num_labels=1, max_length=length)
    encoder.tokenizer.model_max_length = length
    return encoder


@app.command()
def asking(sizes: list[int], model: str = "bundled") -> None:
    """Embeds texts and asks a hundred statements; a cross-encoder reads 500 of the pairs, its time is multiplied."""
    from modeling.base.models import load_model
    from modeling.search.index import Index

    texts, asked, encoder = invent(max(sizes)), OPINIONS[:100], load_model(model)
    cross, draw = cross_encoder(model, 256), random.Random(1)
    pairs = [(draw.choice(asked), draw.choice(texts)) for _ in range(500)]
    pair = seconds(lambda: cross.predict(pairs, batch_size=128, show_progress_bar=False), 2) / len(pairs)

    def measure(size: int) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            frame = pd.DataFrame({"text": texts[:size]})
            embedding = seconds(lambda: Index.build(frame, folder, model=encoder))
            index = Index.open(folder, encoder)
            further = median(seconds(lambda statement=statement: index.ask(statement)) for statement in asked)
            together, vectors = seconds(lambda: index.ask(asked), 3), index.encode(asked)
            index.encode = lambda _: vectors  # type: ignore[method-assign]
            searching = seconds(lambda: index.ask(asked), 5)
        return {
            "texts": size,
            "embedding, s": embedding,
            "further question, s": further,
            "100 statements, s": together,
            "of these search, s": searching,
            "cross-encoder, h": pair * size * len(asked) / 3600,
            "times as long": pair * size * len(asked) / (embedding + together),
            "of a further question": pair * size / further,
        }

    measure(32)  # whatever is slow the first time
    print(markdown(pd.DataFrame([measure(size) for size in sorted(sizes)])))
    print(f"cross-encoder: {1000 * pair:.1f} ms a pair")


@app.command()
def comparing(sizes: list[int]) -> None:
    """Finds the 200 nearest of a collection's vectors, invented, on disk in half precision and of MiniLM's size."""
    from modeling.search.index import BLOCK, Index

    draw, dimension = np.random.default_rng(0), 384
    for size in sizes:
        with tempfile.NamedTemporaryFile() as file:
            vectors = np.memmap(file, np.float16, "w+", shape=(size, dimension))
            for start in range(0, size, BLOCK):
                vectors[start : start + BLOCK] = draw.random((min(BLOCK, size - start), dimension))
            index = Index.__new__(Index)
            index.vectors = index._stored = vectors
            index.lens, index.facts = "side", {"dimension": dimension}
            for count in (1, 20):
                asked = draw.random((count, dimension), np.float32)
                time = seconds(lambda: index.nearest(asked, 200), 5)  # noqa: B023
                print(f"{size:,} vectors, {count} statements: {time:.3f} s")


@app.command()
def lenses(sizes: list[int], model: str = "stance-minilm") -> None:
    """Embeds texts by an adapted model and its base, and by the model alone, in turns."""
    from modeling.search.index import Index

    def measure(size: int) -> dict[str, Any]:
        texts, row = pd.DataFrame({"text": invent(size)}), {"texts": size}
        times: dict[str, list[float]] = {"side": [], "both": []}
        for lens in list(times) * 3:
            with tempfile.TemporaryDirectory() as folder:
                times[lens].append(seconds(lambda: Index.build(texts, folder, model=model, lens=lens)))  # noqa: B023
                file = next(Path(folder).glob("*/vectors.npy"))
                row |= {f"{lens}, MiB": file.stat().st_size / 2**20}
        return row | {f"{lens}, s": median(each) for lens, each in times.items()}

    measure(32)  # whatever is slow the first time
    frame = pd.DataFrame([measure(size) for size in sizes])
    print(markdown(frame.assign(ratio=frame["both, s"] / frame["side, s"])))


@app.command()
def ranking(candidates: int = 50, model: str = "bundled") -> None:
    """Ranks candidates of 190 words by a Bipolar-encoder's heads, from cached embeddings, and by a cross-encoder."""
    from modeling.base.models import load_backbone, resolve
    from modeling.bipolar.encoder import BipolarEncoder
    from modeling.bipolar.heads import BipolarHeads

    encoder = load_backbone(resolve(model))
    bipolar = BipolarEncoder(encoder, BipolarHeads(encoder.get_embedding_dimension()))
    cross = cross_encoder(model, min(2 * encoder.max_seq_length, encoder[0].model.config.max_position_embeddings))
    point, *texts = invent(candidates + 1, 190)
    u, cached, pairs = bipolar.encode([point])[0], bipolar.encode(texts), [(point, text) for text in texts]
    ways = {
        "cross-encoder, all pairs": lambda: cross.predict(pairs, batch_size=32, show_progress_bar=False),
        "classifier on cached embeddings": lambda: bipolar.margins(u, cached),
        "classifier and retrieval on cached embeddings": lambda: bipolar.rank_embeddings(u, cached, candidates),
        "the same, the point encoded first": lambda: bipolar.rank(point, texts, candidate_embeddings=cached),
    }
    times = [1000 * min(seconds(way, 3 if "cross" in name else 20) for _ in range(2)) for name, way in ways.items()]
    frame = pd.DataFrame({f"{candidates} candidates": list(ways), "ms": times})
    print(markdown(frame.assign(**{"cross-encoder takes as many times as long": times[0] / frame["ms"]})))


if __name__ == "__main__":
    app()
