"""What it costs to re-rank a shortlist: from cached embeddings, or by a cross-encoder that reads every pair.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.counter_ranking --clock cpu

Both have the weights of the same encoder and untrained heads: what they answer means nothing, what it costs is what any
trained ones of this size cost. The texts are invented, as long as the arguments of a debate portal (about 190 words),
and the cross-encoder reads as much of either text as the encoder does.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dataset_scripts.base.files import write_json
from tests.benchmarks.search import invent

now = time.perf_counter


def long_texts(count: int, words: int) -> list[str]:
    """Invented texts, joined until they have about as many words."""
    sentences = iter(invent(count * (words // 15 + 1)))
    texts = []
    for _ in range(count):
        text = next(sentences)
        while len(text.split()) < words:
            text += " " + next(sentences)
        texts.append(text)
    return texts


def milliseconds(function: Callable[[], Any], rounds: int) -> float:
    """Median of some calls, after one that is not counted."""
    function()
    found = []
    for _ in range(rounds):
        start = now()
        function()
        found.append(1000 * (now() - start))
    return statistics.median(found)


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=50, help="to re-rank (default: %(default)s)")
    parser.add_argument("--words", type=int, default=190, help="of a text (default: %(default)s)")
    parser.add_argument("--length", type=int, help="tokens of a pair that the cross-encoder reads at most")
    parser.add_argument("--rounds", type=int, default=5, help="of the cross-encoder (default: %(default)s)")
    parser.add_argument("--base", default="bundled", help="'bundled', a folder or a Hub id (default: %(default)s)")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall",
                        help="cpu: seconds of the processor; for one thread beside other work")  # fmt: skip
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    options = parser.parse_args()
    global now
    now = time.process_time if options.clock == "cpu" else time.perf_counter
    from sentence_transformers import CrossEncoder

    from modeling.base.models import load_backbone, resolve
    from modeling.bipolar.encoder import BipolarEncoder
    from modeling.bipolar.heads import BipolarHeads

    backbone = resolve(options.base)
    encoder = load_backbone(backbone)
    model = BipolarEncoder(encoder, BipolarHeads(encoder.get_embedding_dimension()))
    most = encoder[0].model.config.max_position_embeddings
    length = options.length or min(2 * encoder.max_seq_length, most)
    cross = CrossEncoder(backbone.path, num_labels=1, max_length=length)
    cross.tokenizer.model_max_length = length
    point, *candidates = long_texts(options.candidates + 1, options.words)
    pairs = [(point, candidate) for candidate in candidates]
    u, cached = model.encode([point])[0], model.encode(candidates)
    figures = {
        "candidates": options.candidates, "tokens_of_a_pair": length,
        "scores_ms": milliseconds(lambda: model.scores(u, cached), 20 * options.rounds),
        "rank_ms": milliseconds(lambda: model.rank_embeddings(u, cached, options.candidates), 20 * options.rounds),
        "encode_ms": milliseconds(lambda: model.encode([point]), 4 * options.rounds),
        "cross_ms": milliseconds(lambda: cross.predict(pairs, batch_size=32, show_progress_bar=False), options.rounds),
    }  # fmt: skip
    figures["ratio"] = figures["cross_ms"] / figures["scores_ms"]
    figures["ratio_with_encoding"] = figures["cross_ms"] / (figures["encode_ms"] + figures["rank_ms"])
    print("{candidates} candidates, pairs of up to {tokens_of_a_pair} tokens\n"
          "classifier on cached embeddings {scores_ms:9.2f} ms\n"
          "with the retrieval similarities {rank_ms:9.2f} ms\n"
          "encoding the point              {encode_ms:9.2f} ms\n"
          "cross-encoder, all pairs        {cross_ms:9.2f} ms\n"
          "cross-encoder / classifier                      {ratio:9.0f}\n"
          "cross-encoder / all of it, the point encoded    {ratio_with_encoding:9.0f}".format(**figures))  # fmt: skip
    if options.json:
        write_json(options.json, figures)


if __name__ == "__main__":
    main()
