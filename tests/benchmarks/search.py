"""What it costs to ask a corpus: embedded once here, or read pair by pair by a cross-encoder; and how it grows.

    python -m tests.benchmarks.search                                   # 10,000 invented texts, 100 statements
    python -m tests.benchmarks.search --texts tweets.csv --sizes 1000,10000
    python -m tests.benchmarks.search --sizes 1000,10000,100000         # the growth, too

The texts are invented from templates, distinct, and as long as tweets. The cross-encoder has the weights of the same
encoder with a fresh head of one label: what it answers means nothing, what it costs is what any trained one of this
size costs. It is measured on a sample of pairs of the same statements and texts, in the same run, and multiplied.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

THINGS = ("the tram line", "the night market", "the new bicycle lane", "the public library", "the city pool",
          "the harbour ferry", "the school canteen", "the street mural", "the summer festival", "the river park",
          "the car park", "the housing plan", "the bus lane", "the waste depot", "the music school")  # fmt: skip
VIEWS = ("I am glad that {}", "Nobody asked us whether {}", "It is high time that {}", "I cannot accept that {}",
         "Proud to vote so that {}", "My neighbours keep asking why {}", "It is a disgrace that {}",
         "Thank you to everyone who made sure that {}", "We were promised that {}")  # fmt: skip
FATES = ("{} stays open on Sundays", "{} gets more money", "{} is closed before winter", "{} is free for children",
         "{} costs twice as much as last year", "{} is run by the town again", "{} moves to the old station",
         "{} is finished in time")  # fmt: skip
REASONS = ("because families depend on it", "and the council has known this for years", "whatever the mayor may say",
           "since the numbers speak for themselves", "and I will say so at the meeting tonight",
           "although the budget is short", "while other towns do better", "because it is our money after all",
           "and that is what the last election was about", "before another year is lost")  # fmt: skip
TAILS = ("#town", "#council", "#budget", "Read more: https://example.org/{}", "@council, please answer.",
         "See you on {} March!", "{} people have signed already.", "")  # fmt: skip

now = time.perf_counter  # or processor seconds, see --clock
REPORT = """
{texts:,} texts: embedding {embedding:.1f} s ({rate:.0f} texts/s), without loading the model ({loading:.1f} s)
  first question answered after {first:.1f} s, each further one takes {further:.3f} s
  all statements in one call {together:.3f} s: {encoding:.3f} s to encode them, {searching:.3f} s to search and list
  peak of memory so far {peak_mib:.0f} MiB"""
CROSS = """
cross-encoder on {texts:,} texts: {hours:.2f} h for all statements, {ratio:,.0f} times as long as embedding and asking;
  {further_seconds:.0f} s for a further question, {ratio_further:,.0f} times as long"""


def invent(count: int, seed: int = 0) -> list[str]:
    """Distinct texts of 60 to 250 characters."""
    draw = random.Random(seed)
    texts: dict[str, None] = {}
    while len(texts) < count:
        text = draw.choice(VIEWS).format(draw.choice(FATES).format(draw.choice(THINGS)))
        for reason in draw.sample(REASONS, draw.randint(1, 3)):
            text += f", {reason}"
        texts[f"{text}. {draw.choice(TAILS).format(draw.randint(1, 99999))}".strip()] = None
    return list(texts)


def statements(count: int) -> list[str]:
    """Short opinions on the same matters."""
    return [f"{verb} {fate.format(thing)}." for thing in THINGS for fate in FATES
            for verb in ("I want that", "I do not want that")][:count]  # fmt: skip


def read_texts(path: Path, count: int) -> list[str]:
    """The first distinct texts of a file."""
    from modeling.search import texts as sources

    texts = list(sources.read_texts(path).texts)
    if len(texts) < count:
        raise SystemExit(f"{path} has {len(texts):,} distinct texts, --sizes asks for {count:,}")
    return texts[:count]


def measure_index(texts: list[str], asked: list[str], model: str, folder: Path) -> dict[str, Any]:
    """Seconds of embedding, of the first question, of further ones, and of all in one call; the peak of memory."""
    from modeling.base.models import load_model
    from modeling.search.index import Index

    source = folder / f"{len(texts)}.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    loading = _seconds(lambda: load_model(model))
    start = now()
    index = Index.build(source, folder / str(len(texts)), model=model)
    embedding = now() - start - loading
    index.ask(asked[0])
    first = now() - start
    further = [_seconds(lambda statement=statement: index.ask(statement)) for statement in asked]
    encoding = min(_seconds(lambda: index.encode(asked)) for _ in range(3))
    together = min(_seconds(lambda: index.ask(asked)) for _ in range(3))
    vectors = index.encode(asked)
    index.encode = lambda _: vectors  # type: ignore[method-assign]
    searching = min(_seconds(lambda: index.ask(asked)) for _ in range(5))
    return {"texts": len(texts), "loading": loading, "embedding": embedding, "first": first,
            "further": statistics.median(further), "together": together, "encoding": encoding, "searching": searching,
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}  # fmt: skip


def measure_cross_encoder(texts: list[str], asked: list[str], model: str, pairs: int) -> float:
    """Seconds per (statement, text) pair, over a seeded sample, in the library's batches sorted by length."""
    from sentence_transformers import CrossEncoder

    from modeling.base.models import resolve

    encoder = CrossEncoder(resolve(model).path, num_labels=1, max_length=256)
    draw = random.Random(1)
    sample = [(draw.choice(asked), draw.choice(texts)) for _ in range(pairs)]
    encoder.predict(sample[:32], batch_size=128, show_progress_bar=False)
    return _seconds(lambda: encoder.predict(sample, batch_size=128, show_progress_bar=False)) / pairs


