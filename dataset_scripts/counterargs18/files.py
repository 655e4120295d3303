"""Reader of ArguAna's counterargs corpus: files, archives and JSON lines in, debates out. It cleans no text.

The corpus has one folder for each debate,

    training/culture/house-would-ban-tea/thesis.txt
                                        /pro/pro01a-point.txt, pro01b-counter.txt
                                        /con/con01a-point.txt, con01b-counter.txt

and a debate as a line of JSON is

    {"split": "training", "theme": "culture", "debate": "house-would-ban-tea", "thesis": "...",
     "args": [{"id": "pro01", "side": "pro", "point": "...", "counter": "..."}]}
"""

from __future__ import annotations

import gzip
import json
import logging
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from datasets.utils import tqdm

from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import ARCHIVES, read_members
from dataset_scripts.base.splits import SPLIT_NAMES

logger = logging.getLogger(__name__)
JSONL = (".jsonl", ".jsonl.gz")
SPLITS = {"training": "train", "train": "train", "validation": "validation", **SPLIT_NAMES}
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


@dataclass
class Debate:
    """A debate as one theme lists it; the same debate may be listed by others, and in other splits."""

    split: str
    theme: str
    name: str
    thesis: str = ""
    arguments: dict[str, Argument] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Unique in the corpus."""
        return f"{self.theme}/{self.name}"

    @property
    def texts(self) -> int:
        """How many texts there are; of two copies of a debate, the fuller is used."""
        return sum((a.point is not None) + (a.counter is not None) for a in self.arguments.values())


Debates = dict[tuple[str, str, str], Debate]  # by split, theme and name


def is_raw(file: Path) -> bool:
    """Whether a file may hold debates, by its name and the folders that it is in."""
    if file.name.startswith("."):
        return False
    return file.name.lower().endswith((*ARCHIVES, *JSONL)) or _FILE.fullmatch(_path(file)) is not None


def read_debates(files: Sequence[Path], dropped: Counter[str]) -> list[Debate]:
    """Reads every debate, in the order of split, theme and name.

    Archives are read in one pass. Of a debate that is given several times (a folder with both the archive and the lines
    of JSON), the copy with most texts is taken, and of equal ones the first.

    Args:
        files: Archives, JSON lines (plain or .gz) and files of unpacked debates.
        dropped: Reason -> number of files, lines and debates that were not used.
    """
    reader = _Reader(dropped)
    packed = [file for file in files if file.name.lower().endswith((*ARCHIVES, *JSONL))]
    found: Debates = {}
    for file in packed:
        _merge(found, reader.read(file), dropped)
    unpacked: Debates = {}
    for file in tqdm(sorted({*files} - {*packed}), desc="Reading debates", unit=" files", disable=packed == files):
        reader.add(unpacked, _path(file), file.read_bytes())
    _merge(found, unpacked, dropped)
    debates = [found[key] for key in sorted(found)]
    for debate in debates:
        debate.arguments = dict(sorted(debate.arguments.items()))  # archives have them in any order
        if not debate.thesis:
            dropped["debate: without thesis"] += 1
            logger.warning("skipped %s: no thesis", debate.id)
    return [debate for debate in debates if debate.thesis]


def _path(file: Path) -> str:
    """With all the folders that a file is in, of which one names the split."""
    return file.absolute().as_posix()


def _merge(found: Debates, others: Debates, dropped: Counter[str]) -> None:
    for key, debate in others.items():
        if key in found:
            dropped["debate: given twice (the fuller is kept)"] += 1
        if key not in found or debate.texts > found[key].texts:
            found[key] = debate


class _Reader:
    def __init__(self, dropped: Counter[str]) -> None:
        self.dropped = dropped

    def read(self, file: Path) -> Debates:
        """The debates of one archive or file of JSON lines; what cannot be read is counted and logged."""
        debates: Debates = {}
        try:
            for name, content in tqdm(read_members(file), desc=f"Reading {file.name}", unit=" files", leave=False):
                if name.lower().endswith(JSONL):
                    self._add_lines(debates, name, content)
                else:
                    self.add(debates, name, content)
        except (ValueError, OSError) as error:
            self._skip("file: cannot be read to its end", file.name, error)
        return debates

    def add(self, debates: Debates, name: str, content: bytes) -> None:
        """Adds a file of the layout; introductions, bibliographies and the like are passed over."""
        match = _FILE.fullmatch(name)
        if match is None:
            return
        split = SPLITS.get(match["split"].lower())
        if split is None:
            self._skip("file: in a folder that is no split", name)
            return
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self._skip("file: not UTF-8 text", name, error)
            return
        if not text.strip():
            self._skip("file: empty", name)
            return
        debate = debates.setdefault(key := (split, match["theme"], match["debate"]), Debate(*key))
        if match["id"] is None:
            debate.thesis = normalise(text)
            return
        argument = debate.arguments.setdefault(match["id"], Argument(match["id"], match["side"]))
        part = "point" if match["part"] == "a-point" else "counter"
        if getattr(argument, part) is not None:
            self._skip("file: given twice (the later is kept)", name)
        setattr(argument, part, text)

    def _add_lines(self, debates: Debates, name: str, content: bytes) -> None:
        try:
            lines = (gzip.decompress(content) if name.lower().endswith(".gz") else content).splitlines()
        except (OSError, EOFError, zlib.error) as error:
            self._skip("file: cannot be read to its end", name, error)
            return
        for number, line in enumerate(lines, start=1):
            try:
                debate = _from_record(json.loads(line)) if line.strip() else None
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                self._skip("line: not a parsed debate", f"{name}, line {number}", error)
                continue
            if debate is not None:
                _merge(debates, {(debate.split, debate.theme, debate.name): debate}, self.dropped)

    def _skip(self, reason: str, where: str, error: Exception | None = None) -> None:
        self.dropped[reason] += 1
        logger.warning("skipped %s: %s%s", where, reason, f" ({error})" if error else "")


def _from_record(record: dict[str, Any]) -> Debate:
    """Raises AttributeError, LookupError, TypeError or ValueError where a field is missing or of another kind."""
    debate = Debate(SPLITS[record["split"]], record["theme"], record["debate"], normalise(record["thesis"]))
    for item in record["args"]:
        if item["side"] not in ("pro", "con"):
            raise ValueError(f"side is {item['side']!r}, neither pro nor con")
        point, counter = ((item.get(part) or "").strip() or None for part in ("point", "counter"))
        debate.arguments[str(item["id"])] = Argument(str(item["id"]), item["side"], point, counter)
    return debate
