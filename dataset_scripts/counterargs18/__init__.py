"""counterargs-18: debates with points and their best counter-arguments (Wachsmuth et al., 2018)."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import Cleaner, bare
from dataset_scripts.base.schema import ARGUMENTS, COUNTERS, Item, Rows
from dataset_scripts.base.splits import SPLITS, linked_groups
from dataset_scripts.counterargs18.files import Debate, is_raw, read_debates
from dataset_scripts.counterargs18.footnotes import clean_paragraphs


class Pair(NamedTuple):
    """A point and its counter, which is empty where there is none."""

    id: str
    stance: str
    conclusion: str
    premises: str
    counter: str

    @property
    def point(self) -> str:
        """Conclusion and premises, with a space between."""
        return f"{self.conclusion} {self.premises}".strip()


class Listing(NamedTuple):
    """A debate as one theme lists it, and the group of all that share its thesis or a text."""

    debate: Debate
    pairs: list[Pair]
    group: str = ""
    split: str = ""  # of the group

    @property
    def countered(self) -> list[Pair]:
        """The pairs that have a counter."""
        return [pair for pair in self.pairs if pair.counter]

    def texts(self) -> Iterator[str]:
        """Points and counters."""
        for pair in self.pairs:
            yield from filter(None, (pair.point, pair.counter))


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
        listings = self._group([Listing(debate, self._pairs(debate)) for debate in read_debates(files, self.dropped)])
        self.facts["debates"] = len(listings)
        self.facts["theses"] = len({bare(item.debate.thesis) for item in listings})
        make = {"counters": self._clean, "counters_official": self._official, "arguments": self._arguments}[config]
        yield from make(listings)

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

    def _group(self, listings: list[Listing]) -> list[Listing]:
        numbers = linked_groups([{bare(item.debate.thesis), *map(bare, item.texts())} for item in listings])
        members: dict[int, list[Debate]] = defaultdict(list)
        for number, item in zip(numbers, listings, strict=True):
            members[number].append(item.debate)
        names = {number: min(debate.id for debate in debates) for number, debates in members.items()}
        splits = {n: max((debate.split for debate in debates), key=SPLITS.index) for n, debates in members.items()}
        return [item._replace(group=names[n], split=splits[n]) for n, item in zip(numbers, listings, strict=True)]

    def _official(self, listings: list[Listing]) -> Iterator[tuple[str, dict[str, Any]]]:
        themes: dict[str, set[str]] = defaultdict(set)
        for item in listings:
            themes[bare(item.debate.thesis)].add(item.debate.theme)
        self.facts["theses that several themes list"] = sum(len(of_thesis) > 1 for of_thesis in themes.values())
        first: dict[str, str] = {}  # point -> the first split that has it
        for split in SPLITS:
            pairs = [(item, pair) for item in listings if item.debate.split == split for pair in item.countered]
            seen = [first.get(pair.point, "") for _, pair in pairs]
            yield from ((split, _row(item, pair, before)) for (item, pair), before in zip(pairs, seen, strict=True))
            for i in range(1, SPLITS.index(split) + 1):
                fact = f"{split} points that are in {' or '.join(SPLITS[:i])}, word for word"
                self.facts[fact] = sum(before in SPLITS[:i] for before in seen)
            for _, pair in pairs:
                first.setdefault(pair.point, split)

    def _clean(self, listings: list[Listing]) -> Iterator[tuple[str, dict[str, Any]]]:
        for item in listings:
            if item.debate.split != item.split:
                self.dropped[f"pair: in {item.debate.split}, but its group is in {item.split}"] += len(item.countered)
        units = [(item.split, item) for item in self._used(listings)]
        rule = Cleaner(minimum_words=1, ordered=True, any_spelling=True)
        texts: dict[str, set[str]] = defaultdict(set)
        for split, row in self.clean(units, self._counters, Listing.texts, (rule,)):
            texts[split] |= {bare(row["point"]), bare(row["counter"])}
            yield split, row
        train, validation, test = (texts[split] for split in SPLITS)
        self.facts["texts that two splits have"] = len(train & validation | (train | validation) & test)

    def _arguments(self, listings: list[Listing]) -> Iterator[tuple[str, dict[str, Any]]]:
        groups: dict[str, list[Listing]] = defaultdict(list)
        for item in self._used(listings):
            groups[item.group].append(item)
        units = [(items[0].split, items) for items in groups.values()]
        yield from self.clean(units, self._trees, lambda _: (), ())

    def _used(self, listings: list[Listing]) -> list[Listing]:
        """The debates of the clean split."""
        self.facts["groups of debates that share a thesis or a text"] = len({item.group for item in listings})
        return [item for item in listings if item.debate.split == item.split]

    def _counters(self, item: Listing) -> Rows:
        for pair in item.countered:
            if not bare(pair.counter):
                self.dropped["pair: counter without words"] += 1
            elif bare(pair.counter) in bare(pair.point):
                self.dropped["pair: the counter is a part of the point"] += 1
            else:
                yield (pair.point, pair.counter), _row(item, pair)

    def _trees(self, items: list[Listing]) -> Rows:
        """Theses with their points and counters; what a group says in several debates comes once."""
        rows: dict[tuple[str | None, str, str], Item] = {}

        def add(item: Listing, id: str, parent: str | None, stance: str, text: str, depth: int) -> str:
            """Returns the id of the node, which may be that of an earlier debate."""
            row = {"id": id, "parent": parent, "stance": stance, "text": text, "depth": depth}
            shared = {"title": item.debate.thesis, "language": "en", "group": item.group}
            stored = rows.setdefault((parent, stance, bare(text)), ((text,), {**row, **shared}))[1]
            self.dropped["argument: repeated"] += stored["id"] != id
            return stored["id"]

        for item in items:
            thesis = add(item, item.debate.id, None, "thesis", item.debate.thesis, 0)
            for pair in item.pairs:
                point = add(item, pair.id, thesis, pair.stance, pair.point, 1)
                if pair.counter:
                    add(item, f"{pair.id}:counter", point, "con", pair.counter, 2)
        yield from rows.values()


def _row(item: Listing, pair: Pair, seen_in: str = "") -> dict[str, Any]:
    of_debate = {"theme": item.debate.theme, "debate": item.debate.name, "thesis": item.debate.thesis}
    return {**pair._asdict(), "point": pair.point, **of_debate, "seen_in": seen_in, "group": item.group}
