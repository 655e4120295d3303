"""What SentiCSE's word-level loss adds to a training step, against a plain masked-language-model step.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.word_loss

Three steps, forward and backward, over the same batch of invented sentences with the same encoder (the bundled MiniLM
with a LoRA adapter) and head, in turns:

- sentence: the sentence-level loss alone;
- both: with the word-level loss, which encodes the texts again in which a word is masked;
- mlm: 15 % of all tokens masked at random, all texts encoded, cross-entropy over the masked ones.

Seconds are those of the processor, which other work on the machine hardly changes. A ratio is that of medians.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from modeling.senticse.losses import SenticseLoss

SUBJECTS = ("soup", "film", "hotel", "novel", "phone", "concert", "chair", "waiter", "museum", "coat")
PRAISE = ("wonderful", "great", "charming", "delightful", "excellent", "lovely")
COMPLAINT = ("awful", "terrible", "boring", "dreadful", "disappointing", "ugly")
FORMS = ("The {0} was {1}.", "I found the {0} {1}, and so did my sister when we went there together in the autumn.",
         "What a {1} {0}!", "Everyone had told us about the {0} on the corner; it turned out to be {1} from the first "
         "minute to the last, as we wrote to them later.", "A {1} {0}, if you ask me.")  # fmt: skip


def columns(rows: int, seed: int) -> list[list[str]]:
    """Quadruples of invented sentences, as four columns."""
    random = np.random.default_rng(seed)

    def text(words: tuple[str, ...]) -> str:
        return random.choice(FORMS).format(random.choice(SUBJECTS), random.choice(words))

    return [[text(words) for _ in range(rows)] for words in (PRAISE, PRAISE, COMPLAINT, COMPLAINT)]


def masked_language_step(loss: SenticseLoss, features: list[dict[str, Tensor]]) -> Tensor:
    """The loss of a plain masked-language-model step."""
    import torch
    from sentence_transformers.base.losses.merged_forward import merge_feature_batches

    batch = merge_feature_batches(features)
    ids, words = batch["input_ids"], batch["attention_mask"].bool()
    masked = words & (torch.rand(ids.shape) < 0.15)
    hidden = loss.model(batch | {"input_ids": ids.masked_fill(masked, loss.mask_id)})["token_embeddings"]
    return torch.nn.functional.cross_entropy(loss.head(hidden[masked]), ids[masked])


def measure(rows: int, rounds: int, masking: float, lexicon: str | None, seed: int) -> dict[str, float]:
    """Median seconds of each step, and ratios."""
    import torch

    from modeling.base.batches import embedding_in_chunks
    from modeling.base.recipe import load_recipe
    from modeling.senticse.system import SenticseSystem

    options = {"masking": str(masking), "lexicon": lexicon or "none"}
    system = SenticseSystem(load_recipe("senticse-demo", options))
    torch.manual_seed(seed)
    model = system.build_model().train()
    loss = system.phases(model, _data(columns(rows, seed)))[0].loss
    features = [dict(model.preprocess(column)) for column in columns(rows, seed)]

    def copies() -> list[dict[str, Tensor]]:
        return [dict(column) for column in features]

    steps: dict[str, Callable[[], Tensor]] = {
        "sentence": lambda: loss(copies())["sentence"],
        "both": lambda: sum(loss(copies()).values()),
        "mlm": lambda: masked_language_step(loss, copies()),
    }

    words = loss.words
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    with embedding_in_chunks(model, tokens=True):  # as in training on a CPU
        for number in range(rounds + 1):
            for name, step in steps.items():
                loss.words = None if name == "sentence" else words
                started = time.process_time()
                step().backward()
                if number:  # the first round warms up
                    seconds[name].append(time.process_time() - started)
                loss.zero_grad()
    result = {name: statistics.median(values) for name, values in seconds.items()}
    added = result["both"] - result["sentence"]
    return result | {"word / mlm": added / result["mlm"], "both / sentence": result["both"] / result["sentence"]}


def _data(texts: list[list[str]]):
    from datasets import Dataset

    from modeling.base.system import Data
    from modeling.senticse.system import COLUMNS

    return Data({"quadruples": Dataset.from_dict(dict(zip(COLUMNS, texts, strict=True)))}, [])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=32, help="quadruples in a batch (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="steps of each kind (default: %(default)s)")
    parser.add_argument("--masking", type=float, default=0.1, help="probability of a word (default: %(default)s)")
    parser.add_argument("--lexicon", help="source of words; default: VADER's")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the figures there too")
    arguments = parser.parse_args()
    found = measure(arguments.rows, arguments.rounds, arguments.masking, arguments.lexicon, arguments.seed)
    for name, value in found.items():
        print(f"{name:16} {value:.3f}" + ("" if "/" in name else " s"))
    if arguments.json:
        from dataset_scripts.base.files import write_json

        write_json(arguments.json, vars(arguments) | {"json": None, **found})


if __name__ == "__main__":
    main()
