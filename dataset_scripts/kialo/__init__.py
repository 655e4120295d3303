"""Kialo: debate trees as pairs, triplets and single arguments, after Ghafouri et al. (2024)."""

from __future__ import annotations

import gzip
import itertools
import json
import logging
import random
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from datasets.utils import tqdm

from dataset_scripts.base.corpus import Corpus, CorpusConfig
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import MINIMUM_WORDS, Cleaner, LeakGuard, is_english
from dataset_scripts.base.reading import ARCHIVES, read_members
from dataset_scripts.base.schema import ARGUMENTS, PAIRS, TRIPLETS, Rows, pair_row, triplet_row
from dataset_scripts.base.splits import FRACTIONS, split_groups
from dataset_scripts.kialo.export import discussion_id, parse_export, parse_record
from dataset_scripts.kialo.tree import Discussion, Node

logger = logging.getLogger(__name__)
JSONL = (".jsonl", ".jsonl.gz")


@dataclass
class KialoConfig(CorpusConfig):
    """Options of Kialo.

    Attributes:
        all_languages: Keep discussions that are not in English.
        max_per_parent: Most child-to-child pairs, and most triplets, for one parent, drawn at random; all if None,
            as in the paper.
        siblings: Also make triplets of three answers to one argument: one, another on its side, and one on the other.
    """

    all_languages: bool = False
    max_per_parent: int | None = None
    siblings: bool = False


