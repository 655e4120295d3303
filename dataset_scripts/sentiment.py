"""Texts with a polarity: labels, draws and the base class of their corpora; of films the sentences, MR and SST-2."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from dataset_scripts.base.corpus import Corpus, Rule
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import Cleaner, LeakGuard, PartGuard, bare, normalise
from dataset_scripts.base.reading import Member, members
from dataset_scripts.base.schema import POLARITY_PAIRS, QUADRUPLES, SENTENCES
from dataset_scripts.base.sources import load_source, source_name
from dataset_scripts.base.splits import SPLIT_NAMES, SPLITS, split_groups

NEGATIVE, POSITIVE = 0, 1
_LABELS = {"0": NEGATIVE, "1": POSITIVE, "neg": NEGATIVE, "pos": POSITIVE, "negative": NEGATIVE, "positive": POSITIVE}


class Sentence(NamedTuple):
    """A text, its polarity (`NEGATIVE` or `POSITIVE`) and what it is about, e.g. a film or product."""

    text: str
    label: int
    group: str = ""


def parse_label(text: Any) -> int | None:
    """The label that 0 or 1, neg or pos, negative or positive is; None for anything else."""
    return _LABELS.get(str(text).strip().lower())


def labels_by_text(sentences: Iterable[Sentence], key: Callable[[str], str] = str) -> dict[str, set[int]]:
    """Text, or what `key` makes of it -> the labels that it has, in the order of the texts."""
    labels: dict[str, set[int]] = defaultdict(set)
    for sentence in sentences:
        labels[key(sentence.text)].add(sentence.label)
    return labels


def quadruples(positive: Sequence[str], negative: Sequence[str], seed: int) -> Iterator[tuple[str, str, str, str]]:
    """Draws the training set of SentiCSE: (positive, positive, negative, negative), texts of a tuple all different.

    Every positive text comes first once, in random order; the second is any other positive text, the last two are any
    two negative texts, drawn anew for each tuple, as in Kim et al. (2024, section 4.1) and their released file. There
    are none if a label has fewer than two texts. The result depends on the sets of texts and the seed alone.
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

    Args:
        texts: The different texts of every class, in any order.

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


class SentimentCorpus(Corpus):
    """A corpus of texts with a polarity.

    A subclass writes `sentences`: files -> (split, sentence), the text `normalise`d, in the order of the files.

    - `sentences`: one row per text. Evaluation comes first: a text of the test split is in no other split, and one of
      the validation split not in train, however it is spelled.
    - `quadruples`: from the train split, see `quadruples`. Of equal texts one is used, of texts with both labels none.
    - `sgts`: from the validation and test splits, see `sgts_pairs`, of the same texts.

    In a split that is the authors' own (OFFICIAL) rows that repeat a text stay in `sentences`, so that scores compare
    with published ones. Elsewhere the second of two rows with one text is dropped, whatever its case and punctuation,
    and both where their labels differ.

    Attributes:
        OFFICIAL: Splits that are as their authors released them.
        MINIMUM_WORDS: Shortest text that is kept in other splits.
    """

    FEATURES = {"sentences": SENTENCES, "quadruples": QUADRUPLES, "sgts": POLARITY_PAIRS}
    OFFICIAL: tuple[str, ...] = ()
    MINIMUM_WORDS = 1

    def labelled(self, member: Member, header: Sequence[str] = ()) -> Iterator[Sentence]:
        """The sentences of a tab separated table with the columns label and text."""
        for line, row in member.table(self.dropped, ("label", "text"), delimiter="\t", header=header):
            label = parse_label(row["label"])
            if not self.dropped.refuse(member.place(line), {"row: unknown label": label is None}):
                yield Sentence(normalise(row["text"]), label)

    def official(self, files: list[Path]) -> tuple[str, ...]:
        """The splits of these files that are as their authors released them."""
        return self.OFFICIAL

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for split, sentences in self.clean_sentences(files).items():
            if config == "sentences":
                yield from ((split, sentence._asdict()) for sentence in sentences)
            elif (config == "quadruples") == (split == "train"):  # which has no pairs, the other splits no quadruples
                yield from ((split, row) for row in self._drawn(config, split, sentences))

    def clean_sentences(self, files: list[Path]) -> dict[str, list[Sentence]]:
        """Split -> the sentences that the rules keep, in the order of the files; the others are counted."""
        by_split: dict[str, list[Sentence]] = {split: [] for split in SPLITS}
        for split, sentence in self.sentences(files):
            if sentence.text:
                by_split[split].append(sentence)
            else:
                self.dropped["row: empty text"] += 1
        guard, elsewhere = LeakGuard(), self._held_out(by_split["train"])
        cleaner = Cleaner(self.MINIMUM_WORDS, any_spelling=True)
        clean = {}
        for split in reversed(SPLITS):  # the test split first: it keeps what others copied
            rows = by_split[split]
            rules: list[Rule] = [guard, elsewhere] if split == "train" and self.config.hold_out else [guard]
            if split not in self.official(files):
                labels = labels_by_text(rows, bare)
                rows = [row for row in rows if len(labels[bare(row.text)]) == 1]
                self._count("row: text with both labels", len(by_split[split]) - len(rows))
                rules.append(cleaner)
            clean[split] = [row for row in rows if self.keeps(rules, row.text)]
            guard.hold_out(split, (row.text for row in by_split[split]))
        return {split: clean[split] for split in SPLITS if clean[split]}

    def _drawn(self, config: str, split: str, sentences: list[Sentence]) -> Iterator[dict[str, Any]]:
        """Rows of `quadruples` or `sgts`."""
        labels = labels_by_text(sentences)
        texts = [[text for text, of_text in labels.items() if of_text == {label}] for label in (NEGATIVE, POSITIVE)]
        self._count(f"{split}: text with both labels", sum(len(of_text) > 1 for of_text in labels.values()))
        self._count(f"{split}: repeated text", len(sentences) - len(labels))
        fewest = 2 if config == "quadruples" else 4
        self._count(f"{split}: fewer than {fewest} texts of a label", min(map(len, texts)) < fewest)
        if config == "quadruples":
            for row in quadruples(texts[POSITIVE], texts[NEGATIVE], self.config.seed):
                yield dict(zip(QUADRUPLES, row, strict=True))
        else:
            for one, other, same in sgts_pairs(texts, self.config.seed):
                yield {"sentence1": one, "sentence2": other, "label": int(same)}

    def _count(self, reason: str, number: int) -> None:
        if number:
            self.dropped[reason] += number

    def _held_out(self, train: list[Sentence]) -> LeakGuard:
        """Guards the texts that the data sets of `hold_out` evaluate on, parts of these, and texts around them.

        MR and SST-2 come from the same reviews, and SST-2 has the phrases of its sentences.
        """
        guard = PartGuard(sentence.text for sentence in train if self.config.hold_out)
        for source in self.config.hold_out:
            splits = load_source(source, "sentences", self._cache_dir_root)
            for split in (split for split in ("test", "validation") if split in splits):
                guard.hold_out(f"{split} of {source_name(source)}", splits[split]["text"])
        return guard


