"""Reader of ArguAna's counterargs corpus: files, archives and JSON lines in, debates out. It cleans no text.

The corpus has one folder for each debate,

    training/culture/house-would-ban-tea/thesis.txt
                                        /pro/pro01a-point.txt, pro01b-counter.txt
                                        /con/con01a-point.txt, con01b-counter.txt

and a debate as a line of JSON is

    {"split": "training", "theme": "culture", "debate": "house-would-ban-tea", "thesis": "...",
     "args": [{"id": "pro01", "side": "pro", "point": "...", "counter": "..."}]}
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from datasets.utils import tqdm

from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import ARCHIVES, Dropped, Member, members
from dataset_scripts.base.splits import SPLIT_NAMES

SPLITS = {"training": "train", "train": "train", "validation": "validation", **SPLIT_NAMES}
_PACKED = (*ARCHIVES, ".jsonl", ".jsonl.gz")
_FILE = re.compile(
    r"(?:.*/)?(?P<split>[^/]+)/(?P<theme>[^/]+)/(?P<debate>[^/]+)/"
    r"(?:thesis\.txt|(?P<side>pro|con)/(?P<id>(?:pro|con)\d+)(?P<part>a-point|b-counter)\.txt)"
)


@dataclass
class Argument:
    """A point and its counter, as they are in the files; None where there is no file."""

    id: str
    stance: str
    point: str | None = None
    counter: str | None = None


class Pair(NamedTuple):
    """A point and its counter, cleaned; the counter is empty where there is none."""

    id: str
    stance: str
    conclusion: str
    premises: str
    counter: str

    @property
    def point(self) -> str:
        """Conclusion and premises, with a space between."""
        return f"{self.conclusion} {self.premises}".strip()


@dataclass
class Debate:
    """A debate as one theme lists it; the same debate may be listed by others, and in other splits."""

    split: str
    theme: str
    name: str
    thesis: str = ""
    arguments: dict[str, Argument] = field(default_factory=dict)  # as they are in the files
    pairs: list[Pair] = field(default_factory=list)
    group: str = ""  # of all that share its thesis or a text
    clean_split: str = ""  # of the group

    @property
    def id(self) -> str:
        """Unique in the corpus."""
        return f"{self.theme}/{self.name}"

    @property
    def countered(self) -> list[Pair]:
        """The pairs that have a counter."""
        return [pair for pair in self.pairs if pair.counter]

    def texts(self) -> Iterator[str]:
        """Points and counters."""
        for pair in self.pairs:
            yield from filter(None, (pair.point, pair.counter))


Debates = dict[tuple[str, str, str], Debate]  # by split, theme and name


def is_raw(file: Path) -> bool:
    """Whether a file may hold debates, by its name and the folders that it is in."""
    packed = file.name.lower().endswith(_PACKED)
    return file.name[0] != "." and (packed or _FILE.fullmatch(file.absolute().as_posix()) is not None)


def read_debates(files: Sequence[Path], dropped: Dropped) -> list[Debate]:
    """Reads every debate, in the order of split, theme and name."""
    debates: Debates = {}
    # with all the folders that a file is in, of which one names the split
    for member in tqdm(
        members([file.absolute() for file in files]), desc="Reading debates", unit=" files", leave=False
    ):
        if not member.name.lower().endswith(".jsonl"):
            _add_file(debates, member, dropped)
            continue
        for line, record in member.records(dropped):
            with dropped.malformed("line: not a parsed debate", member.place(line)):
                debate = _from_record(record)
                key = debate.split, debate.theme, debate.name
                if not dropped.refuse(member.place(line), {"debate: given twice (the first is kept)": key in debates}):
                    debates[key] = debate
    for debate in debates.values():
        debate.arguments = dict(sorted(debate.arguments.items()))  # archives have them in any order
        if not debate.thesis:
            dropped.skip("debate: without thesis", debate.id)
    return [debates[key] for key in sorted(debates) if debates[key].thesis]


def _add_file(debates: Debates, member: Member, dropped: Dropped) -> None:
    """Adds a file of the layout; introductions, bibliographies and the like are passed over."""
    match = _FILE.fullmatch(member.name)
    split = SPLITS.get(match["split"].lower()) if match else None
    if not match or dropped.refuse(member.place(), {"file: in a folder that is no split": split is None}):
        return
    text = member.text(dropped)
    if text is None or dropped.refuse(member.place(), {"file: empty": not text.strip()}):
        return
    debate = debates.setdefault(key := (split, match["theme"], match["debate"]), Debate(*key))
    if match["id"] is None:
        debate.thesis = normalise(text)
        return
    argument = debate.arguments.setdefault(match["id"], Argument(match["id"], match["side"]))
    part = "point" if match["part"] == "a-point" else "counter"
    if getattr(argument, part) is not None:
        dropped.skip("file: given twice (the later is kept)", member.place())
    setattr(argument, part, text)


def _from_record(record: dict[str, Any]) -> Debate:
    debate = Debate(SPLITS[record["split"]], record["theme"], record["debate"], normalise(record["thesis"]))
    for item in record["args"]:
        if item["side"] not in ("pro", "con"):
            raise ValueError(f"side is {item['side']!r}, neither pro nor con")
        point, counter = ((item.get(part) or "").strip() or None for part in ("point", "counter"))
        debate.arguments[str(item["id"])] = Argument(str(item["id"]), item["side"], point, counter)
    return debate
