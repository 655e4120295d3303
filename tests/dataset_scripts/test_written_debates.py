"""Written debates: what comes with the project becomes a data set under the project's own terms."""

from dataset_scripts.base.sources import DEMO_FOLDER
from dataset_scripts.written_debates import WrittenDebates

RAW = DEMO_FOLDER / "discussions.jsonl"


def test_no_discussion_is_in_two_splits(build):
    data, dropped = build(WrittenDebates, RAW, "pairs")
    groups = [set(rows["group"]) for rows in data.values()]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 621
    assert data.num_rows == WrittenDebates.METADATA.expected["pairs"]
    assert dropped == {"row: text shorter than 4 words": 8}
    assert build(WrittenDebates, RAW, "families")[0].num_rows == WrittenDebates.METADATA.expected["families"]
