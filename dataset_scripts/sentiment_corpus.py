"""The base class of corpora of sentences or reviews with a polarity (MR, SST-2, IMDB)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from dataset_scripts.base.corpus import SPLITS, Corpus, CorpusConfig
from dataset_scripts.base.quality import Cleaner, LeakGuard, PartGuard, bare
from dataset_scripts.base.schema import POLARITY_PAIRS, QUADRUPLES, SENTENCES
from dataset_scripts.base.sources import load_source, source_name
from dataset_scripts.sentiment import Sentence, count, labels_by_text, polarity_rows


@dataclass
class SentimentConfig(CorpusConfig):
    """Options of every sentiment corpus.

    Attributes:
        hold_out: Built folders or data sets on the Hub, each with a configuration `sentences`. The texts of their
            validation and test splits, parts of these, and texts that have them as a part (see `PartGuard`) are kept
            out of this corpus's train split, so that a model trained on it may be tested there: MR and SST-2 come from
            the same reviews, and SST-2 has the phrases of its sentences.
    """

    hold_out: tuple[str, ...] = ()


class SentimentCorpus(Corpus):
    """A corpus of texts with a polarity; a subclass states METADATA and writes `sentences`.

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

    BUILDER_CONFIG_CLASS = SentimentConfig
    FEATURES = {"sentences": SENTENCES, "quadruples": QUADRUPLES, "sgts": POLARITY_PAIRS}
    OFFICIAL: ClassVar[tuple[str, ...]] = ()
    MINIMUM_WORDS: ClassVar[int] = 1

    @abstractmethod
    def sentences(self, files: list[Path]) -> Iterator[tuple[str, Sentence]]:
        """Yields (split, sentence), the text `normalise`d, in the order of the files.

        What cannot be used is counted in `self.dropped`; empty texts may be yielded, `kept` counts them.
        """

    def official(self, files: list[Path]) -> tuple[str, ...]:
        """The splits of these files that are as their authors released them."""
        return self.OFFICIAL

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (split, row) of the three shared configurations; see `Corpus.rows`."""
        for split, sentences in self.kept(files).items():
            for row in polarity_rows(config, split, sentences, self.config.seed, self.dropped):
                yield split, row

    def kept(self, files: list[Path]) -> dict[str, list[Sentence]]:
        """Split -> the sentences that the rules keep, in the order of the files; the others are counted."""
        by_split: dict[str, list[Sentence]] = {split: [] for split in SPLITS}
        for split, sentence in self.sentences(files):
            if sentence.text:
                by_split[split].append(sentence)
            else:
                self.dropped["row: empty text"] += 1
        guard, elsewhere = LeakGuard(), self._held_out(by_split["train"])
        cleaner = Cleaner(self.MINIMUM_WORDS, any_spelling=True)
        kept = {}
        for split in reversed(SPLITS):  # the test split first: it keeps what others copied
            rows = by_split[split]
            rules: list[Cleaner | LeakGuard] = [guard]
            if split == "train" and self.config.hold_out:
                rules.append(elsewhere)
            if split not in self.official(files):
                rows = self._of_one_label(rows)
                rules.append(cleaner)
            kept[split] = [row for row in rows if all(rule.keep(row.text) for rule in rules)]
            guard.hold_out(split, (row.text for row in by_split[split]))
        for rule in (guard, elsewhere, cleaner):
            self.dropped.update({f"row: {reason}": count for reason, count in rule.dropped.items()})
        return {split: kept[split] for split in SPLITS if kept[split]}

    def _held_out(self, train: list[Sentence]) -> LeakGuard:
        """A guard with the texts that the data sets of `hold_out` evaluate on."""
        chosen = self.config.hold_out
        guard = PartGuard(sentence.text for sentence in train if chosen)
        for source in [chosen] if isinstance(chosen, str) else chosen:
            splits = load_source(source, "sentences", self._cache_dir_root)
            for split in (split for split in ("test", "validation") if split in splits):
                guard.hold_out(f"{split} of {source_name(source)}", splits[split]["text"])
        return guard

    def _of_one_label(self, sentences: list[Sentence]) -> list[Sentence]:
        """Those whose text no other has with the other label, however it is spelled; the rest is counted."""
        labels = labels_by_text(sentences, bare)
        kept = [sentence for sentence in sentences if len(labels[bare(sentence.text)]) == 1]
        count(self.dropped, "row: text with both labels", len(sentences) - len(kept))
        return kept