def _seconds(function: Callable[[], Any]) -> float:
    start = now()
    function()
    return now() - start


def slope(sizes: list[int], seconds: list[float]) -> float:
    """Exponent of growth: 1 where twice the texts take twice as long, 2 where they take four times as long."""
    import numpy as np

    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, help="a file of texts instead of invented ones")
    parser.add_argument("--sizes", default="10000", help="numbers of texts, e.g. 1000,10000,100000")
    parser.add_argument("--statements", type=int, default=100, help="questions, 240 at most (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=1000, help="sample for the cross-encoder (default: %(default)s)")
    parser.add_argument("--model", default="bundled", help="'bundled', a folder with a known base, or a Hub id")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall",
                        help="cpu: seconds of the processor; for one thread beside other work")  # fmt: skip
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    options = parser.parse_args()
    global now
    now = time.process_time if options.clock == "cpu" else time.perf_counter
    sizes, asked = sorted(int(size) for size in options.sizes.split(",")), statements(options.statements)
    texts = read_texts(options.texts, sizes[-1]) if options.texts else invent(sizes[-1])
    print(
        f"{len(texts):,} texts of {statistics.mean(map(len, texts)):.0f} characters on average, {len(asked)} statements"
    )
    figures: dict[str, Any] = {"indexes": []}
    with tempfile.TemporaryDirectory() as folder:
        measure_index(texts[:32], asked, options.model, Path(folder))  # imports, and whatever is slow the first time
        for size in sizes:
            found = measure_index(texts[:size], asked, options.model, Path(folder))
            figures["indexes"].append(found)
            print(REPORT.format(**found, rate=size / found["embedding"]), flush=True)
            _write(figures, options.json)
    pair = figures["cross_pair"] = measure_cross_encoder(texts, asked, options.model, options.pairs)
    print(f"\ncross-encoder: {1000 * pair:.1f} ms a pair ({options.pairs:,} measured)")
    for found in figures["indexes"]:
        seconds = pair * found["texts"]
        ratios = {"ratio": seconds * len(asked) / (found["embedding"] + found["together"]),
                  "ratio_further": seconds / found["further"]}  # fmt: skip
        print(CROSS.format(**found | ratios, hours=seconds * len(asked) / 3600, further_seconds=seconds))
        found |= ratios
    if len(sizes) > 1:
        figures["slopes"] = {
            key: slope(sizes, [found[key] for found in figures["indexes"]]) for key in ("embedding", "searching")
        }
        print("\ngrowth, as an exponent of the number of texts (2: every text compared with every other): "
              + ", ".join(f"{key} {value:.2f}" for key, value in figures["slopes"].items()))  # fmt: skip
    _write(figures, options.json)


def _write(figures: dict[str, Any], path: Path | None) -> None:
    if path:
        path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
