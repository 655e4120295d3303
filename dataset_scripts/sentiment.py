"""What corpora of sentiment share: labels, rows by polarity, quadruples to train on, and the pairs of SgTS."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from dataset_scripts.base.schema import QUADRUPLES

NEGATIVE, POSITIVE = 0, 1
_LABELS = {"0": NEGATIVE, "1": POSITIVE, "neg": NEGATIVE, "pos": POSITIVE, "negative": NEGATIVE, "positive": POSITIVE}


class Sentence(NamedTuple):
    """A text, normalised, with its polarity (`NEGATIVE` or `POSITIVE`) and what it is about, e.g. a film or product."""

    text: str
    label: int
    group: str = ""


def parse_label(text: str) -> int | None:
    """The label that 0 or 1, neg or pos, negative or positive is; None for anything else."""
    return _LABELS.get(text.strip().lower())


def polarity_rows(
    config: str, split: str, sentences: Iterable[Sentence], seed: int, dropped: Counter[str]
) -> Iterator[dict[str, Any]]:
    """Yields the rows of one split in one of the configurations that every corpus of sentiment has.

    Args:
        config: `sentences`; `quadruples`, of which only a train split has any; or `sgts`, which a train split lacks.
        split: `train`, `validation` or `test`.
        sentences: What the split keeps. Of equal texts one is drawn from, of texts with both labels none.
        seed: Seed of the draws.
        dropped: Receives counts of the texts and splits not used.

    Returns:
        Rows of `schema.SENTENCES`, `QUADRUPLES` or `POLARITY_PAIRS`.

    Raises:
        ValueError: If the configuration is another.
    """
    if config not in ("sentences", "quadruples", "sgts"):
        raise ValueError(f"{config!r} is none of sentences, quadruples, sgts")
    if config == "sentences":
        yield from (sentence._asdict() for sentence in sentences)
    elif (config == "quadruples") == (split == "train"):
        rows = list(sentences)
        labels = labels_by_text(rows)
        texts = [[text for text, found in labels.items() if found == {label}] for label in (NEGATIVE, POSITIVE)]
        count(dropped, f"{split}: text with both labels", sum(len(found) > 1 for found in labels.values()))
        count(dropped, f"{split}: repeated text", len(rows) - len(labels))
        fewest = 2 if config == "quadruples" else 4
        count(dropped, f"{split}: fewer than {fewest} texts of a label", min(map(len, texts)) < fewest)
        if config == "quadruples":
            drawn = quadruples(texts[POSITIVE], texts[NEGATIVE], seed)
            yield from (dict(zip(QUADRUPLES, row, strict=True)) for row in drawn)
        else:
            drawn = sgts_pairs(texts, seed)
            yield from ({"sentence1": one, "sentence2": other, "label": int(same)} for one, other, same in drawn)


def labels_by_text(sentences: Iterable[Sentence], key: Callable[[str], str] = str) -> dict[str, set[int]]:
    """Text, or what `key` makes of it -> the labels that it has, in the order of the texts."""
    labels: dict[str, set[int]] = defaultdict(set)
    for sentence in sentences:
        labels[key(sentence.text)].add(sentence.label)
    return labels


def count(dropped: Counter[str], reason: str, number: int) -> None:
    """Adds to a count, and makes no entry of nothing."""
    if number:
        dropped[reason] += number


def quadruples(positive: Sequence[str], negative: Sequence[str], seed: int) -> Iterator[tuple[str, str, str, str]]:
    """Draws the training set of SentiCSE: (positive, positive, negative, negative), texts of a tuple all different.

    Every positive text comes first once, in random order; the second is any other positive text, the last two are any
    two negative texts, drawn anew for each tuple. So it is in the authors' released file (from MR: 4,265 quadruples,
    a second text up to six times, 3,688 of the 4,265 negative ones at all) and in Kim et al. (2024), section 4.1.

    Args:
        positive: Different texts, in any order: the result depends on the set and the seed.
        negative: The same for the other label.
        seed: Seed of the draw.

    Returns:
        As many tuples as there are positive texts; none if a label has fewer than two.
    """
    positive, negative, chance = sorted(positive), sorted(negative), random.Random(seed)
    if min(len(positive), len(negative)) < 2:
        return
    for first in chance.sample(range(len(positive)), len(positive)):
        second = chance.randrange(len(positive) - 1)
        second += second >= first  # any but the first
        yield positive[first], positive[second], *chance.sample(negative, 2)


def sgts_pairs(texts: Sequence[Sequence[str]], seed: int) -> list[tuple[str, str, bool]]:
    """Draws the pairs of SgTS (Kim et al., 2024, section 2), as the authors do from k classes.

    With n the size of the rarest class, every class gives floor(n / 4) pairs of its own. With r the size of what is
    then left of the rarest, any two classes give floor(r / (k - 1)) pairs of one text each. No text is used twice.
    MR's validation split (533 + 533) gives 266 pairs of one class and 267 of two, that of SST-2 214 + 214, and that of
    SST-5 170 + 170.

    Args:
        texts: The different texts of every class, in any order.
        seed: Seed of the draw.

    Returns:
        (text, text, whether they are of one class) in random order; none if a class has fewer than four texts.
    """
    chance = random.Random(seed)
    pools = [chance.sample(ordered, len(ordered)) for ordered in map(sorted, texts)]
    n_same = min(map(len, pools)) // 4
    if not n_same:
        return []
    pairs = [(pool.pop(), pool.pop(), True) for pool in pools for _ in range(n_same)]
    n_different = min(map(len, pools)) // (len(pools) - 1)
    pairs += [(one.pop(), other.pop(), False) for one, other in combinations(pools, 2) for _ in range(n_different)]
    chance.shuffle(pairs)
    return pairs