class Kialo(Corpus):
    """Discussions from Kialo's text exports; see `dataset_scripts/metadata/kialo.yaml`."""

    METADATA = load_metadata("kialo")
    BUILDER_CONFIG_CLASS = KialoConfig
    FEATURES = {"pairs": PAIRS, "triplets": TRIPLETS, "arguments": ARGUMENTS}

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """Exports, archives of exports and parsed discussions, at the path or anywhere below it."""
        suffixes = (".txt", *ARCHIVES, *JSONL)
        return [
            file
            for file in super().find_files(path)
            if file.name.lower().endswith(suffixes) and not file.name.startswith(".")
        ]

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (split, row); see `Corpus.clean`."""
        discussions = self._read_discussions(files)
        splits = self._split(discussions)
        # sorted, so that rows do not depend on the order of files
        units = [(splits[group], (group, discussions[group])) for group in sorted(discussions)]
        make_rows = {"pairs": self._pairs, "triplets": self._triplets, "arguments": self._arguments}[config]
        rules = (Cleaner(ordered=config == "triplets"), LeakGuard())
        yield from self.clean(units, make_rows, lambda unit: (node.text for node in unit[1].arguments()), rules)

    def _split(self, discussions: dict[str, Discussion]) -> dict[str, str]:
        """Discussion id -> split."""
        if len(discussions) < len(FRACTIONS):
            logger.warning("%d discussion(s) are too few for splits: all go to train", len(discussions))
            return dict.fromkeys(discussions, "train")
        return split_groups(discussions, seed=self.config.seed)

    def _pairs(self, unit: tuple[str, Discussion]) -> Rows:
        """Child-to-parent pairs, then child-to-child pairs, of every parent."""
        group, discussion = unit
        for parent, children in discussion.families():
            for child in children:
                yield pair_row(child.text, parent.text, child.relation == "Pro", "child-to-parent", group)
            for one, other in self._sample(itertools.combinations(children, 2), group, parent):
                yield pair_row(one.text, other.text, one.relation == other.relation, "child-to-child", group)

    def _triplets(self, unit: tuple[str, Discussion]) -> Rows:
        """Every parent with every Pro child and every Con child; with `siblings`, one more triplet for each child."""
        group, discussion = unit
        for parent, children in discussion.families():
            pros = [child for child in children if child.relation == "Pro"]
            cons = [child for child in children if child.relation == "Con"]
            for pro, con in self._sample(itertools.product(pros, cons), group, parent):
                yield triplet_row(parent.text, pro.text, con.text, group)
            if self.config.siblings:
                draw = random.Random(f"{self.config.seed}:{group}:{parent.id}:siblings")
                for own, other in ((pros, cons), (cons, pros)):
                    for child in own if len(own) > 1 and other else []:
                        ally = draw.choice([each for each in own if each is not child])
                        yield triplet_row(child.text, ally.text, draw.choice(other).text, group)

    def _arguments(self, unit: tuple[str, Discussion]) -> Rows:
        """Every entry but links, with its stance towards its parent."""
        group, discussion = unit
        root = "question" if discussion.has_theses() else "thesis"
        language = "en" if _is_english(discussion) else "other"
        for node in discussion.arguments():
            stance = root if node.parent is None else (node.relation or "thesis").lower()
            row = {
                "id": f"{group}:{node.id}",
                "parent": f"{group}:{node.parent}" if node.parent else None,
                "stance": stance,
                "text": node.text,
                "depth": node.id.count(".") - 1,
                "title": discussion.title,
                "language": language,
                "group": group,
            }
            yield (node.text,), row

    def _sample(self, combinations: Iterable[tuple[Node, Node]], group: str, parent: Node) -> Iterable:
        """At most `max_per_parent` combinations; the draw depends on seed and parent alone."""
        limit = self.config.max_per_parent
        if limit is None:
            return combinations
        # a text that cleaning would drop must not use up the limit
        usable = [nodes for nodes in combinations if all(len(node.text.split()) >= MINIMUM_WORDS for node in nodes)]
        draw = random.Random(f"{self.config.seed}:{group}:{parent.id}")
        return draw.sample(usable, limit) if len(usable) > limit else usable

    def _read_discussions(self, files: list[Path]) -> dict[str, Discussion]:
        """All usable discussions by id; of one that occurs twice, the fullest."""
        found: dict[str, tuple[tuple[int, int, str], Discussion]] = {}
        for name, group, discussion in tqdm(self._parse(files), desc="Reading Kialo", unit=" discussions"):
            arguments = discussion.arguments()
            # the name settles ties, so that the order of files does not matter
            fullness = len(arguments), sum(len(node.text) for node in arguments), name
            if group in found:
                self.dropped["discussion: in several files (the fullest is kept)"] += 1
            if group not in found or fullness > found[group][0]:
                found[group] = fullness, discussion
        kept = {}
        for group, (_, discussion) in found.items():
            if self.config.all_languages or _is_english(discussion):
                kept[group] = discussion
                self.dropped.update(_count_unused(discussion))
            else:
                self.dropped["discussion: not in English"] += 1
        return kept

    def _parse(self, files: list[Path]) -> Iterator[tuple[str, str, Discussion]]:
        """(file name, discussion id, discussion) of everything that can be parsed; the rest is counted and logged."""
        for file in files:
            try:
                for name, content in read_members(file):
                    if name.lower().endswith(JSONL):
                        yield from self._parse_jsonl(name, content)
                    elif name.lower().endswith(".txt"):
                        yield from self._parse_text(name, content)
                    else:
                        self._skip("file: neither an export nor parsed discussions", name)
            except (ValueError, OSError) as error:
                self._skip("file: cannot be read", file.name, error)

    def _parse_text(self, name: str, content: bytes) -> Iterator[tuple[str, str, Discussion]]:
        name = Path(name).name
        if not content.strip():
            self._skip("file: empty", name)
            return
        try:
            discussion = parse_export(content.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            self._skip("file: not UTF-8 text", name, error)
        except ValueError as error:
            self._skip("file: without a discussion tree", name, error)
        else:
            yield name, discussion_id(name, discussion), discussion

    def _parse_jsonl(self, name: str, content: bytes) -> Iterator[tuple[str, str, Discussion]]:
        try:
            lines = (gzip.decompress(content) if name.lower().endswith(".gz") else content).splitlines()
        except (OSError, EOFError, zlib.error) as error:
            self._skip("file: cannot be read", name, error)
            return
        for number, line in enumerate(lines, start=1):
            try:
                yield (name, *parse_record(json.loads(line)))
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                if line.strip():
                    self._skip("line: not a parsed discussion", f"{name}, line {number}", error)

    def _skip(self, reason: str, where: str, error: Exception | None = None) -> None:
        self.dropped[reason] += 1
        logger.warning("skipped %s: %s%s", where, reason, f" ({error})" if error else "")


def _is_english(discussion: Discussion) -> bool:
    return is_english(" ".join(node.text for node in discussion.arguments()))


def _count_unused(discussion: Discussion) -> Counter[str]:
    links = len(discussion.nodes) - len(discussion.arguments())
    counts = {"entry: a link, not an argument": links, "entry: without its parent": discussion.orphans}
    return Counter({reason: count for reason, count in counts.items() if count})
