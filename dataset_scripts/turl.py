"""Twitter News URL corpus: pairs of tweets on one link with six people's votes (Lan et al., 2017)."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import ARCHIVES, Member, members
from dataset_scripts.base.schema import SIMILARITY
from dataset_scripts.base.splits import SPLITS

# by the end of its path: the authors' release (its samples aside), and the tokenised one, three files a split
VOTED = re.compile(r"(?:.*/)?Twitter_URL_Corpus_(train|test)(?!.*sample)[^/]*\.txt")
TOKENISED = re.compile(r"(?:.*/)?(train|test)/(a\.toks|b\.toks|sim\.txt)")
PARTS = ("a.toks", "b.toks", "sim.txt")  # first sentences, second sentences, binary labels
COLUMNS = 4  # of the authors' release: two sentences, votes, link
PEOPLE = 6
_VOTES = re.compile(rf"\(([0-{PEOPLE}]), ?{PEOPLE}\)")


class TwitterUrl(Corpus):
    """Both forms in which the corpus goes round: with votes, and tokenised in lower case with binary labels.

    - `similarity`: the score is the number of people, of six, who called the pair a paraphrase. Every valid row stays.
    - `paraphrases`: the score is 1 from 4 votes up and 0 from 2 down; pairs with 3 are left out (Lan et al., 2017). A
      split is read from the tokenised files where they are there, and otherwise made from the votes.

    `group` is the link. The tokenised files do not tell it: there it is the first sentence, which nearly all pairs of a
    link share. No text is unescaped, since results are published on the texts as they are.
    """

    METADATA = load_metadata("turl")
    FEATURES = {"similarity": SIMILARITY, "paraphrases": SIMILARITY}

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        """Everything of either form below a folder, plain or gzipped; or one file with votes, or an archive."""
        if path.is_dir():
            return [file for file in super().find_files(path.resolve()) if _place(file.as_posix().removesuffix(".gz"))]
        if not VOTED.fullmatch(path.name.removesuffix(".gz")) and not path.name.lower().endswith(ARCHIVES):
            raise ValueError(f"{path} is no Twitter_URL_Corpus_test*.txt or _train*.txt; give {cls.METADATA.raw}")
        return [path]

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        by_split: dict[str, dict[str, Member]] = defaultdict(dict)
        for member in members(files, lambda name: _place(name) is not None):
            split, part = _place(member.name)
            if part in by_split[split]:
                self.dropped.skip("file: a second one of its kind and split", member.place())
            else:
                by_split[split][part] = replace(member, stream=io.BytesIO(member.read()))
        binary = config == "paraphrases"
        if not binary and not any("votes" in parts for parts in by_split.values()):
            raise ValueError(f"{config} needs votes (Twitter_URL_Corpus_test.txt); --config paraphrases does not")
        for split in (split for split in SPLITS if split in by_split):
            parts = by_split[split]
            if binary and any(part in parts for part in PARTS):
                rows = self._tokenised(split, parts)
            else:
                rows = self._voted(parts["votes"], binary) if "votes" in parts else ()
            for place, first, second, score, group in rows:
                if first and second:
                    yield split, {"sentence1": first, "sentence2": second, "score": score, "group": group}
                else:
                    self.dropped.skip("row: empty text", place)

    def _voted(self, member: Member, binary: bool) -> Iterator[tuple[str, str, str, float, str]]:
        for number, line in member.lines(self.dropped):
            fields, place = line.split("\t"), member.place(number)
            votes = _VOTES.fullmatch(fields[2].strip()) if len(fields) == COLUMNS else None
            faults = {
                "line: empty": not line.strip(),
                "row: wrong number of columns": len(fields) != COLUMNS,
                f"row: no votes of {PEOPLE}, as in (4,{PEOPLE})": votes is None,
                f"row: debatable, {PEOPLE // 2} votes of {PEOPLE}": binary and votes and int(votes[1]) * 2 == PEOPLE,
            }
            if not self.dropped.refuse(place, faults):
                score = float(int(votes[1]) * 2 > PEOPLE) if binary else float(votes[1])
                yield place, normalise(fields[0]), normalise(fields[1]), score, fields[3].strip()

    def _tokenised(self, split: str, parts: dict[str, Member]) -> Iterator[tuple[str, str, str, float, str]]:
        # side by side before they are decoded: a line that cannot be takes its partners with it
        lines = [[line.rstrip(b"\r\n") for line in (parts[part].stream if part in parts else ())] for part in PARTS]
        if len({len(of_part) for of_part in lines}) > 1:
            lengths = ", ".join(f"{part} {len(of_part):,}" for part, of_part in zip(PARTS, lines, strict=True))
            raise ValueError(f"the files in {split}/ differ in lines ({lengths}); give all three as they were released")
        rows = b"\n".join(b"\t".join(of_row) for of_row in zip(*lines, strict=True))
        together = replace(next(iter(parts.values())), stream=io.BytesIO(rows))
        for number, line in together.lines(self.dropped):
            fields, place = [normalise(field) for field in line.split("\t")], together.place(number)
            faults = {
                "row: wrong number of columns": len(fields) != len(PARTS),
                "row: label is neither 0 nor 1": fields[-1] not in ("0", "1"),
            }
            if not self.dropped.refuse(place, faults):
                yield place, fields[0], fields[1], float(fields[2]), fields[0]


def _place(name: str) -> tuple[str, str] | None:
    """(split, part) of a released file, where the part is "votes" or one of PARTS; None for any other file."""
    if voted := VOTED.fullmatch(name):
        return voted[1], "votes"
    tokenised = TOKENISED.fullmatch(name)
    return (tokenised[1], tokenised[2]) if tokenised else None
