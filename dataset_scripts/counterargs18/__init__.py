"""counterargs-18: debates with points and their best counter-arguments (Wachsmuth et al., 2018)."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import Cleaner, bare
from dataset_scripts.base.schema import ARGUMENTS, COUNTERS, Item, Rows
from dataset_scripts.base.splits import SPLITS, linked_groups
from dataset_scripts.counterargs18.files import Debate, Pair, is_raw, read_debates
from dataset_scripts.counterargs18.footnotes import clean_paragraphs


class CounterArgs18(Corpus):
    """Points and counter-arguments, in a clean split and in the published one.

    The published split was made by debate, but a third of the theses are listed under several themes and so in several
    splits: half of the test points are in training, too. The clean split puts the debates together that share their
    thesis or a text, case and punctuation aside, in test if one of them is there officially, else in validation, else
    in train; only those are used that are there officially. Pairs whose point holds the counter, which is a mistake of
    the pages, are left out.

    - `counters`: a point and its counter, once, in the clean split.
    - `counters_official`: every published pair in the published split. `seen_in` names the first of the earlier splits
      with the same point, word for word.
    - `arguments`: theses, points and counters in the clean split as trees of depth 2; points without counter as well.

    A conclusion is the first paragraph of a point, the premises are the others. Footnotes are taken out of all texts.
    """

    METADATA = load_metadata("counterargs18")
    FEATURES = {"counters": COUNTERS, "counters_official": COUNTERS, "arguments": ARGUMENTS}

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        return [file for file in super().find_files(path) if is_raw(file)]

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        debates = read_debates(files, self.dropped)
        for debate in debates:
            debate.pairs = self._pairs(debate)
        _group(debates)
        self.facts["debates"] = len(debates)
        self.facts["theses"] = len({bare(debate.thesis) for debate in debates})
        make = {"counters": self._clean, "counters_official": self._official, "arguments": self._arguments}[config]
        yield from make(debates)

    def _pairs(self, debate: Debate) -> list[Pair]:
        """The arguments of a debate, cleaned; a point without words is dropped, with its counter."""
        pairs = []
        for argument in debate.arguments.values():
            paragraphs = clean_paragraphs(argument.point or "", self.facts)
            if argument.point is None:
                self.dropped["counter: without its point"] += 1
            elif not any(map(str.isalnum, "".join(paragraphs))):
                self.dropped["point: without words"] += 1
            else:
                counter = " ".join(clean_paragraphs(argument.counter or "", self.facts))
                conclusion, premises = paragraphs[0], " ".join(paragraphs[1:])
                if self.config.name != "arguments" and not counter:
                    self.dropped["point: without counter"] += 1
                id = f"{debate.id}:{argument.id}"
                pairs.append(Pair(id, argument.stance, conclusion, premises, counter))
        return pairs

    def _official(self, debates: list[Debate]) -> Iterator[tuple[str, dict[str, Any]]]:
        themes: dict[str, set[str]] = defaultdict(set)
        for debate in debates:
            themes[bare(debate.thesis)].add(debate.theme)
        self.facts["theses that several themes list"] = sum(len(of_thesis) > 1 for of_thesis in themes.values())
        first: dict[str, str] = {}  # point -> the first split that has it
        for split in SPLITS:
            pairs = [(debate, pair) for debate in debates if debate.split == split for pair in debate.countered]
            seen = [first.get(pair.point, "") for _, pair in pairs]
            yield from ((split, _row(debate, pair, before)) for (debate, pair), before in zip(pairs, seen, strict=True))
            for i in range(1, SPLITS.index(split) + 1):
                fact = f"{split} points that are in {' or '.join(SPLITS[:i])}, word for word"
                self.facts[fact] = sum(before in SPLITS[:i] for before in seen)
            for _, pair in pairs:
                first.setdefault(pair.point, split)

    def _clean(self, debates: list[Debate]) -> Iterator[tuple[str, dict[str, Any]]]:
        for debate in debates:
            if debate.split != debate.clean_split:
                reason = f"pair: in {debate.split}, but its group is in {debate.clean_split}"
                self.dropped[reason] += len(debate.countered)
        units = [(debate.split, debate) for debate in self._used(debates)]
        rule = Cleaner(minimum_words=1, ordered=True, any_spelling=True)
        texts: dict[str, set[str]] = defaultdict(set)
        for split, row in self.clean(units, self._counters, Debate.texts, (rule,)):
            texts[split] |= {bare(row["point"]), bare(row["counter"])}
            yield split, row
        train, validation, test = (texts[split] for split in SPLITS)
        self.facts["texts that two splits have"] = len(train & validation | (train | validation) & test)

    def _arguments(self, debates: list[Debate]) -> Iterator[tuple[str, dict[str, Any]]]:
        groups: dict[str, list[Debate]] = defaultdict(list)
        for debate in self._used(debates):
            groups[debate.group].append(debate)
        units = [(of_group[0].split, of_group) for of_group in groups.values()]
        yield from self.clean(units, self._trees, lambda _: (), ())

    def _used(self, debates: list[Debate]) -> list[Debate]:
        """The debates of the clean split."""
        self.facts["groups of debates that share a thesis or a text"] = len({debate.group for debate in debates})
        return [debate for debate in debates if debate.split == debate.clean_split]

    def _counters(self, debate: Debate) -> Rows:
        for pair in debate.countered:
            if not bare(pair.counter):
                self.dropped["pair: counter without words"] += 1
            elif bare(pair.counter) in bare(pair.point):
                self.dropped["pair: the counter is a part of the point"] += 1
            else:
                yield (pair.point, pair.counter), _row(debate, pair)

    def _trees(self, debates: list[Debate]) -> Rows:
        """Theses with their points and counters; what a group says in several debates comes once."""
        rows: dict[tuple[str | None, str, str], Item] = {}

        def add(debate: Debate, id: str, parent: str | None, stance: str, text: str, depth: int) -> str:
            """Returns the id of the node, which may be that of an earlier debate."""
            row = {"id": id, "parent": parent, "stance": stance, "text": text, "depth": depth}
            shared = {"title": debate.thesis, "language": "en", "group": debate.group}
            stored = rows.setdefault((parent, stance, bare(text)), ((text,), {**row, **shared}))[1]
            self.dropped["argument: repeated"] += stored["id"] != id
            return stored["id"]

        for debate in debates:
            thesis = add(debate, debate.id, None, "thesis", debate.thesis, 0)
            for pair in debate.pairs:
                point = add(debate, pair.id, thesis, pair.stance, pair.point, 1)
                if pair.counter:
                    add(debate, f"{pair.id}:counter", point, "con", pair.counter, 2)
        yield from rows.values()


def _group(debates: list[Debate]) -> None:
    """Puts those that share their thesis or a text into one group, and into its split."""
    numbers = linked_groups([{bare(debate.thesis), *map(bare, debate.texts())} for debate in debates])
    groups: dict[int, list[Debate]] = defaultdict(list)
    for number, debate in zip(numbers, debates, strict=True):
        groups[number].append(debate)
    for members in groups.values():
        name, split = min(debate.id for debate in members), max((each.split for each in members), key=SPLITS.index)
        for debate in members:
            debate.group, debate.clean_split = name, split


def _row(debate: Debate, pair: Pair, seen_in: str = "") -> dict[str, Any]:
    of_debate = {"theme": debate.theme, "debate": debate.name, "thesis": debate.thesis, "group": debate.group}
    return {**pair._asdict(), "point": pair.point, **of_debate, "seen_in": seen_in}