BY_LABEL = {"rt-polarity.pos": POSITIVE, "rt-polarity.neg": NEGATIVE}
FRACTIONS = {"train": 0.8, "validation": 0.1, "test": 0.1}  # as in the usual split of 8,530 / 1,066 / 1,066
ENCODING = "cp1252"  # of the first release, with Latin-1's letters; later copies are in UTF-8


class MovieReviews(SentimentCorpus):
    """MR in the usual split, or with a seeded split of its own where only the two files of the first release are there.

    The usual split has three tab separated files with the header label, text; the first release rt-polarity.pos and
    rt-polarity.neg, one sentence per line, in which a line that is not UTF-8 is read as Windows-1252.
    """

    METADATA = load_metadata("mr")
    RELEASES = (
        tuple(f"split_{split}.tsv" for split in SPLITS),
        tuple(f"{split}.tsv" for split in SPLITS),
        (*BY_LABEL,),
    )

    def official(self, files: list[Path]) -> tuple[str, ...]:
        return () if files[0].name.removesuffix(".gz") in BY_LABEL else SPLITS

    def sentences(self, files: list[Path]) -> Iterator[tuple[str, Sentence]]:
        without_split = []
        for member in members(files):
            name = Path(member.name).name
            if name in BY_LABEL:
                lines = member.lines(self.dropped, otherwise=ENCODING)
                without_split += [Sentence(normalise(line), BY_LABEL[name]) for _, line in lines]
            else:
                split = name.removeprefix("split_").removesuffix(".tsv")
                yield from ((split, sentence) for sentence in self.labelled(member))
        if without_split:
            # spellings of one text share a side, so that none has to be dropped as a leak
            splits = split_groups((bare(sentence.text) for sentence in without_split), FRACTIONS, self.config.seed)
            yield from ((splits[bare(sentence.text)], sentence) for sentence in without_split)


RELEASED = {f"sentiment-{name}": split for name, split in SPLIT_NAMES.items()}


class SST2(SentimentCorpus):
    """SST-2 as SentEval released it: text, tab, label; the test split has its labels, unlike GLUE's.

    The train split has the phrases of its sentences, some of one word, and phrases that occur in several sentences as
    often as they occur. All stay in `sentences`, but for those that are a sentence of the other splits.
    """

    METADATA = load_metadata("sst2")
    OFFICIAL = SPLITS
    RELEASES = (tuple(RELEASED),)

    def sentences(self, files: list[Path]) -> Iterator[tuple[str, Sentence]]:
        for member in members(files):
            split = RELEASED[Path(member.name).name]
            yield from ((split, sentence) for sentence in self.labelled(member, header=("text", "label")))
