"""Kialo: debate trees as pairs, triplets and single arguments, after Ghafouri et al. (2024)."""

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

from datasets.utils import tqdm

from dataset_scripts.base.families import TreesCorpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import is_english
from dataset_scripts.base.reading import members, named
from dataset_scripts.base.schema import Rows, pair_row, triplet_row
from dataset_scripts.base.splits import split_or_train
from dataset_scripts.kialo.export import Discussion, discussion_id, parse_export, parse_record


class Kialo(TreesCorpus):
    """Discussions from Kialo's text exports, a unit as (id, discussion); see `dataset_scripts/metadata/kialo.yaml`."""

    METADATA = load_metadata("kialo")
    RAW = named(".txt", ".jsonl")  # exports, parsed discussions

    def units(self, files: list[Path]) -> list[tuple[str, tuple[str, Discussion]]]:
        discussions = self._read(files)
        splits = split_or_train(discussions, self.config.seed)
        return [(splits[group], (group, discussions[group])) for group in sorted(discussions)]

    def texts(self, unit: tuple[str, Discussion]) -> Iterator[str]:
        return (node.text for node in unit[1].arguments())

    def pairs(self, unit: tuple[str, Discussion]) -> Rows:
        """Child-to-parent pairs, then child-to-child pairs, of every parent."""
        group, discussion = unit
        for parent, children in discussion.families():
            for child in children:
                yield pair_row(child.text, parent.text, child.relation == "Pro", "child-to-parent", group)
            for one, other in itertools.combinations(children, 2):
                yield pair_row(one.text, other.text, one.relation == other.relation, "child-to-child", group)

    def triplets(self, unit: tuple[str, Discussion]) -> Rows:
        """Every parent with every Pro child and every Con child; with `siblings`, one more triplet for each child."""
        group, discussion = unit
        for parent, children in discussion.families():
            pros = [child for child in children if child.relation == "Pro"]
            cons = [child for child in children if child.relation == "Con"]
            for pro, con in itertools.product(pros, cons):
                yield triplet_row(parent.text, pro.text, con.text, group)
            if self.config.siblings:
                draw = random.Random(f"{self.config.seed}:{group}:{parent.id}:siblings")
                for own, other in ((pros, cons), (cons, pros)):
                    for child in own if len(own) > 1 and other else []:
                        ally = draw.choice([each for each in own if each is not child])
                        yield triplet_row(child.text, ally.text, draw.choice(other).text, group)

    def arguments(self, unit: tuple[str, Discussion]) -> Rows:
        """Every entry but links, with its stance towards its parent."""
        group, discussion = unit
        root = "question" if discussion.has_theses() else "thesis"
        for node in discussion.arguments():
            row = {
                "id": f"{group}:{node.id}",
                "parent": f"{group}:{node.parent}" if node.parent else None,
                "stance": root if node.parent is None else (node.relation or "thesis").lower(),
                "text": node.text,
                "depth": node.id.count(".") - 1,
                "title": discussion.title,
                "language": "en",
                "group": group,
            }
            yield (node.text,), row

    def _read(self, files: list[Path]) -> dict[str, Discussion]:
        """All usable discussions by id; of one that occurs twice, the fullest."""
        fullest: dict[str, tuple[tuple[int, int, str], Discussion]] = {}
        try:
            for name, group, discussion in tqdm(self._parse(files), desc="Reading Kialo", unit=" discussions"):
                arguments = discussion.arguments()
                # the name settles ties, so that the order of files does not matter
                fullness = len(arguments), sum(len(node.text) for node in arguments), name
                if group in fullest:
                    self.dropped["discussion: in several files (the fullest is kept)"] += 1
                if group not in fullest or fullness > fullest[group][0]:
                    fullest[group] = fullness, discussion
        except ValueError as error:  # a file that is cut off or damaged
            raise ValueError(f"{error}. {len(fullest):,} discussions were read before") from error
        discussions = {}
        for group, (_, discussion) in fullest.items():
            if not is_english(" ".join(node.text for node in discussion.arguments())):
                self.dropped["discussion: not in English"] += 1
                continue
            discussions[group] = discussion
            if links := len(discussion.nodes) - len(discussion.arguments()):
                self.dropped["entry: a link, not an argument"] += links
            if discussion.orphans:
                self.dropped["entry: without its parent"] += discussion.orphans
        return discussions

    def _parse(self, files: list[Path]) -> Iterator[tuple[str, str, Discussion]]:
        """(file name, discussion id, discussion) of everything that can be parsed; the rest is counted."""
        for member in members(files):
            name = Path(member.name).name
            if name.lower().endswith(".jsonl"):
                for line, record in member.records(self.dropped):
                    with self.dropped.malformed("line: not a parsed discussion", member.place(line)):
                        yield (name, *parse_record(record))
            elif name.lower().endswith(".txt"):
                if (text := member.text(self.dropped)) is None:
                    continue
                try:
                    discussion = parse_export(text)
                except ValueError:
                    reason = "file: without a discussion tree" if text.strip() else "file: empty"
                    self.dropped.skip(reason, member.place())
                else:
                    yield name, discussion_id(name, discussion), discussion
            else:
                self.dropped.skip("file: neither an export nor parsed discussions", member.place())


class WrittenDebates(Kialo):
    """The discussions in `dataset_scripts/demo`, under terms that let them be trained on and passed on."""

    METADATA = load_metadata("written_debates")
