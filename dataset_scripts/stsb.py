"""STS Benchmark: sentence pairs with a similarity from 0 to 5, in the official split (Cer et al., 2017)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dataset_scripts.base.corpus import Corpus
from dataset_scripts.base.metadata import load_metadata
from dataset_scripts.base.quality import normalise
from dataset_scripts.base.reading import Member, members, parse_score
from dataset_scripts.base.schema import SIMILARITY
from dataset_scripts.base.splits import SPLITS

RELEASED = {"sts-train.csv": "train", "sts-dev.csv": "validation", "sts-test.csv": "test"}
DEMO_NAME, DEMO_HEADER = "similarity.tsv", ["split", "score", "sentence1", "sentence2"]
GENRE, SCORE, FIRST, SECOND = 0, 4, 5, 6  # of the released columns: genre, file, year, number, score, two sentences


class STSBenchmark(Corpus):
    """STS Benchmark as released, or a file laid out like this project's small `demo/similarity.tsv`.

    Every valid row stays: short sentences, equal sentences and repeated pairs too. `group` is the genre, for scores by
    genre (the official split does not follow it); it is empty where the file has none.
    """

    METADATA = load_metadata("stsb")
    FEATURES = {"similarity": SIMILARITY}
    RELEASES = (tuple(RELEASED), (DEMO_NAME,))

    @classmethod
    def find_files(cls, path: Path) -> list[Path]:
        return [path] if path.is_file() else super().find_files(path)

    def rows(self, files: list[Path], config: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for member in members(files):
            for line, split, group, text, *sentences in self._fields(member):
                score, (first, second) = parse_score(text, 0, 5), map(normalise, sentences)
                faults = {
                    "row: unknown split": split not in SPLITS,
                    "row: score is no number from 0 to 5": score is None,
                    "row: empty text": not (first and second),
                }
                if not self.dropped.refuse(member.place(line), faults):
                    yield split, {"sentence1": first, "sentence2": second, "score": score, "group": group}

    def _fields(self, member: Member) -> Iterator[tuple[Any, ...]]:
        """(line, split, group, score, sentence1, sentence2) of every line that has enough columns.

        The released lines differ in their number of columns: some name a source and its licence behind the sentences.
        """
        of_file, columns = RELEASED.get(Path(member.name).name), SECOND + 1
        for line, text in member.lines(self.dropped):
            fields = text.split("\t")
            if line == 1 and fields == DEMO_HEADER:
                of_file, columns = None, len(DEMO_HEADER)
            elif line == 1 and (of_file is None or len(fields) < columns):
                raise ValueError(
                    f"{member.path}, line 1: {len(fields)} tab separated column(s); give a file named "
                    f"{', '.join(RELEASED)} with at least {columns} columns, or one with the header "
                    f"{', '.join(DEMO_HEADER)}"
                )
            elif len(fields) < columns:
                self.dropped.skip("row: too few columns", member.place(line))
            elif of_file is None:
                yield line, fields[0], "", *fields[1:4]
            else:
                yield line, of_file, fields[GENRE], fields[SCORE], fields[FIRST], fields[SECOND]
